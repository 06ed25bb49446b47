//! Knows Spearman's rank correlation of pairs that fall into clusters, with an interval over resampled clusters.
//! Must not know what the pairs are.
//! Start at `rank_correlation`.

use std::collections::BTreeMap;

use rand_core::RngCore;
use serde::{Deserialize, Serialize};

use crate::bootstrap::{Kind, MANY_UNDEFINED, Options, Over};
use crate::computed::{Computed, NotComputed};
use crate::estimate::{Interval, IntervalFlag};
use crate::moments::mean;
use crate::randomness::{EvenDraws, Streams};

/// Fewer pairs than this have no correlation.
pub const FEWEST_PAIRS: usize = 3;

/// Steps of 2⁻⁴⁰ to which centred values are rounded, so that rounding errors make no order among equals.
const STEPS: f64 = 1_099_511_627_776.0;

/// Two values of one thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The cluster that the thing belongs to.
    pub cluster: usize,
    /// The first value.
    pub first: f64,
    /// The second value.
    pub second: f64,
}

/// How far two values rise together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankCorrelation {
    /// ρ, from −1 to 1.
    pub coefficient: f64,
    /// Pairs.
    pub pairs: u64,
    /// Clusters that they fall into.
    pub clusters: u64,
    /// Bootstrap percentile interval of ρ over clusters.
    pub interval: Computed<Interval>,
    /// Resamples drawn.
    pub resamples: u64,
    /// Resamples in which ρ was not defined, and which the interval leaves out.
    pub undefined_resamples: u64,
}

/// Computes Spearman's ρ: the product-moment correlation of midranks, ρ = Σ(r − r̄)(s − s̄)/sqrt(Σ(r − r̄)²·Σ(s − s̄)²), ties
/// sharing the mean of their ranks (Spearman, 1904; Kendall and Gibbons, *Rank Correlation Methods*, 1990, §3.8).
///
/// The interval is the bootstrap percentile interval over whole clusters: each resample draws as many clusters as there are,
/// with replacement, takes all their pairs and ranks them anew (Davison and Hinkley, *Bootstrap Methods*, 1997, §3.8).
/// Resamples with fewer than three pairs or a constant value are left out and counted. Flagged below ten clusters.
///
/// # Errors
/// Fewer than three pairs, a value that is constant or not finite, a level outside (0, 1), or no resamples.
pub fn rank_correlation(
    pairs: &[Pair],
    level: f64,
    resamples: u64,
    rng: &mut impl RngCore,
) -> Result<RankCorrelation, NotComputed> {
    let options = Options {
        kind: Kind::Percentile,
        over: Over::Malfunctions,
        level,
        resamples,
    };
    options.check()?;
    let ranked = Ranked::new(pairs)?;
    let coefficient = spearman(pairs)?;
    let clusters = ranked.clusters.len();
    let (interval, undefined_resamples) = if clusters < 2 {
        (Computed::absent("one cluster to resample"), 0)
    } else {
        ranked.interval(coefficient, &options, rng)
    };
    Ok(RankCorrelation {
        coefficient,
        pairs: pairs.len() as u64,
        clusters: clusters as u64,
        interval,
        resamples,
        undefined_resamples,
    })
}

/// Spearman's ρ alone, as of `rank_correlation`.
///
/// # Errors
/// Fewer than three pairs, or a value that is constant or not finite.
pub fn spearman(pairs: &[Pair]) -> Result<f64, NotComputed> {
    let ranked = Ranked::new(pairs)?;
    if pairs.len() < FEWEST_PAIRS {
        return Err(NotComputed::because("fewer than three pairs"));
    }
    let all: Vec<Places> = ranked.clusters.concat();
    ranked
        .coefficient(&all, &mut ranked.space())
        .ok_or_else(|| NotComputed::because("one of the two is the same in every pair"))
}

/// The pairs with both values centred by the mean of their cluster; a pair that is alone in its cluster is left out, since it
/// says nothing about what happens within.
#[must_use]
pub fn within_clusters(pairs: &[Pair]) -> Vec<Pair> {
    let mut clusters: BTreeMap<usize, Vec<&Pair>> = BTreeMap::new();
    for pair in pairs {
        clusters.entry(pair.cluster).or_default().push(pair);
    }
    let several = clusters.values().filter(|members| members.len() > 1);
    several
        .flat_map(|members| {
            let centre = |value: fn(&Pair) -> f64| {
                mean(&members.iter().map(|pair| value(pair)).collect::<Vec<_>>())
            };
            let (first, second) = (centre(|pair| pair.first), centre(|pair| pair.second));
            members.iter().map(move |pair| Pair {
                cluster: pair.cluster,
                first: stepped(pair.first - first),
                second: stepped(pair.second - second),
            })
        })
        .collect()
}

