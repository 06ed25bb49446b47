//! Knows the p-value of the primary test of H3 (permutation of means, `less`), as fast as thousands of data sets need it.
//! Must not know how data sets are made.
//! Start at `Comparison`.

use rand_chacha::ChaCha8Rng;

use crate::randomness::below;
use crate::two_sample::{Effort, assignments};

/// More assignments than this are worth a glance before they are counted.
const GLANCE: f64 = 50_000.0;
/// Draws of a glance.
const GLANCE_DRAWS: u64 = 400;

/// One cell against its baseline. Both arms hold a session.
#[derive(Debug)]
pub(super) struct Comparison {
    /// The scores of the method, then those of the baseline.
    pooled: Vec<f64>,
    size: usize,
    /// Sums up to this one are as extreme as the observed one.
    limit: f64,
    /// C(N + N0, N).
    assignments: f64,
}

impl Comparison {
    pub(super) fn new(method: &[f64], baseline: &[f64]) -> Self {
        let pooled: Vec<f64> = method.iter().chain(baseline).copied().collect();
        let largest = pooled
            .iter()
            .fold(1.0_f64, |largest, value| largest.max(value.abs()));
        Self {
            size: method.len(),
            limit: method.iter().sum::<f64>() + 1e-9 * largest,
            assignments: assignments(method.len() as u64, baseline.len() as u64),
            pooled,
        }
    }

    /// Whether p is known to lie above `ceiling` without counting. With equal arms, swapping them mirrors the distribution,
    /// so that half of it lies at or below its centre. Where counting would take long, a few draws are made: 30 hits in a
    /// number of draws that lets a third of them be expected at the ceiling (fewer than one in a million) settle it.
    pub(super) fn is_above(&self, ceiling: f64, rng: &mut ChaCha8Rng) -> bool {
        let (method, baseline) = self.pooled.split_at(self.size);
        let sums: [f64; 2] = [method.iter().sum(), baseline.iter().sum()];
        if method.len() == baseline.len() && ceiling < 0.5 && sums[0] >= sums[1] {
            return true;
        }
        if self.assignments <= GLANCE {
            return false;
        }
        let mut shuffled = self.pooled.clone();
        let mut hits = 0_u64;
        (1..=GLANCE_DRAWS).any(|drawn| {
            hits += u64::from(self.draw(&mut shuffled, rng));
            hits >= 30 && hits as f64 > 3.0 * ceiling * drawn as f64
        })
    }

    /// The p-value of `two_sample::permutation_mean`, alternative `less`, or 1 where it lies above `ceiling`.
    ///
    /// Up to `effort.exact_limit` assignments are counted without listing them: the subset sums of two halves of the pooled
    /// scores, sorted by merging and grouped by size, are matched against each other, which takes 2^((N + N0)/2) steps
    /// instead of C(N + N0, N) (Horowitz and Sahni 1974). Beyond, draws end as soon as p must lie above `ceiling`.
    pub(super) fn p(&self, ceiling: f64, effort: Effort, rng: &mut ChaCha8Rng) -> f64 {
        if self.assignments <= effort.exact_limit as f64 {
            let (first, second) = self.pooled.split_at(self.pooled.len() / 2);
            let (first, second) = (subset_sums(first), subset_sums(second));
            return pairs_up_to(&first, &second, self.size, self.limit) as f64 / self.assignments;
        }
        let mut shuffled = self.pooled.clone();
        let enough = ceiling * (effort.draws + 1) as f64;
        let mut hits = 0_u64;
        for drawn in 1..=effort.draws {
            hits += u64::from(self.draw(&mut shuffled, rng));
            let many = hits >= 100 && hits as f64 > 2.0 * ceiling * drawn as f64;
            if many || hits as f64 > enough {
                return 1.0;
            }
        }
        (1 + hits) as f64 / (effort.draws + 1) as f64
    }

