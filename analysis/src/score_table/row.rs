//! Knows one session as a row of the tidy table, and the rules each column keeps.
//! Must not know where rows are read from, nor any statistic.
//! Start at `ScoreRow`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Stands for the environment of every row where a table has no such column.
pub const UNKNOWN_ENVIRONMENT: &str = "-";

/// One session: a replication of a cell in a stratum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreRow {
    /// Id of the malfunction.
    pub malfunction: String,
    /// Id of its environment; one per malfunction, and `-` where the table does not tell.
    #[serde(default = "unknown_environment")]
    pub environment: String,
    /// Id of the method; `a+b` is a coalition.
    pub method: String,
    /// Number of the replication.
    pub replication: u64,
    /// Who repaired.
    pub coder: Option<String>,
    /// The invocation budget.
    pub invocations: Option<Invocations>,
    /// Names the broken checkpoint and scoring episodes shared across methods.
    pub block: Option<String>,
    /// The un-clipped repair score; finite, unit-free.
    pub raw: f64,
    /// The clipped repair score as written; computed from `raw` where absent.
    pub clipped: Option<f64>,
    /// How the session ended.
    pub outcome: Outcome,
    /// Counted actions up to the submission.
    pub tool_calls: Option<u64>,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Wall time in seconds.
    pub wall_s: Option<f64>,
}

fn unknown_environment() -> String {
    UNKNOWN_ENVIRONMENT.to_owned()
}

/// How a session ended; all of these are data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A repair was submitted and scored.
    Submitted,
    /// The budget ran out before a submission.
    BudgetSpent,
    /// The coder ended without a submission.
    GaveUp,
    /// The submitted agent could not be served.
    AgentUnserved,
    /// The submission was rejected by the rules.
    ScoringRejected,
}

impl Outcome {
    /// Every outcome, in order.
    pub const ALL: [Self; 5] = [
        Self::Submitted,
        Self::BudgetSpent,
        Self::GaveUp,
        Self::AgentUnserved,
        Self::ScoringRejected,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::BudgetSpent => "budget_spent",
            Self::GaveUp => "gave_up",
            Self::AgentUnserved => "agent_unserved",
            Self::ScoringRejected => "scoring_rejected",
        }
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.name() == text)
            .ok_or_else(|| {
                "not one of submitted, budget_spent, gave_up, agent_unserved, scoring_rejected"
                    .to_owned()
            })
    }
}

/// The invocation budget of a stratum. JSON and CSV: a whole number or `unlimited`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Invocations {
    /// At most this many calls of dossier tools.
    AtMost(u64),
    /// No limit.
    Unlimited,
}

impl fmt::Display for Invocations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(count) => write!(formatter, "{count}"),
            Self::Unlimited => formatter.write_str("unlimited"),
        }
    }
}

impl From<Invocations> for String {
    fn from(invocations: Invocations) -> Self {
        invocations.to_string()
    }
}

impl TryFrom<String> for Invocations {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Invocations {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        text.parse()
            .map(Self::AtMost)
            .map_err(|_| "neither a whole number nor unlimited".into())
    }
}

/// A row that breaks a rule of its column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {column} {value}: {problem}")]
pub struct RowError {
    /// The line as the caller counts it; the caller puts the file's name before it.
    pub line: u64,
    /// The column at fault.
    pub column: &'static str,
    /// The value as written.
    pub value: String,
    /// What is wrong with it.
    pub problem: String,
}

/// What is wrong with the id of a coalition.
fn coalition_problem(method: &str) -> Option<&'static str> {
    let mut members: Vec<&str> = method.split('+').collect();
    members.sort_unstable();
    if members.len() < 2 {
        None
    } else if members.contains(&"") {
        Some("a coalition with a member that has no name")
    } else if members.windows(2).any(|pair| pair[0] == pair[1]) {
        Some("a coalition that names a member twice")
    } else {
        None
    }
}

impl ScoreRow {
    /// Checks what can be seen in one row alone, adding every problem to `errors`.
    pub(super) fn check(&self, line: u64, errors: &mut Vec<RowError>) {
        let mut report = |column, value: String, problem: &str| {
            errors.push(RowError {
                line,
                column,
                value,
                problem: problem.to_owned(),
            });
        };
        for (column, value) in [
            ("malfunction", &self.malfunction),
            ("environment", &self.environment),
            ("method", &self.method),
        ] {
            if value.is_empty() {
                report(column, "\"\"".to_owned(), "empty");
            }
        }
        for (column, value) in [("coder", &self.coder), ("block", &self.block)] {
            if value.as_deref() == Some("") {
                report(column, "\"\"".to_owned(), "empty");
            }
        }
        if let Some(problem) = coalition_problem(&self.method) {
            report("method", self.method.clone(), problem);
        }
        if !self.raw.is_finite() {
            report(
                "raw",
                self.raw.to_string(),
                "not finite; a missing session is an absent row",
            );
        } else if self.outcome != Outcome::Submitted && self.raw != 0.0 {
            let problem = format!("must be 0, because the outcome is {}", self.outcome.name());
            report("raw", self.raw.to_string(), &problem);
        }
        if let Some(clipped) = self.clipped {
            let right = self.raw.clamp(0.0, 1.0);
            let agrees = (clipped - right).abs() <= 1e-9;
            if !agrees && self.raw.is_finite() {
                let problem = format!("contradicts raw {}, which clips to {right}", self.raw);
                report("clipped", clipped.to_string(), &problem);
            }
        }
        for (column, value) in [("cost_usd", self.cost_usd), ("wall_s", self.wall_s)] {
            if let Some(value) = value.filter(|value| !value.is_finite() || *value < 0.0) {
                report(column, value.to_string(), "not a finite number from 0");
            }
        }
    }
}
