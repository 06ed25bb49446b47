//! Knows how scores, gaps, families of p-values and their reach are called.
//! Must not know tidy arrays.
//! Start at any function.

use evalxrl_analysis::attainability::{AttainableTest, attainability as reach_of};
use evalxrl_analysis::multiplicity;
use evalxrl_analysis::repair_score::{Gap, ReferencePerformance, RepairScore};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::refusal::{GapRefused, ScoreRefused, compute, document, refuse};
use crate::tidy::word;

/// Gives the raw and clipped scores of sessions; the three arrays have equal length.
#[pyfunction]
pub(crate) fn repair_score(
    post: PyReadonlyArray1<'_, f64>,
    clean: PyReadonlyArray1<'_, f64>,
    broken: PyReadonlyArray1<'_, f64>,
) -> PyResult<(Vec<f64>, Vec<f64>)> {
    let (post, clean, broken) = (post.as_slice()?, clean.as_slice()?, broken.as_slice()?);
    let mut scores = (
        Vec::with_capacity(post.len()),
        Vec::with_capacity(post.len()),
    );
    for (index, ((post, clean), broken)) in post.iter().zip(clean).zip(broken).enumerate() {
        let score = RepairScore::of(*post, *clean, *broken)
            .map_err(|error| ScoreRefused::new_err(format!("position {index}: {error}")))?;
        scores.0.push(score.raw());
        scores.1.push(score.clipped());
    }
    Ok(scores)
}

/// Admits a gap from one performance per training seed, and gives it with its standard error.
#[pyfunction]
pub(crate) fn admit(
    clean: PyReadonlyArray1<'_, f64>,
    broken: PyReadonlyArray1<'_, f64>,
    min_gap: f64,
    standard_errors: f64,
) -> PyResult<(f64, f64)> {
    let reference = |name: &str, seeds: &[f64]| {
        ReferencePerformance::over_seeds(seeds)
            .ok_or_else(|| refuse(format!("{name} has fewer than two training seeds")))
    };
    let clean = reference("clean", clean.as_slice()?)?;
    let broken = reference("broken", broken.as_slice()?)?;
    let gap = Gap::admit_at(clean, broken, min_gap, standard_errors)
        .map_err(|error| GapRefused::new_err(error.to_string()))?;
    Ok((gap.value, gap.standard_error))
}

/// Gives adjusted p-values (NaN where absent) and rejections.
#[pyfunction]
pub(crate) fn benjamini_hochberg(
    p: PyReadonlyArray1<'_, f64>,
    q: f64,
    m_planned: Option<usize>,
) -> PyResult<(Vec<f64>, Vec<bool>)> {
    let p: Vec<Option<f64>> = p
        .as_slice()?
        .iter()
        .map(|value| (!value.is_nan()).then_some(*value))
        .collect();
    let adjusted = multiplicity::benjamini_hochberg(&p, q, m_planned).map_err(refuse)?;
    Ok(adjusted
        .into_iter()
        .map(|adjusted| adjusted.map_or((f64::NAN, false), |own| (own.value, own.rejected)))
        .unzip())
}

/// Tells what a test can reach.
#[pyfunction]
pub(crate) fn attainability(
    py: Python<'_>,
    test: &str,
    sessions: u64,
    baseline_sessions: u64,
    cells: u64,
    q: f64,
) -> PyResult<String> {
    let test: AttainableTest = word("test", test)?;
    document(&compute(py, || {
        reach_of(test, sessions, baseline_sessions, cells, cells, q)
    })?)
}
