//! Knows the words for how strongly a sandbox is shut off and what a record says of it.
//! Must not know how a sandbox is made.
//! Start at `Isolation`.

use serde::{Deserialize, Serialize};

/// How strongly sandboxes are shut off; never mixed in one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Containers without a way out.
    Docker,
    /// Local processes; nothing is sealed.
    None,
}

impl Isolation {
    /// The word used in records and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::None => "none",
        }
    }
}

/// One row of the isolation table of a session record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// What was tried.
    pub name: String,
    /// Whether it came out as a sealed sandbox must have it.
    pub passed: bool,
    /// What was seen.
    pub seen: String,
}

/// What the record says of an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageFacts {
    /// Tag derived from the content.
    pub tag: String,
    /// The engine's id; the folder's hash for local processes.
    pub id: String,
}
