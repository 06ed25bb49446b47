//! Knows what a report is made from: the facts of a run, its planned sessions and the sessions that have ended.
//! Must not know the files of a run directory, nor how anything is shown.
//! Start at `Run`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use evalxrl_analysis::plan::AnalysisPlan;
use serde::Serialize;

use crate::store::{LocalisationRecord, RestoringRank, Seconds};
use crate::vocab::{EnvironmentId, MalfunctionId, MethodId, OutcomeKind, RootSeed, SessionKey};

/// Everything that a report of one run is made from.
#[derive(Debug, Clone)]
pub struct Run {
    /// What the plan says about the whole run.
    pub facts: Facts,
    /// From which every seed of the analysis is derived by name.
    pub root_seed: RootSeed,
    /// The analysis as frozen in the plan.
    pub frozen: AnalysisPlan,
    /// The analysis as it is to be done now; differences from `frozen` are shown as deviations.
    pub analysis: AnalysisPlan,
    /// The malfunctions of the plan.
    pub malfunctions: Vec<Malfunction>,
    /// The sessions of the plan, in plan order; the first names the headline stratum's coder.
    pub planned: Vec<SessionKey>,
    /// The sessions that ended as data.
    pub sessions: Vec<SessionRow>,
    /// Harness failures of planned sessions, for the note on what is missing.
    pub failures: Vec<Failure>,
    /// The most tool calls that a session of each coder can make, by the coder's label.
    pub tool_call_budgets: BTreeMap<String, u64>,
    /// What was predicted of cells before any session.
    pub predictions: Vec<Prediction>,
    /// What texts of dossiers say by themselves of the place of faults, where that was measured.
    pub localisation: Vec<LocalisationRecord>,
}

/// What was predicted of one cell before any session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Prediction {
    /// The malfunction.
    pub malfunction: MalfunctionId,
    /// The method.
    pub method: MethodId,
    /// What it was expected to do.
    pub expected: Expected,
}

/// What a method was expected to do on a malfunction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// To show the fault, so that repairs are better than without it.
    Reveal,
    /// To point elsewhere, so that repairs are worse than without it.
    Mislead,
}

/// What the plan says about the whole run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    /// Name of the experiment.
    pub name: String,
    /// When the plan was frozen, as written there.
    pub created: String,
    /// Version of the program that froze the plan.
    pub version: String,
    /// Commit of the program's source, where known.
    pub commit: Option<String>,
    /// Whether that source had uncommitted changes.
    pub dirty: bool,
    /// `docker` or `local`.
    pub sandbox: String,
    /// What the coder may see of the agent.
    pub access: String,
    /// What a submission may contain.
    pub bundle: String,
    /// Root seed, 64 hexadecimal digits.
    pub root_seed: String,
    /// Whether the root seed is a short integer.
    pub weak_seed: bool,
    /// Hash over the catalog.
    pub catalog_hash: String,
    /// Hash over the references.
    pub references_hash: String,
    /// Digests of the images by name.
    pub images: BTreeMap<String, String>,
    /// The coders of the plan, in order.
    pub coders: Vec<Coder>,
    /// Every other fact of the plan worth printing, such as budgets and limits, by name.
    pub settings: BTreeMap<String, String>,
}

/// A coder of the plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coder {
    /// Its label.
    pub label: String,
    /// Its scaffold.
    pub scaffold: String,
    /// The model it talks to, where it talks to one.
    pub model: Option<String>,
}

/// A malfunction of the plan with its references.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Malfunction {
    /// Its id.
    pub id: MalfunctionId,
    /// Its environment.
    pub environment: EnvironmentId,
    /// Its class.
    pub class: String,
    /// Reference performances over training seeds.
    pub reference: Option<Reference>,
}

/// Reference performances of a malfunction over training seeds, in units of return.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reference {
    /// Mean performance of clean agents.
    pub clean: f64,
    /// Its standard error over training seeds.
    pub standard_error_clean: f64,
    /// Mean performance of broken agents.
    pub broken: f64,
    /// Its standard error over training seeds.
    pub standard_error_broken: f64,
    /// The gap between them in its standard errors.
    pub gap_over_error: f64,
}

/// One session that ended as data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionRow {
    /// Which session.
    pub key: SessionKey,
    /// Its environment.
    pub environment: EnvironmentId,
    /// The word for its outcome.
    pub outcome: OutcomeKind,
    /// The limit or reason behind the outcome, inert.
    pub detail: Option<String>,
    /// Raw repair score.
    pub raw: f64,
    /// Clipped repair score.
    pub clipped: f64,
    /// Shell commands and tool calls, `submit` excepted.
    pub actions: u64,
    /// Calls of the `score` tool.
    pub score_calls: u64,
    /// Cost in US dollars, all attempts.
    pub cost_usd: f64,
    /// Where its time went.
    pub seconds: Seconds,
    /// Whether the submission changes a line that the fault touched.
    pub fault_touched: Option<bool>,
    /// Files of the serving code that the submission changes.
    pub serving_changed: Vec<String>,
    /// Where the edit that restores the source stood among the candidates of `search`.
    pub restoring_rank: Option<RestoringRank>,
    /// What must be equal between sessions of one report.
    #[serde(skip)]
    pub conditions: Vec<Condition>,
    /// Free remark of the record, inert.
    pub note: Option<String>,
    /// Its transcript, where there is one.
    #[serde(skip)]
    pub transcript: Option<PathBuf>,
}

/// Harness failures of one planned session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// Which session.
    pub key: SessionKey,
    /// How many attempts failed.
    pub attempts: u64,
    /// Kind and message of the last one, inert.
    pub last: String,
}

/// One circumstance that sessions within its scope must share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The field of the record, such as `isolation.kind`.
    pub field: String,
    /// Within what it must be equal: `run`, an environment, a cell or a block.
    pub scope: String,
    /// The value, inert.
    pub value: String,
}
