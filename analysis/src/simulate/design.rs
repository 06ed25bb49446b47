//! Knows what is simulated: the size of a design, the effort, and effects as people write them.
//! Must not know how data sets are made.
//! Start at `SimulationPlan`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::noise::Noise;
use super::scenario::Scenario;

/// The standard deviation of noise where nothing else is asked for, in score units.
pub const DEFAULT_SD: f64 = 0.25;

/// The size of a balanced design; the baseline has as many sessions per malfunction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// M: simple explanation methods.
    pub methods: u64,
    /// K: malfunctions.
    pub malfunctions: u64,
    /// N = N0: sessions per cell.
    pub sessions: u64,
}

impl Design {
    /// m = M·K.
    pub fn cells(&self) -> u64 {
        self.methods * self.malfunctions
    }
}

/// Everything a simulation depends on but its seed.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationPlan {
    /// The design.
    pub design: Design,
    /// The scenarios of H1, each simulated by itself.
    pub scenarios: Vec<Scenario>,
    /// The noise of every scenario; `None` leaves each scenario its own, as in the published table.
    pub noise: Option<Noise>,
    /// Data sets per scenario of H1.
    pub datasets: u64,
    /// Monte Carlo draws B per data set of a test of H1.
    pub permutations: u64,
    /// Level of the tests of H1.
    pub alpha: f64,
    /// False discovery rate of H3.
    pub q: f64,
    /// H3; `None` leaves it out.
    pub harm: Option<HarmPlan>,
    /// Coverage of intervals; `None` leaves it out.
    pub coverage: Option<CoveragePlan>,
}

/// What is simulated of H3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HarmPlan {
    /// Cells harmed, at random places.
    pub harmed: u64,
    /// By how much.
    pub effect: Effect,
    /// Data sets.
    pub datasets: u64,
}

/// What is simulated of intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct CoveragePlan {
    /// Root mean squares of the interaction, in score units.
    pub interaction_rms: Vec<f64>,
    /// Data sets.
    pub datasets: u64,
    /// Resamples per interval.
    pub resamples: u64,
    /// Nominal coverage of the interval of ω²_p.
    pub confidence: f64,
}

impl SimulationPlan {
    /// The published effort (1,000 data sets, B = 199; 300 data sets of H3; 250 × 400 of coverage) at the published levels.
    pub fn new(design: Design) -> Self {
        Self {
            design,
            scenarios: Scenario::table(),
            noise: None,
            datasets: 1_000,
            permutations: 199,
            alpha: 0.05,
            q: 0.05,
            harm: Some(HarmPlan {
                harmed: 1,
                effect: Effect::StandardDeviations(2.0),
                datasets: 300,
            }),
            coverage: Some(CoveragePlan {
                interaction_rms: vec![0.0, 0.07, 0.14],
                datasets: 250,
                resamples: 400,
                confidence: 0.95,
            }),
        }
    }
}

/// How far a harmed cell lies below the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    /// In standard deviations of the noise, written `2sd`.
    StandardDeviations(f64),
    /// In score units, written `0.4`.
    Score(f64),
}

impl Effect {
    /// The effect in score units, for noise of a standard deviation.
    pub fn in_score_units(self, sd: f64) -> f64 {
        match self {
            Self::StandardDeviations(number) => number * sd,
            Self::Score(score) => score,
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StandardDeviations(number) => write!(formatter, "{number}sd"),
            Self::Score(score) => write!(formatter, "{score}"),
        }
    }
}

/// A text that is no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} is neither a number above 0 with `sd` behind it, such as 2sd, nor a score difference above 0, such as 0.4"
)]
pub struct EffectError(String);

impl FromStr for Effect {
    type Err = EffectError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || EffectError(text.to_owned());
        let (number, in_sds) = match text.strip_suffix("sd") {
            Some(number) => (number, true),
            None => (text, false),
        };
        let value: f64 = number.trim().parse().map_err(|_| wrong())?;
        if !(value.is_finite() && value > 0.0) {
            return Err(wrong());
        }
        Ok(if in_sds {
            Self::StandardDeviations(value)
        } else {
            Self::Score(value)
        })
    }
}

/// A simulation that cannot be run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// Too few of something.
    #[error("{what} are {found}, and at least {least} are needed")]
    TooFew {
        /// Of what, in words.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many are needed.
        least: u64,
    },
    /// More sessions in all than fit into memory.
    #[error(
        "{methods} × {malfunctions} × {sessions} sessions per data set are more than {most}, or more than {most_in_cell} in a cell"
    )]
    TooMany {
        /// M.
        methods: u64,
        /// K.
        malfunctions: u64,
        /// N.
        sessions: u64,
        /// The limit of a data set.
        most: u64,
        /// The limit of a cell.
        most_in_cell: u64,
    },
    /// More harmed cells than cells.
    #[error("{harmed} harmed cells are more than the {cells} cells of the design")]
    Harmed {
        /// Harmed cells.
        harmed: u64,
        /// All cells.
        cells: u64,
    },
    /// A number outside its range.
    #[error("{what} {value} is not {expected}")]
    Range {
        /// Of what, in words.
        what: &'static str,
        /// The value.
        value: f64,
        /// What would be accepted.
        expected: &'static str,
    },
    /// A scenario that does not exist.
    #[error("{name} is no scenario; known are {known}")]
    Scenario {
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
    /// A pilot that noise cannot be drawn from.
    #[error("the pilot: {0}")]
    Pilot(String),
}

