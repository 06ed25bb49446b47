//! Knows the coders: who repairs a broken agent, one file per scaffold.
//! Must not know the catalog, the store, or what is broken: it is handed a brief and a bench.
//! Start at `Scaffold`, then `Bench`.

mod null;
mod optimal;
mod prompts;
#[cfg(test)]
mod scripted;
pub mod search;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::vocab::{HarnessFault, Limit, Seed};

pub use prompts::{BriefFacts, PromptError, brief_text, prompt_sources};

/// The names that `scaffold` knows, for messages.
pub const SCAFFOLDS: [&str; 3] = ["null", "optimal", "search"];

/// The scaffold of a name.
#[must_use]
pub fn scaffold(name: &str) -> Option<Box<dyn Scaffold>> {
    match name {
        "null" => Some(Box::new(null::Null)),
        "optimal" => Some(Box::new(optimal::Optimal)),
        "search" => Some(Box::new(search::Search)),
        _ => None,
    }
}

/// A tool of the workspace as the coder is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolLine {
    /// The command on PATH.
    pub name: String,
    /// What it does, one line.
    pub help: String,
    /// Whether it knows `--budget small`.
    pub has_budget: bool,
}

/// A dossier as the coder is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DossierLine {
    /// Its title.
    pub title: String,
    /// Its folder, relative to the workspace root.
    pub folder: String,
    /// Its tools.
    pub tools: Vec<ToolLine>,
}

/// All that a coder is told.
#[derive(Debug, Clone)]
pub struct Brief {
    /// The text of `BRIEF.md`, the same for every arm up to the dossier section.
    pub text: String,
    /// The environment's package folder below the source root, e.g. `treasure_grid`.
    pub environment: String,
    /// The source root below the workspace root, e.g. `evalxrl_envs`.
    pub source: String,
    /// The train command, run in the workspace root.
    pub train: String,
    /// Dossiers at hand; empty for the baseline.
    pub dossiers: Vec<DossierLine>,
    /// The reverse diff, paths relative to the workspace root; only for the scaffold `optimal`.
    pub reverse_diff: Option<String>,
    /// What the coder may draw from.
    pub seed: Seed,
    /// `score` calls allowed in all.
    pub score_calls: u32,
    /// Candidates `search` may train, when the plan trims them.
    pub candidates: Option<u32>,
}

/// What a command gave back.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Exit code; −1 when the time limit struck.
    pub code: i32,
    /// Both streams in order, capped, decoded with replacement.
    pub output: String,
    /// Wall clock of the command, seconds, without dossier tools.
    pub seconds: f64,
}

/// What is left to spend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Remaining {
    /// Seconds until the nearer of wall clock and working time.
    pub wall_seconds: f64,
    /// `score` calls.
    pub score_calls: u32,
    /// Steps.
    pub steps: u32,
}

/// What a `score` call told the coder; the fields of its JSON line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// Episodes played.
    pub episodes: u32,
    /// Mean return.
    pub mean_return: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Invalid actions met.
    pub invalid_actions: u64,
    /// Calls left after this one.
    pub calls_left: u32,
}

/// Why the bench stops a coder.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Stop {
    /// A budget is spent; the session ends as `budget_spent`.
    #[error("budget spent: {0:?}")]
    Budget(Limit),
    /// The session ended by an accepted submission or by its third refusal.
    #[error("the session has ended")]
    Ended,
    /// The harness failed.
    #[error(transparent)]
    Harness(#[from] HarnessFault),
}

/// The workspace as a coder meets it. Every call is counted and written to the transcript by the session.
#[async_trait]
pub trait Bench: Send {
    /// Runs a shell text in the workspace root.
    async fn run(&mut self, command: &str) -> Result<Observation, Stop>;
    /// Calls a dossier tool without a shell.
    async fn tool(&mut self, name: &str, argv: &[String]) -> Result<Observation, Stop>;
    /// Calls `score`; `Ok(Err(text))` when the bundle is refused, unserved, or no call is left.
    async fn score(&mut self) -> Result<Result<Score, String>, Stop>;
    /// Submits; `Ok(Err(reason))` when the bundle is refused and the session goes on.
    async fn submit(&mut self, note: &str) -> Result<Result<(), String>, Stop>;
    /// Reads a text file, path relative to the workspace root.
    async fn read(&mut self, path: &str) -> Result<String, Stop>;
    /// Reads several text files; a bench that can fetch them at once overrides this.
    async fn read_many(&mut self, paths: &[String]) -> Result<Vec<String>, Stop> {
        let mut texts = Vec::with_capacity(paths.len());
        for path in paths {
            texts.push(self.read(path).await?);
        }
        Ok(texts)
    }
    /// Lists files below a folder, relative to the workspace root, sorted.
    async fn list(&mut self, folder: &str) -> Result<Vec<String>, Stop>;
    /// Writes a text file, path relative to the workspace root.
    async fn write(&mut self, path: &str, text: &str) -> Result<(), Stop>;
    /// Adds a line to the transcript.
    async fn note(&mut self, event: serde_json::Value) -> Result<(), Stop>;
    /// What is left to spend.
    fn remaining(&self) -> Remaining;
}

/// How a coder ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It submitted, or believes so; the bench knows.
    Submitted,
    /// It stopped without a submission.
    GaveUp(String),
}

/// A way to repair.
#[async_trait]
pub trait Scaffold: Send + Sync {
    /// The name in plans and records.
    fn name(&self) -> &'static str;
    /// Works at the bench until done.
    async fn repair(&self, brief: &Brief, bench: &mut dyn Bench) -> Result<Ending, Stop>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_scaffold_exists_under_its_name() {
        for name in SCAFFOLDS {
            assert_eq!(scaffold(name).map(|found| found.name()), Some(name));
        }
        assert!(scaffold("Search").is_none());
    }
}
