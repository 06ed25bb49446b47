//! Knows the probability of improvement of one method over another.
//! Must not know other aggregates.
//! Start at `probability_of_improvement`.

use rand_core::RngCore;

use crate::bootstrap::{
    Drawn, ONE_SESSION, Options, Over, Resamples, jackknife, over_malfunctions,
};
use crate::computed::NotComputed;
use crate::estimate::Interval;

/// Resamples that are counted side by side.
const BLOCK: usize = 32;

/// K⁻¹Σ_k (#{x > y} + ½#{x = y})/(N_xk·N_yk) over the malfunctions k where both methods have sessions (Agarwal et al.
/// 2021; per malfunction the statistic of Mann and Whitney). `first[k]` and `second[k]` are scores on malfunction k.
///
/// # Errors
/// No such malfunction.
pub fn probability_of_improvement<C: AsRef<[f64]>, D: AsRef<[f64]>>(
    first: &[C],
    second: &[D],
) -> Result<f64, NotComputed> {
    let pairs = common(first, second)?;
    Ok(pairs.iter().map(of_pair).sum::<f64>() / pairs.len() as f64)
}

/// The malfunctions where both methods have sessions.
fn common<'a, C: AsRef<[f64]>, D: AsRef<[f64]>>(
    first: &'a [C],
    second: &'a [D],
) -> Result<Vec<[&'a [f64]; 2]>, NotComputed> {
    let pairs: Vec<[&[f64]; 2]> = first
        .iter()
        .zip(second)
        .map(|(first, second)| [first.as_ref(), second.as_ref()])
        .filter(|pair| pair.iter().all(|cell| !cell.is_empty()))
        .collect();
    if pairs.is_empty() {
        return Err(NotComputed::because(
            "no malfunction with sessions of both methods",
        ));
    }
    Ok(pairs)
}

fn of_pair([first, second]: &[&[f64]; 2]) -> f64 {
    let won: f64 = first
        .iter()
        .flat_map(|x| second.iter().map(move |y| half_steps(*x, *y)))
        .sum();
    won / (first.len() * second.len()) as f64
}

/// 1 where x > y, ½ where they tie.
fn half_steps(x: f64, y: f64) -> f64 {
    if x > y {
        1.0
    } else if x == y {
        0.5
    } else {
        0.0
    }
}

/// The probability of improvement with its bootstrap interval.
///
/// # Errors
/// No common malfunction, a common cell with one session (over sessions), one common malfunction (over malfunctions), or
/// options that `Options::check` refuses.
pub fn improvement_interval<C: AsRef<[f64]>, D: AsRef<[f64]>>(
    first: &[C],
    second: &[D],
    options: &Options,
    rng: &mut impl RngCore,
) -> Result<Interval, NotComputed> {
    options.check()?;
    let pairs = common(first, second)?;
    let estimate = probability_of_improvement(first, second)?;
    match options.over {
        Over::Sessions => {
            let cells = side_by_side(&pairs);
            let smallest = cells.iter().map(|cell| cell.len()).min().unwrap_or(0);
            if smallest < 2 {
                return Err(NotComputed::because(ONE_SESSION));
            }
            let resamples = Resamples::of_one_key(&cells, options.resamples, rng);
            let replicates = replicates(&pairs, &resamples);
            let left_out = || {
                let cells: Vec<Vec<f64>> = cells.iter().map(|cell| cell.to_vec()).collect();
                jackknife(&cells, |cells| {
                    let (first, second) = cells.split_at(pairs.len());
                    probability_of_improvement(first, second).unwrap_or(estimate)
                })
            };
            options.interval(estimate, &replicates, left_out, smallest)
        }
        Over::Malfunctions => {
            if pairs.len() < 2 {
                return Err(NotComputed::because("one malfunction"));
            }
            let malfunctions: Vec<Vec<&[f64]>> = pairs.iter().map(|pair| pair.to_vec()).collect();
            let replicates = over_malfunctions(
                &malfunctions,
                options.resamples,
                |drawn| {
                    let won: f64 = drawn
                        .iter()
                        .map(|arms| of_pair(&[arms[0].as_slice(), arms[1].as_slice()]))
                        .sum();
                    won / drawn.len() as f64
                },
                rng,
            );
            let each: Vec<f64> = pairs.iter().map(of_pair).collect();
            let sum: f64 = each.iter().sum();
            let left_out = || {
                let rest = (each.len() - 1) as f64;
                vec![each.iter().map(|own| (sum - own) / rest).collect()]
            };
            options.interval(estimate, &replicates, left_out, pairs.len())
        }
    }
}

