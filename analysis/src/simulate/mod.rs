//! Knows what a planned design can be expected to do: error rates, power, verdicts and coverage, by simulation.
//! Must not know any real score, save residuals of a pilot.
//! Start at `simulate`.

mod coverage;
mod design;
mod harmed;
mod means;
mod noise;
mod primary;
mod procedures;
mod result;
mod scenario;
mod search;

use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

pub use design::{
    CoveragePlan, DEFAULT_SD, Design, Effect, EffectError, HarmPlan, SimulationError,
    SimulationPlan,
};
pub use noise::{Noise, PilotResiduals};
pub use procedures::PROCEDURES;
pub use result::{
    AnalyticCheck, EffectSizeCoverage, HarmRates, HarmTestRates, PercentileErrors, PowerAt,
    ProcedureRate, Rate, ScenarioRates, SessionsNeeded, SideErrors, Simulation, VerdictShares,
};
pub use scenario::{InteractionForm, Scenario, Spread};
pub use search::{PowerPlan, SESSIONS_SEARCHED, sessions_needed};

use crate::attainability::{AttainableTest, attainability};
use crate::computed::Computed;
use crate::randomness::{NamedSeeds, Streams, generator};

/// Simulates a design: what its tests of H3 can attain, the rates of H1 in each scenario, H3 without and with harm, and the
/// coverage of intervals.
///
/// Keys are `simulate/h1/{scenario}`, `simulate/h3/{harmed}`, `simulate/effect_size/{rms}` and `simulate/percentile`: leaving a
/// part out changes no other. Data set i draws from stream i of its part's key. `before` is told each part before it
/// begins, as words. Scores are neither clipped nor winsorised.
///
/// # Errors
/// A plan with a number out of range.
pub fn simulate(
    plan: &SimulationPlan,
    seeds: &impl NamedSeeds,
    mut before: impl FnMut(&str),
) -> Result<Simulation, SimulationError> {
    plan.check()?;
    let streams = |name: &str| Streams::draw(&mut generator(seeds, name));
    let Design { sessions, .. } = plan.design;
    let cells = plan.design.cells();
    let attainable = [AttainableTest::Permutation, AttainableTest::SignedRank]
        .map(|test| attainability(test, sessions, sessions, cells, cells, plan.q));
    let mut scenarios = Vec::new();
    for scenario in &plan.scenarios {
        before(&format!("H1 {}", scenario.name));
        let key = streams(&format!("simulate/h1/{}", scenario.name));
        scenarios.push(procedures::rates(scenario, plan, &key));
    }
    let mut harm = Vec::new();
    if let Some(asked) = &plan.harm {
        for harmed in if asked.harmed == 0 {
            vec![0]
        } else {
            vec![0, asked.harmed]
        } {
            before(&format!("H3 with {harmed} harmed"));
            let key = streams(&format!("simulate/h3/{harmed}"));
            harm.push(harmed::rates(plan, &HarmPlan { harmed, ..*asked }, &key).into());
        }
    }
    let mut effect_size_coverage = Vec::new();
    let mut percentile_errors = Computed::absent("not asked for");
    if let Some(asked) = &plan.coverage {
        for &rms in &asked.interaction_rms {
            before(&format!("coverage at interaction rms {rms}"));
            let key = streams(&format!("simulate/effect_size/{rms}"));
            effect_size_coverage.push(coverage::effect_size(plan, asked, rms, &key).into());
        }
        before("errors of percentile intervals");
        let key = streams("simulate/percentile");
        percentile_errors = Computed::Value(coverage::percentile(plan, asked, &key));
    }
    Ok(Simulation {
        design: plan.design,
        datasets: plan.datasets,
        permutations: plan.permutations,
        alpha: plan.alpha,
        q: plan.q,
        attainability: attainable.into(),
        scenarios,
        harm,
        effect_size_coverage,
        percentile_errors,
    })
}

/// Makes `count` data sets in parallel, each from a stream of its own; data set i lands in slot i.
pub(crate) fn datasets<T: Send>(
    count: u64,
    streams: &Streams,
    dataset: impl Fn(&mut ChaCha8Rng) -> T + Sync,
) -> Vec<T> {
    let count = usize::try_from(count).expect("data sets fit into memory");
    (0..count)
        .into_par_iter()
        .map(|index| dataset(&mut streams.chunk(index)))
        .collect()
}
