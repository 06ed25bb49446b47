//! Knows how often intervals cover the truth: of ω²_p, of one cell's mean, and of its lift.
//! Must not know how an interval is made.
//! Start at `effect_size`.

use std::cmp::Ordering;

use rand_chacha::ChaCha8Rng;

use super::design::{CoveragePlan, DEFAULT_SD, SimulationPlan};
use super::means::Truth;
use super::noise::Noise;
use super::procedures::Names;
use super::result::{EffectSizeCoverage, PercentileErrors, Rate, SideErrors};
use super::scenario::{InteractionForm, Scenario, Spread};
use crate::bootstrap;
use crate::computed::NotComputed;
use crate::effect_size::adjusted_interval;
use crate::moments::mean;
use crate::randomness::Streams;

/// Cells whose interval is looked at, for each data set asked for: a cell is quickly drawn.
const CELLS_PER_DATASET: u64 = 20;
/// The level of the cell's interval, so that each side has an error of .05.
const CELL_LEVEL: f64 = 0.90;
/// The mean of every cell.
const CENTRE: f64 = 0.5;

/// Coverage of the adjusted stratified bootstrap interval of ω²_p.
///
/// The truth is what ω²_p estimates: Σγ²/(Σγ² + MK·σ²), with γ the doubly centred means of the data set and σ² the mean
/// variance within its cells; the expectations of numerator and denominator of ω²_p, each divided by N, are these.
///
/// # Errors
/// A design without interaction.
pub(super) fn effect_size(
    plan: &SimulationPlan,
    asked: &CoveragePlan,
    rms: f64,
    streams: &Streams,
) -> Result<EffectSizeCoverage, NotComputed> {
    let default = Noise::Normal { sd: DEFAULT_SD };
    let noise = plan.noise.as_ref().unwrap_or(&default);
    let scenario = Scenario {
        name: "interaction",
        methods: 0.0,
        malfunctions: 0.0,
        interaction: InteractionForm::Normal { rms },
        spread: Spread::Equal,
        noise: noise.clone(),
        beyond_first_axis: false,
    };
    let names = Names::of(&plan.design);
    let one = |rng: &mut ChaCha8Rng| -> Result<[f64; 3], NotComputed> {
        let truth = Truth::draw(&scenario, &plan.design, rng);
        let matrix = names.matrix(&truth, noise, &plan.design, rng)?;
        let interval = adjusted_interval(&matrix, asked.resamples, asked.confidence, rng)?;
        Ok([
            partial_omega_squared(&truth, noise),
            interval.low,
            interval.high,
        ])
    };
    let found: Vec<[f64; 3]> = super::datasets(asked.datasets, streams, one)
        .into_iter()
        .collect::<Result<_, _>>()?;
    let covered = found
        .iter()
        .filter(|[truth, low, high]| low <= truth && truth <= high)
        .count();
    let average = |of: &dyn Fn(&[f64; 3]) -> f64| mean(&found.iter().map(of).collect::<Vec<f64>>());
    Ok(EffectSizeCoverage {
        interaction_rms: rms,
        truth: average(&|[truth, _, _]| *truth),
        level: asked.confidence,
        resamples: asked.resamples,
        coverage: Rate::of_count(covered as u64, asked.datasets),
        mean_width: average(&|[_, low, high]| high - low),
    })
}

/// Σγ²/(Σγ² + Σσ²) of means that have no main effects.
fn partial_omega_squared(truth: &Truth, noise: &Noise) -> f64 {
    let centre = mean(&truth.means);
    let squares: f64 = truth.means.iter().map(|mean| (mean - centre).powi(2)).sum();
    let variances: f64 = truth
        .means
        .iter()
        .zip(&truth.spreads)
        .enumerate()
        .map(|(place, (&mean, &spread))| noise.variance(place, mean, spread))
        .sum();
    squares / (squares + variances)
}

/// Errors of the percentile intervals of one cell's mean and of its difference from a baseline of as many sessions.
pub(super) fn percentile(
    plan: &SimulationPlan,
    asked: &CoveragePlan,
    streams: &Streams,
) -> PercentileErrors {
    let default = Noise::Normal { sd: DEFAULT_SD };
    let noise = plan.noise.as_ref().unwrap_or(&default);
    let sessions = usize::try_from(plan.design.sessions).expect("a checked design fits");
    let found: Vec<[Ordering; 2]> =
        super::datasets(asked.datasets * CELLS_PER_DATASET, streams, |rng| {
            let cells: [Vec<f64>; 2] = std::array::from_fn(|_| {
                let mut cell = vec![0.0; sessions];
                noise.fill(0, CENTRE, DEFAULT_SD, &mut cell, rng);
                cell
            });
            let means = |cells: &[Vec<f64>]| [mean(&cells[0]), mean(&cells[1])];
            let resampled = bootstrap::replicates(&cells, asked.resamples, means, rng);
            let [own, baseline] = means(&cells);
            let side = |estimate: f64, truth: f64, of: fn(&[f64; 2]) -> f64| {
                let replicates: Vec<f64> = resampled.iter().map(of).collect();
                let interval = bootstrap::percentile(estimate, &replicates, CELL_LEVEL);
                if interval.lies_above(truth) {
                    Ordering::Greater
                } else if interval.lies_below(truth) {
                    Ordering::Less
                } else {
                    Ordering::Equal
                }
            };
            [
                side(own, CENTRE, |[own, _]| *own),
                side(own - baseline, 0.0, |[own, baseline]| own - baseline),
            ]
        });
    let errors = |index: usize| {
        let share = |side: Ordering| {
            let count = found.iter().filter(|found| found[index] == side).count();
            Rate::of_count(count as u64, found.len() as u64)
        };
        SideErrors {
            above: share(Ordering::Greater),
            below: share(Ordering::Less),
        }
    };
    PercentileErrors {
        sessions: plan.design.sessions,
        resamples: asked.resamples,
        nominal: (1.0 - CELL_LEVEL) / 2.0,
        cell: errors(0),
        lift: errors(1),
    }
}
