//! Knows how the catalogue's evidence is made: clean and broken agents over many seeds, and what admits a malfunction.
//! Must not know coders or runs; who trains and plays comes in as a `Laboratory`.
//! Start at `Bureau::measure`.

mod admission;
mod agents;
mod bureau;
mod composite;
mod passing;
mod played;
mod screening;
mod subject;
mod tuning;

use std::path::{Path, PathBuf};

use crate::catalog::{DiffError, EditError, Files, UnknownId};
use crate::vocab::{EnvironmentId, HarnessFault, MalfunctionId, RootSeed, SeedName};

pub use admission::{FEWEST_SEEDS, Figures, Further, NoFigures, Refusal};
pub use agents::{Cache, Lost, broken_agents, clean_agents};
pub use bureau::{Bureau, EPISODES, Measured};
pub use composite::Half;
pub use passing::Passing;
pub use screening::{SCREENING_SEEDS, Step};
pub use subject::Subject;
pub use tuning::{Altered, NoQuantity, altered};

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
    /// Trained agents, by file; actions as the agent server computes them.
    Served(&'a [PathBuf]),
    /// Uniform random actions.
    Random,
}

/// Whatever trains agents and plays episodes.
pub trait Laboratory {
    /// Trains one agent per seed from these files (paths from `evalxrl_envs/`), all in one program on the processor,
    /// and puts `<seed>.safetensors` of each into the folder; processor seconds of the whole program.
    ///
    /// # Errors
    /// Training did not end well.
    fn train(&mut self, files: &Files, seeds: &[u64], into: &Path) -> Result<f64, LaboratoryError>;

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
        /// Its exit code; nothing when a signal ended it.
        code: Option<i32>,
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
    /// The edit of a candidate does not fit.
    #[error("{rung} {error}")]
    Edit {
        /// Whose.
        rung: String,
        /// Why.
        error: EditError,
    },
    /// Training or playing failed.
    #[error("{what}: {error}")]
    Laboratory {
        /// What was being measured.
        what: String,
        /// Why.
        error: Lost,
    },
    /// Broken agents cannot be trained or played: the fault does more than it may.
    #[error("broken agents of {subject} cannot be trained or played: {error}")]
    Crash {
        /// Whose.
        subject: String,
        /// Why.
        error: Lost,
    },
    /// The figures cannot be computed.
    #[error("{subject}: {error}")]
    Figures {
        /// Whose.
        subject: String,
        /// Why.
        error: NoFigures,
    },
    /// A quantity cannot be tuned.
    #[error("{subject}: {error}")]
    Tuning {
        /// Whose.
        subject: String,
        /// Why.
        error: NoQuantity,
    },
}

impl ReferenceError {
    fn of(what: &str, error: Lost) -> Self {
        Self::Laboratory {
            what: what.to_owned(),
            error,
        }
    }

    /// A program that ended by itself shows a fault that crashes; a signal or a full disk does not.
    fn of_broken(subject: &str, error: Lost) -> Self {
        let crashed = matches!(
            &error,
            Lost::Laboratory(LaboratoryError::Command {
                code: Some(1..=4),
                ..
            })
        );
        let subject = subject.to_owned();
        if crashed {
            Self::Crash { subject, error }
        } else {
            Self::of(&format!("broken agents of {subject}"), error)
        }
    }
}
