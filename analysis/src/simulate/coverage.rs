//! Knows how often intervals cover the truth: of ω²_p, and of one cell's mean.
//! Must not know how an interval is made.
//! Start at `effect_size`.

use rand_chacha::ChaCha8Rng;

use super::design::{CoveragePlan, DEFAULT_SD, SimulationPlan};
use super::means::Truth;
use super::noise::Noise;
use super::procedures::Names;
use super::result::{CellCoverage, EffectSizeCoverage, Rate};
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

/// Error of either end of the percentile interval of one cell's mean.
///
/// # Errors
/// Noise without a mean of its own.
pub(super) fn cell(
    plan: &SimulationPlan,
    asked: &CoveragePlan,
    streams: &Streams,
) -> Result<CellCoverage, NotComputed> {
    let default = Noise::Normal { sd: DEFAULT_SD };
    let noise = plan.noise.as_ref().unwrap_or(&default);
    let sessions = usize::try_from(plan.design.sessions).expect("a checked design fits");
    let count = asked.datasets * CELLS_PER_DATASET;
    const TRUTH: f64 = 0.5;
    let found: Vec<[bool; 2]> = super::datasets(count, streams, |rng| {
        let mut cell = vec![0.0; sessions];
        noise.fill(0, TRUTH, DEFAULT_SD, &mut cell, rng);
        let estimate = mean(&cell);
        let cells = [cell];
        let means = bootstrap::replicates(&cells, asked.resamples, |cells| mean(&cells[0]), rng);
        let interval = bootstrap::percentile(estimate, &means, CELL_LEVEL);
        [interval.lies_above(TRUTH), interval.lies_below(TRUTH)]
    });
    let share = |side: usize| {
        let count = found.iter().filter(|missed| missed[side]).count();
        Rate::of_count(count as u64, found.len() as u64)
    };
    Ok(CellCoverage {
        sessions: plan.design.sessions,
        resamples: asked.resamples,
        nominal_one_sided_error: (1.0 - CELL_LEVEL) / 2.0,
        error_below: share(0),
        error_above: share(1),
    })
}
