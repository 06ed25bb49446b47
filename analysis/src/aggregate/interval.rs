//! Knows the aggregates of one method by name, and their bootstrap intervals.
//! Must not know strata.
//! Start at `aggregate_interval`.

use rand_core::RngCore;
use serde::{Deserialize, Serialize};

use super::centre::{filled, mean_of_cells, median, median_of_cells, optimality_gap, shortfalls};
use super::iqm::{Ranks, iqm};
use crate::bootstrap::{ONE_SESSION, Options, Over, Resamples, jackknife, over_malfunctions};
use crate::computed::NotComputed;
use crate::estimate::Interval;
use crate::moments::mean;
use crate::randomness::CHUNK;

/// An aggregate of one method over its malfunctions, each malfunction with equal weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Mean of the cell means.
    Mean,
    /// Median of the cell means.
    Median,
    /// Interquartile mean of all sessions.
    Iqm,
    /// Mean shortfall below the target γ.
    OptimalityGap,
}

/// Computes one aggregate of a method's cells by malfunction; `target` is γ of the optimality gap, which others ignore.
///
/// # Errors
/// No session, or scores too large for floating point.
pub fn estimate<C: AsRef<[f64]>>(
    cells: &[C],
    statistic: Statistic,
    target: f64,
) -> Result<f64, NotComputed> {
    match statistic {
        Statistic::Mean => mean_of_cells(cells),
        Statistic::Median => median_of_cells(cells),
        Statistic::Iqm => iqm(cells),
        Statistic::OptimalityGap => optimality_gap(cells, target),
    }
}

/// Computes one aggregate with its bootstrap interval.
///
/// # Errors
/// No session, a cell with one session (over sessions), one malfunction (over malfunctions), options that
/// `Options::check` refuses, or scores too large for floating point.
pub fn aggregate_interval<C: AsRef<[f64]>>(
    cells: &[C],
    statistic: Statistic,
    target: f64,
    options: &Options,
    rng: &mut impl RngCore,
) -> Result<Interval, NotComputed> {
    options.check()?;
    let cells = filled(cells)?;
    let observed = estimate(&cells, statistic, target)?;
    // Beyond the range of floating point a resample has no value either; the interval is then refused as a whole.
    let of = |cells: &[&[f64]]| estimate(cells, statistic, target).unwrap_or(f64::NAN);
    match options.over {
        Over::Sessions => {
            let smallest = cells.iter().map(|cell| cell.len()).min().unwrap_or(0);
            if smallest < 2 {
                return Err(NotComputed::because(ONE_SESSION));
            }
            let resamples = Resamples::of_one_key(&cells, options.resamples, rng);
            let replicates = replicates(&cells, statistic, target, &resamples);
            let left_out = || {
                let owned: Vec<Vec<f64>> = cells.iter().map(|cell| cell.to_vec()).collect();
                jackknife(&owned, |cells| {
                    of(&cells.iter().map(Vec::as_slice).collect::<Vec<_>>())
                })
            };
            options.interval(observed, &replicates, left_out, smallest)
        }
        Over::Malfunctions => {
            if cells.len() < 2 {
                return Err(NotComputed::because("one malfunction"));
            }
            let malfunctions: Vec<Vec<&[f64]>> = cells.iter().map(|cell| vec![*cell]).collect();
            let replicates = over_malfunctions(
                &malfunctions,
                options.resamples,
                |drawn| {
                    of(&drawn
                        .iter()
                        .map(|arms| arms[0].as_slice())
                        .collect::<Vec<_>>())
                },
                rng,
            );
            let without = |left_out: usize| {
                let mut rest = cells.clone();
                rest.remove(left_out);
                of(&rest)
            };
            let left_out = || vec![(0..cells.len()).map(without).collect()];
            options.interval(observed, &replicates, left_out, cells.len())
        }
    }
}

/// The statistic in each stratified resample of cells, none of which is empty.
fn replicates(
    cells: &[&[f64]],
    statistic: Statistic,
    target: f64,
    resamples: &Resamples,
) -> Vec<f64> {
    let mut columns = match statistic {
        Statistic::Iqm => {
            let ranks = Ranks::new(cells);
            resamples.columns(
                1,
                || ranks.scratch(),
                |table, drawn, columns| ranks.of_chunk(table, drawn, &mut columns[0]),
            )
        }
        Statistic::Mean | Statistic::Median | Statistic::OptimalityGap => {
            let scores: Vec<Vec<f64>> = cells
                .iter()
                .map(|cell| match statistic {
                    Statistic::OptimalityGap => shortfalls(cell, target),
                    _ => cell.to_vec(),
                })
                .collect();
            let centre: fn(&mut [f64]) -> f64 = match statistic {
                Statistic::Median => median,
                _ => |means| mean(means),
            };
            resamples.columns(
                1,
                || (vec![0.0; scores.len() * CHUNK], vec![0.0; scores.len()]),
                |(means, own), drawn, columns| {
                    for (cell, scores) in scores.iter().enumerate() {
                        drawn.means(cell, scores, &mut means[cell * CHUNK..(cell + 1) * CHUNK]);
                    }
                    across(means, own, centre, &mut columns[0]);
                },
            )
        }
    };
    columns.pop().unwrap_or_default()
}

/// Applies a function to the cell means of each resample; `means` is `[cell · CHUNK + resample]`.
pub(super) fn across(
    means: &[f64],
    own: &mut [f64],
    centre: impl Fn(&mut [f64]) -> f64,
    column: &mut [f64],
) {
    for (replicate, slot) in column.iter_mut().enumerate() {
        for (own, means) in own.iter_mut().zip(means.chunks_exact(CHUNK)) {
            *own = means[replicate];
        }
        *slot = centre(own);
    }
}
