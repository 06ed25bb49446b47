//! Knows what may become a malfunction: edits of clean source, each with a ladder of strengths.
//! Must not know what was measured of them, save where that is written down.
//! Start at `Candidate`.

mod figures;
mod read;
mod rules;

use serde::{Deserialize, Serialize};

use crate::vocab::EnvironmentId;

use super::fault_diff::FaultDiff;
use super::folder::{Files, hash_files};
use super::malfunction::Class;

pub use figures::{CandidateFigures, Rung};
pub(super) use read::survey;
pub(super) use rules::check;

/// The folder of candidates, relative to the repository root.
pub const CANDIDATES: &str = "malfunctions/candidates";

/// Stands for the strength in the text of an edit.
const STRENGTH: &str = "{strength}";

/// A quantity of training that a repairer could tune without finding the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tunable {
    /// The step size of the optimiser.
    LearningRate,
    /// The weight of the entropy bonus.
    EntropyCoefficient,
    /// The discount, tuned as its effective horizon.
    Gamma,
}

impl Tunable {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::LearningRate, Self::EntropyCoefficient, Self::Gamma];

    /// Its key below `[hyper]` in `config.toml`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::LearningRate => "learning_rate",
            Self::EntropyCoefficient => "entropy_coefficient",
            Self::Gamma => "gamma",
        }
    }
}

/// One edit of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateEdit {
    /// The file, from `evalxrl_envs/`.
    pub file: String,
    /// What the clean file says, once.
    pub from: String,
    /// What the broken one says there, `{strength}` for the strength.
    pub to: String,
}

/// A fault that may become a malfunction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its name in the list of candidates, unique within an environment.
    pub entry: String,
    /// What kind of defect.
    pub class: Class,
    /// What is broken, `{strength}` for the strength.
    pub what: String,
    /// Strengths, the weakest first.
    pub ladder: Vec<String>,
    /// What tuning must leave alone because the edit sets it.
    pub skip: Vec<Tunable>,
    /// Why a strength that passes every rule is still not taken; empty when nothing speaks against it.
    pub declined: String,
    /// The edits, together one fault.
    pub edits: Vec<CandidateEdit>,
}

/// The candidates of one environment, in order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates {
    /// Their environment.
    pub environment: EnvironmentId,
    /// The candidates.
    pub list: Vec<Candidate>,
}

/// Why a candidate does not fit the clean source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The file is not there.
    #[error("changes {0}, which is not there")]
    Missing(String),
    /// The text to replace is not there exactly once.
    #[error("`from` occurs {count} times in {file}, not once")]
    Occurs {
        /// The file.
        file: String,
        /// How often.
        count: usize,
    },
}

impl Candidates {
    /// The candidate of this entry.
    #[must_use]
    pub fn entry(&self, entry: &str) -> Option<&Candidate> {
        self.list.iter().find(|one| one.entry == entry)
    }
}

impl Candidate {
    /// Makes broken source of one strength out of clean source.
    ///
    /// # Errors
    /// An edit that does not fit.
    pub fn apply(&self, strength: &str, clean: &Files) -> Result<Files, EditError> {
        let mut broken = clean.clone();
        for edit in &self.edits {
            let missing = || EditError::Missing(edit.file.clone());
            let bytes = broken.get(&edit.file).ok_or_else(missing)?;
            let text = String::from_utf8_lossy(bytes);
            let count = text.matches(&edit.from).count();
            if count != 1 || edit.from.is_empty() {
                return Err(EditError::Occurs {
                    file: edit.file.clone(),
                    count,
                });
            }
            let changed = text.replacen(&edit.from, &edit.to.replace(STRENGTH, strength), 1);
            broken.insert(edit.file.clone(), changed.into_bytes());
        }
        Ok(broken)
    }

    /// The diff of one strength; `None` when it changes nothing or makes no plain text.
    ///
    /// # Errors
    /// An edit that does not fit.
    pub fn diff(&self, strength: &str, clean: &Files) -> Result<Option<FaultDiff>, EditError> {
        let broken = self.apply(strength, clean)?;
        Ok(FaultDiff::between(clean, &broken))
    }

    /// What is broken at one strength, in words.
    #[must_use]
    pub fn told(&self, strength: &str) -> String {
        self.what.replace(STRENGTH, strength)
    }
}

/// Hash of the files in which broken source differs from clean source, as they read when broken.
#[must_use]
pub fn edit_hash(clean: &Files, broken: &Files) -> String {
    let changed = broken
        .iter()
        .filter(|(path, bytes)| clean.get(*path) != Some(bytes))
        .map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect();
    hash_files(&changed)
}
