//! Knows how well texts localise faults by themselves, beside what the same methods do in use.
//! Must not know how a text was measured, nor sessions.
//! Start at `localisation`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::bootstrap::{Options, replicates};
use crate::cells::student_t;
use crate::computed::Computed;
use crate::estimate::{Estimated, Interval};
use crate::lift::{Difference, Lifts};
use crate::moments::mean;
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, generator};
use crate::rank_correlation::{Pair, RankCorrelation, rank_correlation, within_clusters};
use crate::scale::Scale;

/// The scales on which lifts stand beside percentiles.
const SCALES: [Scale; 2] = [Scale::Clipped, Scale::Raw];

/// Where the text of one method puts the faulty lines of one malfunction among all lines.
#[derive(Debug, Clone, PartialEq)]
pub struct TextPercentile {
    /// Id of the malfunction.
    pub malfunction: String,
    /// Id of the method.
    pub method: String,
    /// Mean rank percentile of the faulty lines: 1 is first, 0 last, ½ what a text that says nothing gives.
    pub percentile: f64,
}

/// Standalone localisation beside lift.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Localisation {
    /// One entry per text, sorted by malfunction, then method.
    pub cells: Vec<CellLocalisation>,
    /// One entry per method, sorted.
    pub methods: Vec<MethodLocalisation>,
    /// Of percentile and lift: on each scale over all cells, then within malfunctions.
    pub correlations: Vec<LiftCorrelation>,
}

/// One text beside the lift of its cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellLocalisation {
    /// Id of the malfunction.
    pub malfunction: String,
    /// Id of the method.
    pub method: String,
    /// Mean rank percentile of the faulty lines.
    pub percentile: f64,
    /// Lift of the cell on the clipped scale.
    pub clipped: Computed<Difference>,
    /// Lift of the cell on the raw scale.
    pub raw: Computed<Difference>,
}

/// The texts of one method beside its mean lift.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodLocalisation {
    /// Id of the method.
    pub method: String,
    /// Malfunctions with a text.
    pub malfunctions: u64,
    /// Mean percentile over them, with a bootstrap percentile interval over malfunctions.
    pub mean: Estimated,
    /// Student t interval of that mean.
    pub student_t: Computed<Interval>,
    /// Mean lift on the clipped scale, over the malfunctions on which the method was run.
    pub clipped: Computed<Difference>,
    /// The same on the raw scale.
    pub raw: Computed<Difference>,
}

/// How far percentile and lift rise together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiftCorrelation {
    /// The scale of the lift.
    pub scale: Scale,
    /// Whether both were centred by the mean of their malfunction before they were ranked.
    pub within_malfunctions: bool,
    /// Spearman's, over cells that have both; malfunctions are the clusters.
    pub correlation: Computed<RankCorrelation>,
}

/// Puts texts, at most one for each malfunction and method, beside the lifts of a stratum. Keys are asked by name:
/// `localisation/method/{method}`, `localisation/{scale}/cells`, `localisation/{scale}/within`.
pub fn localisation(
    texts: &[TextPercentile],
    lifts: Option<&Lifts>,
    plan: &AnalysisPlan,
    seeds: &impl NamedSeeds,
) -> Localisation {
    let mut sorted: Vec<&TextPercentile> = texts.iter().collect();
    sorted.sort_by_key(|text| (&text.malfunction, &text.method));
    let cells: Vec<CellLocalisation> = sorted
        .iter()
        .map(|text| {
            let [clipped, raw] = SCALES.map(|scale| cell_lift(lifts, text, scale));
            CellLocalisation {
                malfunction: text.malfunction.clone(),
                method: text.method.clone(),
                percentile: text.percentile,
                clipped,
                raw,
            }
        })
        .collect();
    let methods: BTreeSet<&str> = texts.iter().map(|text| text.method.as_str()).collect();
    Localisation {
        methods: methods
            .into_iter()
            .map(|method| of_method(method, &cells, lifts, plan, seeds))
            .collect(),
        correlations: SCALES
            .iter()
            .flat_map(|scale| {
                [false, true].map(|within| correlate(&cells, *scale, within, plan, seeds))
            })
            .collect(),
        cells,
    }
}

fn cell_lift(lifts: Option<&Lifts>, text: &TextPercentile, scale: Scale) -> Computed<Difference> {
    let (malfunction, method) = (&text.malfunction, &text.method);
    lifts
        .iter()
        .flat_map(|lifts| &lifts.methods)
        .filter(|lift| lift.scale == scale && lift.method == *method)
        .flat_map(|lift| &lift.malfunctions)
        .find(|cell| cell.malfunction == *malfunction)
        .map_or_else(
            || Computed::absent(format!("{method} was not run on {malfunction}")),
            |cell| cell.lift.clone(),
        )
}

fn of_method(
    method: &str,
    cells: &[CellLocalisation],
    lifts: Option<&Lifts>,
    plan: &AnalysisPlan,
    seeds: &impl NamedSeeds,
) -> MethodLocalisation {
    let of = cells.iter().filter(|cell| cell.method == method);
    let percentiles: Vec<f64> = of.map(|cell| cell.percentile).collect();
    let estimate = mean(&percentiles);
    let one = "one malfunction";
    let (interval, student) = if percentiles.len() < 2 {
        (Computed::absent(one), Computed::absent(one))
    } else {
        let options = Options {
            level: plan.confidence,
            resamples: plan.resamples,
            ..Options::default()
        };
        let mut rng = generator(seeds, &format!("localisation/method/{method}"));
        let sample = [percentiles.clone()];
        let means = replicates(&sample, plan.resamples, |drawn| mean(&drawn[0]), &mut rng);
        let interval = options.interval(estimate, &means, Vec::new, percentiles.len());
        (
            interval.into(),
            student_t(&percentiles, plan.confidence).into(),
        )
    };
    let mean_lift = |scale| {
        let mut all = lifts.iter().flat_map(|lifts| &lifts.methods);
        all.find(|lift| lift.scale == scale && lift.method == method)
            .map_or_else(
                || Computed::absent(format!("{method} was not run")),
                |lift| lift.mean.clone(),
            )
    };
    let [clipped, raw] = SCALES.map(mean_lift);
    MethodLocalisation {
        method: method.to_owned(),
        malfunctions: percentiles.len() as u64,
        mean: Estimated { estimate, interval },
        student_t: student,
        clipped,
        raw,
    }
}

fn correlate(
    cells: &[CellLocalisation],
    scale: Scale,
    within: bool,
    plan: &AnalysisPlan,
    seeds: &impl NamedSeeds,
) -> LiftCorrelation {
    let mut clusters: BTreeMap<&str, usize> = BTreeMap::new();
    let mut pairs = Vec::new();
    for cell in cells {
        let lift = match scale {
            Scale::Clipped => &cell.clipped,
            _ => &cell.raw,
        };
        if let Some(lift) = lift.value() {
            let next = clusters.len();
            pairs.push(Pair {
                cluster: *clusters.entry(&cell.malfunction).or_insert(next),
                first: cell.percentile,
                second: lift.estimate,
            });
        }
    }
    let place = if within { "within" } else { "cells" };
    if within {
        pairs = within_clusters(&pairs);
    }
    let name = format!("localisation/{}/{place}", scale.name());
    let mut rng = generator(seeds, &name);
    LiftCorrelation {
        scale,
        within_malfunctions: within,
        correlation: rank_correlation(&pairs, plan.confidence, plan.resamples, &mut rng).into(),
    }
}
