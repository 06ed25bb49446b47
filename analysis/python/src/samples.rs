//! Knows the functions of one or two samples and of lists of p-values.
//! Must not know tidy tables.
//! Start at any function.

use evalxrl_analysis::attainability::{AttainableTest, attainability as reach_of};
use evalxrl_analysis::computed::{Computed, NotComputed};
use evalxrl_analysis::repair_score::{Gap, ReferencePerformance, RepairScore};
use evalxrl_analysis::two_sample::{self, Alternative, Effort};
use evalxrl_analysis::{cells, multiplicity};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::{document, refuse, seed};

/// Gives the raw scores of sessions; the three arrays have equal length.
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
            .map_err(|error| refuse(format!("position {index}: {error}")))?;
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
    let gap = Gap::admit_at(clean, broken, min_gap, standard_errors).map_err(refuse)?;
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

/// Tests two samples by all or drawn assignments.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of one Python function")]
pub(crate) fn two_sample_permutation(
    py: Python<'_>,
    method: PyReadonlyArray1<'_, f64>,
    baseline: PyReadonlyArray1<'_, f64>,
    statistic: &str,
    alternative: &str,
    exact_limit: u64,
    draws: u64,
    seed: u64,
) -> PyResult<String> {
    let (method, baseline) = (method.as_slice()?.to_vec(), baseline.as_slice()?.to_vec());
    let effort = Effort { exact_limit, draws };
    let mut rng = seed::generator(seed);
    let p: Result<_, NotComputed> = match (statistic, alternative) {
        ("mean", "less" | "greater") => {
            let side = if alternative == "less" {
                Alternative::Less
            } else {
                Alternative::Greater
            };
            py.detach(|| two_sample::permutation_mean(&method, &baseline, side, effort, &mut rng))
        }
        ("welch", "less") => py.detach(|| {
            two_sample::permutation_welch(&method, &baseline, Alternative::Less, effort, &mut rng)
                .map(|(_, p)| p)
        }),
        _ => {
            return Err(refuse(format!(
                "statistic {statistic:?} with alternative {alternative:?} is not offered: mean with less or greater, \
                 or welch with less"
            )));
        }
    };
    document(&Computed::from(p))
}

/// Compares two means with unequal variances: (difference, standard error, df, p less), or the reason why not.
#[pyfunction]
pub(crate) fn welch(
    py: Python<'_>,
    method: PyReadonlyArray1<'_, f64>,
    baseline: PyReadonlyArray1<'_, f64>,
) -> PyResult<Py<PyAny>> {
    match two_sample::welch(method.as_slice()?, baseline.as_slice()?) {
        Ok(welch) => {
            let numbers = (
                welch.difference,
                welch.standard_error,
                welch.df,
                welch.p_less().value,
            );
            Ok(numbers.into_pyobject(py)?.into_any().unbind())
        }
        Err(reason) => Ok(reason.0.into_pyobject(py)?.into_any().unbind()),
    }
}

/// Counts all assignments of ranks.
#[pyfunction]
pub(crate) fn rank_sum(
    py: Python<'_>,
    method: PyReadonlyArray1<'_, f64>,
    baseline: PyReadonlyArray1<'_, f64>,
) -> PyResult<String> {
    let (method, baseline) = (method.as_slice()?.to_vec(), baseline.as_slice()?.to_vec());
    document(&Computed::from(py.detach(|| {
        two_sample::rank_sum(&method, &baseline, Alternative::Less)
    })))
}

/// Gives the Student t interval of a mean.
#[pyfunction]
pub(crate) fn student_t(score: PyReadonlyArray1<'_, f64>, level: f64) -> PyResult<String> {
    document(&Computed::from(cells::student_t(score.as_slice()?, level)))
}

/// Tells what a test can reach.
#[pyfunction]
pub(crate) fn attainability(
    test: &str,
    sessions: u64,
    baseline_sessions: u64,
    cells: u64,
    q: f64,
) -> PyResult<String> {
    let test = match test {
        "permutation" => AttainableTest::Permutation,
        "signed_rank" => AttainableTest::SignedRank,
        other => {
            return Err(refuse(format!(
                "test {other:?} is neither permutation nor signed_rank"
            )));
        }
    };
    let reach = reach_of(test, sessions, baseline_sessions, cells, cells, q);
    document(&reach)
}
