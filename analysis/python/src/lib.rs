//! Knows how NumPy values become inputs of `evalxrl-analysis` and its results plain values; conversions only.
//! Must not know a formula: every number comes from `evalxrl-analysis`.
//! Start at the module `_evalxrl`, then the Python package beside it.

#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments are extracted from Python by value"
)]

mod samples;
mod seed;
mod tidy;

use pyo3::prelude::*;

/// The compiled half of the package `evalxrl`; its functions take checked, contiguous arrays.
#[pymodule]
mod _evalxrl {
    #[pymodule_export]
    use crate::samples::{
        admit, attainability, benjamini_hochberg, rank_sum, repair_score, student_t,
        two_sample_permutation, welch,
    };
    #[pymodule_export]
    use crate::tidy::{bootstrap_interval, harm, interaction, oracle_gap};
}

/// Turns any refusal into a `ValueError` with its message.
fn refuse(error: impl std::fmt::Display) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(error.to_string())
}

/// Writes a result as JSON, which the Python half reads into named tuples.
fn document(result: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(result).map_err(refuse)
}
