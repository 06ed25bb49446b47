//! Knows how a session can end as data.
//! Must not know harness faults: those are never an outcome.
//! Start at `Outcome`.

use serde::{Deserialize, Serialize};

use super::Limit;

/// How a session ended. Every outcome is scored; all but `Submitted` score as the broken agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// A bundle was frozen, served and scored.
    Submitted,
    /// A budget ran out before a submission.
    BudgetSpent {
        /// Which one.
        limit: Limit,
    },
    /// The coder ended without a submission.
    GaveUp {
        /// Why, in its own words.
        reason: String,
    },
    /// The submitted agent did not answer a first batch.
    AgentUnserved {
        /// What the scorer saw.
        reason: String,
    },
    /// Three bundles were refused.
    ScoringRejected {
        /// Why the last one was.
        reason: String,
    },
}

/// The outcome without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// See `Outcome::Submitted`.
    Submitted,
    /// See `Outcome::BudgetSpent`.
    BudgetSpent,
    /// See `Outcome::GaveUp`.
    GaveUp,
    /// See `Outcome::AgentUnserved`.
    AgentUnserved,
    /// See `Outcome::ScoringRejected`.
    ScoringRejected,
}

impl Outcome {
    /// The outcome without its details.
    #[must_use]
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Self::Submitted => OutcomeKind::Submitted,
            Self::BudgetSpent { .. } => OutcomeKind::BudgetSpent,
            Self::GaveUp { .. } => OutcomeKind::GaveUp,
            Self::AgentUnserved { .. } => OutcomeKind::AgentUnserved,
            Self::ScoringRejected { .. } => OutcomeKind::ScoringRejected,
        }
    }
}

impl OutcomeKind {
    /// The word used in records, tables and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::BudgetSpent => "budget_spent",
            Self::GaveUp => "gave_up",
            Self::AgentUnserved => "agent_unserved",
            Self::ScoringRejected => "scoring_rejected",
        }
    }
}
