//! Knows the aggregates of each method over its malfunctions, each malfunction with equal weight, with intervals.
//! Must not know hypotheses, nor a p-value.
//! Start at `aggregates`.

mod centre;
mod improvement;
mod interval;
mod iqm;
mod of_method;
mod profile;

use serde::{Deserialize, Serialize};

use crate::bootstrap::{self, Resamples};
use crate::computed::{Computed, NotComputed};
use crate::estimate::Estimated;
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, Streams, generator};
use crate::scale::Scale;
use crate::score_table::{Role, Stratum};

pub use centre::{mean_of_cells, median_of_cells, optimality_gap};
pub use improvement::{improvement_interval, probability_of_improvement};
pub use interval::{Statistic, aggregate_interval, estimate};
pub use iqm::iqm;
pub use profile::{Profile, Profiles, average_score_profile, profiles, score_profile};

/// The aggregates of a stratum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Aggregates {
    /// One entry per (method, scale), methods of every role sorted; scales `clipped`, `raw`.
    pub methods: Vec<MethodAggregates>,
    /// Each unordered pair of explanation methods, and each of them against the baseline and the placebo; sorted.
    pub improvements: Vec<Improvement>,
}

/// The aggregates of one method on one scale, with stratified bootstrap intervals. The resamples of a cell are those
/// behind its own interval and every lift.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodAggregates {
    /// Id of the method.
    pub method: String,
    /// Its role.
    pub role: Role,
    /// The scale of every number here.
    pub scale: Scale,
    /// How many malfunctions have sessions of it.
    pub malfunctions: u64,
    /// Mean of the cell means.
    pub mean: Computed<Estimated>,
    /// Median of the cell means.
    pub median: Computed<Estimated>,
    /// Interquartile mean of all sessions.
    pub iqm: Computed<Estimated>,
    /// Mean shortfall below the plan's `optimality_target`.
    pub optimality_gap: Computed<Estimated>,
    /// Share of sessions above each of the plan's `profile_thresholds`.
    pub score_profile: Computed<Profile>,
    /// Share of malfunctions with a cell mean above each.
    pub average_score_profile: Computed<Profile>,
}

/// How likely a session of one method scores above a session of another on the same malfunction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Improvement {
    /// Id of the method that may score above.
    pub first: String,
    /// Id of the method that is compared with.
    pub second: String,
    /// The scale of the scores.
    pub scale: Scale,
    /// How many malfunctions have sessions of both.
    pub malfunctions: u64,
    /// The probability of improvement.
    pub probability: Computed<Estimated>,
}

/// Computes all aggregates of a stratum; the resamples of a cell take their key from `cell/{malfunction}/{method}`.
pub fn aggregates(
    stratum: &Stratum,
    plan: &AnalysisPlan,
    seeds: &(impl NamedSeeds + Sync),
) -> Aggregates {
    let scales = [Scale::Clipped, Scale::Raw];
    let methods = stratum
        .methods()
        .into_iter()
        .flat_map(|method| scales.map(|scale| (method, scale)))
        .map(|(method, scale)| {
            let cells = Cells::new(stratum, method, scale, plan, seeds);
            of_method::aggregates(&cells, method, stratum.roles().of(method), scale, plan)
        })
        .collect();
    let improvements = pairs(stratum)
        .into_iter()
        .flat_map(|pair| scales.map(|scale| (pair, scale)))
        .map(|(pair, scale)| improvement(stratum, pair, scale, plan, seeds))
        .collect();
    Aggregates {
        methods,
        improvements,
    }
}

/// The filled cells of one method, with the key of each.
struct Cells<'a> {
    malfunctions: Vec<&'a str>,
    scores: Vec<Vec<f64>>,
    keys: Vec<Streams>,
}

impl<'a> Cells<'a> {
    fn new(
        stratum: &'a Stratum,
        method: &str,
        scale: Scale,
        plan: &AnalysisPlan,
        seeds: &impl NamedSeeds,
    ) -> Self {
        let mut cells = Self {
            malfunctions: Vec::new(),
            scores: Vec::new(),
            keys: Vec::new(),
        };
        for malfunction in stratum.malfunctions() {
            let scores = stratum.scores(malfunction, method, scale, plan.winsor_floor);
            if !scores.is_empty() {
                let mut rng = generator(seeds, &format!("cell/{malfunction}/{method}"));
                cells.malfunctions.push(malfunction);
                cells.scores.push(scores);
                cells.keys.push(Streams::draw(&mut rng));
            }
        }
        cells
    }

    /// Keeps the malfunctions that another method has too.
    fn shared_with(&self, other: &Self) -> Self {
        let mut shared = Self {
            malfunctions: Vec::new(),
            scores: Vec::new(),
            keys: Vec::new(),
        };
        for (place, malfunction) in self.malfunctions.iter().enumerate() {
            if other.malfunctions.contains(malfunction) {
                shared.malfunctions.push(malfunction);
                shared.scores.push(self.scores[place].clone());
                shared.keys.push(self.keys[place].clone());
            }
        }
        shared
    }
}

/// The pairs whose improvement is reported, sorted.
fn pairs(stratum: &Stratum) -> Vec<(&str, &str)> {
    let of_roles = |wanted: &[Role]| -> Vec<&str> {
        let methods = stratum.methods().into_iter();
        methods
            .filter(|method| wanted.contains(&stratum.roles().of(method)))
            .collect()
    };
    let explaining = of_roles(&[Role::Xrl]);
    let compared = of_roles(&[Role::NoMethod, Role::Placebo]);
    let mut pairs: Vec<(&str, &str)> = explaining
        .iter()
        .enumerate()
        .flat_map(|(index, first)| {
            explaining[index + 1..]
                .iter()
                .chain(&compared)
                .map(move |second| (*first, *second))
        })
        .collect();
    pairs.sort_unstable();
    pairs
}

fn improvement(
    stratum: &Stratum,
    (first, second): (&str, &str),
    scale: Scale,
    plan: &AnalysisPlan,
    seeds: &impl NamedSeeds,
) -> Improvement {
    let [own, other] =
        [first, second].map(|method| Cells::new(stratum, method, scale, plan, seeds));
    let (own, other) = (own.shared_with(&other), other.shared_with(&own));
    Improvement {
        first: first.to_owned(),
        second: second.to_owned(),
        scale,
        malfunctions: own.malfunctions.len() as u64,
        probability: if own.malfunctions.is_empty() {
            Computed::absent(format!(
                "no malfunction with sessions of both {first} and {second}"
            ))
        } else {
            probability(own, other, plan).into()
        },
    }
}

fn probability(own: Cells, other: Cells, plan: &AnalysisPlan) -> Result<Estimated, NotComputed> {
    let pairs: Vec<[&[f64]; 2]> = own
        .scores
        .iter()
        .zip(&other.scores)
        .map(|(own, other)| [own.as_slice(), other.as_slice()])
        .collect();
    let cells = improvement::side_by_side(&pairs);
    let keys = [own.keys, other.keys].concat();
    let resamples = Resamples::of_keys(&cells, plan.resamples, keys);
    let replicates = improvement::replicates(&pairs, &resamples);
    let estimate = probability_of_improvement(&own.scores, &other.scores)?;
    let sizes = cells.iter().map(|cell| cell.len());
    Ok(Estimated {
        estimate,
        interval: bootstrap::reported(estimate, &replicates, plan.confidence, sizes),
    })
}
