//! Knows the mean score of one run had every session stopped at t tool calls, and its area up to the budget.
//! Must not know planned budgets.
//! Start at `truncation`.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::SCALES;
use crate::bootstrap;
use crate::computed::{Computed, NotComputed};
use crate::estimate::Estimated;
use crate::moments::select_quantile;
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, generator};
use crate::scale::Scale;
use crate::score_table::{Role, Stratum, ToolCallBudget};
use crate::tool_calls::observed;

/// B(t), constant from each observed t to the next, and 0 before the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TruncationCurve {
    /// Id of the method.
    pub method: String,
    /// Its role.
    pub role: Role,
    /// The scale of every score here.
    pub scale: Scale,
    /// Malfunctions with sessions, each of equal weight.
    pub malfunctions: u64,
    /// Every t at which some session submitted, ascending.
    pub calls: Vec<u64>,
    /// B(t) at each of them.
    pub means: Vec<f64>,
    /// Lower ends of the pointwise band.
    pub low: Computed<Vec<f64>>,
    /// Upper ends of the pointwise band.
    pub high: Computed<Vec<f64>>,
    /// (1/τ)·∫ B(t) dt over [0, τ].
    pub area: Estimated,
}

/// Cuts a stratum off at fewer tool calls: B(t) = mean over cells of mean_n(score·1[submitted and tool_calls ≤ t]).
///
/// # Errors
/// No common budget τ, a submitted session without `tool_calls`, or no session at all.
pub fn truncation(
    stratum: &Stratum,
    plan: &AnalysisPlan,
    seeds: &impl NamedSeeds,
) -> Result<Vec<TruncationCurve>, NotComputed> {
    let budget = *stratum.tool_call_budget().as_result()?;
    let mut methods: BTreeMap<&str, Vec<Timed>> = BTreeMap::new();
    for ((malfunction, method), calls) in observed(stratum)? {
        let scores =
            SCALES.map(|scale| stratum.scores(malfunction, method, scale, plan.winsor_floor));
        methods
            .entry(method)
            .or_default()
            .push(Timed { calls, scores });
    }
    if methods.is_empty() {
        return Err(NotComputed::because("no session by a coder"));
    }
    let mut curves = Vec::with_capacity(2 * methods.len());
    for (method, cells) in &methods {
        for (index, scale) in SCALES.into_iter().enumerate() {
            let steps = Steps::new(cells, index, budget);
            let mut rng = generator(seeds, &format!("budget_curve/{method}"));
            // Cells hold the numbers of their sessions, so that a resample says which sessions were drawn.
            let numbers: Vec<Vec<f64>> = cells
                .iter()
                .map(|cell| (0..cell.calls.len()).map(|number| number as f64).collect())
                .collect();
            let replicates = bootstrap::replicates(
                &numbers,
                plan.resamples,
                |drawn| steps.curve(drawn),
                &mut rng,
            );
            let (means, area) = steps.curve(&numbers);
            let sizes = || cells.iter().map(|cell| cell.calls.len());
            let areas: Vec<f64> = replicates.iter().map(|(_, area)| *area).collect();
            let (low, high) = band(&replicates, means.len(), plan.confidence, sizes().min());
            curves.push(TruncationCurve {
                method: (*method).to_owned(),
                role: stratum.roles().of(method),
                scale,
                malfunctions: cells.len() as u64,
                calls: steps.calls.iter().map(|calls| *calls as u64).collect(),
                means,
                low,
                high,
                area: Estimated {
                    estimate: area,
                    interval: bootstrap::reported(area, &areas, plan.confidence, sizes()),
                },
            });
        }
    }
    Ok(curves)
}

/// The sessions of one cell: when each submitted (infinite: never), and its score on both scales.
struct Timed {
    calls: Vec<f64>,
    scores: [Vec<f64>; 2],
}

/// How each session raises the curve of a method, on one scale.
struct Steps {
    /// Every observed t, ascending.
    calls: Vec<f64>,
    /// τ.
    horizon: f64,
    /// By cell and session: which t, and score/(K·N_k); nothing for a session that never submitted.
    raises: Vec<Vec<Option<(usize, f64)>>>,
}

impl Steps {
    fn new(cells: &[Timed], scale: usize, budget: ToolCallBudget) -> Self {
        let mut calls: Vec<f64> = cells
            .iter()
            .flat_map(|cell| cell.calls.iter().copied())
            .filter(|calls| calls.is_finite())
            .collect();
        calls.sort_by(f64::total_cmp);
        calls.dedup();
        let raises = cells
            .iter()
            .map(|cell| {
                let weight = 1.0 / (cells.len() * cell.calls.len()) as f64;
                cell.calls
                    .iter()
                    .zip(&cell.scores[scale])
                    .map(|(own, score)| {
                        let place = calls.partition_point(|calls| calls < own);
                        own.is_finite().then_some((place, weight * score))
                    })
                    .collect()
            })
            .collect();
        Self {
            calls,
            horizon: budget.steps as f64,
            raises,
        }
    }

    /// B at every observed t, and the normalised area, of sessions given by cell and number.
    fn curve(&self, numbers: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let mut curve = vec![0.0; self.calls.len()];
        for (raises, numbers) in self.raises.iter().zip(numbers) {
            for number in numbers {
                if let Some((place, raise)) = raises[*number as usize] {
                    curve[place] += raise;
                }
            }
        }
        let (mut height, mut area) = (0.0, 0.0);
        for (value, calls) in curve.iter_mut().zip(&self.calls) {
            // What is left of [0, τ] after t, as a share of it.
            area += *value * (1.0 - calls / self.horizon).max(0.0);
            height += *value;
            *value = height;
        }
        (curve, area)
    }
}

type Band = (Computed<Vec<f64>>, Computed<Vec<f64>>);

fn band(
    replicates: &[(Vec<f64>, f64)],
    points: usize,
    level: f64,
    smallest: Option<usize>,
) -> Band {
    if smallest.is_none_or(|smallest| smallest < 2) {
        let reason = || Computed::absent("a cell has one session");
        return (reason(), reason());
    }
    let (low, high) = (0..points)
        .into_par_iter()
        .map(|point| {
            let mut column: Vec<f64> = replicates.iter().map(|(curve, _)| curve[point]).collect();
            [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
                .map(|probability| select_quantile(&mut column, probability))
                .into()
        })
        .collect::<Vec<(f64, f64)>>()
        .into_iter()
        .unzip();
    (Computed::Value(low), Computed::Value(high))
}
