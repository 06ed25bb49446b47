//! Knows the findings of a score table: every analysis of every stratum, in one value that is written as `findings.json`.
//! Must not know files, formats around the findings, or how a number is shown.
//! Start at `findings`.

use serde::{Deserialize, Serialize};

use crate::attainability::Attainability;
use crate::cells::CellFinding;
use crate::computed::Computed;
use crate::cost::MethodCost;
use crate::harm::Harm;
use crate::interaction::H1;
use crate::lift::Lifts;
use crate::oracle_gap::H2;
use crate::plan::{AnalysisPlan, Deviation};
use crate::score_table::{Invocations, TableSummary};

/// Everything computed from one score table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The values the analysis depended on.
    pub analysis: AnalysisRecord,
    /// What the table holds.
    pub table: TableSummary,
    /// One entry per pair of coder and invocation budget, in order of coder, then budget.
    pub strata: Vec<StratumFindings>,
}

/// The values an analysis depended on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnalysisRecord {
    /// The draw order, such as `chacha8/1`.
    pub generator: String,
    /// The plan as used.
    pub plan: AnalysisPlan,
    /// Every key that differs from the frozen plan; empty where there was none to differ from.
    pub deviations: Vec<Deviation>,
}

/// The findings of one coder with one invocation budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StratumFindings {
    /// The coder; null where the table has no such column.
    pub coder: Option<String>,
    /// The invocation budget; null where the table has no such column.
    pub invocations: Option<Invocations>,
    /// One entry per planned (malfunction, method), sorted by malfunction, then method.
    pub cells: Vec<CellFinding>,
    /// Lift over the no-method baseline, and methods against each other.
    pub lifts: Lifts,
    /// Does the method × malfunction matrix have structure?
    pub h1: H1,
    /// How far below an optimal repair is the cheat oracle?
    pub h2: H2,
    /// Does some method harm?
    pub h3: Computed<Harm>,
    /// What the tests of H3 can reach at all with these numbers of sessions.
    pub attainability: Vec<Attainability>,
    /// What the sessions cost, one entry per method, sorted.
    pub cost: Vec<MethodCost>,
}
