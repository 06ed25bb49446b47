//! Knows `findings.json`: everything a page shows, in one value.
//! Must not know markup or how a number is rounded.
//! Start at `Document::of`.

use std::collections::{BTreeMap, BTreeSet};

use evalxrl_analysis::budget_curve::BudgetCurves;
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::findings::{AnalysisRecord, Findings, StratumFindings};
use evalxrl_analysis::score_table::{Role, TableSummary};
use serde::Serialize;

use super::answers::Answers;
use super::localisation::LocalisationFindings;
use super::predictions::PredictionFinding;
use super::run::{Facts, Malfunction, Run, SessionRow};
use crate::vocab::SessionKey;

/// What `findings.json` holds.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Document<'a> {
    pub(super) format: &'static str,
    pub(super) run: &'a Facts,
    pub(super) progress: Progress,
    pub(super) answers: Answers,
    pub(super) headline: Option<usize>,
    pub(super) admission: &'a [Malfunction],
    pub(super) analysis: &'a AnalysisRecord,
    pub(super) table: &'a TableSummary,
    pub(super) budget_curves: &'a BudgetCurves,
    pub(super) strata: &'a [StratumFindings],
    pub(super) predictions: Vec<PredictionFinding<'a>>,
    pub(super) localisation: Computed<LocalisationFindings<'a>>,
    pub(super) sessions: Vec<SessionEntry<'a>>,
    pub(super) restoring_ranks: Vec<RankEntry>,
    pub(super) time: Vec<TimeEntry>,
    pub(super) conditions: BTreeMap<String, String>,
}

/// How far the plan has come.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Progress {
    pub(super) planned: usize,
    pub(super) done: usize,
    pub(super) missing: Vec<Missing>,
    pub(super) cost_usd: f64,
    pub(super) wall_minutes: f64,
    pub(super) isolation: String,
}

/// A planned session without a record.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Missing {
    pub(super) session: String,
    pub(super) failed_attempts: u64,
    pub(super) last_failure: Option<String>,
}

/// A session as the page lists it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SessionEntry<'a> {
    pub(super) session: &'a SessionRow,
    pub(super) minutes: f64,
    pub(super) transcript: Option<String>,
}

/// Where the restoring edit stood in one cell, one entry per replication.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RankEntry {
    pub(super) malfunction: String,
    pub(super) method: String,
    pub(super) coder: String,
    pub(super) ranks: Vec<Option<u32>>,
    pub(super) candidates: Vec<u32>,
}

/// Where the time of one arm went, minutes over its sessions.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct TimeEntry {
    pub(super) arm: String,
    pub(super) sessions: usize,
    pub(super) wall: f64,
    pub(super) training: f64,
    pub(super) scoring: f64,
    pub(super) tools: f64,
    pub(super) provider: f64,
    pub(super) sandboxes: f64,
    pub(super) other: f64,
}

impl<'a> Document<'a> {
    pub(super) fn of(run: &'a Run, findings: &'a Findings) -> Self {
        let mut rows: Vec<&SessionRow> = run.sessions.iter().collect();
        rows.sort_by(|a, b| listing(&a.key).cmp(&listing(&b.key)));
        let headline = headline(run, findings);
        let leading = headline.map(|index| &findings.strata[index]);
        Self {
            format: "evalxrl.findings/1",
            run: &run.facts,
            progress: progress(run, &rows),
            answers: Answers::of(leading),
            headline,
            admission: &run.malfunctions,
            analysis: &findings.analysis,
            table: &findings.table,
            budget_curves: &findings.budget_curves,
            strata: &findings.strata,
            predictions: PredictionFinding::all(&run.predictions, findings),
            localisation: LocalisationFindings::of(run, findings, leading),
            restoring_ranks: ranks(&rows),
            time: times(&rows),
            conditions: conditions(&rows),
            sessions: rows
                .into_iter()
                .map(|session| SessionEntry {
                    session,
                    minutes: session.seconds.wall / 60.0,
                    transcript: session
                        .transcript
                        .as_ref()
                        .map(|_| format!("transcripts/{}.html", file_stem(&session.key))),
                })
                .collect(),
        }
    }

    /// The stratum that leads the page.
    pub(super) fn leading(&self) -> Option<&'a StratumFindings> {
        self.headline.and_then(|index| self.strata.get(index))
    }

    /// What was predicted, against one stratum.
    pub(super) fn predictions_of(
        &self,
        stratum: &StratumFindings,
    ) -> impl Iterator<Item = &PredictionFinding<'a>> {
        self.predictions.iter().filter(move |each| {
            each.coder == stratum.coder.as_deref() && each.invocations == stratum.invocations
        })
    }

    /// The strata that get a section of their own.
    pub(super) fn others(&self) -> impl Iterator<Item = &'a StratumFindings> + '_ {
        self.strata
            .iter()
            .enumerate()
            .filter(|(index, _)| Some(*index) != self.headline)
            .map(|(_, stratum)| stratum)
    }
}

