//! Knows weighted sums of cell means, such as a lift or a mean lift, with bootstrap and Welch intervals.
//! Must not know what is contrasted with what.
//! Start at `ResampledCells`.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::bootstrap::{self, ONE_SESSION, Resamples};
use crate::computed::{Computed, NotComputed, finite};
use crate::estimate::{Interval, IntervalFlag, IntervalMethod};
use crate::lift::Difference;
use crate::moments::{mean, t_quantile, variance};
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, generator};
use crate::scale::Scale;
use crate::score_table::Stratum;

/// Every cell of a stratum on one scale, with the means of its resamples. A cell's resamples depend on its own name
/// alone (`cell/{malfunction}/{method}`), and not on which other cells there are.
pub struct ResampledCells {
    level: f64,
    cells: BTreeMap<(String, String), ResampledCell>,
}

struct ResampledCell {
    scores: Vec<f64>,
    means: Vec<f64>,
}

/// One term of a contrast: (weight, malfunction, method).
pub type Term<'a> = (f64, &'a str, &'a str);

impl ResampledCells {
    /// Resamples every cell that has sessions, `plan.resamples` times.
    pub fn new(
        stratum: &Stratum,
        scale: Scale,
        plan: &AnalysisPlan,
        seeds: &(impl NamedSeeds + Sync),
    ) -> Self {
        let filled: Vec<(&str, &str, Vec<f64>)> = stratum
            .cells()
            .map(|(malfunction, method, cell)| {
                (malfunction, method, cell.scores(scale, plan.winsor_floor))
            })
            .filter(|(_, _, scores)| !scores.is_empty())
            .collect();
        let cells = filled
            .into_par_iter()
            .map(|(malfunction, method, scores)| {
                let mut rng = generator(seeds, &format!("cell/{malfunction}/{method}"));
                let cell = [scores];
                let means = Resamples::of_one_key(&cell, plan.resamples, &mut rng)
                    .columns(
                        1,
                        || (),
                        |(), drawn, columns| {
                            drawn.means(0, &cell[0], &mut columns[0]);
                        },
                    )
                    .pop()
                    .unwrap_or_default();
                let [scores] = cell;
                (
                    (malfunction.to_owned(), method.to_owned()),
                    ResampledCell { scores, means },
                )
            })
            .collect();
        Self {
            level: plan.confidence,
            cells,
        }
    }

    /// The scores of a cell; empty where it has no session.
    pub fn scores(&self, malfunction: &str, method: &str) -> &[f64] {
        self.get(malfunction, method)
            .map_or(&[], |cell| &cell.scores)
    }

    /// The means of a cell's resamples; empty where it has no session.
    pub fn means(&self, malfunction: &str, method: &str) -> &[f64] {
        self.get(malfunction, method)
            .map_or(&[], |cell| &cell.means)
    }

    fn get(&self, malfunction: &str, method: &str) -> Option<&ResampledCell> {
        self.cells.get(&(malfunction.to_owned(), method.to_owned()))
    }

    /// The weighted sum of the means of cells, with its intervals; `malfunctions` is passed through.
    ///
    /// # Errors
    /// A cell without sessions, or scores too large for floating point.
    pub fn contrast(
        &self,
        terms: &[Term<'_>],
        malfunctions: u64,
    ) -> Result<Difference, NotComputed> {
        let mut parts = Vec::with_capacity(terms.len());
        for &(weight, malfunction, method) in terms {
            let cell = self.get(malfunction, method).ok_or_else(|| {
                NotComputed::because(format!("no session of {method} on {malfunction}"))
            })?;
            parts.push((weight, cell));
        }
        let estimate = finite(
            parts
                .iter()
                .map(|(weight, cell)| weight * mean(&cell.scores))
                .sum(),
        )?;
        let resamples = parts.first().map_or(0, |(_, cell)| cell.means.len());
        let replicates: Vec<f64> = (0..resamples)
            .map(|index| {
                parts
                    .iter()
                    .map(|(weight, cell)| weight * cell.means[index])
                    .sum()
            })
            .collect();
        let sizes = parts.iter().map(|(_, cell)| cell.scores.len());
        let percentile = bootstrap::reported(estimate, &replicates, self.level, sizes);
        let samples: Vec<(f64, &[f64])> = parts
            .iter()
            .map(|(weight, cell)| (*weight, cell.scores.as_slice()))
            .collect();
        let welch = satterthwaite(estimate, &samples, 0.0, self.level);
        Ok(Difference {
            estimate,
            malfunctions,
            percentile,
            welch,
        })
    }
}

/// Normal-theory interval of a weighted sum of means with Satterthwaite degrees of freedom; `extra` is a known variance
/// that is added (that of the references).
pub fn satterthwaite(
    estimate: f64,
    samples: &[(f64, &[f64])],
    extra: f64,
    level: f64,
) -> Computed<Interval> {
    if samples.iter().any(|(_, sample)| sample.len() < 2) {
        return Computed::absent(ONE_SESSION);
    }
    let (mut total, mut denominator) = (0.0, 0.0);
    for (weight, sample) in samples {
        let term = weight * weight * variance(sample) / sample.len() as f64;
        total += term;
        denominator += term * term / (sample.len() - 1) as f64;
    }
    let method = IntervalMethod::Welch;
    let all = total + extra;
    // Their squares are needed below.
    if let Err(reason) = finite(all * all + denominator) {
        return Computed::NotComputed(reason);
    }
    if all <= 1e-24 {
        let flags = vec![IntervalFlag::NoVariation];
        let (low, high) = (estimate, estimate);
        return Computed::Value(Interval {
            estimate,
            low,
            high,
            level,
            method,
            flags,
        });
    }
    // A known variance has no degrees of freedom to lose; without any other variance the normal limit remains.
    let df = if denominator > 0.0 {
        (all * all / denominator).min(1e9)
    } else {
        1e9
    };
    let half = t_quantile((1.0 + level) / 2.0, df) * all.sqrt();
    Interval {
        estimate,
        low: estimate - half,
        high: estimate + half,
        level,
        method,
        flags: Vec::new(),
    }
    .finite()
    .into()
}
