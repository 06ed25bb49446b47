//! Knows how a refusal, an absent result and a fault of the program reach Python.
//! Must not know a formula, nor any argument.
//! Start at `compute`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use evalxrl_analysis::computed::NotComputed;
use evalxrl_analysis::estimate::PValue;
use pyo3::prelude::*;
use serde::Serialize;

/// The exceptions, defined and documented in Python.
mod exceptions {
    pyo3::import_exception!(evalxrl.refusals, CoalitionError);
    pyo3::import_exception!(evalxrl.refusals, GapRefused);
    pyo3::import_exception!(evalxrl.refusals, InputError);
    pyo3::import_exception!(evalxrl.refusals, InternalError);
    pyo3::import_exception!(evalxrl.refusals, ScoreRefused);
}

pub(crate) use exceptions::{CoalitionError, GapRefused, ScoreRefused};

/// Turns any refusal into an `InputError` with its message.
pub(crate) fn refuse(error: impl std::fmt::Display) -> PyErr {
    exceptions::InputError::new_err(error.to_string())
}

/// Turns several refusals into one `InputError` that names them all.
pub(crate) fn refuse_all<E: std::fmt::Display>(errors: Vec<E>) -> PyErr {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    refuse(lines.join("; "))
}

/// Computes without holding the interpreter. A panic, which would be a fault of the crate, becomes an `InternalError`.
pub(crate) fn compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work)))
        .map_err(|cause| {
            let said = cause
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| cause.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            exceptions::InternalError::new_err(format!(
                "a fault of evalxrl, please report it: {said}"
            ))
        })
}

/// Gives a p-value as a tuple of its fields, or the reason why there is none as text: quicker than JSON where a call is short.
pub(crate) fn plain(py: Python<'_>, found: Result<PValue, NotComputed>) -> PyResult<Py<PyAny>> {
    Ok(match found {
        Ok(p) => (p.value, p.exact, p.count, p.total, p.monte_carlo_error)
            .into_pyobject(py)?
            .into_any()
            .unbind(),
        Err(reason) => reason.0.into_pyobject(py)?.into_any().unbind(),
    })
}

/// Writes a result as JSON, which the Python half reads into named tuples.
pub(crate) fn document(result: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(result).map_err(refuse)
}
