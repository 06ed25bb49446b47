//! Knows how an experiment file and the catalogue become a frozen, ordered list of sessions.
//! Must not know the clock, the process environment, sandboxes or coders: what it needs of them comes in as `Facts`.
//! Start at `Plan::build`.

mod build;
mod experiment;
mod freeze;
mod limits;
mod order;
mod quantity;
mod reach;
mod session_hash;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use evalxrl_analysis::plan::AnalysisPlan;

use crate::catalog::{Class, Reference};
use crate::vocab::{
    Budget, BundleMode, CoderLabel, DossierId, EnvironmentId, MalfunctionId, MethodId, RootSeed,
    SessionKey,
};

pub use build::build;
pub use experiment::{CoderWish, Experiment, SandboxKind, Selection, read_analysis};
pub use limits::{RoleLimits, RunLimits};
pub use reach::{reach, warnings};

/// The format of a frozen plan.
pub const FORMAT: &str = "evalxrl.plan/1";

/// The label of the coder that plays the arm `optimal-repair`.
pub const OPTIMAL: &str = "optimal";

/// What a plan takes from outside the catalogue and the experiment file.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// When the plan is made, RFC 3339.
    pub created: String,
    /// The version of this program.
    pub version: String,
    /// The state of the repository.
    pub git: Git,
    /// The root seed where the experiment gives none.
    pub root_seed: RootSeed,
    /// Image tags by role.
    pub images: BTreeMap<String, String>,
    /// The text that each offered scaffold works by: prompt, settings, version.
    pub scaffolds: BTreeMap<String, String>,
}

/// The state of the repository a plan was made in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Git {
    /// The commit, if there is a repository.
    pub commit: Option<String>,
    /// Whether files differ from it.
    pub dirty: bool,
}

/// What a coder is given of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Source, parameters and training.
    White,
}

/// Episodes of final scoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scoring {
    /// Their number.
    pub episodes: u32,
}

/// A coder of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedCoder {
    /// Its name in tables.
    pub label: CoderLabel,
    /// How it works.
    pub scaffold: String,
    /// What it may spend.
    pub budget: Budget,
    /// Candidates that `search` trains at most.
    pub candidates: Option<u32>,
    /// Hash of the text it works by.
    pub prompt_hash: String,
}

/// A dossier of an arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedDossier {
    /// Its id.
    pub id: DossierId,
    /// Its version.
    pub version: String,
    /// Hash of its folder.
    pub hash: String,
}

/// An arm of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedArm {
    /// Its id.
    pub method: MethodId,
    /// Its dossiers; none for the reserved arms.
    pub dossiers: Vec<PlannedDossier>,
}

/// A malfunction of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedMalfunction {
    /// Its id.
    pub id: MalfunctionId,
    /// Its environment.
    pub environment: EnvironmentId,
    /// Its class.
    pub class: Class,
    /// Its version.
    pub version: u32,
    /// Whether it is held out from tuning.
    pub held_out: bool,
    /// Hash of its folder.
    pub hash: String,
    /// Hash of the clean source it breaks.
    pub source_hash: String,
    /// Methods predicted to help, before any session; empty in plans frozen by versions that did not keep them.
    #[serde(default)]
    pub expected_to_reveal: Vec<MethodId>,
    /// Methods predicted to mislead, likewise.
    #[serde(default)]
    pub expected_to_mislead: Vec<MethodId>,
}

/// One session of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedSession {
    /// Its place in the order, from 0.
    pub index: u32,
    /// What it is.
    pub key: SessionKey,
    /// Hash of everything that matters to it.
    pub session_hash: String,
}

/// A run, frozen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// `evalxrl.plan/1`.
    pub format: String,
    /// The name of the experiment.
    pub name: String,
    /// When it was frozen, RFC 3339.
    pub created: String,
    /// The version of the program that froze it.
    pub version: String,
    /// The state of the repository.
    pub git: Git,
    /// The seed from which all others follow.
    pub root_seed: RootSeed,
    /// Whether the root seed can be guessed.
    pub weak_seed: bool,
    /// The kind of sandbox.
    pub sandbox: SandboxKind,
    /// What coders are given of the agent.
    pub access: Access,
    /// What a submission may contain.
    pub bundle: BundleMode,
    /// Attempts of a session that harness failures hit.
    pub attempts: u32,
    /// Sessions per cell and coder.
    pub replications: u32,
    /// Who repairs; `optimal` among them when its arm is planned.
    pub coders: Vec<PlannedCoder>,
    /// What is at hand.
    pub arms: Vec<PlannedArm>,
    /// What is broken.
    pub malfunctions: Vec<PlannedMalfunction>,
    /// Resource limits.
    pub limits: RunLimits,
    /// Final scoring.
    pub scoring: Scoring,
    /// How the scores are analysed.
    pub analysis: AnalysisPlan,
    /// Image tags by role.
    pub images: BTreeMap<String, String>,
    /// Hash of the whole catalogue.
    pub catalog_hash: String,
    /// References of the planned malfunctions.
    pub references: BTreeMap<MalfunctionId, Reference>,
    /// Hash of `references`.
    pub references_hash: String,
    /// All sessions in order.
    pub sessions: Vec<PlannedSession>,
}

impl Plan {
    /// The text of `plan.json`; equal plans give equal bytes.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self)
            .expect("a plan holds strings, finite numbers and maps with string keys");
        text.push('\n');
        text
    }

    /// Reads `plan.json`.
    ///
    /// # Errors
    /// It is no plan of this format.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let plan: Self = serde_json::from_str(text)?;
        if plan.format == FORMAT {
            Ok(plan)
        } else {
            let wrong = format!("format `{}` is not {FORMAT}", plan.format);
            Err(serde::de::Error::custom(wrong))
        }
    }

    /// Whether two plans ask for the same sessions: all but when, and by which version, they were frozen.
    #[must_use]
    pub fn same_sessions(&self, other: &Self) -> bool {
        self.sessions == other.sessions
            && self.attempts == other.attempts
            && self.analysis == other.analysis
            && self.references_hash == other.references_hash
    }

    /// The coder of a label.
    #[must_use]
    pub fn coder(&self, label: &CoderLabel) -> Option<&PlannedCoder> {
        self.coders.iter().find(|coder| coder.label == *label)
    }

    /// The malfunction of an id.
    #[must_use]
    pub fn malfunction(&self, id: &MalfunctionId) -> Option<&PlannedMalfunction> {
        self.malfunctions.iter().find(|planned| planned.id == *id)
    }
}
