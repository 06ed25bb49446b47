//! Knows tests of paired differences: the signed rank test under both rules for zeros, and sign flips of the mean.
//! Must not know what the differences are, nor how pairs were formed.
//! Start at `signed_rank` and `sign_flip`.

use rand_core::RngCore;
use serde::{Deserialize, Serialize};

use crate::computed::NotComputed;
use crate::estimate::PValue;
use crate::moments::normal_lower_tail;
use crate::randomness::Streams;
use crate::two_sample::Effort;

/// With more non-zero differences than this, the signed rank test uses the normal approximation.
pub const MOST_EXACT_PAIRS: usize = 40;

/// With more pairs than this, sign vectors are drawn whatever the limit: their halves no longer fit into memory.
const MOST_FLIPPED: usize = 44;

/// Differences closer than this, relative to max(1, max|d|), tie; those so close to 0 are zero.
const TIE: f64 = 1e-12;

/// What becomes of pairs without a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ZeroRule {
    /// Dropped before ranking (Wilcoxon 1945).
    Wilcox,
    /// Ranked with the others, then their ranks are dropped (Pratt 1959).
    Pratt,
}

/// What a reader must know about a signed rank test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignedRankFlag {
    /// Every difference is zero, so that p = 1.
    NoNonZeroDifference,
    /// Too many pairs to count: the normal approximation with tie correction.
    NormalApproximation,
}

/// A signed rank test, all three alternatives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignedRank {
    /// The rule for zeros.
    pub zeros: ZeroRule,
    /// Pairs given.
    pub pairs: u64,
    /// Pairs with a difference.
    pub n: u64,
    /// W⁺: sum of the midranks of positive differences.
    pub w_plus: f64,
    /// W⁻: sum of the midranks of negative differences.
    pub w_minus: f64,
    /// P(W⁺ ≤ w): the differences lie below 0.
    pub less: PValue,
    /// P(W⁺ ≥ w): the differences lie above 0.
    pub greater: PValue,
    /// min(1, 2·min(less, greater)).
    pub two_sided: PValue,
    /// Reservations.
    pub flags: Vec<SignedRankFlag>,
}

/// A sign flip test of the mean difference, all three alternatives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignFlip {
    /// Pairs given.
    pub pairs: u64,
    /// The mean difference, in the unit of the differences.
    pub mean: f64,
    /// Share of sign vectors with a mean up to the observed one.
    pub less: PValue,
    /// Share of sign vectors with a mean from the observed one.
    pub greater: PValue,
    /// min(1, 2·min(less, greater)).
    pub two_sided: PValue,
}

/// Tests whether differences are symmetric about 0 by the sum W⁺ of the midranks of |d| over positive differences.
///
/// Exact over the 2^n signs of the n non-zero differences, by counting subset sums of doubled midranks (Wilcoxon, Biometrics
/// Bulletin 1945; zeros after Pratt, JASA 1959). Beyond 40 of them W⁺ is taken as normal with mean Σr/2 and variance Σr²/4,
/// which holds the correction for ties; no continuity correction. `differences`: one per pair, any unit.
///
/// # Errors
/// No pair, or a difference that is not finite.
pub fn signed_rank(differences: &[f64], zeros: ZeroRule) -> Result<SignedRank, NotComputed> {
    check(differences)?;
    let ranked = doubled_ranks(differences, zeros);
    let observed: usize = ranked
        .iter()
        .filter_map(|(rank, positive)| positive.then_some(*rank))
        .sum();
    let all: usize = ranked.iter().map(|(rank, _)| rank).sum();
    let mut flags = Vec::new();
    if ranked.is_empty() {
        flags.push(SignedRankFlag::NoNonZeroDifference);
    }
    let (less, greater) = if ranked.len() > MOST_EXACT_PAIRS {
        flags.push(SignedRankFlag::NormalApproximation);
        approximate(&ranked, observed, all)
    } else {
        exact(&ranked, observed, all)
    };
    Ok(SignedRank {
        zeros,
        pairs: differences.len() as u64,
        n: ranked.len() as u64,
        w_plus: observed as f64 / 2.0,
        w_minus: (all - observed) as f64 / 2.0,
        two_sided: PValue::two_sided(&less, &greater),
        less,
        greater,
        flags,
    })
}

