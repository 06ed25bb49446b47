//! Knows tests of two unpaired samples: permutation of means, permutation of Welch's t, Welch, rank sum.
//! Must not know what the samples are, nor the bootstrap.
//! Start at `permutation_mean`.

mod permutation_mean;
mod permutation_welch;
mod rank_sum;
mod welch;

use serde::{Deserialize, Serialize};

use crate::computed::NotComputed;
use crate::estimate::PValue;

pub use permutation_mean::{permutation_mean, permutation_mean_of_cells};
pub use permutation_welch::permutation_welch;
pub use rank_sum::rank_sum;
pub use welch::{Welch, welch};

/// Which alternative: how the first sample's mean (or ranks) relate to the second's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alternative {
    /// mean(first) < mean(second).
    Less,
    /// mean(first) > mean(second).
    Greater,
    /// mean(first) ≠ mean(second): p = min(1, 2·min(less, greater)).
    TwoSided,
}

impl Alternative {
    /// Chooses among the p-values of `less` and `greater`, or doubles the smaller one.
    pub(crate) fn choose(
        self,
        less: impl FnOnce() -> PValue,
        greater: impl FnOnce() -> PValue,
    ) -> PValue {
        match self {
            Self::Less => less(),
            Self::Greater => greater(),
            Self::TwoSided => PValue::two_sided(&less(), &greater()),
        }
    }
}

/// How far assignments are enumerated, and how many are drawn beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Most assignments that are enumerated.
    pub exact_limit: u64,
    /// Monte Carlo draws otherwise.
    pub draws: u64,
}

/// C(first + second, first), as a float: exact up to 2^53.
pub fn assignments(first: u64, second: u64) -> f64 {
    let small = first.min(second);
    (1..=small).fold(1.0, |product, step| {
        // Each partial product is a binomial coefficient, so that the division leaves no remainder.
        product * (first + second - small + step) as f64 / step as f64
    })
}

/// Joins two samples, the first one first. Numbers so large that sums or squares would overflow are scaled down together.
fn pool(first: &[f64], second: &[f64]) -> Result<Vec<f64>, NotComputed> {
    if first.is_empty() || second.is_empty() {
        return Err(NotComputed::because("an arm without sessions"));
    }
    // Adding 0 turns −0 into 0, so that ties compare by bits as well.
    let mut pooled: Vec<f64> = first
        .iter()
        .chain(second)
        .map(|value| value + 0.0)
        .collect();
    let largest = largest(&pooled);
    if largest > 1e100 {
        pooled.iter_mut().for_each(|value| *value /= largest);
    }
    Ok(pooled)
}

/// max|z|.
fn largest(values: &[f64]) -> f64 {
    values
        .iter()
        .fold(0.0, |largest, value| largest.max(value.abs()))
}
