//! Knows how simulations of a planned design are called.
//! Must not know a formula.
//! Start at `simulate`.

use evalxrl_analysis::simulate::{
    self as simulation, CoveragePlan, Design, HarmPlan, Noise, PilotResiduals, PowerPlan, Scenario,
    SimulationError, SimulationPlan,
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::cells::sorted;
use crate::refusal::{compute, document, refuse};
use crate::seed::Seed;

/// A simulation as Python asks for it.
#[derive(Deserialize)]
struct Asked {
    methods: u64,
    malfunctions: u64,
    sessions: u64,
    /// `None`: the published table.
    scenarios: Option<Vec<String>>,
    /// `None`: each scenario's own.
    noise: Option<String>,
    sd: f64,
    datasets: u64,
    permutations: u64,
    alpha: f64,
    q: f64,
    /// `None`: H3 is left out.
    harmed: Option<u64>,
    effect: String,
    harm_datasets: u64,
    /// Empty: coverage is left out.
    coverage: Vec<f64>,
    coverage_datasets: u64,
    coverage_resamples: u64,
    confidence: f64,
}

/// The residuals of a pilot, if there is one.
type Pilot<'py> = Option<(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, i64>)>;

fn noise(name: &str, sd: f64, pilot: &Pilot<'_>) -> PyResult<Noise> {
    match (name, pilot) {
        ("normal", _) => Ok(Noise::Normal { sd }),
        ("beta", _) => Ok(Noise::Beta { sd }),
        ("bimodal", _) => Ok(Noise::Bimodal { sd }),
        ("pilot", Some((score, cell))) => {
            let (cells, _) = sorted(score, cell)?;
            let residuals = PilotResiduals::new(&cells).map_err(refuse)?;
            Ok(Noise::Pilot(residuals))
        }
        ("pilot", None) => Err(refuse("noise 'pilot' needs the scores of a pilot")),
        _ => Err(refuse(format!(
            "noise {name:?} is not offered: normal, beta, bimodal, pilot"
        ))),
    }
}

impl Asked {
    fn plan(self, pilot: &Pilot<'_>) -> PyResult<SimulationPlan> {
        let scenarios: Vec<Scenario> = match self.scenarios {
            None => Scenario::table(),
            Some(names) => names
                .iter()
                .map(|name| Scenario::named(name))
                .collect::<Result<_, SimulationError>>()
                .map_err(refuse)?,
        };
        let noise = self
            .noise
            .map(|name| noise(&name, self.sd, pilot))
            .transpose()?;
        let effect = self.effect.parse().map_err(refuse)?;
        let datasets = self.harm_datasets;
        let coverage = CoveragePlan {
            interaction_rms: self.coverage,
            datasets: self.coverage_datasets,
            resamples: self.coverage_resamples,
            confidence: self.confidence,
        };
        Ok(SimulationPlan {
            design: Design {
                methods: self.methods,
                malfunctions: self.malfunctions,
                sessions: self.sessions,
            },
            scenarios,
            noise,
            datasets: self.datasets,
            permutations: self.permutations,
            alpha: self.alpha,
            q: self.q,
            harm: self.harmed.map(|harmed| HarmPlan {
                harmed,
                effect,
                datasets,
            }),
            coverage: (!coverage.interaction_rms.is_empty()).then_some(coverage),
        })
    }
}

/// Simulates a planned design.
#[pyfunction]
#[pyo3(signature = (asked, pilot, seed))]
pub(crate) fn simulate(
    py: Python<'_>,
    asked: &str,
    pilot: Pilot<'_>,
    seed: Seed,
) -> PyResult<String> {
    let asked: Asked = serde_json::from_str(asked).map_err(refuse)?;
    let (plan, seeds) = (asked.plan(&pilot)?, seed.named());
    let found = compute(py, || simulation::simulate(&plan, &seeds, |_| ()))?;
    document(&found.map_err(refuse)?)
}

/// Searches the smallest number of sessions that reaches a power.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of one Python function")]
pub(crate) fn sessions_needed(
    py: Python<'_>,
    methods: u64,
    malfunctions: u64,
    harmed: u64,
    effect: &str,
    noise_name: &str,
    sd: f64,
    pilot: Pilot<'_>,
    target: f64,
    q: f64,
    datasets: u64,
    seed: Seed,
) -> PyResult<String> {
    let plan = PowerPlan {
        methods,
        malfunctions,
        harmed,
        effect: effect.parse().map_err(refuse)?,
        noise: noise(noise_name, sd, &pilot)?,
        target,
        q,
        datasets,
    };
    let seeds = seed.named();
    let found = compute(py, || simulation::sessions_needed(&plan, &seeds, |_| ()))?;
    document(&found.map_err(refuse)?)
}
