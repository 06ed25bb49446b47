//! Knows how H1, H2 and H3 are called with tidy arrays.
//! Must not know a formula.
//! Start at `interaction`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::contrast::ResampledCells;
use evalxrl_analysis::interaction::{TestName, interaction_of, run_tests};
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::Roles;
use evalxrl_analysis::{harm as h3, lift as lifts, oracle_gap as h2};
use pyo3::prelude::*;

use crate::refusal::{compute, document};
use crate::seed::Seed;
use crate::tidy::{Sessions, plan, word};

/// Computes H1, every method a row of the matrix, with the key `h1/{scale}`.
#[pyfunction]
pub(crate) fn interaction(
    py: Python<'_>,
    sessions: Sessions<'_>,
    scale: &str,
    plan_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let (scale, plan): (Scale, _) = (word("scale", scale)?, plan(plan_text)?);
    let matrix = sessions.matrix(scale, plan.winsor_floor)?;
    let mut rng = seed.generator(&format!("h1/{}", scale.name()));
    let found = compute(py, || interaction_of(&matrix, scale, &plan, &mut rng))?;
    document(&Computed::from(found))
}

/// Runs only some tests of H1, with the same key.
#[pyfunction]
pub(crate) fn interaction_tests(
    py: Python<'_>,
    sessions: Sessions<'_>,
    scale: &str,
    tests: Vec<String>,
    plan_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let (scale, plan): (Scale, _) = (word("scale", scale)?, plan(plan_text)?);
    let names: Vec<TestName> = tests
        .iter()
        .map(|name| word("tests", name))
        .collect::<PyResult<_>>()?;
    let matrix = sessions.matrix(scale, plan.winsor_floor)?;
    let mut rng = seed.generator(&format!("h1/{}", scale.name()));
    document(&compute(py, || {
        run_tests(&matrix, &names, &plan, &mut rng)
    })?)
}

/// Computes H2 on one scale.
#[pyfunction]
pub(crate) fn oracle_gap(
    py: Python<'_>,
    sessions: Sessions<'_>,
    oracle: String,
    optimal: String,
    scale: &str,
    plan_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let roles = Roles {
        cheat_oracle: oracle,
        optimal_repair: optimal,
        ..Roles::default()
    };
    let (scale, plan): (Scale, _) = (word("scale", scale)?, plan(plan_text)?);
    let (stratum, seeds) = (sessions.stratum(roles)?, seed.named());
    let found = compute(py, || {
        let resampled = ResampledCells::new(&stratum, scale, &plan, &seeds);
        h2::oracle_gap(&stratum, scale, &plan, &resampled, &seeds)
    })?;
    document(&Computed::from(found))
}

/// Computes H3 of raw scores.
#[pyfunction]
pub(crate) fn harm(
    py: Python<'_>,
    sessions: Sessions<'_>,
    baseline: String,
    m_planned: Option<u64>,
    plan_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let roles = Roles {
        no_method: baseline,
        ..Roles::default()
    };
    let (stratum, plan, seeds) = (sessions.stratum(roles)?, plan(plan_text)?, seed.named());
    let found = compute(py, || {
        h3::harm_of_family(&stratum, &plan, m_planned, &seeds)
    })?;
    document(&Computed::from(found))
}

/// Computes lifts on one scale.
#[pyfunction]
pub(crate) fn lift(
    py: Python<'_>,
    sessions: Sessions<'_>,
    baseline: String,
    scale: &str,
    plan_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let roles = Roles {
        no_method: baseline,
        ..Roles::default()
    };
    let (scale, plan): (Scale, _) = (word("scale", scale)?, plan(plan_text)?);
    let (stratum, seeds) = (sessions.stratum(roles)?, seed.named());
    let found = compute(py, || {
        let resampled = ResampledCells::new(&stratum, scale, &plan, &seeds);
        lifts::lifts(&stratum, scale, &resampled)
    })?;
    document(&found)
}
