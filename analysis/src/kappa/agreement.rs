//! Knows the agreement of two raters from their single verdicts, with a bootstrap interval over items or clusters.
//! Must not know files of ratings.
//! Start at `agreement`.

use std::collections::BTreeMap;

use rand_core::RngCore;
use serde::{Deserialize, Serialize};

use super::{Kappa, Weights, kappa};
use crate::bootstrap::{MANY_UNDEFINED, percentile};
use crate::computed::{Computed, NotComputed};
use crate::estimate::{Interval, IntervalFlag};
use crate::randomness::{EvenDraws, Streams};

/// Most categories that single verdicts may have; a table of any size goes to `kappa`.
pub const MOST_CATEGORIES: usize = 100;

/// Agreement of two raters over items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// `table[i][j]`: items with category i of the first rater and j of the second.
    pub table: Vec<Vec<u64>>,
    /// κ with its normal-theory standard errors.
    pub kappa: Kappa,
    /// How many clusters there are; null where items are resampled.
    pub clusters: Option<u64>,
    /// Bootstrap percentile interval of κ, within [−1, 1].
    pub interval: Computed<Interval>,
    /// Resamples drawn.
    pub resamples: u64,
    /// Resamples in which κ was not defined, and which the interval leaves out.
    pub undefined_resamples: u64,
}

/// Computes κ of items (category of the first rater, of the second; numbered from 0) with a percentile interval over
/// resampled items, or over resampled clusters where one rater gives several verdicts together: `clusters[i]` is that of item i.
///
/// # Errors
/// No item, a category beyond `MOST_CATEGORIES`, clusters of another number than items, no resamples, or what `kappa` refuses.
pub fn agreement(
    items: &[(usize, usize)],
    clusters: Option<&[usize]>,
    weights: Weights,
    level: f64,
    resamples: u64,
    rng: &mut impl RngCore,
) -> Result<Agreement, NotComputed> {
    let size = items
        .iter()
        .map(|(first, second)| first.max(second) + 1)
        .max()
        .ok_or_else(|| NotComputed::because("no verdict"))?;
    if size > MOST_CATEGORIES {
        return Err(NotComputed::because(format!(
            "{size} categories; {MOST_CATEGORIES} are the most"
        )));
    }
    if resamples == 0 {
        return Err(NotComputed::because("no resamples"));
    }
    let groups = groups(items, clusters)?;
    let mut table = vec![vec![0; size]; size];
    for (first, second) in items {
        table[*first][*second] += 1;
    }
    let kappa = kappa(&table, weights, level)?;
    let resampled = Resampled {
        groups: &groups,
        size,
        weights,
    };
    let (interval, undefined_resamples) = if groups.len() < 2 {
        (Computed::absent("one item or cluster to resample"), 0)
    } else {
        let all = resampled.replicates(resamples, rng);
        let defined: Vec<f64> = all.iter().copied().flatten().collect();
        let undefined = (all.len() - defined.len()) as u64;
        let interval = interval(&kappa, &defined, undefined as f64 / resamples as f64, level);
        (interval, undefined)
    };
    Ok(Agreement {
        table,
        kappa,
        clusters: clusters.map(|_| groups.len() as u64),
        interval,
        resamples,
        undefined_resamples,
    })
}

/// What is resampled together: single items, or the items of each cluster.
fn groups(
    items: &[(usize, usize)],
    clusters: Option<&[usize]>,
) -> Result<Vec<Vec<(usize, usize)>>, NotComputed> {
    let Some(clusters) = clusters else {
        return Ok(items.iter().map(|item| vec![*item]).collect());
    };
    if clusters.len() != items.len() {
        return Err(NotComputed::because(format!(
            "{} items, but clusters for {}",
            items.len(),
            clusters.len()
        )));
    }
    let mut groups: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (item, cluster) in items.iter().zip(clusters) {
        groups.entry(*cluster).or_default().push(*item);
    }
    Ok(groups.into_values().collect())
}

fn interval(kappa: &Kappa, defined: &[f64], undefined: f64, level: f64) -> Computed<Interval> {
    if defined.is_empty() {
        return Computed::absent("kappa is not defined in any resample");
    }
    let mut interval = percentile(kappa.kappa, defined, level);
    interval.low = interval.low.clamp(-1.0, 1.0);
    interval.high = interval.high.clamp(-1.0, 1.0);
    interval.flags.extend(&kappa.flags);
    if undefined > MANY_UNDEFINED {
        interval.flags.push(IntervalFlag::ManyUndefinedResamples);
    }
    Computed::Value(interval)
}

struct Resampled<'a> {
    groups: &'a [Vec<(usize, usize)>],
    size: usize,
    weights: Weights,
}

struct Scratch {
    draws: Vec<u32>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Resampled<'_> {
    /// κ of each resample; `None` where it is not defined.
    fn replicates(&self, resamples: u64, rng: &mut impl RngCore) -> Vec<Option<f64>> {
        let bound = u32::try_from(self.groups.len()).expect("items fit into memory");
        let draws = EvenDraws::new(bound);
        Streams::draw(rng).replicates(
            usize::try_from(resamples).expect("the number of resamples fits into memory"),
            || Scratch {
                draws: vec![0; self.groups.len()],
                rows: vec![0.0; self.size],
                columns: vec![0.0; self.size],
            },
            |scratch, rng| {
                draws.fill(rng, &mut scratch.draws);
                self.kappa(scratch)
            },
        )
    }

    /// 1 − n·Σw·counts/Σw·(product of margins), in whole numbers, so that a vanishing denominator is exactly 0.
    fn kappa(&self, scratch: &mut Scratch) -> Option<f64> {
        let Scratch {
            draws,
            rows,
            columns,
        } = scratch;
        rows.fill(0.0);
        columns.fill(0.0);
        let (mut verdicts, mut observed) = (0.0, 0.0);
        for draw in draws.iter() {
            for &(first, second) in &self.groups[*draw as usize] {
                verdicts += 1.0;
                observed += self.weights.of(first, second);
                rows[first] += 1.0;
                columns[second] += 1.0;
            }
        }
        let mut expected = 0.0;
        for (i, row) in rows.iter().enumerate().filter(|(_, row)| **row > 0.0) {
            for (j, column) in columns.iter().enumerate() {
                expected += self.weights.of(i, j) * row * column;
            }
        }
        (expected > 0.0).then(|| 1.0 - verdicts * observed / expected)
    }
}