/// Tests whether differences are symmetric about 0 by their mean, over all 2^n sign vectors (Fisher, The Design of
/// Experiments, 1935), or over `effort.draws` of them where 2^n exceeds `effort.exact_limit`. Draws one key.
///
/// # Errors
/// No pair, or a difference that is not finite.
pub fn sign_flip(
    differences: &[f64],
    effort: Effort,
    rng: &mut impl RngCore,
) -> Result<SignFlip, NotComputed> {
    check(differences)?;
    // Drawn in either case, so that what follows on the same generator does not depend on the sizes.
    let streams = Streams::draw(rng);
    // Sums are compared in units of max(1, max|d|), where they cannot overflow.
    let unit = largest(differences);
    let scaled: Vec<f64> = differences.iter().map(|d| d / unit).collect();
    let observed: f64 = scaled.iter().sum();
    let n = scaled.len();
    let total = (n <= MOST_FLIPPED)
        .then(|| 1_u64 << n)
        .filter(|total| *total <= effort.exact_limit);
    let (less, greater) = match total {
        Some(total) => {
            let (low, high) = scaled.split_at(n / 2);
            let (low, high) = (signed_sums(low), signed_sums(high));
            let below = |limit: f64| pairs_up_to(&low, &high, limit);
            // A sign vector and its negation have sums s and −s, so that both tails are counted from below.
            (
                PValue::exact(below(observed + SUM_TIE), total),
                PValue::exact(below(SUM_TIE - observed), total),
            )
        }
        None => drawn(&scaled, observed, effort.draws, &streams),
    };
    Ok(SignFlip {
        pairs: n as u64,
        mean: observed / n as f64 * unit,
        two_sided: PValue::two_sided(&less, &greater),
        less,
        greater,
    })
}

/// Sums this close, in units of max(1, max|d|), are equal.
const SUM_TIE: f64 = 1e-9;

fn check(differences: &[f64]) -> Result<(), NotComputed> {
    if differences.is_empty() {
        return Err(NotComputed::because("no pair"));
    }
    if differences.iter().any(|d| !d.is_finite()) {
        return Err(NotComputed::because("a difference is not finite"));
    }
    Ok(())
}

fn largest(differences: &[f64]) -> f64 {
    differences
        .iter()
        .fold(1.0_f64, |largest, d| largest.max(d.abs()))
}

/// Twice the midrank of |d| for every non-zero difference, and whether it is positive. Ties are whole groups of |d| whose
/// neighbours lie within the tolerance.
fn doubled_ranks(differences: &[f64], zeros: ZeroRule) -> Vec<(usize, bool)> {
    let tolerance = TIE * largest(differences);
    let mut sorted: Vec<(f64, bool)> = differences.iter().map(|d| (d.abs(), *d > 0.0)).collect();
    sorted.sort_by(|first, second| first.0.total_cmp(&second.0));
    let zero = sorted.partition_point(|(size, _)| *size <= tolerance);
    let mut before = match zeros {
        ZeroRule::Wilcox => 0,
        ZeroRule::Pratt => zero,
    };
    let mut ranked = Vec::with_capacity(sorted.len() - zero);
    for group in sorted[zero..].chunk_by(|low, high| high.0 - low.0 <= tolerance) {
        let rank = 2 * before + group.len() + 1;
        ranked.extend(group.iter().map(|(_, positive)| (rank, *positive)));
        before += group.len();
    }
    ranked
}

