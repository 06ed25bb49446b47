//! Knows what repair is worth by budget: one run cut off at fewer tool calls, and runs planned with several invocation budgets.
//! Must not know the hypotheses.
//! Start at `budget_curves`.

mod planned;
mod truncation;

use serde::{Deserialize, Serialize};

pub use planned::{PlannedCurve, PlannedPoint};
pub use truncation::{TruncationCurve, truncation};

use crate::computed::{Computed, NotComputed};
use crate::plan::AnalysisPlan;
use crate::randomness::NamedSeeds;
use crate::scale::Scale;
use crate::score_table::{Invocations, ScoreTable, ToolCallBudget};

/// What every truncation curve must be read with.
pub const TRUNCATION_LABEL: &str = "not the behaviour of a coder who knew the smaller budget";

const SCALES: [Scale; 2] = [Scale::Clipped, Scale::Raw];

/// The budget curves of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetCurves {
    /// Each stratum cut off at fewer tool calls.
    pub truncation: Vec<StratumCurves>,
    /// One curve per (coder, method, scale) over the invocation budgets of the plan.
    pub planned: Computed<Vec<PlannedCurve>>,
}

/// The truncation curves of one stratum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StratumCurves {
    /// The coder; null where the table has no such column.
    pub coder: Option<String>,
    /// The invocation budget; null where the table has no such column.
    pub invocations: Option<Invocations>,
    /// What the curves are not.
    pub label: String,
    /// τ.
    pub budget: Computed<ToolCallBudget>,
    /// One curve per (method, scale), sorted; scales `clipped`, `raw`. `optimal-repair`, where no coder works, is left out.
    pub curves: Computed<Vec<TruncationCurve>>,
}

/// Computes both kinds of budget curve. Truncated sessions are resampled with keys `budget_curve/{method}`, the cells of
/// planned curves with their own keys `cell/{malfunction}/{method}`.
pub fn budget_curves(
    table: &ScoreTable,
    plan: &AnalysisPlan,
    seeds: &(impl NamedSeeds + Sync),
) -> BudgetCurves {
    let strata = table.strata();
    BudgetCurves {
        truncation: strata
            .iter()
            .map(|stratum| StratumCurves {
                coder: stratum.coder().map(str::to_owned),
                invocations: stratum.invocations(),
                label: TRUNCATION_LABEL.to_owned(),
                budget: stratum.tool_call_budget().clone(),
                curves: truncation(stratum, plan, seeds).into(),
            })
            .collect(),
        planned: planned::planned(&strata, plan, seeds).into(),
    }
}

/// Computes the curves over planned budgets alone, digit for digit those of `budget_curves`.
///
/// # Errors
/// No coder with two invocation budgets.
pub fn planned_curves(
    table: &ScoreTable,
    plan: &AnalysisPlan,
    seeds: &(impl NamedSeeds + Sync),
) -> Result<Vec<PlannedCurve>, NotComputed> {
    planned::planned(&table.strata(), plan, seeds)
}
