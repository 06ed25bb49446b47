//! Knows the interquartile mean of all sessions, each malfunction with equal weight, and its value in each resample.
//! Must not know intervals.
//! Start at `iqm`.

use super::centre::filled;
use crate::bootstrap::Drawn;
use crate::computed::{NotComputed, finite};

/// Resamples that are walked side by side; a table of 90 sessions then fits into the nearest cache.
const BLOCK: usize = 32;

/// Interquartile mean: all n sessions sorted with weight 1/(K·N_k), weight ⌊n/4⌋/n dropped from each end (a session on the
/// border keeps the rest of its weight), weighted mean of what is left. For equal N it is the mean without the ⌊n/4⌋
/// lowest and highest sessions (Agarwal et al. 2021). Cells without sessions are left out.
///
/// # Errors
/// No session, or scores too large for floating point.
pub fn iqm<C: AsRef<[f64]>>(cells: &[C]) -> Result<f64, NotComputed> {
    let cells = filled(cells)?;
    let ranks = Ranks::new(&cells);
    let mut weights = vec![0.0; ranks.values.len()];
    for (own, weight) in ranks.sessions.iter().zip(&ranks.weights) {
        for rank in own {
            weights[rank / BLOCK] += weight;
        }
    }
    let (mut seen, mut kept, mut sum) = (0.0, ranks.low, 0.0);
    for (value, weight) in ranks.values.iter().zip(weights) {
        seen += weight;
        let within = within(seen, ranks.low, ranks.high);
        sum += value * (within - kept);
        kept = within;
    }
    finite(sum / (ranks.high - ranks.low))
}

/// Limits a number to a range. Plain comparisons become one instruction each, which `clamp` does not.
#[inline]
fn within(number: f64, low: f64, high: f64) -> f64 {
    let raised = if number < low { low } else { number };
    if raised > high { high } else { raised }
}

/// All sessions of a method in order of their scores. A resample takes each of them some number of times, and its
/// interquartile mean is read off a walk along the scores: nothing is sorted again.
pub(super) struct Ranks {
    /// The distinct scores, sorted.
    values: Vec<f64>,
    /// `[cell][session]`: the rank of its score, times `BLOCK`.
    sessions: Vec<Vec<usize>>,
    /// n/(K·N_k) of each cell: 1 where all cells have as many sessions, so that sums of weights are exact there.
    weights: Vec<f64>,
    /// ⌊n/4⌋: the weight dropped from the lower end.
    low: f64,
    /// n − ⌊n/4⌋.
    high: f64,
}

impl Ranks {
    /// Ranks the sessions of cells, none of which is empty.
    pub(super) fn new(cells: &[&[f64]]) -> Self {
        let mut values: Vec<f64> = cells.iter().copied().flatten().copied().collect();
        let count = values.len();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let rank = |score: &f64| values.partition_point(|value| value < score) * BLOCK;
        let sessions = cells
            .iter()
            .map(|cell| cell.iter().map(rank).collect())
            .collect();
        let weights = cells
            .iter()
            .map(|cell| count as f64 / (cells.len() * cell.len()) as f64)
            .collect();
        let dropped = count / 4;
        Self {
            sessions,
            weights,
            low: dropped as f64,
            high: (count - dropped) as f64,
            values,
        }
    }

    /// Room for the weights of every score in a block of resamples.
    pub(super) fn scratch(&self) -> Vec<f64> {
        vec![0.0; self.values.len() * BLOCK]
    }

    /// The interquartile mean of each resample of a chunk.
    pub(super) fn of_chunk(&self, table: &mut [f64], drawn: &Drawn, out: &mut [f64]) {
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            table.fill(0.0);
            for (cell, (ranks, weight)) in self.sessions.iter().zip(&self.weights).enumerate() {
                for slot in 0..out.len() {
                    for session in drawn.row(cell, block * BLOCK + slot) {
                        table[ranks[*session as usize] + slot] += weight;
                    }
                }
            }
            self.walk(table, out);
        }
    }

    fn walk(&self, table: &[f64], out: &mut [f64]) {
        let (mut seen, mut kept) = ([0.0; BLOCK], [self.low; BLOCK]);
        let mut sums = [0.0; BLOCK];
        for (value, weights) in self.values.iter().zip(table.chunks_exact(BLOCK)) {
            for slot in 0..BLOCK {
                seen[slot] += weights[slot];
                let within = within(seen[slot], self.low, self.high);
                sums[slot] += value * (within - kept[slot]);
                kept[slot] = within;
            }
        }
        for (slot, sum) in out.iter_mut().zip(sums) {
            *slot = sum / (self.high - self.low);
        }
    }
}