/// The cells of the first method, then those of the second.
pub(super) fn side_by_side<'a>(pairs: &[[&'a [f64]; 2]]) -> Vec<&'a [f64]> {
    let arm = |arm: usize| pairs.iter().map(move |pair| pair[arm]);
    arm(0).chain(arm(1)).collect()
}

/// The probability of improvement in each resample; `resamples` are those of the cells `side_by_side`.
pub(super) fn replicates(pairs: &[[&[f64]; 2]], resamples: &Resamples) -> Vec<f64> {
    let merged: Vec<Merged> = pairs.iter().map(Merged::new).collect();
    let largest = merged.iter().map(|merged| merged.values).max().unwrap_or(0);
    let mut columns = resamples.columns(
        1,
        || [vec![0.0; largest * BLOCK], vec![0.0; largest * BLOCK]],
        |tables, drawn, columns| {
            let column = &mut columns[0];
            for (malfunction, merged) in merged.iter().enumerate() {
                let cells = [malfunction, malfunction + pairs.len()];
                merged.add(tables, drawn, cells, column);
            }
            let count = pairs.len() as f64;
            column.iter_mut().for_each(|slot| *slot /= count);
        },
    );
    columns.pop().unwrap_or_default()
}

/// The sessions of both methods on one malfunction in one order of their scores.
struct Merged {
    /// The number of distinct scores.
    values: usize,
    /// `[method][session]`: the rank of its score, times `BLOCK`.
    sessions: [Vec<usize>; 2],
}

impl Merged {
    fn new(pair: &[&[f64]; 2]) -> Self {
        let mut values: Vec<f64> = pair.concat();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let rank = |score: &f64| values.partition_point(|value| value < score) * BLOCK;
        Self {
            sessions: pair.map(|cell| cell.iter().map(rank).collect()),
            values: values.len(),
        }
    }

    /// Adds this malfunction's share of pairs won to each resample of a chunk.
    fn add(
        &self,
        tables: &mut [Vec<f64>; 2],
        drawn: &Drawn,
        cells: [usize; 2],
        column: &mut [f64],
    ) {
        let [n, n0] = [0, 1].map(|arm: usize| self.sessions[arm].len() as f64);
        for (block, out) in column.chunks_mut(BLOCK).enumerate() {
            for ((table, ranks), cell) in tables.iter_mut().zip(&self.sessions).zip(cells) {
                table[..self.values * BLOCK].fill(0.0);
                for slot in 0..out.len() {
                    for session in drawn.row(cell, block * BLOCK + slot) {
                        table[ranks[*session as usize] + slot] += 1.0;
                    }
                }
            }
            // Along the scores: each session of the first method beats the second's below it, and half of those level.
            let (mut below, mut won) = ([0.0; BLOCK], [0.0; BLOCK]);
            let [own, other] = [0, 1].map(|arm: usize| tables[arm].chunks_exact(BLOCK));
            for (own, other) in own.zip(other).take(self.values) {
                for slot in 0..BLOCK {
                    won[slot] += own[slot] * (below[slot] + 0.5 * other[slot]);
                    below[slot] += other[slot];
                }
            }
            for (slot, won) in out.iter_mut().zip(won) {
                *slot += won / (n * n0);
            }
        }
    }
}
