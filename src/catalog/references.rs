//! Knows `malfunctions/references.toml`: what was measured of every admitted malfunction, and when that is stale.
//! Must not know how anything is measured, nor what admits a malfunction.
//! Start at `Reference` and `References::state`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::vocab::{EnvironmentId, MalfunctionId};

use super::environment::Environment;
use super::malfunction::Malfunction;
use super::measured::read_measured;
use super::{Problem, Problems};

/// Where the file lies, relative to the repository root.
pub const REFERENCES: &str = "malfunctions/references.toml";

/// The format of the file.
const FORMAT: &str = "evalxrl.references/1";

/// Everything measured of one admitted malfunction; performances in return units of the environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The environment.
    pub environment: EnvironmentId,
    /// The malfunction's version when it was measured.
    pub version: u32,
    /// Hash of the clean source it was measured with, `Malfunction::measured_with`.
    pub source: String,
    /// Hash of version, environment and diff.
    pub fault: String,
    /// Names of the training seeds, shared by clean and broken agents.
    pub seeds: Vec<String>,
    /// Name of the seed of the scored episodes.
    pub episode_seed: String,
    /// Scored episodes of every agent.
    pub episodes: u32,
    /// Mean over clean agents.
    pub p_clean: f64,
    /// Its standard error over training seeds.
    pub se_clean: f64,
    /// Mean over broken agents.
    pub p_broken: f64,
    /// Its standard error over training seeds.
    pub se_broken: f64,
    /// Performance of uniform random actions.
    pub p_random: f64,
    /// (P_clean − P_broken)/(P_clean − P_random); A1 asks for 0.25.
    pub gap_over_span: f64,
    /// Probability that a clean agent beats a broken one, ties counted half; A2 asks for more than 0.95.
    pub clean_beats_broken: f64,
    /// Gap in its own standard errors; A3 asks for 5.
    pub gap_over_error: f64,
    /// Mean raw repair score of clean agents from other seeds; A5 asks for 0.95.
    pub repaired: f64,
    /// Share of broken agents above P_random; below one half the pair is a floor pair (A6).
    pub above_random: f64,
    /// Whether it is a floor pair.
    pub floor: bool,
    /// Best raw score of tuning with the fault left in; A7 asks for less than 0.9. Absent when the fault sets all that is tuned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<f64>,
    /// Processor time of broken over clean training; absent when only the server is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_time: Option<f64>,
    /// Composites: the gap of the first half on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_first: Option<f64>,
    /// Composites: the gap of the second half on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_second: Option<f64>,
    /// Standard error that the draw of episodes gives the gap.
    pub episode_error: f64,
    /// Mean return of each clean agent, in order of `seeds`.
    pub clean: Vec<f64>,
    /// Mean return of each broken agent, in order of `seeds`.
    pub broken: Vec<f64>,
}

impl Reference {
    /// P_clean − P_broken.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.p_clean - self.p_broken
    }

    /// Standard error of the gap over training seeds.
    #[must_use]
    pub fn gap_error(&self) -> f64 {
        self.se_clean.hypot(self.se_broken)
    }

    /// What `min_gap` of the manifest must be: the lower 95 % bound of the gap of one block, rounded down to two digits.
    ///
    /// A block has one broken agent and episodes of its own, so its gap scatters by the deviation over broken agents
    /// and by the draw of episodes, not by the smaller error of a mean over ten agents.
    #[must_use]
    pub fn min_gap(&self) -> f64 {
        let deviation = self.se_broken * (self.broken.len() as f64).sqrt();
        let scatter = self.se_clean.hypot(deviation).hypot(self.episode_error);
        round_down(self.gap() - 1.96 * scatter)
    }
}

/// Rounds down to two significant digits.
fn round_down(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = value.log10().floor() as i32 - 1;
    let digits = if exponent >= 0 {
        (value / 10f64.powi(exponent)).floor()
    } else {
        (value * 10f64.powi(-exponent)).floor()
    };
    if exponent >= 0 {
        digits * 10f64.powi(exponent)
    } else {
        digits / 10f64.powi(-exponent)
    }
}

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct References {
    rows: BTreeMap<MalfunctionId, Reference>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    #[serde(default)]
    malfunctions: BTreeMap<MalfunctionId, Reference>,
}

