//! Knows how the catalogue's evidence is made: clean and broken agents over many seeds, and what admits a malfunction.
//! Must not know coders or runs; who trains and plays comes in as a `Laboratory`.
//! Start at `Bureau::measure`.

mod admission;
mod agents;
mod bureau;

use std::path::{Path, PathBuf};

use crate::catalog::{DiffError, Files, UnknownId};
use crate::vocab::{EnvironmentId, HarnessFault, MalfunctionId, RootSeed, SeedName};

pub use admission::{FEWEST_SEEDS, Figures, NoFigures};
pub use agents::{Cache, clean_agents};
pub use bureau::{Bureau, EPISODES, Measured};

/// The root of every seed of the catalogue's evidence: weak on purpose, so that anybody can measure it again.
#[must_use]
pub fn root() -> RootSeed {
    RootSeed::weak(0)
}

/// The seed name of training run `index`, shared by clean and broken agents.
#[must_use]
pub fn training(index: usize) -> SeedName {
    SeedName::new(format!("reference/train/{index}"))
}

/// The seed name of training run `index` of repaired agents; never one of `training`.
#[must_use]
pub fn repair(index: usize) -> SeedName {
    SeedName::new(format!("reference/repair/{index}"))
}

/// The seed name of the scored episodes of an environment.
#[must_use]
pub fn episodes(environment: &EnvironmentId) -> SeedName {
    SeedName::new(format!("reference/episodes/{environment}"))
}

/// Who plays.
#[derive(Debug, Clone, Copy)]
pub enum Players<'a> {
    /// Trained agents, by file.
    Agents(&'a [PathBuf]),
    /// Uniform random actions.
    Random,
}

/// Whatever trains agents and plays episodes.
pub trait Laboratory {
    /// Trains one agent per seed from these files (paths from `evalxrl_envs/`), all in one program on the processor,
    /// and puts `<seed>.safetensors` of each into the folder.
    ///
    /// # Errors
    /// Training did not end well.
    fn train(&mut self, files: &Files, seeds: &[u64], into: &Path) -> Result<(), LaboratoryError>;

    /// Plays greedy episodes under a 32-byte key in hexadecimal digits; floored returns per player and episode.
    ///
    /// # Errors
    /// Playing did not end well.
    fn evaluate(
        &mut self,
        files: &Files,
        players: Players<'_>,
        key: &str,
        episodes: u32,
    ) -> Result<Vec<Vec<f64>>, LaboratoryError>;
}

/// Why a laboratory failed.
#[derive(Debug, thiserror::Error)]
pub enum LaboratoryError {
    /// The harness failed.
    #[error(transparent)]
    Harness(#[from] HarnessFault),
    /// The command ended with another code than 0.
    #[error("{command} ended with {ending}: {message}")]
    Command {
        /// What ran.
        command: &'static str,
        /// How it ended.
        ending: String,
        /// The end of its standard error.
        message: String,
    },
    /// The command printed something else than its format says.
    #[error("{command} printed no {format}: {message}")]
    Output {
        /// What ran.
        command: &'static str,
        /// What it should print.
        format: &'static str,
        /// What is wrong.
        message: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// Why evidence could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// The catalogue lacks something.
    #[error(transparent)]
    Unknown(#[from] UnknownId),
    /// The diff does not fit.
    #[error("fault.diff of {malfunction} {error}")]
    Diff {
        /// Whose.
        malfunction: MalfunctionId,
        /// Why.
        error: DiffError,
    },
    /// Training or playing failed.
    #[error("{what}: {error}")]
    Laboratory {
        /// What was being measured.
        what: String,
        /// Why.
        error: LaboratoryError,
    },
    /// The fault lies in code that only a served agent runs.
    #[error(
        "{0} changes serving code: agents are measured in process here, which would not show it"
    )]
    Served(MalfunctionId),
    /// The figures cannot be computed.
    #[error("{malfunction}: {error}")]
    Figures {
        /// Whose.
        malfunction: MalfunctionId,
        /// Why.
        error: NoFigures,
    },
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}
