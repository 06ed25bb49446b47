//! Knows how comparisons of dossiers are called: ablation, Shapley values, tool calls, budget curves.
//! Must not know a formula.
//! Start at `ablation`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::contrast::ResampledCells;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::{Roles, ScoreTable};
use evalxrl_analysis::{
    ablation as ablations, budget_curve as curves, shapley as coalitions, tool_calls as calls,
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::refusal::{CoalitionError, compute, document, refuse};
use crate::seed::Seed;
use crate::tidy::{Beside, Calls, Sessions, only_stratum, plan};

/// Compares declared pairs of dossiers.
#[pyfunction]
pub(crate) fn ablation(
    py: Python<'_>,
    sessions: Sessions<'_>,
    plan_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let (stratum, plan) = (sessions.stratum(Roles::default())?, plan(plan_text)?);
    let seeds = seed.named();
    let found = compute(py, || {
        let [clipped, raw] = [Scale::Clipped, Scale::Raw]
            .map(|scale| ResampledCells::new(&stratum, scale, &plan, &seeds));
        ablations::ablation(&stratum, &plan, &clipped, &raw, &seeds)
    })?;
    document(&Computed::from(found))
}

/// Gives Shapley values of a game in characteristic form.
#[pyfunction]
pub(crate) fn shapley_values(py: Python<'_>, value: PyReadonlyArray1<'_, f64>) -> PyResult<String> {
    let value = value.as_slice()?.to_vec();
    let found = compute(py, || coalitions::shapley(&value))?;
    document(&found.map_err(refuse)?)
}

/// Gives Shapley values of the methods of a table.
#[pyfunction]
pub(crate) fn shapley(
    py: Python<'_>,
    sessions: Sessions<'_>,
    baseline: String,
    plan_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let roles = Roles {
        no_method: baseline,
        ..Roles::default()
    };
    let (stratum, plan, seeds) = (sessions.stratum(roles)?, plan(plan_text)?, seed.named());
    let found = compute(py, || {
        let [clipped, raw] = [Scale::Clipped, Scale::Raw]
            .map(|scale| ResampledCells::new(&stratum, scale, &plan, &seeds));
        coalitions::of_stratum(&stratum, &clipped, &raw)
    })?;
    document(&found.map_err(|reason| CoalitionError::new_err(reason.0))?)
}

fn with_calls(
    sessions: &Sessions<'_>,
    baseline: String,
    calls: &Calls,
    budget: Option<u64>,
) -> PyResult<ScoreTable> {
    let roles = Roles {
        no_method: baseline,
        ..Roles::default()
    };
    let table = sessions.table(roles, &Beside::Calls(calls))?;
    Ok(match budget {
        Some(steps) => table.with_tool_call_budget(steps),
        None => table,
    })
}

/// Summarises tool calls until submission.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of one Python function")]
pub(crate) fn tool_calls(
    py: Python<'_>,
    sessions: Sessions<'_>,
    outcomes: Vec<String>,
    tool_calls: PyReadonlyArray1<'_, i64>,
    budget: Option<u64>,
    baseline: String,
    plan_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let tool_calls = tool_calls.as_slice()?.to_vec();
    let given = Calls {
        outcomes,
        tool_calls,
    };
    let table = with_calls(&sessions, baseline, &given, budget)?;
    let (stratum, plan, seeds) = (only_stratum(&table)?, plan(plan_text)?, seed.named());
    let found = compute(py, || calls::tool_calls(&stratum, &plan, &seeds))?;
    document(&Computed::from(found))
}

/// Gives the curves of scores submitted within so many tool calls.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of one Python function")]
pub(crate) fn budget_curve(
    py: Python<'_>,
    sessions: Sessions<'_>,
    outcomes: Vec<String>,
    tool_calls: PyReadonlyArray1<'_, i64>,
    budget: Option<u64>,
    baseline: String,
    plan_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let tool_calls = tool_calls.as_slice()?.to_vec();
    let given = Calls {
        outcomes,
        tool_calls,
    };
    let table = with_calls(&sessions, baseline, &given, budget)?;
    let (plan, seeds) = (plan(plan_text)?, seed.named());
    let found = compute(py, || curves::budget_curves(&table, &plan, &seeds))?;
    document(&found.truncation)
}

/// Gives the mean scores under each planned invocation budget.
#[pyfunction]
pub(crate) fn planned_budget_curve(
    py: Python<'_>,
    sessions: Sessions<'_>,
    invocations: Vec<String>,
    plan_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let table = sessions.table(Roles::default(), &Beside::Invocations(&invocations))?;
    let (plan, seeds) = (plan(plan_text)?, seed.named());
    let found = compute(py, || curves::planned_curves(&table, &plan, &seeds))?;
    document(&Computed::from(found))
}