/// What the file says of a malfunction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReferenceState<'a> {
    /// Measured with the present source and the present diff.
    Fresh(&'a Reference),
    /// Measured with something else.
    Stale(&'static str),
    /// Not measured, or not admitted.
    Missing,
}

impl References {
    /// Reads the text of the file; what cannot be used is a problem, and then there are no rows.
    pub fn read(text: &str, problems: &mut Problems) -> Self {
        let again = "take it back from version control, or remove it and run `evalxrl reference`";
        let mut broken = |field: &str, wrong: String| {
            problems.push(Problem::new(REFERENCES, field, wrong, again));
        };
        match read_measured::<Document>(text) {
            Err((field, wrong)) => broken(&field, wrong),
            Ok(document) if document.format != FORMAT => {
                broken("format", format!("`{}` is not {FORMAT}", document.format));
            }
            Ok(document) => {
                return Self {
                    rows: document.malfunctions,
                };
            }
        }
        Self::default()
    }

    /// The text of the file; equal rows give equal bytes.
    ///
    /// # Errors
    /// A number that TOML cannot hold.
    pub fn to_text(&self) -> Result<String, toml::ser::Error> {
        let document = Document {
            format: FORMAT.to_owned(),
            malfunctions: self.rows.clone(),
        };
        let body = toml::to_string(&document)?;
        Ok(format!(
            "# Generated by `evalxrl reference`; measured, never edited by hand.\n{body}"
        ))
    }

    /// Puts in or replaces the row of a malfunction.
    pub fn insert(&mut self, malfunction: MalfunctionId, reference: Reference) {
        self.rows.insert(malfunction, reference);
    }

    /// Takes out the row of a malfunction.
    pub fn remove(&mut self, malfunction: &MalfunctionId) {
        self.rows.remove(malfunction);
    }

    /// Keeps rows of malfunctions that exist.
    pub fn keep(&mut self, exists: impl Fn(&MalfunctionId) -> bool) {
        self.rows.retain(|id, _| exists(id));
    }

    /// Ids with a row.
    pub fn ids(&self) -> impl Iterator<Item = &MalfunctionId> {
        self.rows.keys()
    }

    /// Whether the gaps of a composite's halves are those of their own rows; true of a malfunction without halves.
    pub(super) fn has_gaps_of(&self, malfunction: &Malfunction, row: &Reference) -> bool {
        let kept = [row.gap_first, row.gap_second];
        let mut halves = malfunction.halves.iter().zip(kept);
        halves.all(|(half, kept)| match (self.rows.get(half), kept) {
            (Some(half), Some(kept)) => (half.gap() - kept).abs() < 1e-9,
            _ => false,
        })
    }

    /// What is known of a malfunction with its present source and diff.
    #[must_use]
    pub fn state(
        &self,
        malfunction: &Malfunction,
        environment: &Environment,
    ) -> ReferenceState<'_> {
        match self.rows.get(&malfunction.id) {
            None => ReferenceState::Missing,
            Some(row) if row.version != malfunction.version => {
                ReferenceState::Stale("they are of another version")
            }
            Some(row) if row.fault != malfunction.fault_hash => {
                ReferenceState::Stale("fault.diff has changed since")
            }
            Some(row) if row.source != malfunction.measured_with(environment) => {
                ReferenceState::Stale("the environment's source has changed since")
            }
            Some(row) => ReferenceState::Fresh(row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_rounded_down_to_two_digits() {
        for (value, expected) in [
            (5.99, 5.9),
            (12.99, 12.0),
            (0.0567, 0.056),
            (123.4, 120.0),
            (6.0, 6.0),
        ] {
            assert!((round_down(value) - expected).abs() < 1e-12, "{value}");
        }
        assert!(round_down(-0.5) <= 0.0);
    }
}
