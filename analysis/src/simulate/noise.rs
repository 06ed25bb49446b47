//! Knows the noise of simulated sessions: normal, beta, bimodal, or residuals of a pilot.
//! Must not know which means it is added to, nor tests.
//! Start at `Noise::fill`.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution, StandardNormal};

use super::design::{DEFAULT_SD, SimulationError};
use crate::moments::mean;
use crate::randomness::below;

/// How far the bumps of bimodal noise lie from the mean, in standard deviations; what is left is normal.
const BUMP: f64 = 0.9;
/// The least precision of beta noise; below it nearly all mass sits at 0 and 1.
const LEAST_PRECISION: f64 = 0.5;
/// Means of beta noise are kept this far from 0 and 1.
const BETA_MARGIN: f64 = 0.02;

/// How sessions scatter around the mean of their cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Noise {
    /// Normal.
    Normal {
        /// Standard deviation in score units.
        sd: f64,
    },
    /// Beta(μν, (1 − μ)ν) for a cell of mean μ, with the precision ν = 1/(4·sd²) − 1, at which a cell of mean 0.5 has the
    /// standard deviation sd; at least 0.5. Precision 3 is sd 0.25.
    Beta {
        /// Standard deviation at a mean of 0.5, in score units.
        sd: f64,
    },
    /// Two equal bumps 0.9 sd to either side of the mean, each normal, so that the standard deviation is sd in all.
    Bimodal {
        /// Standard deviation in score units.
        sd: f64,
    },
    /// Residuals of a pilot, drawn with replacement within one of its cells.
    Pilot(PilotResiduals),
}

/// The residuals of a pilot by cell: r = (Y − c)·sqrt(N/(N − 1)), so that their spread estimates that of the scores.
#[derive(Debug, Clone, PartialEq)]
pub struct PilotResiduals {
    cells: Vec<Vec<f64>>,
    sd: f64,
}

impl PilotResiduals {
    /// Takes the sessions of each cell of a pilot; cells of one session are left out.
    ///
    /// # Errors
    /// A score that is not finite, no cell of two sessions, or no variation.
    pub fn new(cells: &[Vec<f64>]) -> Result<Self, SimulationError> {
        let variance = crate::power::pilot_variance(cells)
            .map_err(|reason| SimulationError::Pilot(reason.0))?;
        let cells = cells
            .iter()
            .filter(|cell| cell.len() >= 2)
            .map(|cell| {
                let n = cell.len() as f64;
                let centre = mean(cell);
                cell.iter()
                    .map(|score| (score - centre) * (n / (n - 1.0)).sqrt())
                    .collect()
            })
            .collect();
        Ok(Self {
            cells,
            sd: variance.sd,
        })
    }

    /// The same residuals, stretched to another standard deviation (such as the upper bound that planning uses).
    #[must_use]
    pub fn scaled_to(mut self, sd: f64) -> Self {
        let factor = sd / self.sd;
        self.cells
            .iter_mut()
            .flatten()
            .for_each(|residual| *residual *= factor);
        self.sd = sd;
        self
    }

    /// The pooled standard deviation, in score units.
    pub fn sd(&self) -> f64 {
        self.sd
    }
}

impl Noise {
    /// Its standard deviation in score units (for beta, at a mean of 0.5).
    pub fn sd(&self) -> f64 {
        match self {
            Self::Normal { sd } | Self::Beta { sd } | Self::Bimodal { sd } => *sd,
            Self::Pilot(pilot) => pilot.sd,
        }
    }

