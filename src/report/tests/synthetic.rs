//! Knows how to make up a run of any shape, with texts that try to break out of a page.
//! Must not know how it is reported.
//! Start at `Shape`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evalxrl_analysis::plan::AnalysisPlan;
use serde_json::json;

use crate::report::{
    Coder, Condition, Expected, Facts, Failure, Malfunction, Prediction, Reference, Run, SessionRow,
};
use crate::store::{Event, RestoringRank, Seconds, Transcript};
use crate::vocab::{
    CoderLabel, EnvironmentId, Invocations, MalfunctionId, MethodId, OutcomeKind, RootSeed,
    SessionKey,
};

/// A text that acts on a page or a terminal unless it is made inert.
pub(super) const HOSTILE: &str =
    "\u{1b}]0;owned\u{7}<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u{9b}31m\u{202e}";

/// How large a run is, and what is wrong with it.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) methods: usize,
    pub(super) malfunctions: usize,
    pub(super) replications: u32,
    /// Every so manieth session is missing; 0 for none.
    pub(super) missing_every: usize,
    pub(super) reference_arms: bool,
    pub(super) resamples: u64,
}

impl Shape {
    pub(super) fn of(methods: usize, malfunctions: usize, replications: u32) -> Self {
        Self {
            methods,
            malfunctions,
            replications,
            missing_every: 0,
            reference_arms: true,
            resamples: 200,
        }
    }

    /// A run of this shape; scores follow from arithmetic, so that every call gives the same.
    pub(super) fn run(&self) -> Run {
        let malfunctions: Vec<Malfunction> = (0..self.malfunctions).map(malfunction).collect();
        let mut planned = Vec::new();
        let mut sessions = Vec::new();
        let mut failures = Vec::new();
        for replication in 0..self.replications {
            for (index, malfunction) in malfunctions.iter().enumerate() {
                for (place, method) in self.arms().iter().enumerate() {
                    let key = key(&malfunction.id, method, replication);
                    planned.push(key.clone());
                    let every = self.missing_every;
                    if every > 0 && planned.len().is_multiple_of(every) {
                        failures.push(Failure {
                            key,
                            attempts: 3,
                            last: "container_lost: gone".to_owned(),
                        });
                        continue;
                    }
                    sessions.push(session(key, malfunction, index, place));
                }
            }
        }
        let predictions = malfunctions
            .iter()
            .enumerate()
            .flat_map(|(index, malfunction)| predictions(malfunction, index))
            .collect();
        let analysis = AnalysisPlan {
            resamples: self.resamples,
            permutations: 99,
            ..AnalysisPlan::default()
        };
        Run {
            facts: facts(),
            root_seed: RootSeed::weak(7),
            frozen: AnalysisPlan {
                resamples: 50_000,
                ..analysis.clone()
            },
            analysis,
            malfunctions,
            planned,
            sessions,
            failures,
            tool_call_budgets: ["search", "optimal"]
                .map(|label| (label.to_owned(), 250))
                .into(),
            predictions,
            localisation: Vec::new(),
        }
    }

    fn arms(&self) -> Vec<String> {
        let mut arms = vec!["no-method".to_owned()];
        let names = [
            "reward-decomposition",
            "saliency",
            "counterfactual-states",
            "policy-tree",
        ];
        for index in 0..self.methods {
            arms.push(match names.get(index) {
                Some(name) => (*name).to_owned(),
                None => format!("method-number-{index}"),
            });
        }
        if self.reference_arms {
            arms.push("cheat-oracle".to_owned());
            arms.push("optimal-repair".to_owned());
        }
        arms
    }
}

/// Plans and scores every session of the coder `search` once more with another coder.
pub(super) fn repeat_with(run: &mut Run, coder: &str) {
    let coder = CoderLabel::new(coder).unwrap();
    let mut more = run.sessions.clone();
    more.retain(|session| session.key.coder.as_str() == "search");
    for session in &mut more {
        session.key.coder = coder.clone();
        run.planned.push(session.key.clone());
    }
    run.sessions.extend(more);
}

/// A method that is run and one that is not, expected to do the one thing or the other in turn.
fn predictions(malfunction: &Malfunction, index: usize) -> Vec<Prediction> {
    let [first, second] = if index.is_multiple_of(2) {
        [Expected::Reveal, Expected::Mislead]
    } else {
        [Expected::Mislead, Expected::Reveal]
    };
    let of = |method: &str, expected| Prediction {
        malfunction: malfunction.id.clone(),
        method: MethodId::new(method).unwrap(),
        expected,
    };
    vec![
        of("reward-decomposition", first),
        of("decision-tree", second),
    ]
}

fn malfunction(index: usize) -> Malfunction {
    let classes = ["reward", "observation", "dynamics", "optimiser"];
    let names = [
        "sign-flip",
        "stale-mask",
        "off-by-one-in-horizon",
        "entropy-bonus",
    ];
    let name = match names.get(index) {
        Some(name) => format!("treasure-grid-{name}"),
        None => format!("treasure-grid-fault-{index}"),
    };
    Malfunction {
        id: MalfunctionId::new(name).unwrap(),
        environment: EnvironmentId::new("treasure_grid").unwrap(),
        class: classes[index % classes.len()].to_owned(),
        reference: Some(Reference {
            clean: 14.25,
            standard_error_clean: 0.35,
            broken: 2.5 - index as f64 * 0.125,
            standard_error_broken: 0.45,
            gap_over_error: 20.5,
        }),
    }
}

