//! Knows the permutation test of a difference of means.
//! Must not know other statistics.
//! Start at `permutation_mean`.

use rand_core::RngCore;
use rayon::prelude::*;

use super::{Alternative, Effort, assignments, largest, pool};
use crate::computed::NotComputed;
use crate::estimate::PValue;
use crate::randomness::{BoundedDraws, Streams};

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
    // Drawn in any case, so that what follows on the same generator does not depend on the sizes.
    let streams = Streams::draw(rng);
    test(first, second, alternative, effort, &streams)
}

/// Tests many cells, each an independent pair of samples, in parallel; one key per cell is drawn in order.
pub fn permutation_mean_of_cells(
    cells: &[(Vec<f64>, Vec<f64>)],
    alternative: Alternative,
    effort: Effort,
    rng: &mut impl RngCore,
) -> Vec<Result<PValue, NotComputed>> {
    let streams: Vec<Streams> = cells.iter().map(|_| Streams::draw(rng)).collect();
    cells
        .par_iter()
        .zip(&streams)
        .map(|((first, second), streams)| test(first, second, alternative, effort, streams))
        .collect()
}

fn test(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
    effort: Effort,
    streams: &Streams,
) -> Result<PValue, NotComputed> {
    let mut pooled = pool(first, second)?;
    // With the total fixed, a small sum of one arm is a large sum of the other: the smaller arm is dealt.
    let swapped = second.len() < first.len();
    let size = first.len().min(second.len());
    if swapped {
        pooled.rotate_left(first.len());
    }
    let sums = Sums::new(&pooled, size);
    let all = assignments(first.len() as u64, second.len() as u64);
    let exact = all <= effort.exact_limit as f64;
    let halves = exact.then(|| Halves::new(&pooled, size));
    let drawn = (!exact).then(|| draw(&pooled, &sums, effort.draws, streams));
    let at_most = || match (&halves, drawn) {
        (Some(halves), _) => PValue::exact(halves.below(sums.upper, true), halves.total()),
        (None, drawn) => PValue::monte_carlo(drawn.unwrap_or_default()[0], effort.draws),
    };
    let at_least = || match (&halves, drawn) {
        (Some(halves), _) => {
            let total = halves.total();
            PValue::exact(total - halves.below(sums.lower, false), total)
        }
        (None, drawn) => PValue::monte_carlo(drawn.unwrap_or_default()[1], effort.draws),
    };
    Ok(if swapped {
        alternative.choose(at_least, at_most)
    } else {
        alternative.choose(at_most, at_least)
    })
}

/// The observed sum of the dealt arm, with the room within which another sum ties with it.
struct Sums {
    size: usize,
    lower: f64,
    upper: f64,
}

impl Sums {
    fn new(pooled: &[f64], size: usize) -> Self {
        let observed: f64 = pooled[..size].iter().sum();
        let room = 1e-9 * largest(pooled).max(1.0);
        Self {
            size,
            lower: observed - room,
            upper: observed + room,
        }
    }
}

/// Draws with a sum at most, and at least, the observed one.
fn draw(pooled: &[f64], sums: &Sums, draws: u64, streams: &Streams) -> [u64; 2] {
    let places = BoundedDraws::of_shuffle(pooled.len(), sums.size);
    streams
        .replicates(
            usize::try_from(draws).expect("the number of draws fits into memory"),
            || (pooled.to_vec(), vec![0; sums.size]),
            |(values, draws), rng| {
                places.fill(rng, draws);
                let mut sum = 0.0;
                for (place, draw) in draws.iter().enumerate() {
                    values.swap(place, place + *draw as usize);
                    sum += values[place];
                }
                [u64::from(sum <= sums.upper), u64::from(sum >= sums.lower)]
            },
        )
        .into_iter()
        .fold([0; 2], |counts, hit| {
            [counts[0] + hit[0], counts[1] + hit[1]]
        })
}

/// The sums of all subsets of each half of the pooled scores, by size and sorted: every subset of `size` scores is one
/// of `j` in the first half with one of `size − j` in the second, so that 2·2^(n/2) sums stand for C(n, size)
/// (the splitting of Horowitz and Sahni, "Computing partitions with applications to the knapsack problem", 1974).
struct Halves {
    /// `[j]`: sums of j scores of the first half, and of `size − j` of the second.
    pairs: Vec<[Vec<f64>; 2]>,
}

impl Halves {
    fn new(pooled: &[f64], size: usize) -> Self {
        let (first, second) = pooled.split_at(pooled.len() / 2);
        let mut second = subset_sums(second, size);
        let pairs = subset_sums(first, size)
            .into_iter()
            .map(|sums| [sums, second.pop().unwrap_or_default()])
            .collect();
        Self { pairs }
    }

    /// C(n, size).
    fn total(&self) -> u64 {
        self.pairs
            .iter()
            .map(|[first, second]| first.len() as u64 * second.len() as u64)
            .sum()
    }

    /// Counts the subsets with a sum below a limit, or equal to it where `inclusive`.
    fn below(&self, limit: f64, inclusive: bool) -> u64 {
        let within = |sum: f64| {
            if inclusive { sum <= limit } else { sum < limit }
        };
        self.pairs
            .iter()
            .map(|[first, second]| {
                // As the first part grows, fewer second parts stay within.
                let mut fitting = second.len();
                let mut count = 0;
                for sum in first {
                    while fitting > 0 && !within(sum + second[fitting - 1]) {
                        fitting -= 1;
                    }
                    count += fitting as u64;
                }
                count
            })
            .sum()
    }
}

/// Sums of all subsets of 0, 1, …, `most` values, each list sorted.
fn subset_sums(values: &[f64], most: usize) -> Vec<Vec<f64>> {
    let mut sums: Vec<Vec<f64>> = vec![Vec::new(); most + 1];
    sums[0].push(0.0);
    for (seen, &value) in values.iter().enumerate() {
        for size in (0..most.min(seen + 1)).rev() {
            let (smaller, larger) = sums.split_at_mut(size + 1);
            larger[0].extend(smaller[size].iter().map(|sum| sum + value));
        }
    }
    for list in &mut sums {
        list.sort_unstable_by(f64::total_cmp);
    }
    sums
}
