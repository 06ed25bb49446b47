//! Knows the probability of improvement of one method over another.
//! Must not know other aggregates.
//! Start at `probability_of_improvement`.

use rand_core::RngCore;

use crate::bootstrap::{
    Drawn, ONE_SESSION, Options, Over, Resamples, jackknife, over_malfunctions,
};
use crate::computed::NotComputed;
use crate::estimate::Interval;

/// Sessions that are counted side by side.
const LANES: usize = 8;

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
    let won: u64 = first
        .iter()
        .flat_map(|x| second.iter().map(move |y| u64::from(half_points(*x, *y))))
        .sum();
    won as f64 / (2 * first.len() * second.len()) as f64
}

/// 2 where x > y, 1 where they tie.
fn half_points(x: f64, y: f64) -> u32 {
    u32::from(x > y) + u32::from(x >= y)
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
    let duels: Vec<Duels> = pairs.iter().map(Duels::new).collect();
    let lanes = duels.iter().map(|duels| duels.lanes).max().unwrap_or(0);
    let mut columns = resamples.columns(
        1,
        || vec![[0; LANES]; lanes],
        |won, drawn, columns| {
            let column = &mut columns[0];
            for (malfunction, duels) in duels.iter().enumerate() {
                duels.add(won, drawn, [malfunction, malfunction + pairs.len()], column);
            }
            let count = pairs.len() as f64;
            column.iter_mut().for_each(|slot| *slot /= count);
        },
    );
    columns.pop().unwrap_or_default()
}

/// Every session of the first method against every session of the second, on one malfunction.
struct Duels {
    /// N and N0.
    sessions: [usize; 2],
    /// Blocks of `LANES` that hold N numbers.
    lanes: usize,
    /// `[session of the second · lanes]`: for each session of the first, 2 if it wins and 1 if it ties. Empty where there
    /// are so many duels that counting by rank is cheaper.
    won: Vec<[u32; LANES]>,
    ranks: Option<DuelRanks>,
}

/// More duels than this on one malfunction are counted by rank.
const MANY_DUELS: usize = 4096;

/// Where each session stands among those of the second method.
struct DuelRanks {
    /// Of each session of the first: how many of the second lie below it, and how many do not lie above it.
    first: Vec<[usize; 2]>,
    /// Of each session of the second: its place when they are sorted.
    second: Vec<usize>,
}

impl DuelRanks {
    fn new([first, second]: &[&[f64]; 2]) -> Self {
        let mut order: Vec<usize> = (0..second.len()).collect();
        order.sort_by(|one, two| second[*one].total_cmp(&second[*two]));
        let mut places = vec![0; second.len()];
        for (place, session) in order.iter().enumerate() {
            places[*session] = place;
        }
        let within = |keep: &dyn Fn(f64) -> bool| order.partition_point(|y| keep(second[*y]));
        Self {
            first: first
                .iter()
                .map(|x| [within(&|y| y < *x), within(&|y| y <= *x)])
                .collect(),
            second: places,
        }
    }

    /// Half points won by the resample `own` of the first method against the resample `other` of the second: with
    /// S(i) = how many of `other` have a place below i, each session takes S(below) + S(not above).
    fn points(&self, sums: &mut Vec<u64>, own: &[u32], other: &[u32]) -> u64 {
        sums.clear();
        sums.resize(self.second.len() + 1, 0);
        for y in other {
            sums[self.second[*y as usize] + 1] += 1;
        }
        for place in 1..sums.len() {
            sums[place] += sums[place - 1];
        }
        let taken = own.iter().map(|x| self.first[*x as usize]);
        taken.map(|[below, up_to]| sums[below] + sums[up_to]).sum()
    }
}

impl Duels {
    fn new([first, second]: &[&[f64]; 2]) -> Self {
        let sessions = [first.len(), second.len()];
        if first.len() * second.len() > MANY_DUELS {
            return Self {
                sessions,
                lanes: 0,
                won: Vec::new(),
                ranks: Some(DuelRanks::new(&[*first, *second])),
            };
        }
        let lanes = first.len().div_ceil(LANES);
        let mut won = vec![[0; LANES]; second.len() * lanes];
        for (y, blocks) in second.iter().zip(won.chunks_mut(lanes)) {
            for (slot, x) in blocks.iter_mut().flatten().zip(first.iter()) {
                *slot = half_points(*x, *y);
            }
        }
        Self {
            sessions,
            lanes,
            won,
            ranks: None,
        }
    }

    /// Adds this malfunction's share of duels won to each resample of a chunk.
    fn add(
        &self,
        scratch: &mut [[u32; LANES]],
        drawn: &Drawn,
        [own, other]: [usize; 2],
        column: &mut [f64],
    ) {
        let most = 2.0 * (self.sessions[0] * self.sessions[1]) as f64;
        if let Some(ranks) = &self.ranks {
            let mut sums = Vec::new();
            for (replicate, slot) in column.iter_mut().enumerate() {
                let (own, other) = (drawn.row(own, replicate), drawn.row(other, replicate));
                *slot += ranks.points(&mut sums, own, other) as f64 / most;
            }
            return;
        }
        let points = &mut scratch[..self.lanes];
        for (replicate, slot) in column.iter_mut().enumerate() {
            // First what each session of the first method wins against the second's resample, then whom its own takes.
            points.fill([0; LANES]);
            for y in drawn.row(other, replicate) {
                let from = *y as usize * self.lanes;
                for (sum, won) in points.iter_mut().zip(&self.won[from..from + self.lanes]) {
                    for (sum, won) in sum.iter_mut().zip(won) {
                        *sum += won;
                    }
                }
            }
            let points = points.as_flattened();
            let taken = drawn.row(own, replicate).iter();
            let won: u64 = taken.map(|x| u64::from(points[*x as usize])).sum();
            *slot += won as f64 / most;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_by_rank_gives_the_points_of_every_single_duel() {
        let first = [0.5, 0.25, 0.5, -1.0, 2.0];
        let second = [0.5, 0.0, 0.5, 0.75];
        let ranks = DuelRanks::new(&[&first, &second]);
        let own = [0, 0, 3, 4, 1];
        let other = [2, 2, 1, 0];
        let each = own.iter().flat_map(|x| other.map(|y| (*x, y)));
        let duels: u64 = each
            .map(|(x, y): (u32, u32)| u64::from(half_points(first[x as usize], second[y as usize])))
            .sum();
        assert_eq!(ranks.points(&mut Vec::new(), &own, &other), duels);
    }
}