    /// Draws one assignment, and tells whether it is as extreme as the observed one.
    fn draw(&self, shuffled: &mut [f64], rng: &mut ChaCha8Rng) -> bool {
        let mut sum = 0.0;
        for place in 0..self.size {
            let left = u32::try_from(shuffled.len() - place).expect("samples are small");
            shuffled.swap(place, place + below(rng, left) as usize);
            sum += shuffled[place];
        }
        sum <= self.limit
    }
}

/// `[j]`: the sums of all subsets of j values, ascending.
fn subset_sums(values: &[f64]) -> Vec<Vec<f64>> {
    let mut sums = vec![Vec::new(); values.len() + 1];
    sums[0].push(0.0);
    for (seen, &value) in values.iter().enumerate() {
        for size in (1..=seen + 1).rev() {
            let (smaller, larger) = sums.split_at_mut(size);
            larger[0] = merged(&larger[0], &smaller[size - 1], value);
        }
    }
    sums
}

/// Merges an ascending list with another whose values are all raised by `added`.
fn merged(first: &[f64], second: &[f64], added: f64) -> Vec<f64> {
    let mut merged = Vec::with_capacity(first.len() + second.len());
    let (mut i, mut j) = (0, 0);
    while i < first.len() && j < second.len() {
        let raised = second[j] + added;
        if first[i] <= raised {
            merged.push(first[i]);
            i += 1;
        } else {
            merged.push(raised);
            j += 1;
        }
    }
    merged.extend_from_slice(&first[i..]);
    merged.extend(second[j..].iter().map(|value| value + added));
    merged
}

/// Counts pairs of subsets with `size` values together whose sums add up to at most `limit`.
fn pairs_up_to(first: &[Vec<f64>], second: &[Vec<f64>], size: usize, limit: f64) -> u64 {
    let mut count = 0;
    for (taken, ascending) in first.iter().enumerate().take(size + 1) {
        let Some(others) = second.get(size - taken) else {
            continue;
        };
        let mut fitting = others.len();
        for sum in ascending {
            while fitting > 0 && sum + others[fitting - 1] > limit {
                fitting -= 1;
            }
            if fitting == 0 {
                break;
            }
            count += fitting as u64;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::SeedableRng;

    use super::*;
    use crate::two_sample::{self, Alternative};

    const EFFORT: Effort = Effort {
        exact_limit: 5_000_000,
        draws: 9_999,
    };

    proptest! {
        #[test]
        fn counting_halves_gives_the_p_value_of_listing_all_assignments(
            method in proptest::collection::vec(-4_i8..4, 1..8),
            baseline in proptest::collection::vec(-4_i8..4, 1..8),
        ) {
            let scores = |values: &[i8]| -> Vec<f64> { values.iter().map(|v| f64::from(*v) / 3.0).collect() };
            let (method, baseline) = (scores(&method), scores(&baseline));
            let mut rng = ChaCha8Rng::from_seed([1; 32]);
            let comparison = Comparison::new(&method, &baseline);
            let ours = comparison.p(1.0, EFFORT, &mut rng);
            let listed = two_sample::permutation_mean(&method, &baseline, Alternative::Less, EFFORT, &mut rng);
            prop_assert_eq!(ours, listed.unwrap().value);
            prop_assert!(!comparison.is_above(0.05, &mut rng) || ours > 0.05);
        }
    }

    #[test]
    fn drawing_comes_near_counting_and_gives_up_above_the_ceiling() {
        let method = [0.1, 0.3, 0.2, 0.5, 0.4, 0.05, 0.33, 0.21];
        let baseline = [0.4, 0.6, 0.35, 0.5, 0.7, 0.3, 0.45, 0.2];
        let p = |exact_limit, ceiling| {
            let effort = Effort {
                exact_limit,
                ..EFFORT
            };
            let mut rng = ChaCha8Rng::from_seed([3; 32]);
            Comparison::new(&method, &baseline).p(ceiling, effort, &mut rng)
        };
        let (exact, drawn) = (p(5_000_000, 0.05), p(0, 0.05));
        assert!(exact < 0.05);
        assert!((exact - drawn).abs() < 4.0 * (exact / 10_000.0).sqrt());
        assert_eq!(p(0, exact / 2.0), 1.0);
    }
}