fn stepped(value: f64) -> f64 {
    let steps = value * STEPS;
    // Beyond this floating point holds whole steps only.
    if steps.abs() < 4e15 {
        steps.round() / STEPS
    } else {
        value
    }
}

/// Where the values of a pair stand among the distinct values of their side.
type Places = [usize; 2];

/// Pairs by cluster, ready to be ranked in time proportional to their number.
struct Ranked {
    clusters: Vec<Vec<Places>>,
    /// Distinct values of each side.
    distinct: [usize; 2],
}

struct Scratch {
    draws: Vec<u32>,
    taken: Vec<Places>,
    deviations: [Vec<i64>; 2],
}

impl Ranked {
    fn new(pairs: &[Pair]) -> Result<Self, NotComputed> {
        let side = |value: fn(&Pair) -> f64| {
            let mut distinct: Vec<f64> = pairs.iter().map(value).collect();
            if distinct.iter().any(|value| !value.is_finite()) {
                return Err(NotComputed::because("a value is not finite"));
            }
            distinct.sort_by(f64::total_cmp);
            // By equality, for which 0 and −0 are one.
            distinct.dedup();
            Ok(distinct)
        };
        let sides = [side(|pair| pair.first)?, side(|pair| pair.second)?];
        let mut clusters: BTreeMap<usize, Vec<Places>> = BTreeMap::new();
        for pair in pairs {
            let place = |side: usize, value: f64| sides[side].partition_point(|one| *one < value);
            let places = [place(0, pair.first), place(1, pair.second)];
            clusters.entry(pair.cluster).or_default().push(places);
        }
        Ok(Self {
            clusters: clusters.into_values().collect(),
            distinct: sides.map(|side| side.len()),
        })
    }

    fn space(&self) -> [Vec<i64>; 2] {
        self.distinct.map(|distinct| vec![0; distinct])
    }

    /// ρ of these pairs; `None` where it is not defined. Midranks are doubled, so that all sums are whole numbers.
    fn coefficient(&self, taken: &[Places], deviations: &mut [Vec<i64>; 2]) -> Option<f64> {
        if taken.len() < FEWEST_PAIRS {
            return None;
        }
        for (side, slots) in deviations.iter_mut().enumerate() {
            slots.fill(0);
            for places in taken {
                slots[places[side]] += 1;
            }
            // Of c equal values above b others, the doubled midrank is 2b + c + 1, and the mean of all is n + 1.
            let mut below = 0;
            for slot in slots.iter_mut() {
                let equal = *slot;
                *slot = 2 * below + equal - taken.len() as i64;
                below += equal;
            }
        }
        let (mut product, mut squares) = (0_i128, [0_i128; 2]);
        for &[first, second] in taken {
            let (first, second) = (deviations[0][first], deviations[1][second]);
            product += i128::from(first * second);
            squares[0] += i128::from(first * first);
            squares[1] += i128::from(second * second);
        }
        let spread = (squares[0] as f64 * squares[1] as f64).sqrt();
        (spread > 0.0).then(|| (product as f64 / spread).clamp(-1.0, 1.0))
    }

    fn interval(
        &self,
        coefficient: f64,
        options: &Options,
        rng: &mut impl RngCore,
    ) -> (Computed<Interval>, u64) {
        let all = self.replicates(options.resamples, rng);
        let defined: Vec<f64> = all.iter().copied().flatten().collect();
        let undefined = all.len() - defined.len();
        if defined.is_empty() {
            let reason = "the correlation is not defined in any resample";
            return (Computed::absent(reason), undefined as u64);
        }
        let units = self.clusters.len();
        let mut interval = options.interval(coefficient, &defined, Vec::new, units);
        if let Ok(found) = &mut interval
            && undefined as f64 > MANY_UNDEFINED * all.len() as f64
        {
            found.flags.push(IntervalFlag::ManyUndefinedResamples);
        }
        (interval.into(), undefined as u64)
    }

    /// ρ of each resample of clusters; `None` where it is not defined.
    fn replicates(&self, resamples: u64, rng: &mut impl RngCore) -> Vec<Option<f64>> {
        let bound = u32::try_from(self.clusters.len()).expect("clusters fit into memory");
        let draws = EvenDraws::new(bound);
        Streams::draw(rng).replicates(
            usize::try_from(resamples).expect("the number of resamples fits into memory"),
            || Scratch {
                draws: vec![0; self.clusters.len()],
                taken: Vec::new(),
                deviations: self.space(),
            },
            |scratch, rng| {
                draws.fill(rng, &mut scratch.draws);
                scratch.taken.clear();
                for draw in &scratch.draws {
                    let cluster = &self.clusters[*draw as usize];
                    scratch.taken.extend_from_slice(cluster);
                }
                self.coefficient(&scratch.taken, &mut scratch.deviations)
            },
        )
    }
}
