//! Knows how tests of two samples and of paired differences, and rank correlations of pairs, are called.
//! Must not know tidy arrays.
//! Start at any function.

use evalxrl_analysis::computed::{Computed, NotComputed};
use evalxrl_analysis::rank_correlation::{self as clustered, Pair};
use evalxrl_analysis::signed_rank as paired;
use evalxrl_analysis::signed_rank::ZeroRule;
use evalxrl_analysis::two_sample::{self, Alternative, Effort};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::refusal::{compute, document, plain, refuse};
use crate::seed::Seed;
use crate::tidy::word;

fn side(alternative: &str) -> PyResult<Alternative> {
    match alternative {
        "less" => Ok(Alternative::Less),
        "greater" => Ok(Alternative::Greater),
        "two_sided" => Ok(Alternative::TwoSided),
        other => Err(refuse(format!(
            "alternative {other:?} is not offered: less, greater, two_sided"
        ))),
    }
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
    seed: Seed,
) -> PyResult<Py<PyAny>> {
    let (method, baseline) = (method.as_slice()?.to_vec(), baseline.as_slice()?.to_vec());
    let (side, effort) = (side(alternative)?, Effort { exact_limit, draws });
    let mut rng = seed.generator("two_sample_permutation");
    let p: Result<_, NotComputed> = match statistic {
        "mean" => compute(py, || {
            two_sample::permutation_mean(&method, &baseline, side, effort, &mut rng)
        })?,
        "welch" => compute(py, || {
            two_sample::permutation_welch(&method, &baseline, side, effort, &mut rng)
                .map(|(_, p)| p)
        })?,
        other => {
            return Err(refuse(format!(
                "statistic {other:?} is not offered: mean, welch"
            )));
        }
    };
    plain(py, p)
}

/// Compares two means with unequal variances: (difference, standard error, df, p less), or the reason why not.
#[pyfunction]
pub(crate) fn welch(
    py: Python<'_>,
    method: PyReadonlyArray1<'_, f64>,
    baseline: PyReadonlyArray1<'_, f64>,
) -> PyResult<Py<PyAny>> {
    let (method, baseline) = (method.as_slice()?.to_vec(), baseline.as_slice()?.to_vec());
    let found = compute(py, || {
        two_sample::welch(&method, &baseline).map(|welch| {
            let p = welch.p_less().value;
            (welch.difference, welch.standard_error, welch.df, p)
        })
    })?;
    match found {
        Ok(numbers) => Ok(numbers.into_pyobject(py)?.into_any().unbind()),
        Err(reason) => Ok(reason.0.into_pyobject(py)?.into_any().unbind()),
    }
}

/// Counts all assignments of ranks.
#[pyfunction]
pub(crate) fn rank_sum(
    py: Python<'_>,
    method: PyReadonlyArray1<'_, f64>,
    baseline: PyReadonlyArray1<'_, f64>,
    alternative: &str,
) -> PyResult<Py<PyAny>> {
    let (method, baseline) = (method.as_slice()?.to_vec(), baseline.as_slice()?.to_vec());
    let side = side(alternative)?;
    let p = compute(py, || two_sample::rank_sum(&method, &baseline, side))?;
    plain(py, p)
}

/// Counts all signs of ranked differences.
#[pyfunction]
pub(crate) fn signed_rank(
    py: Python<'_>,
    difference: PyReadonlyArray1<'_, f64>,
    zeros: &str,
) -> PyResult<String> {
    let rule: ZeroRule = word("zeros", zeros)?;
    let differences = difference.as_slice()?.to_vec();
    document(&Computed::from(compute(py, || {
        paired::signed_rank(&differences, rule)
    })?))
}

/// Counts all (or draws) signs of differences.
#[pyfunction]
pub(crate) fn sign_flip(
    py: Python<'_>,
    difference: PyReadonlyArray1<'_, f64>,
    exact_limit: u64,
    draws: u64,
    seed: Seed,
) -> PyResult<String> {
    let differences = difference.as_slice()?.to_vec();
    let effort = Effort { exact_limit, draws };
    let mut rng = seed.generator("sign_flip");
    document(&Computed::from(compute(py, || {
        paired::sign_flip(&differences, effort, &mut rng)
    })?))
}

/// Gives Spearman's correlation of pairs with its bootstrap interval.
#[pyfunction]
pub(crate) fn rank_correlation(
    py: Python<'_>,
    first: PyReadonlyArray1<'_, f64>,
    second: PyReadonlyArray1<'_, f64>,
    cluster: PyReadonlyArray1<'_, i64>,
    level: f64,
    resamples: u64,
    seed: Seed,
) -> PyResult<String> {
    let values = first.as_slice()?.iter().zip(second.as_slice()?);
    let pairs: Vec<Pair> = values
        .zip(cluster.as_slice()?)
        .map(|((first, second), cluster)| {
            Ok(Pair {
                cluster: usize::try_from(*cluster).map_err(refuse)?,
                first: *first,
                second: *second,
            })
        })
        .collect::<PyResult<_>>()?;
    let mut rng = seed.generator("rank_correlation");
    let found = compute(py, || {
        clustered::rank_correlation(&pairs, level, resamples, &mut rng)
    })?;
    document(&Computed::from(found))
}
