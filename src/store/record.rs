//! Knows `session.json`, field by field (`docs/formats.md`).
//! Must not know how any field is measured.
//! Start at `SessionRecord`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::vocab::{BundleMode, Invocations, Outcome, Performance, SeedName, SessionKey};

/// The record of a finished session; it exists exactly when the session is finished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionRecord {
    /// `evalxrl.session/1`.
    pub format: String,
    /// Which session.
    pub key: SessionKey,
    /// BLAKE3 of all that matters to the result.
    pub session_hash: String,
    /// Which attempt succeeded, from 1.
    pub attempt: u32,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// Where the time went.
    pub seconds: Seconds,
    /// How it ended.
    pub outcome: Outcome,
    /// Of the submitted agent, or of the broken one where nothing was measured.
    pub performance: PerformanceRecord,
    /// What the score is measured against.
    pub reference: ReferenceRecord,
    /// Un-clipped and clipped.
    pub repair_score: RepairScoreRecord,
    /// What the coder did.
    pub calls: Calls,
    /// Processes killed by sweeps after commands.
    pub strays: u32,
    /// The submission; absent when none was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<BundleRecord>,
    /// Share of equal actions when a batch was sent twice; absent when nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistency: Option<f64>,
    /// Invalid actions in final scoring.
    pub invalid_actions: u64,
    /// Episodes raised to the environment's floor in final scoring.
    pub floored: u64,
    /// What a model consumed; all zero for scaffolds without one.
    pub usage: Usage,
    /// The scaffold's name.
    pub scaffold: String,
    /// How the sandboxes were shut off.
    pub isolation: IsolationRecord,
    /// Dossier tool budget and how it is enforced.
    pub budget: BudgetRecord,
    /// Versions of our package and of what ran inside.
    pub versions: BTreeMap<String, String>,
    /// Image tags and ids by role.
    pub images: BTreeMap<String, crate::vocab::ImageFacts>,
    /// Source hashes: environment, malfunction, dossiers.
    pub sources: BTreeMap<String, String>,
    /// Names of the derived seeds that were used, never their values.
    pub seeds: Vec<SeedName>,
    /// What the submission may contain.
    pub bundle_mode: BundleMode,
    /// Rank of the restoring edit among the coder's candidates; absent for coders without candidates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restoring_rank: Option<RestoringRank>,
    /// The claimed cause, if any was noted at submission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Durations, seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seconds {
    /// From lease to record.
    pub wall: f64,
    /// Of the repair, waits for a provider excluded.
    pub working: f64,
    /// Waiting for a provider.
    pub provider: f64,
    /// Dossier tools.
    pub tools: f64,
    /// Coder commands, training included.
    pub training: f64,
    /// `score` calls and final scoring.
    pub scoring: f64,
    /// Making, probing and removing sandboxes.
    pub sandboxes: f64,
}

/// Returns of the scored agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerformanceRecord {
    /// Mean return.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Number of episodes.
    pub episodes: usize,
    /// Return of each episode.
    pub returns: Performance,
    /// False when the broken agent stands in (intent to treat).
    pub measured: bool,
}

impl PerformanceRecord {
    /// Summarises a performance.
    #[must_use]
    pub fn of(performance: &Performance, measured: bool) -> Self {
        Self {
            mean: performance.mean(),
            standard_error: performance.standard_error(),
            episodes: performance.returns().len(),
            returns: performance.clone(),
            measured,
        }
    }
}

/// The block's pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceRecord {
    /// Mean of the clean reference agents on the block's episodes.
    pub p_clean: f64,
    /// Of the very agent handed out, on the same episodes.
    pub p_broken: f64,
    /// BLAKE3 of the handed-out parameter file.
    pub hash: String,
}

/// The repair score on both scales.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairScoreRecord {
    /// Un-clipped.
    pub raw: f64,
    /// Clipped to [0, 1].
    pub clipped: f64,
}

/// What the coder did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// Steps of the loop.
    pub steps: u32,
    /// Shell commands plus tool calls made without a shell, `submit` excepted.
    pub actions: u32,
    /// Shell commands.
    pub commands: u32,
    /// `score` calls.
    pub score: u32,
    /// Dossier tool calls by tool.
    pub tools: BTreeMap<String, u32>,
    /// Calls refused for want of budget.
    pub refused: u32,
}

/// The accepted submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleRecord {
    /// BLAKE3 of the canonical tar.
    pub hash: String,
    /// Size of the canonical tar.
    pub bytes: u64,
    /// Which groups of files changed.
    pub changed: AgentChanges,
    /// Whether it changes a line that the fault touched.
    pub fault_touched: bool,
}

/// Files that differ from the rendered bundle, by group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentChanges {
    /// Whether the parameters differ.
    pub parameters: bool,
    /// Training code and configuration.
    pub training: Vec<String>,
    /// Environment code.
    pub environment: Vec<String>,
    /// Serving code, networks and normaliser.
    pub serving: Vec<String>,
}

/// What a model consumed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens read and written.
    pub tokens: u64,
    /// USD of this attempt.
    pub cost: f64,
    /// USD of all attempts.
    pub cost_all_attempts: f64,
}

/// How the sandboxes were shut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IsolationRecord {
    /// `docker` or `none`.
    pub kind: crate::vocab::Isolation,
    /// What the probes saw.
    pub probes: Vec<crate::vocab::Probe>,
    /// Whether workspace and scorer share processors.
    pub cpuset_shared: bool,
}

/// The dossier tool budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetRecord {
    /// As planned.
    pub invocations: Invocations,
    /// `best-effort` or `none`.
    pub enforced: String,
    /// Whether the source of the tools was readable, so that running it by hand is not counted.
    pub source_readable: bool,
}

/// Where the edit that restores the clean source stood among a coder's candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestoringRank {
    /// From 1; absent when no candidate restores the source.
    pub rank: Option<u32>,
    /// Candidates in all.
    pub candidates: u32,
}
