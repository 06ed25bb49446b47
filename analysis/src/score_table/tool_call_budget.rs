//! Knows τ, the tool-call budget that all coders of a table share, and where it came from.
//! Must not know a statistic of tool calls.
//! Start at `ScoreTable::with_tool_call_budgets`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Outcome, Role, ScoreTable};
use crate::computed::Computed;

/// τ: the most counted actions a session may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallBudget {
    /// The number of actions.
    pub steps: u64,
    /// Where the number came from.
    pub source: BudgetSource,
}

/// Where a tool-call budget came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetSource {
    /// `budget.steps` of the plan, the same for every coder.
    Plan,
    /// Told by whoever asked for the analysis.
    Given,
    /// The largest number of tool calls of any submission: sessions may have been allowed more.
    LargestObserved,
}

/// What is known of the budgets before an analysis.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum KnownBudgets {
    #[default]
    None,
    Given(u64),
    /// By coder.
    Plan(BTreeMap<String, u64>),
}

impl ScoreTable {
    /// Adds `budget.steps` of the plan, by coder. Budgets that differ leave no result for tool calls.
    #[must_use]
    pub fn with_tool_call_budgets(mut self, budgets: BTreeMap<String, u64>) -> Self {
        self.budgets = if budgets.is_empty() {
            KnownBudgets::None
        } else {
            KnownBudgets::Plan(budgets)
        };
        self
    }

    /// Sets one budget for every coder.
    #[must_use]
    pub fn with_tool_call_budget(mut self, steps: u64) -> Self {
        self.budgets = KnownBudgets::Given(steps);
        self
    }

    /// τ of the table: the plan's, the given one, or the largest observed in any submission by a coder.
    pub fn tool_call_budget(&self) -> Computed<ToolCallBudget> {
        let (steps, source) = match &self.budgets {
            KnownBudgets::Given(steps) => (Some(*steps), BudgetSource::Given),
            KnownBudgets::Plan(budgets) => {
                let mut numbers = budgets.values();
                let first = numbers.next().copied();
                if numbers.any(|number| Some(*number) != first) {
                    let list: Vec<String> = budgets
                        .iter()
                        .map(|(coder, steps)| format!("{coder} {steps}"))
                        .collect();
                    return Computed::absent(format!(
                        "the tool-call budgets of the coders differ: {}",
                        list.join(", ")
                    ));
                }
                (first, BudgetSource::Plan)
            }
            KnownBudgets::None => {
                let observed = self.rows.iter().filter(|row| {
                    row.outcome == Outcome::Submitted
                        && self.roles.of(&row.method) != Role::OptimalRepair
                });
                let largest = observed.filter_map(|row| row.tool_calls).max();
                (largest, BudgetSource::LargestObserved)
            }
        };
        match steps {
            Some(0) => Computed::absent("the tool-call budget is 0"),
            Some(steps) => Computed::Value(ToolCallBudget { steps, source }),
            None => Computed::absent(
                "no tool-call budget is known, and no submitted session has tool_calls",
            ),
        }
    }
}