    /// Its name in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Normal { .. } => "normal",
            Self::Beta { .. } => "beta",
            Self::Bimodal { .. } => "bimodal",
            Self::Pilot(_) => "pilot",
        }
    }

    /// Whether cells can have this mean: only scores of beta noise are bounded.
    pub fn reaches(&self, mean: f64) -> bool {
        match self {
            Self::Beta { .. } => (BETA_MARGIN..=1.0 - BETA_MARGIN).contains(&mean),
            _ => mean.is_finite(),
        }
    }

    /// Checks the standard deviation.
    ///
    /// # Errors
    /// One that is not finite and above 0, or that beta noise cannot have.
    pub fn check(&self) -> Result<(), SimulationError> {
        let (most, expected) = match self {
            Self::Beta { .. } => (0.4, "above 0 and at most 0.4, which beta noise can have"),
            _ => (1e6, "above 0 and at most 1e6"),
        };
        let value = self.sd();
        if value.is_finite() && value > 0.0 && value <= most {
            Ok(())
        } else {
            Err(SimulationError::Range {
                what: "standard deviation",
                value,
                expected,
            })
        }
    }

    /// The variance of the sessions that `fill` draws for the same cell, mean and spread.
    pub fn variance(&self, cell: usize, mean: f64, spread: f64) -> f64 {
        let factor = spread / DEFAULT_SD;
        match self {
            Self::Normal { sd } | Self::Bimodal { sd } => (sd * factor).powi(2),
            Self::Beta { sd } => {
                let mean = mean.clamp(BETA_MARGIN, 1.0 - BETA_MARGIN);
                mean * (1.0 - mean) / (precision(sd * factor) + 1.0)
            }
            Self::Pilot(pilot) => {
                let residuals = &pilot.cells[cell % pilot.cells.len()];
                let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
                factor * factor * squares / residuals.len() as f64
            }
        }
    }

    /// Fills the sessions of one cell with scores around `mean`. `spread` is the cell's standard deviation on the scale of
    /// the published table, on which 0.25 is this noise as it is; `cell` chooses the cell of a pilot.
    pub fn fill(
        &self,
        cell: usize,
        mean: f64,
        spread: f64,
        sessions: &mut [f64],
        rng: &mut ChaCha8Rng,
    ) {
        let factor = spread / DEFAULT_SD;
        match self {
            Self::Normal { sd } => {
                for session in sessions {
                    *session = mean + sd * factor * standard_normal(rng);
                }
            }
            Self::Bimodal { sd } => {
                let rest = (1.0 - BUMP * BUMP).sqrt();
                for session in sessions {
                    let side = if below(rng, 2) == 0 { -BUMP } else { BUMP };
                    *session = mean + sd * factor * (side + rest * standard_normal(rng));
                }
            }
            Self::Beta { sd } => {
                let precision = precision(sd * factor);
                let mean = mean.clamp(BETA_MARGIN, 1.0 - BETA_MARGIN);
                let beta = Beta::new(mean * precision, (1.0 - mean) * precision);
                for session in sessions {
                    // Both parameters lie above 0; a draw that is not finite would be one of an extreme, whole repair.
                    let score: f64 = beta.map_or(mean, |beta| beta.sample(rng));
                    *session = if score.is_finite() { score } else { mean };
                }
            }
            Self::Pilot(pilot) => {
                let residuals = &pilot.cells[cell % pilot.cells.len()];
                let bound = u32::try_from(residuals.len()).expect("cells of a pilot are small");
                for session in sessions {
                    *session = mean + factor * residuals[below(rng, bound) as usize];
                }
            }
        }
    }
}

/// ν = 1/(4·sd²) − 1 of beta noise, at least `LEAST_PRECISION`.
fn precision(sd: f64) -> f64 {
    (0.25 / (sd * sd) - 1.0).max(LEAST_PRECISION)
}

pub(super) fn standard_normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;
    use crate::moments::variance;

    fn drawn(noise: &Noise, mean: f64, spread: f64) -> Vec<f64> {
        let mut sessions = vec![0.0; 200_000];
        noise.fill(
            0,
            mean,
            spread,
            &mut sessions,
            &mut ChaCha8Rng::from_seed([1; 32]),
        );
        sessions
    }

    #[test]
    fn every_noise_has_the_mean_and_the_standard_deviation_it_is_asked_for() {
        let pilot = PilotResiduals::new(&[vec![0.0, 0.1, 0.5, 0.9, 1.0, 0.2]]).unwrap();
        let noises = [
            Noise::Normal { sd: 0.2 },
            Noise::Beta { sd: 0.2 },
            Noise::Bimodal { sd: 0.2 },
            Noise::Pilot(pilot.scaled_to(0.2)),
        ];
        for noise in noises {
            for (spread, sd) in [(0.25, 0.2), (0.125, 0.1)] {
                let sessions = drawn(&noise, 0.5, spread);
                assert!((mean(&sessions) - 0.5).abs() < 0.003, "{noise:?}");
                assert!((variance(&sessions).sqrt() - sd).abs() < 0.002, "{noise:?}");
                assert!(
                    (noise.variance(0, 0.5, spread) - sd * sd).abs() < 1e-12,
                    "{noise:?}"
                );
            }
        }
    }

    #[test]
    fn beta_noise_of_the_default_spread_has_precision_three() {
        let sessions = drawn(&Noise::Beta { sd: DEFAULT_SD }, 0.2, DEFAULT_SD);
        // Beta(0.6, 2.4): variance 0.2·0.8/(3 + 1).
        assert!((variance(&sessions) - 0.04).abs() < 0.001);
        assert!(sessions.iter().all(|score| (0.0..=1.0).contains(score)));
    }

    #[test]
    fn a_pilot_without_repetition_is_refused() {
        let error = PilotResiduals::new(&[vec![0.3], vec![0.4]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the pilot: no cell of the pilot has two sessions"
        );
    }
}
