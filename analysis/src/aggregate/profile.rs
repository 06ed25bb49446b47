//! Knows score profiles: how much of the sessions, or of the malfunctions, lies above each threshold.
//! Must not know other aggregates.
//! Start at `score_profile`.

use rand_core::RngCore;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::centre::{filled, means};
use crate::bootstrap::{Drawn, ENOUGH_SESSIONS, ONE_SESSION, Options, Resamples, percentile};
use crate::computed::{Computed, NotComputed};
use crate::estimate::IntervalFlag;
use crate::randomness::CHUNK;

/// Resamples that are counted side by side.
const BLOCK: usize = 32;

/// A share for each threshold, with a pointwise band.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The thresholds τ, as given.
    pub thresholds: Vec<f64>,
    /// The share above each threshold.
    pub shares: Vec<f64>,
    /// Lower ends of the percentile intervals of each share by itself; absent where a cell has one session.
    pub low: Computed<Vec<f64>>,
    /// Upper ends.
    pub high: Computed<Vec<f64>>,
    /// Nominal coverage of each interval by itself.
    pub level: f64,
    /// What a reader must know before trusting the bands.
    pub flags: Vec<IntervalFlag>,
}

/// Both profiles of a method, with bands from the same resamples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profiles {
    /// Shares of sessions.
    pub score: Profile,
    /// Shares of malfunctions.
    pub average_score: Profile,
}

/// K⁻¹Σ_k of the share of sessions with Y > τ, for each τ (the performance profile of Agarwal et al. 2021).
/// `cells[k]` are the scores of malfunction k; cells without sessions are left out.
///
/// # Errors
/// No session.
pub fn score_profile<C: AsRef<[f64]>>(
    cells: &[C],
    thresholds: &[f64],
) -> Result<Vec<f64>, NotComputed> {
    let cells = filled(cells)?;
    let share = |cell: &&[f64], threshold: f64| {
        cell.iter().filter(|score| **score > threshold).count() as f64 / cell.len() as f64
    };
    Ok(thresholds
        .iter()
        .map(|threshold| {
            let shares: f64 = cells.iter().map(|cell| share(cell, *threshold)).sum();
            shares / cells.len() as f64
        })
        .collect())
}

/// The share of malfunctions whose cell mean lies above τ, for each τ.
///
/// # Errors
/// No session.
pub fn average_score_profile<C: AsRef<[f64]>>(
    cells: &[C],
    thresholds: &[f64],
) -> Result<Vec<f64>, NotComputed> {
    let means = means(&filled(cells)?);
    Ok(thresholds
        .iter()
        .map(|threshold| {
            let above = means.iter().filter(|mean| lies_above(**mean, *threshold));
            above.count() as f64 / means.len() as f64
        })
        .collect())
}

/// Whether a mean lies above a threshold; one that equals it but for rounding does not.
fn lies_above(mean: f64, threshold: f64) -> bool {
    mean > threshold + 1e-12 * threshold.abs().max(1.0)
}

/// Both profiles with pointwise percentile bands from one set of stratified resamples.
///
/// # Errors
/// No session, a level outside (0, 1), or no resamples.
pub fn profiles(
    cells: &[Vec<f64>],
    thresholds: &[f64],
    level: f64,
    resamples: u64,
    rng: &mut impl RngCore,
) -> Result<Profiles, NotComputed> {
    let options = Options {
        level,
        resamples,
        ..Options::default()
    };
    options.check()?;
    let cells = filled(cells)?;
    let bins = Bins::new(&cells, thresholds);
    let columns = Resamples::of_one_key(&cells, resamples, rng).columns(
        2 * thresholds.len(),
        || (bins.scratch(), vec![0.0; cells.len() * CHUNK]),
        |(table, means), drawn, columns| {
            for (cell, scores) in cells.iter().enumerate() {
                drawn.means(cell, scores, &mut means[cell * CHUNK..(cell + 1) * CHUNK]);
            }
            let (score, average) = columns.split_at_mut(thresholds.len());
            bins.of_chunk(table, drawn, score);
            averages_above(means, thresholds, average);
        },
    );
    let (score, average) = columns.split_at(thresholds.len());
    Ok(Profiles {
        score: Profile::new(
            &cells,
            thresholds,
            score_profile(&cells, thresholds)?,
            score,
            level,
        ),
        average_score: Profile::new(
            &cells,
            thresholds,
            average_score_profile(&cells, thresholds)?,
            average,
            level,
        ),
    })
}