pub(super) fn key(malfunction: &MalfunctionId, method: &str, replication: u32) -> SessionKey {
    let coder = if method == "optimal-repair" {
        "optimal"
    } else {
        "search"
    };
    SessionKey {
        malfunction: malfunction.clone(),
        method: MethodId::new(method).unwrap(),
        coder: CoderLabel::new(coder).unwrap(),
        invocations: Invocations::Unlimited,
        replication,
    }
}

/// A number in [0, 1) that looks irregular.
fn wobble(seed: usize) -> f64 {
    (seed as f64 * 0.754_877_666 + 0.1).fract()
}

fn session(key: SessionKey, malfunction: &Malfunction, index: usize, place: usize) -> SessionRow {
    let replication = key.replication as usize;
    let noise = wobble(index * 97 + place * 13 + replication * 5) - 0.5;
    let (outcome, raw) = match key.method.as_str() {
        "no-method" => (OutcomeKind::Submitted, 0.1 + 0.3 * noise),
        "cheat-oracle" => (OutcomeKind::Submitted, 0.75 + 0.3 * noise),
        "optimal-repair" => (OutcomeKind::Submitted, 0.98 + 0.1 * noise),
        _ if (index + place + replication) % 4 == 3 => (OutcomeKind::GaveUp, 0.0),
        _ => (
            OutcomeKind::Submitted,
            wobble(index * 31 + place * 17) * 1.4 - 0.5 + 0.3 * noise,
        ),
    };
    SessionRow {
        environment: malfunction.environment.clone(),
        outcome,
        detail: (outcome == OutcomeKind::GaveUp).then(|| HOSTILE.to_owned()),
        raw,
        clipped: raw.clamp(0.0, 1.0),
        actions: 12 + replication as u64,
        score_calls: 3,
        cost_usd: 0.0,
        seconds: Seconds {
            wall: 95.0 + noise,
            working: 80.0,
            provider: 0.0,
            tools: 4.5,
            training: 61.25,
            scoring: 14.5,
            sandboxes: 6.75,
        },
        fault_touched: Some(noise > 0.0),
        serving_changed: Vec::new(),
        restoring_rank: (key.coder.as_str() == "search").then(|| RestoringRank {
            rank: Some(1 + (wobble(index + place) * 400.0) as u32),
            candidates: 412,
        }),
        conditions: vec![
            condition("isolation.kind", "run", "docker"),
            condition("versions.jax", "run", "0.9.0"),
            condition("versions.evalxrl", "run", "0.1.0"),
            condition("sources.environment", "treasure_grid", "4f2a90c1"),
            condition(
                "reference.hash",
                &format!("{} r{replication:02}", malfunction.id),
                "77aa",
            ),
        ],
        note: Some(HOSTILE.to_owned()),
        transcript: None,
        key,
    }
}

pub(super) fn condition(field: &str, scope: &str, value: &str) -> Condition {
    Condition {
        field: field.to_owned(),
        scope: scope.to_owned(),
        value: value.to_owned(),
    }
}

fn facts() -> Facts {
    Facts {
        name: "pilot".to_owned(),
        created: "2026-11-30T15:00:00Z".to_owned(),
        version: "0.1.0".to_owned(),
        commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
        dirty: false,
        sandbox: "docker".to_owned(),
        access: "white".to_owned(),
        bundle: "workspace".to_owned(),
        root_seed: "0f".repeat(32),
        weak_seed: false,
        catalog_hash: "ab".repeat(32),
        references_hash: "cd".repeat(32),
        images: BTreeMap::from([("workspace".to_owned(), "evalxrl/workspace:77".to_owned())]),
        coders: ["search", "optimal"]
            .map(|label| Coder {
                label: label.to_owned(),
                scaffold: label.to_owned(),
                model: None,
            })
            .to_vec(),
        settings: BTreeMap::from([("limits.workspace.memory".to_owned(), "4 GiB".to_owned())]),
    }
}

/// Gives every session a transcript with hostile texts in `folder`.
pub(super) fn with_transcripts(run: &mut Run, folder: &Path) {
    for (index, session) in run.sessions.iter_mut().enumerate() {
        let path = folder.join(format!("{index}.jsonl"));
        let mut transcript =
            Transcript::create(&path, &json!({"format": "evalxrl.transcript/1"})).unwrap();
        let data = json!({"command": "python3 -m evalxrl_envs train", "limit": 60});
        transcript.add(0.5, Event::Command, data).unwrap();
        let text = format!("{HOSTILE}\nupdate 40/100  return -52.1");
        transcript
            .add(1.25, Event::Output, json!({"text": text, "code": 0}))
            .unwrap();
        session.transcript = Some(path);
    }
}

/// A folder for one report: temporary, or kept under `EVALXRL_KEEP_REPORTS` to be looked at.
pub(super) fn folder(name: &str) -> (PathBuf, Option<tempfile::TempDir>) {
    match std::env::var_os("EVALXRL_KEEP_REPORTS") {
        Some(kept) => {
            let path = PathBuf::from(kept).join(name);
            std::fs::create_dir_all(&path).unwrap();
            (path, None)
        }
        None => {
            let folder = tempfile::tempdir().unwrap();
            (folder.path().to_owned(), Some(folder))
        }
    }
}
