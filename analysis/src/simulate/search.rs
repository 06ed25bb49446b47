//! Knows how to find the number of sessions that reaches a power, by simulation.
//! Must not know one data set.
//! Start at `sessions_needed`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::design::{Design, Effect, SimulationError, check_harm, open};
use super::harmed::{Discoveries, Setting};
use super::noise::Noise;
use super::result::{AnalyticCheck, PowerAt, Rate, SessionsNeeded};
use crate::computed::{Computed, NotComputed};
use crate::harm::HarmTestName;
use crate::power::two_sample_t_sessions;
use crate::randomness::{NamedSeeds, Streams, generator};

/// The numbers of sessions N = N0 that are looked at.
pub const SESSIONS_SEARCHED: RangeInclusive<u64> = 4..=40;

/// What power is asked of a design whose number of sessions is not known yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerPlan {
    /// M.
    pub methods: u64,
    /// K.
    pub malfunctions: u64,
    /// Cells harmed, at random places.
    pub harmed: u64,
    /// By how much; in standard deviations of the noise, or in score units.
    pub effect: Effect,
    /// The noise to plan with; its standard deviation is the one planned with.
    pub noise: Noise,
    /// The mean share of harmed cells to be discovered.
    pub target: f64,
    /// False discovery rate.
    pub q: f64,
    /// Data sets per number of sessions.
    pub datasets: u64,
}

impl PowerPlan {
    fn design(&self, sessions: u64) -> Design {
        Design {
            methods: self.methods,
            malfunctions: self.malfunctions,
            sessions,
        }
    }

    /// Checks every number against its range.
    ///
    /// # Errors
    /// The first number out of range.
    pub fn check(&self) -> Result<(), SimulationError> {
        let largest = self.design(*SESSIONS_SEARCHED.end());
        largest.check()?;
        self.noise.check()?;
        open("target", self.target)?;
        open("q", self.q)?;
        for (what, found) in [("data sets", self.datasets), ("harmed cells", self.harmed)] {
            if found < 1 {
                let least = 1;
                return Err(SimulationError::TooFew { what, found, least });
            }
        }
        check_harm(&largest, self.harmed, self.effect)
    }
}

/// Finds the smallest N = N0 in 4..=40 at which the primary test of H3, Benjamini–Hochberg over all M·K cells included,
/// discovers the harmed cells with the power asked for.
///
/// Starts at the analytic number and walks, so that the answer reaches the target and its predecessor does not; power
/// grows with N but for Monte Carlo error. Keys are `power/{N}`; data set i draws from stream i. `before` is told each N.
///
/// # Errors
/// A plan with a number out of range.
pub fn sessions_needed(
    plan: &PowerPlan,
    seeds: &impl NamedSeeds,
    mut before: impl FnMut(&str),
) -> Result<SessionsNeeded, SimulationError> {
    plan.check()?;
    let planning_sd = plan.noise.sd();
    let effect = plan.effect.in_score_units(planning_sd);
    let effect_in_sds = effect / planning_sd;
    let cells = plan.methods * plan.malfunctions;
    let alpha = plan.q * plan.harmed as f64 / cells as f64;
    let analytic = two_sample_t_sessions(effect_in_sds, alpha, plan.target)
        .map(|sessions| AnalyticCheck { alpha, sessions })
        .map_err(|error| NotComputed::because(error.to_string()));
    let mut tried: BTreeMap<u64, PowerAt> = BTreeMap::new();
    let mut reaches = |sessions: u64| -> Result<bool, NotComputed> {
        if let Some(known) = tried.get(&sessions) {
            return Ok(known.power_per_cell.value >= plan.target);
        }
        before(&format!("power at {sessions} sessions per arm"));
        let setting = Setting {
            design: plan.design(sessions),
            noise: &plan.noise,
            harmed: plan.harmed,
            effect,
            q: plan.q,
            with_size: false,
        };
        setting.check()?;
        let streams = Streams::draw(&mut generator(seeds, &format!("power/{sessions}")));
        let at = power_at(&setting, plan.datasets, &streams);
        tried.insert(sessions, at);
        Ok(at.power_per_cell.value >= plan.target)
    };
    let (least, most) = (*SESSIONS_SEARCHED.start(), *SESSIONS_SEARCHED.end());
    let start = analytic
        .as_ref()
        .map_or(most, |check| check.sessions as u64);
    let sessions = walk(start.clamp(least, most), least, most, &mut reaches);
    Ok(SessionsNeeded {
        methods: plan.methods,
        malfunctions: plan.malfunctions,
        harmed: plan.harmed,
        planning_sd,
        effect,
        effect_in_sds,
        target: plan.target,
        q: plan.q,
        sessions: sessions.into(),
        tried: tried.into_values().collect(),
        analytic: Computed::from(analytic),
    })
}

/// Walks from `start` to the number that reaches the target while the one before does not.
fn walk(
    start: u64,
    least: u64,
    most: u64,
    reaches: &mut impl FnMut(u64) -> Result<bool, NotComputed>,
) -> Result<u64, NotComputed> {
    let mut sessions = start;
    if reaches(sessions)? {
        while sessions > least && reaches(sessions - 1)? {
            sessions -= 1;
        }
        return Ok(sessions);
    }
    while sessions < most {
        sessions += 1;
        if reaches(sessions)? {
            return Ok(sessions);
        }
    }
    Err(NotComputed::because(format!(
        "{most} sessions per arm do not reach the power"
    )))
}

fn power_at(setting: &Setting<'_>, datasets: u64, streams: &Streams) -> PowerAt {
    let found: Vec<Discoveries> = super::datasets(datasets, streams, |rng| {
        setting.run(&[HarmTestName::PermutationMean], rng)[0]
    });
    let shares = |share: &dyn Fn(&Discoveries) -> f64| {
        Rate::of_shares(&found.iter().map(share).collect::<Vec<f64>>())
    };
    PowerAt {
        sessions: setting.design.sessions,
        power_per_cell: shares(&|found| found.right as f64 / setting.harmed as f64),
        power_any: shares(&|found| f64::from(u8::from(found.right > 0))),
        false_discovery: shares(&Discoveries::false_share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_ends_where_the_target_is_first_reached() {
        for first in [4, 9, 17, 40] {
            for start in [4, 10, 40] {
                let found = walk(start, 4, 40, &mut |sessions| Ok(sessions >= first));
                assert_eq!(found, Ok(first));
            }
        }
        assert!(walk(12, 4, 40, &mut |_| Ok(false)).is_err());
    }
}
