//! Knows how the power of two samples and the variance of a pilot are called.
//! Must not know a formula.
//! Start at any function.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::power::{self, PowerError};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::cells::sorted;
use crate::refusal::{compute, document, refuse};

/// Pools the variance of a pilot.
#[pyfunction]
pub(crate) fn pilot_variance(
    py: Python<'_>,
    score: PyReadonlyArray1<'_, f64>,
    cell: PyReadonlyArray1<'_, i64>,
) -> PyResult<String> {
    let (cells, _) = sorted(&score, &cell)?;
    document(&Computed::from(compute(py, || {
        power::pilot_variance(&cells)
    })?))
}

/// Gives the power of the one-sided two-sample t test.
#[pyfunction]
pub(crate) fn two_sample_t_power(py: Python<'_>, d: f64, n: f64, alpha: f64) -> PyResult<f64> {
    answered(compute(py, || power::two_sample_t_power(d, n, alpha))?)
}

/// Gives the real number of sessions per arm at which that power is reached.
#[pyfunction]
pub(crate) fn two_sample_t_sessions(
    py: Python<'_>,
    d: f64,
    alpha: f64,
    power: f64,
) -> PyResult<f64> {
    answered(compute(py, || {
        power::two_sample_t_sessions(d, alpha, power)
    })?)
}

fn answered(found: Result<f64, PowerError>) -> PyResult<f64> {
    found.map_err(refuse)
}
