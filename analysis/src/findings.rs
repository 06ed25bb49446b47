//! Knows the findings of a score table: every analysis of every stratum, in one value that is written as `findings.json`.
//! Must not know files, formats around the findings, or how a number is shown.
//! Start at `findings`.

use serde::{Deserialize, Serialize};

use crate::ablation::{Ablation, ablation};
use crate::aggregate::{Aggregates, aggregates};
use crate::attainability::{self, Attainability};
use crate::budget_curve::{BudgetCurves, budget_curves};
use crate::cells::{self, CellFinding};
use crate::computed::Computed;
use crate::contrast::ResampledCells;
use crate::cost::{MethodCost, costs};
use crate::detection::{DetectionPower, detection_power};
use crate::harm::{Harm, harm};
use crate::interaction::{H1, h1};
use crate::lift::{Lifts, lifts};
use crate::oracle_gap::{H2, h2};
use crate::plan::{AnalysisPlan, Deviation, PlanError};
use crate::randomness::{GENERATOR, NamedSeeds};
use crate::scale::Scale;
use crate::score_table::{Invocations, ScoreTable, Stratum, TableSummary};
use crate::shapley::{self, Shapley};
use crate::tool_calls::{ToolCalls, tool_calls};

/// Everything computed from one score table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The values the analysis depended on.
    pub analysis: AnalysisRecord,
    /// What the table holds.
    pub table: TableSummary,
    /// Scores under smaller budgets: within each stratum, and over strata of one coder.
    pub budget_curves: BudgetCurves,
    /// One entry per pair of coder and invocation budget, in order of coder, then budget.
    pub strata: Vec<StratumFindings>,
}

/// The values an analysis depended on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnalysisRecord {
    /// The draw order, such as `chacha8/2`.
    pub generator: String,
    /// The root seed that the caller derived its keys from, as the caller writes it; null where it did not say.
    pub root_seed: Option<String>,
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
    /// Aggregates of every method over malfunctions.
    pub aggregates: Aggregates,
    /// Does the method × malfunction matrix have structure?
    pub h1: H1,
    /// How probable it was that H1 found an interaction, with these cells and this scatter.
    pub h1_power: Computed<DetectionPower>,
    /// How far below an optimal repair is the cheat oracle?
    pub h2: H2,
    /// Does some method harm?
    pub h3: Computed<Harm>,
    /// What the tests of H3 can reach at all with these numbers of sessions.
    pub attainability: Vec<Attainability>,
    /// Rich against minimal dossiers, for the pairs that the plan names.
    pub ablation: Computed<Ablation>,
    /// How many tool calls sessions take to submit.
    pub tool_calls: Computed<ToolCalls>,
    /// What each method adds to a joint dossier.
    pub shapley: Computed<Shapley>,
    /// What the sessions cost, one entry per method, sorted.
    pub cost: Vec<MethodCost>,
}

/// Computes all findings of a table. `frozen` is the plan the run was frozen with, if there was one. Keys are asked by
/// name: `cell/{malfunction}/{method}`, `h1/{scale}`, `h2/{scale}/{malfunction}`, `h3/{malfunction}/{method}`.
///
/// # Errors
/// Every key of the plan that is out of its range.
pub fn findings(
    table: &ScoreTable,
    plan: &AnalysisPlan,
    frozen: Option<&AnalysisPlan>,
    seeds: &(impl NamedSeeds + Sync),
) -> Result<Findings, Vec<PlanError>> {
    plan.check()?;
    Ok(Findings {
        analysis: AnalysisRecord {
            generator: GENERATOR.to_owned(),
            root_seed: None,
            plan: plan.clone(),
            deviations: frozen.map_or_else(Vec::new, |frozen| plan.deviations_from(frozen)),
        },
        table: table.summary(),
        budget_curves: budget_curves(table, plan, seeds),
        strata: table
            .strata()
            .iter()
            .map(|stratum| of_stratum(stratum, plan, seeds))
            .collect(),
    })
}

fn of_stratum(
    stratum: &Stratum,
    plan: &AnalysisPlan,
    seeds: &(impl NamedSeeds + Sync),
) -> StratumFindings {
    let clipped = ResampledCells::new(stratum, Scale::Clipped, plan, seeds);
    let raw = ResampledCells::new(stratum, Scale::Raw, plan, seeds);
    let [on_clipped, on_raw] = [(Scale::Clipped, &clipped), (Scale::Raw, &raw)]
        .map(|(scale, resampled)| lifts(stratum, scale, resampled));
    StratumFindings {
        coder: stratum.coder().map(str::to_owned),
        invocations: stratum.invocations(),
        cells: cells::summarise(stratum, plan, &clipped, &raw),
        lifts: on_clipped.and(on_raw),
        aggregates: aggregates(stratum, plan, seeds),
        h1: h1(stratum, plan, seeds),
        h1_power: detection_power(stratum, plan, seeds).into(),
        h2: h2(stratum, plan, &clipped, &raw, seeds),
        h3: harm(stratum, plan, seeds).into(),
        attainability: attainability::of_stratum(stratum, plan.q),
        ablation: ablation(stratum, plan, &clipped, &raw, seeds).into(),
        tool_calls: tool_calls(stratum, plan, seeds).into(),
        shapley: shapley::of_stratum(stratum, &clipped, &raw).into(),
        cost: costs(stratum),
    }
}
