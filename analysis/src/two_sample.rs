//! Knows tests of two unpaired samples: permutation of means, permutation of Welch's t, Welch, rank sum.
//! Must not know what the samples are, nor the bootstrap.
//! Start at `permutation_mean`.

use rand_core::RngCore;

use crate::computed::NotComputed;
use crate::estimate::PValue;
use crate::moments::{mean, t_lower_tail, variance};
use crate::randomness::{Streams, below};

/// Which one-sided alternative: the first sample's mean is less, or greater, than the second's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    /// mean(first) < mean(second).
    Less,
    /// mean(first) > mean(second).
    Greater,
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

/// Tests the difference of means over all assignments of the pooled scores (or `draws` of them): p = share at least as extreme.
///
/// # Errors
/// An empty sample.
pub fn permutation_mean(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
    effort: Effort,
    rng: &mut impl RngCore,
) -> Result<PValue, NotComputed> {
    let sign = if alternative == Alternative::Less {
        1.0
    } else {
        -1.0
    };
    let pooled = pool(first, second, sign)?;
    let observed: f64 = pooled[..first.len()].iter().sum();
    let largest = pooled
        .iter()
        .fold(1.0_f64, |largest, value| largest.max(value.abs()));
    let limit = observed + 1e-9 * largest;
    Ok(permute(&pooled, first.len(), effort, rng, |sum, _| {
        sum <= limit
    }))
}

/// Tests Welch's t over all assignments (or `draws` of them), alternative `less`; gives the observed t (may be infinite) too.
///
/// # Errors
/// A sample of fewer than two.
pub fn permutation_welch(
    first: &[f64],
    second: &[f64],
    effort: Effort,
    rng: &mut impl RngCore,
) -> Result<(f64, PValue), NotComputed> {
    if first.len() < 2 || second.len() < 2 {
        return Err(NotComputed::because("fewer than two sessions in an arm"));
    }
    // Centred, so that sums of squares keep their digits.
    let mut pooled = pool(first, second, 1.0)?;
    let centre = mean(&pooled);
    pooled.iter_mut().for_each(|value| *value -= centre);
    let total: f64 = pooled.iter().sum();
    let total_squares: f64 = pooled.iter().map(|value| value * value).sum();
    let (n, n0) = (first.len() as f64, second.len() as f64);
    let t = |sum: f64, squares: f64| {
        let (rest, rest_squares) = (total - sum, total_squares - squares);
        let difference = sum / n - rest / n0;
        let spread =
            |sum: f64, squares: f64, n: f64| (squares - sum * sum / n).max(0.0) / (n - 1.0) / n;
        let variance = spread(sum, squares, n) + spread(rest, rest_squares, n0);
        if variance > 1e-24 {
            difference / variance.sqrt()
        } else if difference.abs() < 1e-12 {
            0.0
        } else {
            f64::INFINITY.copysign(difference)
        }
    };
    let own = &pooled[..first.len()];
    let observed = t(
        own.iter().sum(),
        own.iter().map(|value| value * value).sum(),
    );
    let limit = if observed.is_finite() {
        observed + 1e-9 * observed.abs().max(1.0)
    } else {
        observed
    };
    Ok((
        observed,
        permute(&pooled, first.len(), effort, rng, |sum, squares| {
            t(sum, squares) <= limit
        }),
    ))
}

/// Welch's test with Satterthwaite degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// mean(first) − mean(second).
    pub difference: f64,
    /// Standard error of the difference.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub df: f64,
}

impl Welch {
    /// P(T ≤ t): the one-sided p-value of `less`.
    pub fn p_less(&self) -> PValue {
        PValue::from_distribution(t_lower_tail(self.difference / self.standard_error, self.df))
    }
}

/// Compares two means with unequal variances.
///
/// # Errors
/// A sample of fewer than two, or no variation in both.
pub fn welch(first: &[f64], second: &[f64]) -> Result<Welch, NotComputed> {
    if first.len() < 2 || second.len() < 2 {
        return Err(NotComputed::because("fewer than two sessions in an arm"));
    }
    let terms = [first, second].map(|sample| {
        let n = sample.len() as f64;
        (variance(sample) / n, n - 1.0)
    });
    let sum: f64 = terms.iter().map(|(variance, _)| variance).sum();
    if sum <= 1e-24 {
        return Err(NotComputed::because("no variation in both arms"));
    }
    Ok(Welch {
        difference: mean(first) - mean(second),
        standard_error: sum.sqrt(),
        df: sum * sum
            / terms
                .iter()
                .map(|(variance, df)| variance * variance / df)
                .sum::<f64>(),
    })
}

