//! Knows what can go wrong with the harness itself.
//! Must not know scores: a fault is retried or leaves a session missing, and is never a zero.
//! Start at `HarnessFault`.

use serde::{Deserialize, Serialize};

/// A failure of the harness, never of the coder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct HarnessFault {
    /// What failed.
    pub kind: FaultKind,
    /// Where and how, for a person.
    pub message: String,
}

impl HarnessFault {
    /// A fault with its place and circumstances.
    #[must_use]
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

/// The kinds of harness failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// No container engine answers.
    DockerUnavailable,
    /// An image is not there.
    ImageMissing,
    /// A container vanished or cannot be cleared.
    ContainerLost,
    /// Too little disk is left.
    DiskFull,
    /// A probe found a way out of a sealed sandbox.
    IsolationBroken,
    /// The tool relay ended too often.
    RelayLost,
    /// The run was told to stop before the session could finish.
    Preempted,
    /// The scorer itself failed its health check.
    ScorerFailed,
    /// An operation of the harness outlasted its deadline.
    Deadline,
    /// Anything else; a defect of ours.
    Internal,
}

impl FaultKind {
    /// The word used in records and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DockerUnavailable => "docker_unavailable",
            Self::ImageMissing => "image_missing",
            Self::ContainerLost => "container_lost",
            Self::DiskFull => "disk_full",
            Self::IsolationBroken => "isolation_broken",
            Self::RelayLost => "relay_lost",
            Self::Preempted => "preempted",
            Self::ScorerFailed => "scorer_failed",
            Self::Deadline => "deadline",
            Self::Internal => "internal",
        }
    }

    /// Whether a session hit by it uses up one of its attempts.
    #[must_use]
    pub fn uses_attempt(self) -> bool {
        !matches!(
            self,
            Self::DockerUnavailable | Self::DiskFull | Self::Preempted | Self::IsolationBroken
        )
    }
}

impl std::fmt::Display for FaultKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}
