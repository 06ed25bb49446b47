//! Knows the rank-sum test over several strata: values are ranked inside each, and the rank sums are added.
//! Must not know what the values are.
//! Start at `stratified_rank_sum`.

use serde::{Deserialize, Serialize};

use crate::computed::NotComputed;
use crate::estimate::PValue;
use crate::moments::normal_lower_tail;

/// Most additions of the exact count.
const MOST_STEPS: f64 = 5e8;

/// Whole numbers up to this are exact as floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What a reader must know about a rank-sum test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankSumFlag {
    /// Too many assignments to count: the normal approximation with tie correction.
    NormalApproximation,
}

/// A rank-sum test, all three alternatives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankSum {
    /// The first arm's values are smaller.
    pub less: PValue,
    /// The first arm's values are larger.
    pub greater: PValue,
    /// min(1, 2·min(less, greater)).
    pub two_sided: PValue,
    /// Reservations.
    pub flags: Vec<RankSumFlag>,
}

/// Tests the sum over strata of the first arm's midrank sums, against all assignments within strata: the test of Mann and
/// Whitney for one stratum, of van Elteren (1960) with equal weights for several. Each stratum is `(first, second)`, any
/// unit; infinities are the largest of all and tie. Exact by convolution of the counts over doubled midranks; where these
/// are too many, normal with mean Σ n(N+1)/2 and variance Σ n·n'/(N(N−1))·Σ(r − r̄)², which holds the correction for ties.
///
/// # Errors
/// No stratum, a stratum with an empty arm, or a value that is NaN.
pub fn stratified_rank_sum(strata: &[(Vec<f64>, Vec<f64>)]) -> Result<RankSum, NotComputed> {
    if strata.is_empty() {
        return Err(NotComputed::because("no stratum"));
    }
    let mut ranked = Vec::with_capacity(strata.len());
    for (first, second) in strata {
        if first.is_empty() || second.is_empty() {
            return Err(NotComputed::because("an arm without sessions"));
        }
        if first.iter().chain(second).any(|value| value.is_nan()) {
            return Err(NotComputed::because("a value is not a number"));
        }
        ranked.push(Ranked::new(first, second));
    }
    let (less, greater, flags) = if steps(&ranked) <= MOST_STEPS {
        let (less, greater) = counted(&ranked);
        (less, greater, Vec::new())
    } else {
        let (less, greater) = approximate(&ranked);
        (less, greater, vec![RankSumFlag::NormalApproximation])
    };
    Ok(RankSum {
        two_sided: PValue::two_sided(&less, &greater),
        less,
        greater,
        flags,
    })
}

/// One stratum as doubled midranks.
struct Ranked {
    /// Of all values, sorted.
    ranks: Vec<usize>,
    /// Number of the first arm's values.
    size: usize,
    /// The first arm's sum.
    observed: usize,
    /// The largest sum of as many ranks.
    most: usize,
}

impl Ranked {
    fn new(first: &[f64], second: &[f64]) -> Self {
        let mut values: Vec<(f64, bool)> = first
            .iter()
            .map(|value| (*value, true))
            .chain(second.iter().map(|value| (*value, false)))
            .collect();
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (mut ranks, mut observed) = (Vec::with_capacity(values.len()), 0);
        for group in values.chunk_by(|one, other| one.0 == other.0) {
            let rank = 2 * ranks.len() + group.len() + 1;
            ranks.extend(group.iter().map(|_| rank));
            observed += rank * group.iter().filter(|(_, own)| *own).count();
        }
        let most = ranks[second.len()..].iter().sum();
        Self {
            ranks,
            size: first.len(),
            observed,
            most,
        }
    }

    /// The number of subsets of as many ranks, by their sum; exact up to 2^53.
    fn ways(&self) -> Vec<f64> {
        // ways[j][s]: subsets of size j with sum s.
        let mut ways = vec![vec![0.0; self.most + 1]; self.size + 1];
        ways[0][0] = 1.0;
        for &rank in &self.ranks {
            for size in (1..=self.size).rev() {
                let (smaller, larger) = ways.split_at_mut(size);
                for sum in rank..=self.most {
                    larger[0][sum] += smaller[size - 1][sum - rank];
                }
            }
        }
        ways.pop().unwrap_or_default()
    }
}

