//! Knows all aggregates of one method, from one pass over its resamples.
//! Must not know other methods.
//! Start at `aggregates`.

use super::centre::{median, shortfalls};
use super::interval::{Statistic, across, estimate};
use super::iqm::Ranks;
use super::profile::{Bins, Profile, average_score_profile, averages_above, score_profile};
use super::{Cells, MethodAggregates};
use crate::bootstrap::{self, Drawn, Resamples};
use crate::computed::{Computed, NotComputed};
use crate::estimate::Estimated;
use crate::moments::mean;
use crate::plan::AnalysisPlan;
use crate::randomness::CHUNK;
use crate::scale::Scale;
use crate::score_table::Role;

/// The single numbers, in order of their columns; the shares of both profiles follow.
const NUMBERS: [Statistic; 4] = [
    Statistic::Mean,
    Statistic::Median,
    Statistic::Iqm,
    Statistic::OptimalityGap,
];

pub(super) fn aggregates(
    cells: &Cells,
    method: &str,
    role: Role,
    scale: Scale,
    plan: &AnalysisPlan,
) -> MethodAggregates {
    let thresholds = &plan.profile_thresholds;
    let scores: Vec<&[f64]> = cells.scores.iter().map(Vec::as_slice).collect();
    let columns = replicates(cells, &scores, plan);
    let number =
        |place: usize| Computed::from(number(&scores, NUMBERS[place], &columns[place], plan));
    let (score, average) = columns[NUMBERS.len()..].split_at(thresholds.len());
    let profile =
        |shares: Result<Vec<f64>, NotComputed>, replicates: &[Vec<f64>]| {
            Computed::from(shares.map(|shares| {
                Profile::new(&scores, thresholds, shares, replicates, plan.confidence)
            }))
        };
    MethodAggregates {
        method: method.to_owned(),
        role,
        scale,
        malfunctions: scores.len() as u64,
        mean: number(0),
        median: number(1),
        iqm: number(2),
        optimality_gap: number(3),
        score_profile: profile(score_profile(&scores, thresholds), score),
        average_score_profile: profile(average_score_profile(&scores, thresholds), average),
    }
}

fn number(
    scores: &[&[f64]],
    statistic: Statistic,
    replicates: &[f64],
    plan: &AnalysisPlan,
) -> Result<Estimated, NotComputed> {
    let estimate = estimate(scores, statistic, plan.optimality_target)?;
    let sizes = scores.iter().map(|cell| cell.len());
    Ok(Estimated {
        estimate,
        interval: bootstrap::reported(estimate, replicates, plan.confidence, sizes),
    })
}

/// `[statistic][resample]`: the four numbers, then both profiles.
fn replicates(cells: &Cells, scores: &[&[f64]], plan: &AnalysisPlan) -> Vec<Vec<f64>> {
    let thresholds = &plan.profile_thresholds;
    let count = NUMBERS.len() + 2 * thresholds.len();
    if scores.is_empty() {
        // A planned method none of whose sessions is there: nothing to resample, and every number says so.
        return vec![Vec::new(); count];
    }
    let pass = Pass {
        scores,
        short: scores
            .iter()
            .map(|cell| shortfalls(cell, plan.optimality_target))
            .collect(),
        ranks: Ranks::new(scores),
        bins: Bins::new(scores, thresholds),
        thresholds,
    };
    Resamples::of_keys(scores, plan.resamples, cells.keys.clone()).columns(
        count,
        || Scratch {
            means: vec![0.0; scores.len() * CHUNK],
            own: vec![0.0; scores.len()],
            ranks: pass.ranks.scratch(),
            bins: pass.bins.scratch(),
        },
        |scratch, drawn, columns| pass.of_chunk(scratch, drawn, columns),
    )
}

struct Pass<'a> {
    scores: &'a [&'a [f64]],
    short: Vec<Vec<f64>>,
    ranks: Ranks,
    bins: Bins,
    thresholds: &'a [f64],
}

struct Scratch {
    means: Vec<f64>,
    own: Vec<f64>,
    ranks: Vec<f64>,
    bins: Vec<f64>,
}

impl Pass<'_> {
    fn of_chunk(&self, scratch: &mut Scratch, drawn: &Drawn, columns: &mut [Vec<f64>]) {
        let (numbers, profiles) = columns.split_at_mut(NUMBERS.len());
        let (score, average) = profiles.split_at_mut(self.thresholds.len());
        let Scratch {
            means,
            own,
            ranks,
            bins,
        } = scratch;
        let average_of = |own: &mut [f64]| mean(own);
        let [mean, median_column, iqm, gap] = numbers else {
            return;
        };
        for ((cell, short), means) in self.short.iter().enumerate().zip(means.chunks_mut(CHUNK)) {
            drawn.means(cell, short, means);
        }
        across(means, own, average_of, gap);
        for ((cell, scores), means) in self.scores.iter().enumerate().zip(means.chunks_mut(CHUNK)) {
            drawn.means(cell, scores, means);
        }
        across(means, own, average_of, mean);
        across(means, own, median, median_column);
        averages_above(means, self.thresholds, average);
        self.ranks.of_chunk(ranks, drawn, iqm);
        self.bins.of_chunk(bins, drawn, score);
    }
}