/// Mann–Whitney, alternative `less`, exact by counting subset sums over doubled midranks.
///
/// # Errors
/// An empty sample, or more assignments than can be counted (above 10^38).
pub fn rank_sum(first: &[f64], second: &[f64]) -> Result<PValue, NotComputed> {
    let pooled = pool(first, second, 1.0)?;
    if assignments(first.len() as u64, second.len() as u64) > 1e38 {
        return Err(NotComputed::because("more assignments than can be counted"));
    }
    let ranks = doubled_midranks(&pooled);
    let observed: usize = ranks[..first.len()].iter().sum();
    let largest: usize = ranks.iter().sum();
    // ways[j][s]: subsets of size j with doubled rank sum s.
    let mut ways = vec![vec![0_u128; largest + 1]; first.len() + 1];
    ways[0][0] = 1;
    for &rank in &ranks {
        for size in (1..=first.len()).rev() {
            let (smaller, larger) = ways.split_at_mut(size);
            for sum in rank..=largest {
                larger[0][sum] += smaller[size - 1][sum - rank];
            }
        }
    }
    let counts = &ways[first.len()];
    let count: u128 = counts[..=observed].iter().sum();
    let total: u128 = counts.iter().sum();
    match (u64::try_from(count), u64::try_from(total)) {
        (Ok(count), Ok(total)) => Ok(PValue::exact(count, total)),
        _ => Ok(PValue {
            exact: true,
            ..PValue::from_distribution(count as f64 / total as f64)
        }),
    }
}

/// Twice the midrank of each value, so that ties stay whole numbers.
fn doubled_midranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&first, &second| values[first].total_cmp(&values[second]));
    let mut ranks = vec![0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let tied = order[start..]
            .iter()
            .take_while(|&&index| values[index] == value)
            .count();
        for &index in &order[start..start + tied] {
            ranks[index] = 2 * start + tied + 1;
        }
        start += tied;
    }
    ranks
}

fn pool(first: &[f64], second: &[f64], sign: f64) -> Result<Vec<f64>, NotComputed> {
    if first.is_empty() || second.is_empty() {
        return Err(NotComputed::because("an arm without sessions"));
    }
    // Adding 0 turns −0 into 0, so that ties compare by bits as well.
    Ok(first
        .iter()
        .chain(second)
        .map(|value| sign * value + 0.0)
        .collect())
}

/// Counts the assignments of `size` of the pooled values whose (sum, sum of squares) is extreme.
fn permute(
    pooled: &[f64],
    size: usize,
    effort: Effort,
    rng: &mut impl RngCore,
    extreme: impl Fn(f64, f64) -> bool + Sync,
) -> PValue {
    // Drawn in either case, so that what follows on the same generator does not depend on the sizes.
    let streams = Streams::draw(rng);
    let total = assignments(size as u64, (pooled.len() - size) as u64);
    if total <= effort.exact_limit as f64 {
        let count = enumerate(pooled, size, 0.0, 0.0, &extreme);
        return PValue::exact(count, total as u64);
    }
    let hits = streams.replicates(
        usize::try_from(effort.draws).expect("the number of draws fits into memory"),
        || pooled.to_vec(),
        |values, rng| {
            let (mut sum, mut squares) = (0.0, 0.0);
            for place in 0..size {
                let left = u32::try_from(values.len() - place).expect("samples are small");
                values.swap(place, place + below(rng, left) as usize);
                sum += values[place];
                squares += values[place] * values[place];
            }
            extreme(sum, squares)
        },
    );
    PValue::monte_carlo(
        hits.into_iter().filter(|hit| *hit).count() as u64,
        effort.draws,
    )
}

/// Walks through all subsets of `size` values, in order of the values.
fn enumerate(
    values: &[f64],
    size: usize,
    sum: f64,
    squares: f64,
    extreme: &impl Fn(f64, f64) -> bool,
) -> u64 {
    if size == 0 {
        return u64::from(extreme(sum, squares));
    }
    (0..=values.len() - size)
        .map(|first| {
            let value = values[first];
            enumerate(
                &values[first + 1..],
                size - 1,
                sum + value,
                squares + value * value,
                extreme,
            )
        })
        .sum()
}