/// Additions that the exact count takes, as a float.
fn steps(strata: &[Ranked]) -> f64 {
    let mut reached = 1.0;
    let mut steps = 0.0;
    for stratum in strata {
        let length = stratum.most as f64 + 1.0;
        steps += stratum.ranks.len() as f64 * stratum.size as f64 * length + reached * length;
        reached += length;
    }
    steps
}

/// Counts the assignments with a sum up to, and from, the observed one.
fn counted(strata: &[Ranked]) -> (PValue, PValue) {
    let ways: Vec<Vec<f64>> = strata.iter().map(Ranked::ways).collect();
    let totals: Vec<f64> = ways.iter().map(|ways| ways.iter().sum()).collect();
    let total: f64 = totals.iter().product();
    let whole = total < EXACT;
    let mut all = vec![1.0];
    for (ways, total) in ways.iter().zip(&totals) {
        // Beyond whole numbers, shares stand in for counts, so that nothing overflows.
        let unit = if whole { 1.0 } else { *total };
        let mut next = vec![0.0; all.len() + ways.len() - 1];
        for (offset, count) in ways.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            for (sum, before) in all.iter().enumerate() {
                next[sum + offset] += before * (count / unit);
            }
        }
        all = next;
    }
    let observed: usize = strata.iter().map(|stratum| stratum.observed).sum();
    let share = |counts: &[f64]| {
        let count: f64 = counts.iter().sum();
        if whole {
            PValue::exact(count as u64, total as u64)
        } else {
            PValue {
                exact: true,
                ..PValue::from_distribution(count)
            }
        }
    };
    (share(&all[..=observed]), share(&all[observed..]))
}

fn approximate(strata: &[Ranked]) -> (PValue, PValue) {
    let (mut excess, mut variance) = (0.0, 0.0);
    for stratum in strata {
        let (n, all) = (stratum.size as f64, stratum.ranks.len() as f64);
        let centre = all + 1.0;
        excess += stratum.observed as f64 - n * centre;
        let squares: f64 = stratum
            .ranks
            .iter()
            .map(|rank| (*rank as f64 - centre).powi(2))
            .sum();
        variance += n * (all - n) / (all * (all - 1.0)) * squares;
    }
    if variance <= 0.0 {
        return (
            PValue::from_distribution(1.0),
            PValue::from_distribution(1.0),
        );
    }
    let z = excess / variance.sqrt();
    (
        PValue::from_distribution(normal_lower_tail(z)),
        PValue::from_distribution(normal_lower_tail(-z)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::two_sample::{Alternative, rank_sum};

    #[test]
    fn one_stratum_is_the_rank_sum_test_with_its_integers() {
        let never = f64::INFINITY;
        let (first, second) = (vec![3.0, never, 5.0, 5.0], vec![5.0, 7.0, never, 9.0, 1.0]);
        let found = stratified_rank_sum(&[(first.clone(), second.clone())]).unwrap();
        for (p, alternative) in [
            (&found.less, Alternative::Less),
            (&found.greater, Alternative::Greater),
            (&found.two_sided, Alternative::TwoSided),
        ] {
            assert_eq!(*p, rank_sum(&first, &second, alternative).unwrap());
        }
    }

    #[test]
    fn shares_of_large_designs_agree_with_the_normal_approximation() {
        let strata: Vec<(Vec<f64>, Vec<f64>)> = (0..20)
            .map(|k| {
                let draw = |n: usize| ((n * 37 + k * 11) % 23) as f64;
                (
                    (0..8).map(|n| draw(n) + 2.0).collect(),
                    (8..16).map(draw).collect(),
                )
            })
            .collect();
        let found = stratified_rank_sum(&strata).unwrap();
        assert!(found.less.exact && found.less.count.is_none() && found.flags.is_empty());
        let ranked: Vec<Ranked> = strata
            .iter()
            .map(|(one, two)| Ranked::new(one, two))
            .collect();
        let (less, greater) = approximate(&ranked);
        assert!((found.less.value - less.value).abs() < 0.01);
        assert!((found.greater.value - greater.value).abs() < 0.01);
    }
}