/// Counts the sign vectors with a doubled W⁺ up to, and from, the observed one.
fn exact(ranked: &[(usize, bool)], observed: usize, all: usize) -> (PValue, PValue) {
    // ways[s]: sign vectors with a doubled rank sum s; their total 2^n fits for n up to 40.
    let mut ways = vec![0_u64; all + 1];
    ways[0] = 1;
    let mut reached = 0;
    for (rank, _) in ranked {
        reached += rank;
        for sum in (*rank..=reached).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let total = 1_u64 << ranked.len();
    (
        PValue::exact(ways[..=observed].iter().sum(), total),
        PValue::exact(ways[observed..].iter().sum(), total),
    )
}

fn approximate(ranked: &[(usize, bool)], observed: usize, all: usize) -> (PValue, PValue) {
    let squares: f64 = ranked.iter().map(|(rank, _)| (*rank as f64).powi(2)).sum();
    let z = (observed as f64 - all as f64 / 2.0) / (squares / 4.0).sqrt();
    (
        PValue::from_distribution(normal_lower_tail(z)),
        PValue::from_distribution(normal_lower_tail(-z)),
    )
}

/// The sums of all sign vectors, sorted.
fn signed_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        sums = sums
            .iter()
            .flat_map(|sum| [sum - value, sum + value])
            .collect();
    }
    sums.sort_by(f64::total_cmp);
    sums
}

/// How many pairs of one sum each (both sorted) add up to at most `limit`.
fn pairs_up_to(low: &[f64], high: &[f64], limit: f64) -> u64 {
    let mut fitting = high.len();
    let mut count = 0;
    for sum in low {
        while fitting > 0 && sum + high[fitting - 1] > limit {
            fitting -= 1;
        }
        count += fitting as u64;
    }
    count
}

fn drawn(scaled: &[f64], observed: f64, draws: u64, streams: &Streams) -> (PValue, PValue) {
    let sums = streams.replicates(
        usize::try_from(draws).expect("the number of draws fits into memory"),
        || (),
        |(), rng| {
            let mut sum = 0.0;
            for chunk in scaled.chunks(64) {
                let mut signs = rng.next_u64();
                for value in chunk {
                    sum += if signs & 1 == 0 { *value } else { -value };
                    signs >>= 1;
                }
            }
            sum
        },
    );
    let count =
        |extreme: &dyn Fn(f64) -> bool| sums.iter().filter(|sum| extreme(**sum)).count() as u64;
    (
        PValue::monte_carlo(count(&|sum| sum <= observed + SUM_TIE), draws),
        PValue::monte_carlo(count(&|sum| sum >= observed - SUM_TIE), draws),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_that_are_none_give_one_and_say_so() {
        let found = signed_rank(&[0.0, 1e-13, -1e-13], ZeroRule::Pratt).unwrap();
        assert_eq!((found.n, found.two_sided.value), (0, 1.0));
        assert_eq!(found.flags, [SignedRankFlag::NoNonZeroDifference]);
    }

    #[test]
    fn rounding_does_not_break_ties() {
        let found = signed_rank(&[0.3, 0.1 + 0.2, -0.3], ZeroRule::Wilcox).unwrap();
        assert_eq!((found.w_plus, found.w_minus), (4.0, 2.0));
    }

    #[test]
    fn the_normal_approximation_takes_over_near_the_exact_value() {
        let differences: Vec<f64> = (1..=40_i32)
            .map(|i| f64::from(if i % 3 == 0 { -i } else { i }))
            .collect();
        let exact = signed_rank(&differences, ZeroRule::Wilcox).unwrap();
        assert!(exact.flags.is_empty() && exact.less.exact);
        let more: Vec<f64> = differences.iter().copied().chain([0.5]).collect();
        let approximate = signed_rank(&more, ZeroRule::Wilcox).unwrap();
        assert_eq!(approximate.flags, [SignedRankFlag::NormalApproximation]);
        assert!((approximate.greater.value - exact.greater.value).abs() < 0.01);
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let refused = signed_rank(&[f64::NAN], ZeroRule::Wilcox).unwrap_err();
        assert_eq!(refused.to_string(), "a difference is not finite");
        assert_eq!(
            signed_rank(&[], ZeroRule::Wilcox).unwrap_err().to_string(),
            "no pair"
        );
    }
}
