//! Knows what a coder may spend and which limit can end a session.
//! Must not know who counts.
//! Start at `Budget`.

use serde::{Deserialize, Serialize};

/// What one session may spend, equal for every arm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Steps of the coder's loop.
    pub steps: u32,
    /// Wall clock of the repair, seconds.
    pub wall_seconds: u64,
    /// Working time of the repair without waits for a provider, seconds.
    pub working_seconds: u64,
    /// Time limit of one command, seconds.
    pub command_seconds: u64,
    /// The `score` tool.
    pub score: ScoreBudget,
}

/// What the `score` tool may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreBudget {
    /// Calls in one session.
    pub calls: u32,
    /// Episodes of one call.
    pub episodes: u32,
}

/// What an experiment that says nothing grants.
impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: 250,
            wall_seconds: 7200,
            working_seconds: 5400,
            command_seconds: 600,
            score: ScoreBudget::default(),
        }
    }
}

impl Default for ScoreBudget {
    fn default() -> Self {
        Self {
            calls: 10,
            episodes: 64,
        }
    }
}

/// How often dossier tools may be called, counted over all tools of an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invocations {
    /// At most so many calls.
    AtMost(u32),
    /// As often as the coder likes.
    Unlimited,
}

impl std::fmt::Display for Invocations {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtMost(calls) => write!(formatter, "{calls}"),
            Self::Unlimited => formatter.write_str("unlimited"),
        }
    }
}

impl std::str::FromStr for Invocations {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        text.parse()
            .map(Self::AtMost)
            .map_err(|_| format!("invocations `{text}` must be `unlimited` or a whole number"))
    }
}

impl Serialize for Invocations {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Invocations {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// What a submission may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BundleMode {
    /// Parameters and the package as the coder left it.
    Workspace,
    /// Only the parameter file; the code is the rendered one.
    Parameters,
}

/// A limit whose exhaustion ends a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Steps of the coder's loop.
    Steps,
    /// Wall clock.
    Wall,
    /// Working time.
    Working,
    /// The workspace was killed by its own memory limit.
    Memory,
}
