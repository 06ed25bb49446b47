//! Knows the stratified bootstrap: sessions resampled within their cell, and intervals from what comes out.
//! Must not know p-values: none is valid here, and none is offered.
//! Start at `replicates` and `percentile`.

use rand_core::RngCore;

use crate::computed::{Computed, NotComputed};
use crate::estimate::{Interval, IntervalFlag, IntervalMethod};
use crate::moments::{normal_lower_tail, normal_quantile, select_quantile};
use crate::randomness::{Streams, below};

/// Fewer sessions than this in some cell, and a percentile interval is flagged.
pub const ENOUGH_SESSIONS: usize = 10;

/// Resamples every cell with replacement, independently, and applies a statistic to each resample.
/// `cells[c]` are the scores of cell c; the statistic sees cells of the same sizes.
pub fn replicates<T: Send>(
    cells: &[Vec<f64>],
    resamples: u64,
    statistic: impl Fn(&[Vec<f64>]) -> T + Sync,
    rng: &mut impl RngCore,
) -> Vec<T> {
    let resamples = usize::try_from(resamples).expect("the number of resamples fits into memory");
    Streams::draw(rng).replicates(
        resamples,
        || cells.to_vec(),
        |space, rng| {
            for (cell, drawn) in cells.iter().zip(space.iter_mut()) {
                let bound = u32::try_from(cell.len()).expect("cells are small");
                for slot in drawn.iter_mut() {
                    *slot = cell[below(rng, bound) as usize];
                }
            }
            statistic(space)
        },
    )
}

/// As `replicates`, with the resamples given: `index_sets[b][c]` are the sessions of cell c to take.
pub fn replicates_from<T>(
    cells: &[Vec<f64>],
    index_sets: impl IntoIterator<Item = Vec<Vec<usize>>>,
    statistic: impl Fn(&[Vec<f64>]) -> T,
) -> Vec<T> {
    index_sets
        .into_iter()
        .map(|sets| {
            let drawn: Vec<Vec<f64>> = cells
                .iter()
                .zip(sets)
                .map(|(cell, set)| set.into_iter().map(|index| cell[index]).collect())
                .collect();
            statistic(&drawn)
        })
        .collect()
}

/// An interval from `replicates` (not empty) between two probabilities, flagged where all of them are equal.
fn between(
    estimate: f64,
    replicates: &[f64],
    level: f64,
    method: IntervalMethod,
    ends: [f64; 2],
) -> Interval {
    let least = replicates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = replicates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most - least <= 1e-12 * estimate.abs().max(1.0) {
        let flags = vec![IntervalFlag::Degenerate];
        return Interval {
            estimate,
            low: estimate,
            high: estimate,
            level,
            method,
            flags,
        };
    }
    let mut values = replicates.to_vec();
    let [low, high] = ends.map(|probability| select_quantile(&mut values, probability));
    Interval {
        estimate,
        low,
        high,
        level,
        method,
        flags: Vec::new(),
    }
}

fn tails(level: f64) -> [f64; 2] {
    [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
}

/// Percentile interval; `replicates` must not be empty.
pub fn percentile(estimate: f64, replicates: &[f64], level: f64) -> Interval {
    between(
        estimate,
        replicates,
        level,
        IntervalMethod::Percentile,
        tails(level),
    )
}

/// Basic interval [2θ̂ − q_hi, 2θ̂ − q_lo]; `replicates` must not be empty.
pub fn basic(estimate: f64, replicates: &[f64], level: f64) -> Interval {
    let percentile = between(
        estimate,
        replicates,
        level,
        IntervalMethod::Basic,
        tails(level),
    );
    let (low, high) = (
        2.0 * estimate - percentile.high,
        2.0 * estimate - percentile.low,
    );
    Interval {
        low,
        high,
        ..percentile
    }
}

/// The correction of a BCa interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correction {
    /// z0: the bias, in normal units.
    pub bias: f64,
    /// a: the acceleration.
    pub acceleration: f64,
}

impl Correction {
    /// z0 from `replicates`, a from a stratified jackknife: `left_out[k][i]` is the estimate without session i of cell k.
    pub fn new(estimate: f64, replicates: &[f64], left_out: &[Vec<f64>]) -> Self {
        let less = replicates.iter().filter(|value| **value < estimate).count() as f64;
        let equal = replicates
            .iter()
            .filter(|value| **value == estimate)
            .count() as f64;
        let (mut cubes, mut squares) = (0.0, 0.0);
        for cell in left_out {
            let n = cell.len() as f64;
            for value in cell {
                let influence = (n - 1.0) * (estimate - value);
                cubes += influence.powi(3) / n.powi(3);
                squares += influence.powi(2) / n.powi(2);
            }
        }
        Self {
            bias: normal_quantile((less + 0.5 * equal) / replicates.len() as f64),
            acceleration: if squares > 0.0 {
                cubes / squares.powf(1.5) / 6.0
            } else {
                0.0
            },
        }
    }

    /// α' = Φ(z0 + (z0 + z)/(1 − a(z0 + z))) for both ends of a level.
    pub fn probabilities(&self, level: f64) -> [f64; 2] {
        tails(level).map(|tail| {
            let shifted = self.bias + normal_quantile(tail);
            normal_lower_tail(self.bias + shifted / (1.0 - self.acceleration * shifted))
        })
    }
}

/// Applies a statistic without each session in turn: `[k][i]` is its value without session i of cell k, as `Correction::new`
/// takes them. Every cell must have two sessions.
pub fn jackknife(cells: &[Vec<f64>], statistic: impl Fn(&[Vec<f64>]) -> f64) -> Vec<Vec<f64>> {
    (0..cells.len())
        .map(|cell| {
            (0..cells[cell].len())
                .map(|session| {
                    let mut fewer = cells.to_vec();
                    fewer[cell].remove(session);
                    statistic(&fewer)
                })
                .collect()
        })
        .collect()
}

/// Bias-corrected and accelerated interval; percentile ends, flagged, where z0 is infinite.
pub fn bca(estimate: f64, replicates: &[f64], left_out: &[Vec<f64>], level: f64) -> Interval {
    let correction = Correction::new(estimate, replicates, left_out);
    if !correction.bias.is_finite() {
        let mut interval = percentile(estimate, replicates, level);
        if interval.flags.is_empty() {
            interval.flags.push(IntervalFlag::PercentileInstead);
        }
        return interval;
    }
    let ends = correction.probabilities(level);
    between(estimate, replicates, level, IntervalMethod::Bca, ends)
}

/// A statistic's percentile interval over cells of these sizes: absent where a cell has one session, flagged below ten.
pub(crate) fn reported(
    estimate: f64,
    replicates: &[f64],
    level: f64,
    sizes: impl IntoIterator<Item = usize>,
) -> Computed<Interval> {
    let smallest = sizes.into_iter().min().unwrap_or(0);
    if smallest < 2 {
        return Computed::NotComputed(NotComputed::because("a cell has one session"));
    }
    let mut interval = percentile(estimate, replicates, level);
    if smallest < ENOUGH_SESSIONS {
        interval.flags.push(IntervalFlag::UndercoversBelowTen);
    }
    Computed::Value(interval)
}
