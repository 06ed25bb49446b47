//! Knows how the agreement of two raters is called.
//! Must not know a formula.
//! Start at `kappa`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::kappa as weighted;
use evalxrl_analysis::kappa::Weights;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::refusal::{compute, document, refuse};
use crate::seed::Seed;
use crate::tidy::word;

/// Gives kappa of a table of counts.
#[pyfunction]
pub(crate) fn kappa(
    py: Python<'_>,
    table: PyReadonlyArray2<'_, u64>,
    weights: &str,
    level: f64,
) -> PyResult<String> {
    let weights: Weights = word("weights", weights)?;
    let table: Vec<Vec<u64>> = table
        .as_array()
        .outer_iter()
        .map(|row| row.to_vec())
        .collect();
    let found = compute(py, || weighted::kappa(&table, weights, level))?;
    document(&Computed::from(found))
}

/// Numbers of categories or clusters, from 0.
fn numbers(array: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    array
        .as_slice()?
        .iter()
        .map(|number| usize::try_from(*number).map_err(refuse))
        .collect()
}

/// Gives kappa of paired verdicts with its bootstrap interval.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of one Python function")]
pub(crate) fn agreement(
    py: Python<'_>,
    first: PyReadonlyArray1<'_, i64>,
    second: PyReadonlyArray1<'_, i64>,
    cluster: Option<PyReadonlyArray1<'_, i64>>,
    weights: &str,
    level: f64,
    resamples: u64,
    seed: Seed,
) -> PyResult<String> {
    let weights: Weights = word("weights", weights)?;
    let items: Vec<(usize, usize)> = numbers(&first)?
        .into_iter()
        .zip(numbers(&second)?)
        .collect();
    let clusters = cluster.as_ref().map(numbers).transpose()?;
    let mut rng = seed.generator("agreement");
    let found = compute(py, || {
        weighted::agreement(
            &items,
            clusters.as_deref(),
            weights,
            level,
            resamples,
            &mut rng,
        )
    })?;
    document(&Computed::from(found))
}