impl Profile {
    /// Joins shares with the bands that their replicates (`[threshold][resample]`) give.
    pub(super) fn new(
        cells: &[&[f64]],
        thresholds: &[f64],
        shares: Vec<f64>,
        replicates: &[Vec<f64>],
        level: f64,
    ) -> Self {
        let smallest = cells.iter().map(|cell| cell.len()).min().unwrap_or(0);
        let absent = || Computed::absent(ONE_SESSION);
        let (mut low, mut high, mut flags) = (absent(), absent(), Vec::new());
        if smallest >= 2 {
            let ends: Vec<(f64, f64)> = shares
                .par_iter()
                .zip(replicates)
                .map(|(share, replicates)| {
                    let interval = percentile(*share, replicates, level);
                    (interval.low, interval.high)
                })
                .collect();
            low = Computed::Value(ends.iter().map(|(low, _)| *low).collect());
            high = Computed::Value(ends.iter().map(|(_, high)| *high).collect());
            if smallest < ENOUGH_SESSIONS {
                flags.push(IntervalFlag::UndercoversBelowTen);
            }
        }
        Self {
            thresholds: thresholds.to_vec(),
            shares,
            low,
            high,
            level,
            flags,
        }
    }
}

/// The share of cell means above each threshold in each resample; `means` is `[cell · CHUNK + resample]`.
pub(super) fn averages_above(means: &[f64], thresholds: &[f64], columns: &mut [Vec<f64>]) {
    for (threshold, column) in thresholds.iter().zip(columns) {
        column.fill(0.0);
        let mut cells = 0.0;
        for means in means.chunks_exact(CHUNK) {
            cells += 1.0;
            for (slot, mean) in column.iter_mut().zip(means) {
                *slot += f64::from(u8::from(lies_above(*mean, *threshold)));
            }
        }
        column.iter_mut().for_each(|slot| *slot /= cells);
    }
}

/// Sorts sessions by how many thresholds lie below them; a resample's shares are then sums over few bins.
pub(super) struct Bins {
    /// Places of the thresholds in ascending order.
    order: Vec<usize>,
    /// `[cell][session]`: the number of thresholds below its score, times `BLOCK`.
    sessions: Vec<Vec<usize>>,
    /// n/(K·N_k) of each cell, exact where all cells have as many sessions.
    weights: Vec<f64>,
    /// n.
    count: f64,
}

impl Bins {
    /// Sorts the sessions of cells, none of which is empty.
    pub(super) fn new(cells: &[&[f64]], thresholds: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..thresholds.len()).collect();
        order.sort_by(|one, two| thresholds[*one].total_cmp(&thresholds[*two]));
        let count: usize = cells.iter().map(|cell| cell.len()).sum();
        let bin = |score: &f64| order.partition_point(|place| thresholds[*place] < *score) * BLOCK;
        Self {
            sessions: cells
                .iter()
                .map(|cell| cell.iter().map(bin).collect())
                .collect(),
            weights: cells
                .iter()
                .map(|cell| count as f64 / (cells.len() * cell.len()) as f64)
                .collect(),
            count: count as f64,
            order,
        }
    }

    /// Room for the weights of every bin in a block of resamples.
    pub(super) fn scratch(&self) -> Vec<f64> {
        vec![0.0; (self.order.len() + 1) * BLOCK]
    }

    /// The share of sessions above each threshold in each resample of a chunk.
    pub(super) fn of_chunk(&self, table: &mut [f64], drawn: &Drawn, columns: &mut [Vec<f64>]) {
        for start in (0..drawn.replicates()).step_by(BLOCK) {
            let size = BLOCK.min(drawn.replicates() - start);
            table.fill(0.0);
            for (cell, (bins, weight)) in self.sessions.iter().zip(&self.weights).enumerate() {
                for slot in 0..size {
                    for session in drawn.row(cell, start + slot) {
                        table[bins[*session as usize] + slot] += weight;
                    }
                }
            }
            let mut above = [0.0; BLOCK];
            let bins = table.chunks_exact(BLOCK).skip(1);
            for (place, weights) in self.order.iter().zip(bins).rev() {
                for (above, weight) in above.iter_mut().zip(weights) {
                    *above += weight;
                }
                let column = &mut columns[*place][start..start + size];
                for (slot, above) in column.iter_mut().zip(above) {
                    *slot = above / self.count;
                }
            }
        }
    }
}
