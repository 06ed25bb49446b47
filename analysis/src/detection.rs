//! Knows how probable it was that H1 found an interaction of a given size, with the cells and the scatter of a table.
//! Must not know what was found.
//! Start at `detection_power`.

use serde::{Deserialize, Serialize};

use crate::computed::NotComputed;
use crate::interaction::{Matrix, TestName};
use crate::plan::AnalysisPlan;
use crate::power::pilot_variance;
use crate::randomness::NamedSeeds;
use crate::scale::Scale;
use crate::score_table::Stratum;
use crate::simulate::{Design, InteractionForm, Noise, Rate, Scenario, SimulationPlan, simulate};

/// The scenario that a design is held against: interaction rms 0.10 beside main effects of 0.10.
const SCENARIO: &str = "interaction_small_main";

/// Data sets; the Monte Carlo error of a rate is at most .035.
const DATASETS: u64 = 200;

/// Larger matrices are left to a simulation of their own.
const MOST_SESSIONS: usize = 5_000;

/// What H1 could have found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DetectionPower {
    /// Root mean square of the interaction assumed, in score units.
    pub interaction_rms: f64,
    /// Standard deviation assumed within cells: the upper 80 % bound of that in the table, clipped.
    pub sd: f64,
    /// M.
    pub methods: u64,
    /// K.
    pub malfunctions: u64,
    /// N: the harmonic mean of sessions per cell, rounded down.
    pub sessions: u64,
    /// How often `wild` rejects additivity.
    pub wild: Rate,
    /// How often the verdict is `structured` or `structured_crossover`, on one scale.
    pub structured: Rate,
}

/// Simulates the design of a stratum's matrix, with normal noise as wide as the table's, on the clipped scale. Rejecting is
/// as probable as it says only for an interaction of just that size. The key is `simulate/h1/interaction_small_main`.
///
/// # Errors
/// No matrix, cells without repetition or variation, or a matrix too large to simulate beside an analysis.
pub fn detection_power(
    stratum: &Stratum,
    plan: &AnalysisPlan,
    seeds: &impl NamedSeeds,
) -> Result<DetectionPower, NotComputed> {
    let matrix = Matrix::of_stratum(stratum, Scale::Clipped, plan, false)?;
    let cells: Vec<Vec<f64>> = matrix.cells().iter().flatten().cloned().collect();
    let filled: Vec<f64> = cells
        .iter()
        .filter(|cell| !cell.is_empty())
        .map(|cell| 1.0 / cell.len() as f64)
        .collect();
    if matrix.sessions() > MOST_SESSIONS {
        return Err(NotComputed::because(format!(
            "more than {MOST_SESSIONS} sessions; a simulation of its own says it"
        )));
    }
    let pilot = pilot_variance(&cells)?;
    let design = Design {
        methods: matrix.methods().len() as u64,
        malfunctions: matrix.malfunctions().len() as u64,
        sessions: (filled.len() as f64 / filled.iter().sum::<f64>()).floor() as u64,
    };
    if design.methods < 2 || design.malfunctions < 2 || design.sessions < 2 {
        return Err(NotComputed::because(
            "two methods, two malfunctions and two sessions in a cell are needed",
        ));
    }
    let refused = |error: &dyn std::fmt::Display| NotComputed::because(error.to_string());
    let scenario = Scenario::named(SCENARIO).map_err(|error| refused(&error))?;
    let InteractionForm::Normal { rms } = scenario.interaction else {
        return Err(NotComputed::because("the scenario has no interaction"));
    };
    let asked = SimulationPlan {
        scenarios: vec![scenario],
        noise: Some(Noise::Normal { sd: pilot.upper_sd }),
        datasets: DATASETS,
        alpha: plan.alpha,
        harm: None,
        coverage: None,
        ..SimulationPlan::new(design)
    };
    let found = simulate(&asked, seeds, |_| ()).map_err(|error| refused(&error))?;
    let rates = found
        .scenarios
        .first()
        .ok_or_else(|| NotComputed::because("nothing was simulated"))?;
    let wild = rates
        .procedures
        .iter()
        .find(|procedure| procedure.test == TestName::Wild)
        .ok_or_else(|| NotComputed::because("wild was not simulated"))?;
    let (one, other) = (
        &rates.verdict.structured,
        &rates.verdict.structured_crossover,
    );
    let structured = one.value + other.value;
    Ok(DetectionPower {
        interaction_rms: rms,
        sd: pilot.upper_sd,
        methods: design.methods,
        malfunctions: design.malfunctions,
        sessions: design.sessions,
        wild: *wild.rate.as_result()?,
        structured: Rate {
            value: structured,
            error: (structured * (1.0 - structured).max(0.0) / DATASETS as f64).sqrt(),
            datasets: DATASETS,
        },
    })
}
