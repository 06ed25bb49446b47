//! Knows a bench without a sandbox: files in memory, training and scoring by a rule of the test.
//! Must not know any scaffold.
//! Start at `Scripted`.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::{Bench, Brief, DossierLine, Observation, Remaining, Score, Stop, ToolLine};
use crate::vocab::{Limit, RootSeed, SeedName};

pub(super) const AGENT: &str = "agent/parameters.safetensors";
pub(super) const TRAIN: &str = "./train.sh";

/// What a scaffold did, reading apart.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Call {
    Run(String),
    Tool(String, Vec<String>),
    Score,
    Submit(String),
    Write(String),
}

/// What training makes of the files: exit code, output, and the agent's new bytes.
pub(super) type Training = fn(&BTreeMap<String, String>) -> (i32, String, String);
/// The mean return of an agent served from the files; `None` when it cannot be served.
pub(super) type Scoring = fn(&BTreeMap<String, String>) -> Option<f64>;

pub(super) struct Scripted {
    pub(super) files: BTreeMap<String, String>,
    pub(super) calls: Vec<Call>,
    pub(super) notes: Vec<serde_json::Value>,
    pub(super) remaining: Remaining,
    /// Submissions to be refused before one is accepted.
    pub(super) refusals: u32,
    /// Commands that contain this fail.
    pub(super) failing: Option<String>,
    pub(super) training: Training,
    pub(super) scoring: Scoring,
    /// Seconds that each command takes.
    pub(super) pace: f64,
    /// The files as they were when a submission was accepted.
    pub(super) submitted: Option<BTreeMap<String, String>>,
}

impl Scripted {
    pub(super) fn new<const N: usize>(files: [(&str, &str); N]) -> Self {
        let mut files: BTreeMap<String, String> = files
            .iter()
            .map(|(path, text)| ((*path).into(), (*text).into()))
            .collect();
        files.insert(AGENT.into(), "handed out".into());
        Self {
            files,
            calls: Vec::new(),
            notes: Vec::new(),
            remaining: Remaining {
                wall_seconds: 1000.0,
                score_calls: 10,
                steps: 1000,
            },
            refusals: 0,
            failing: None,
            training: |_| (0, String::new(), "trained".into()),
            scoring: |_| Some(0.0),
            pace: 1.0,
            submitted: None,
        }
    }

    /// The results of all trials, in order.
    pub(super) fn results(&self) -> Vec<&str> {
        self.notes
            .iter()
            .filter(|note| note["event"] == "search_trial")
            .filter_map(|note| note["result"].as_str())
            .collect()
    }

    fn spend(&mut self) -> Result<(), Stop> {
        self.remaining.wall_seconds -= self.pace;
        if self.remaining.wall_seconds <= 0.0 {
            return Err(Stop::Budget(Limit::Wall));
        }
        self.remaining.steps = self
            .remaining
            .steps
            .checked_sub(1)
            .ok_or(Stop::Budget(Limit::Steps))?;
        Ok(())
    }
}

#[async_trait]
impl Bench for Scripted {
    async fn run(&mut self, command: &str) -> Result<Observation, Stop> {
        self.spend()?;
        self.calls.push(Call::Run(command.into()));
        let fails = self
            .failing
            .as_ref()
            .is_some_and(|part| command.contains(part));
        let (code, output) = if fails {
            (1, "failed by script".into())
        } else if command.ends_with(TRAIN) {
            let (code, output, agent) = (self.training)(&self.files);
            if code == 0 {
                self.files.insert(AGENT.into(), agent);
            }
            (code, output)
        } else if let Some((_, paths)) = command.rsplit_once("cp ") {
            let (from, to) = paths.split_once(' ').unwrap();
            let text = self.files[from].clone();
            self.files.insert(to.into(), text);
            (0, String::new())
        } else {
            (0, String::new())
        };
        Ok(Observation {
            code,
            output,
            seconds: self.pace,
        })
    }

    async fn tool(&mut self, name: &str, argv: &[String]) -> Result<Observation, Stop> {
        self.spend()?;
        self.calls.push(Call::Tool(name.into(), argv.to_vec()));
        let fails = self.failing.as_deref() == Some(name);
        Ok(Observation {
            code: i32::from(fails),
            output: format!("output of {name}"),
            seconds: self.pace,
        })
    }

    async fn score(&mut self) -> Result<Result<Score, String>, Stop> {
        self.spend()?;
        self.calls.push(Call::Score);
        let Some(left) = self.remaining.score_calls.checked_sub(1) else {
            return Ok(Err("no call left".into()));
        };
        self.remaining.score_calls = left;
        Ok((self.scoring)(&self.files)
            .map(|mean_return| Score {
                episodes: 64,
                mean_return,
                standard_error: 0.3,
                invalid_actions: 0,
                calls_left: left,
            })
            .ok_or_else(|| "unserved".into()))
    }

    async fn submit(&mut self, note: &str) -> Result<Result<(), String>, Stop> {
        self.calls.push(Call::Submit(note.into()));
        if self.refusals > 0 {
            self.refusals -= 1;
            return Ok(Err("refused by script".into()));
        }
        self.submitted = Some(self.files.clone());
        Ok(Ok(()))
    }

    async fn read(&mut self, path: &str) -> Result<String, Stop> {
        Ok(self.files[path].clone())
    }

    async fn list(&mut self, folder: &str) -> Result<Vec<String>, Stop> {
        let inside = format!("{folder}/");
        Ok(self
            .files
            .keys()
            .filter(|path| path.starts_with(&inside))
            .cloned()
            .collect())
    }

    async fn write(&mut self, path: &str, text: &str) -> Result<(), Stop> {
        self.calls.push(Call::Write(path.into()));
        self.files.insert(path.into(), text.into());
        Ok(())
    }

    async fn note(&mut self, event: serde_json::Value) -> Result<(), Stop> {
        self.notes.push(event);
        Ok(())
    }

    fn remaining(&self) -> Remaining {
        self.remaining
    }
}

/// A brief without dossiers for the source root `p` and the environment `grid`.
pub(super) fn brief() -> Brief {
    Brief {
        text: String::new(),
        environment: "grid".into(),
        source: "p".into(),
        train: TRAIN.into(),
        dossiers: Vec::new(),
        reverse_diff: None,
        seed: RootSeed::weak(1).derive(&SeedName::new("search/x")),
        score_calls: 10,
        candidates: None,
    }
}

/// A dossier in the folder `d` with one tool that knows `--budget` and one that does not.
pub(super) fn dossier() -> DossierLine {
    let tool = |name: &str, has_budget| ToolLine {
        name: name.into(),
        help: String::new(),
        has_budget,
    };
    DossierLine {
        title: "Method".into(),
        folder: "d".into(),
        tools: vec![tool("look", true), tool("tell", false)],
    }
}