/// The name of a session as one file name: letters, digits, `-`, `_`, `.` and `+` only.
pub(super) fn file_stem(key: &SessionKey) -> String {
    key.to_string().replace('/', ".")
}

fn listing(key: &SessionKey) -> impl Ord {
    (
        key.malfunction.to_string(),
        key.method.to_string(),
        key.coder.to_string(),
        key.invocations,
        key.replication,
    )
}

/// The plan's first coder with its first invocation budget. Arms without a dossier are not crossed with budgets,
/// so the first session with one tells the budget.
fn headline(run: &Run, findings: &Findings) -> Option<usize> {
    let label = run.facts.coders.first().map(|coder| coder.label.as_str());
    let roles = evalxrl_analysis::score_table::Roles::default();
    let first = run.planned.iter().find(|key| {
        Some(key.coder.as_str()) == label && roles.of(key.method.as_str()) == Role::Xrl
    });
    let budget = first.map(|key| key.invocations.to_string());
    let of_coder = |stratum: &StratumFindings| stratum.coder.as_deref() == label;
    let of_budget =
        |stratum: &StratumFindings| stratum.invocations.map(|budget| budget.to_string()) == budget;
    findings
        .strata
        .iter()
        .position(|stratum| of_coder(stratum) && of_budget(stratum))
        .or_else(|| findings.strata.iter().position(of_coder))
        .or_else(|| (!findings.strata.is_empty()).then_some(0))
}

fn progress(run: &Run, rows: &[&SessionRow]) -> Progress {
    let done: BTreeSet<&SessionKey> = rows.iter().map(|row| &row.key).collect();
    let missing = run
        .planned
        .iter()
        .filter(|key| !done.contains(key))
        .map(|key| {
            let failure = run.failures.iter().find(|failure| failure.key == *key);
            Missing {
                session: key.to_string(),
                failed_attempts: failure.map_or(0, |failure| failure.attempts),
                last_failure: failure.map(|failure| failure.last.clone()),
            }
        })
        .collect();
    let isolation = rows
        .iter()
        .flat_map(|row| &row.conditions)
        .find(|condition| condition.field == "isolation.kind")
        .map_or_else(|| "not known yet".to_owned(), |found| found.value.clone());
    Progress {
        planned: run.planned.len(),
        done: rows.len(),
        missing,
        cost_usd: rows.iter().map(|row| row.cost_usd).sum(),
        wall_minutes: rows.iter().map(|row| row.seconds.wall).sum::<f64>() / 60.0,
        isolation,
    }
}

fn ranks(rows: &[&SessionRow]) -> Vec<RankEntry> {
    let mut entries: Vec<RankEntry> = Vec::new();
    for row in rows {
        let Some(found) = row.restoring_rank else {
            continue;
        };
        let (malfunction, method) = (row.key.malfunction.to_string(), row.key.method.to_string());
        let coder = row.key.coder.to_string();
        let same = entries.last_mut().filter(|entry| {
            entry.malfunction == malfunction && entry.method == method && entry.coder == coder
        });
        match same {
            Some(entry) => {
                entry.ranks.push(found.rank);
                entry.candidates.push(found.candidates);
            }
            None => entries.push(RankEntry {
                malfunction,
                method,
                coder,
                ranks: vec![found.rank],
                candidates: vec![found.candidates],
            }),
        }
    }
    entries
}

fn times(rows: &[&SessionRow]) -> Vec<TimeEntry> {
    let mut arms: BTreeMap<&str, TimeEntry> = BTreeMap::new();
    let mut all = TimeEntry {
        arm: "all arms".to_owned(),
        ..TimeEntry::default()
    };
    for row in rows {
        let arm = arms.entry(row.key.method.as_str()).or_default();
        row.key.method.as_str().clone_into(&mut arm.arm);
        for entry in [arm, &mut all] {
            entry.add(row);
        }
    }
    let mut entries: Vec<TimeEntry> = arms.into_values().collect();
    entries.push(all);
    entries
}

impl TimeEntry {
    fn add(&mut self, row: &SessionRow) {
        let seconds = &row.seconds;
        let named = seconds.training
            + seconds.scoring
            + seconds.tools
            + seconds.provider
            + seconds.sandboxes;
        self.sessions += 1;
        self.wall += seconds.wall / 60.0;
        self.training += seconds.training / 60.0;
        self.scoring += seconds.scoring / 60.0;
        self.tools += seconds.tools / 60.0;
        self.provider += seconds.provider / 60.0;
        self.sandboxes += seconds.sandboxes / 60.0;
        self.other += (seconds.wall - named).max(0.0) / 60.0;
    }
}

/// Conditions that hold for the whole run or a whole environment; those of cells and blocks stay in the records.
fn conditions(rows: &[&SessionRow]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for row in rows {
        for condition in &row.conditions {
            if condition.scope == "run" {
                all.insert(condition.field.clone(), condition.value.clone());
            } else if condition.scope == row.environment.as_str() {
                let name = format!("{} of {}", condition.field, condition.scope);
                all.insert(name, condition.value.clone());
            }
        }
    }
    all
}