/// Most sessions of one data set.
const MOST_SESSIONS: u64 = 1_000_000;

/// Most sessions of one cell: far beyond any plan, and a count of assignments still ends.
const MOST_IN_CELL: u64 = 1_000;

impl SimulationPlan {
    /// Checks every number against its range.
    ///
    /// # Errors
    /// The first number out of range.
    pub fn check(&self) -> Result<(), SimulationError> {
        self.design.check()?;
        let least = |what, found, least| {
            if found < least {
                Err(SimulationError::TooFew { what, found, least })
            } else {
                Ok(())
            }
        };
        least("data sets", self.datasets, 1)?;
        least("permutations", self.permutations, 1)?;
        open("alpha", self.alpha)?;
        open("q", self.q)?;
        if let Some(noise) = &self.noise {
            noise.check()?;
        }
        if let Some(harm) = &self.harm {
            least("data sets of H3", harm.datasets, 1)?;
            check_harm(&self.design, harm.harmed, harm.effect)?;
        }
        if let Some(coverage) = &self.coverage {
            least("data sets of coverage", coverage.datasets, 1)?;
            least("resamples", coverage.resamples, 1)?;
            open("confidence", coverage.confidence)?;
            for &rms in &coverage.interaction_rms {
                if !(rms.is_finite() && (0.0..=1e6).contains(&rms)) {
                    return Err(SimulationError::Range {
                        what: "interaction rms",
                        value: rms,
                        expected: "between 0 and 1e6",
                    });
                }
            }
        }
        Ok(())
    }
}

impl Design {
    /// Checks that a data set of this design has cells, repetitions, and room.
    ///
    /// # Errors
    /// Fewer than one method, malfunction or two sessions, or more sessions than fit.
    pub fn check(&self) -> Result<(), SimulationError> {
        for (what, found, least) in [
            ("methods", self.methods, 1),
            ("malfunctions", self.malfunctions, 1),
            ("sessions per cell", self.sessions, 2),
        ] {
            if found < least {
                return Err(SimulationError::TooFew { what, found, least });
            }
        }
        let all = self
            .methods
            .checked_mul(self.malfunctions)
            .and_then(|cells| cells.checked_mul(self.sessions));
        if self.sessions > MOST_IN_CELL || all.is_none_or(|all| all > MOST_SESSIONS) {
            return Err(SimulationError::TooMany {
                methods: self.methods,
                malfunctions: self.malfunctions,
                sessions: self.sessions,
                most: MOST_SESSIONS,
                most_in_cell: MOST_IN_CELL,
            });
        }
        Ok(())
    }
}

pub(super) fn check_harm(
    design: &Design,
    harmed: u64,
    effect: Effect,
) -> Result<(), SimulationError> {
    if harmed > design.cells() {
        return Err(SimulationError::Harmed {
            harmed,
            cells: design.cells(),
        });
    }
    let (Effect::Score(value) | Effect::StandardDeviations(value)) = effect;
    if !(value.is_finite() && value > 0.0 && value <= 1e6) {
        return Err(SimulationError::Range {
            what: "effect",
            value,
            expected: "above 0 and at most 1e6",
        });
    }
    Ok(())
}

pub(super) fn open(what: &'static str, value: f64) -> Result<(), SimulationError> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(SimulationError::Range {
            what,
            value,
            expected: "strictly between 0 and 1",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_read_in_both_units() {
        assert_eq!("2sd".parse(), Ok(Effect::StandardDeviations(2.0)));
        assert_eq!("0.4".parse(), Ok(Effect::Score(0.4)));
        assert_eq!("1.5sd".parse::<Effect>().unwrap().in_score_units(0.5), 0.75);
        for wrong in ["", "sd", "-1sd", "0", "nan", "2 sds", "inf"] {
            assert!(wrong.parse::<Effect>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_cannot_be_simulated_is_named() {
        let plan = |change: fn(&mut SimulationPlan)| {
            let mut plan = SimulationPlan::new(Design {
                methods: 3,
                malfunctions: 4,
                sessions: 5,
            });
            change(&mut plan);
            plan.check().map_err(|error| error.to_string())
        };
        assert_eq!(plan(|_| ()), Ok(()));
        assert_eq!(
            plan(|plan| plan.design.sessions = 1),
            Err("sessions per cell are 1, and at least 2 are needed".to_owned())
        );
        assert!(plan(|plan| plan.design.methods = u64::MAX).is_err());
        assert!(plan(|plan| plan.alpha = f64::NAN).is_err());
        let too_many =
            plan(|plan| plan.harm = plan.harm.map(|harm| HarmPlan { harmed: 13, ..harm }));
        assert_eq!(
            too_many,
            Err("13 harmed cells are more than the 12 cells of the design".to_owned())
        );
    }
}
