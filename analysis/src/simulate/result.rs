//! Knows how the results of a simulation are written down.
//! Must not know how data sets are made or tested.
//! Start at `Simulation`.

use serde::{Deserialize, Serialize};

use super::design::Design;
use crate::attainability::Attainability;
use crate::computed::Computed;
use crate::interaction::TestName;

/// What a planned design can be expected to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// The design.
    pub design: Design,
    /// Data sets per scenario of H1.
    pub datasets: u64,
    /// Monte Carlo draws B per data set of a test of H1.
    pub permutations: u64,
    /// Level of the tests of H1.
    pub alpha: f64,
    /// False discovery rate of H3.
    pub q: f64,
    /// What the smallest p-values of H3 allow, before any simulation.
    pub attainability: Vec<Attainability>,
    /// H1: one entry per scenario.
    pub scenarios: Vec<ScenarioRates>,
    /// H3: nobody harmed, then the harmed cells that were asked for.
    pub harm: Vec<Computed<HarmRates>>,
    /// Coverage of the adjusted interval of ω²_p, one entry per size of interaction.
    pub effect_size_coverage: Vec<Computed<EffectSizeCoverage>>,
    /// Errors of the percentile intervals of one cell's mean and of one cell's lift.
    pub percentile_errors: Computed<PercentileErrors>,
}

/// A share of data sets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The share (or the mean of a share per data set), in [0, 1].
    pub value: f64,
    /// Its Monte Carlo error: sqrt(p(1 − p)/datasets), or the standard error of the mean of shares.
    pub error: f64,
    /// Data sets behind it.
    pub datasets: u64,
}

impl Rate {
    /// `count` of `datasets` (at least 1).
    pub fn of_count(count: u64, datasets: u64) -> Self {
        let value = count as f64 / datasets as f64;
        Self {
            value,
            error: (value * (1.0 - value) / datasets as f64).sqrt(),
            datasets,
        }
    }

    /// The mean of one share per data set (at least one).
    pub fn of_shares(shares: &[f64]) -> Self {
        Self {
            value: crate::moments::mean(shares),
            error: (crate::moments::variance(shares) / shares.len() as f64).sqrt(),
            datasets: shares.len() as u64,
        }
    }

    /// Whether a test of this level rejects more often than its level by more than 3 Monte Carlo errors.
    pub fn is_liberal(&self, alpha: f64) -> bool {
        self.value > alpha + 3.0 * self.error
    }
}

/// One scenario of H1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenarioRates {
    /// Its name.
    pub scenario: String,
    /// Means and noise in words.
    pub description: String,
    /// Whether additivity holds, so that a rejection is an error.
    pub additive: bool,
    /// One entry per procedure.
    pub procedures: Vec<ProcedureRate>,
    /// Step 3 on every data set, whatever the steps before it say.
    pub beyond_first_axis: Computed<Rate>,
    /// How often each word of the verdict came out (on one scale).
    pub verdict: VerdictShares,
}

/// How often one procedure rejected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcedureRate {
    /// The procedure.
    pub test: TestName,
    /// Share of data sets with p ≤ α.
    pub rate: Computed<Rate>,
    /// In an additive scenario: above α by more than 3 Monte Carlo errors.
    pub liberal: bool,
}

/// How often each word of the verdict came out; the shares add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VerdictShares {
    /// No effect of method detected.
    pub uniform: Rate,
    /// One axis, parallel.
    pub single_axis_parallel: Rate,
    /// One axis, strength.
    pub single_axis_strength: Rate,
    /// More than one axis.
    pub structured: Rate,
    /// One axis on which the order reverses.
    pub structured_crossover: Rate,
    /// No verdict could be computed.
    pub not_computed: Rate,
}

/// H3 under one assumption.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HarmRates {
    /// m = M·K.
    pub cells: u64,
    /// Cells harmed in every data set, at random places.
    pub harmed: u64,
    /// How far below `no-method` a harmed cell lies, in score units.
    pub effect: f64,
    /// The same in standard deviations of the noise.
    pub effect_in_sds: f64,
    /// One entry per test, the primary first.
    pub tests: Vec<HarmTestRates>,
}

/// One test of H3 with its own Benjamini–Hochberg adjustment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HarmTestRates {
    /// The test.
    pub test: crate::harm::HarmTestName,
    /// Share of unharmed cells with p ≤ q before adjustment, the size of the test; absent where all are harmed.
    pub size: Computed<Rate>,
    /// Mean share of false ones among the discoveries (0 where there are none).
    pub false_discovery: Rate,
    /// Share of data sets in which at least one harmed cell is discovered; absent where none is harmed.
    pub power_any: Computed<Rate>,
    /// Mean share of harmed cells discovered; absent where none is harmed.
    pub power_per_cell: Computed<Rate>,
    /// Share of data sets with any discovery.
    pub any_discovery: Rate,
}

/// How often the adjusted stratified bootstrap interval of ω²_p covers the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectSizeCoverage {
    /// Root mean square of the interaction, in score units.
    pub interaction_rms: f64,
    /// The truth: rms²/(rms² + σ²), the value that ω²_p estimates.
    pub truth: f64,
    /// Nominal coverage.
    pub level: f64,
    /// Resamples per interval.
    pub resamples: u64,
    /// Share of intervals that contain the truth.
    pub coverage: Rate,
    /// Mean width of the intervals.
    pub mean_width: f64,
}

/// How often a percentile interval over the sessions of one cell lies beside the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PercentileErrors {
    /// N = N0.
    pub sessions: u64,
    /// Resamples per interval.
    pub resamples: u64,
    /// Nominal error of one side.
    pub nominal: f64,
    /// Of the mean of one cell.
    pub cell: SideErrors,
    /// Of the difference between a cell and its baseline.
    pub lift: SideErrors,
}

/// The error of either side of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SideErrors {
    /// Share of intervals that lie above the truth.
    pub above: Rate,
    /// Share of intervals that lie below the truth.
    pub below: Rate,
}

/// The smallest number of sessions that reaches a power, by simulation with the adjustment included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionsNeeded {
    /// M.
    pub methods: u64,
    /// K.
    pub malfunctions: u64,
    /// Cells harmed.
    pub harmed: u64,
    /// The standard deviation planned with, in score units.
    pub planning_sd: f64,
    /// How far below `no-method` a harmed cell lies, in score units.
    pub effect: f64,
    /// The same in planning standard deviations.
    pub effect_in_sds: f64,
    /// The power asked for.
    pub target: f64,
    /// False discovery rate.
    pub q: f64,
    /// The smallest N = N0 in 4..=40 whose simulated power reaches the target.
    pub sessions: Computed<u64>,
    /// What was simulated, by N.
    pub tried: Vec<PowerAt>,
    /// The t test without simulation: real n for α = q·harmed/m, and rounded up.
    pub analytic: Computed<AnalyticCheck>,
}

/// The simulated power at one number of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PowerAt {
    /// N = N0.
    pub sessions: u64,
    /// Mean share of harmed cells discovered by the primary; the target is for this.
    pub power_per_cell: Rate,
    /// Share of data sets in which it discovers at least one harmed cell.
    pub power_any: Rate,
    /// Mean share of false ones among its discoveries.
    pub false_discovery: Rate,
}

/// The two-sample one-sided t test as a check of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AnalyticCheck {
    /// q·harmed/m: the level at which all harmed cells are rejected together.
    pub alpha: f64,
    /// Real n per arm.
    pub sessions: f64,
}
