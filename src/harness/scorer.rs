//! Knows the scorer process of a session: how it is asked, and which answers are a measurement.
//! Must not know agents or sandboxes beyond the stream it is handed, nor what a score is made of later.
//! Start at `Scorer::start`, then `Scorer::score`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;

use super::lines::{Line, Lines, Tail};
use super::{Command, Running, User};
use crate::vocab::{EnvironmentId, FaultKind, HarnessFault, Performance, Seed};

const LONGEST: usize = 32 * 1024 * 1024;
const READY: Duration = Duration::from_secs(120);
/// For compiling, and on top of the total deadline of a scoring.
const COMPILE: Duration = Duration::from_secs(180);

/// Deadlines of one scoring, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deadlines {
    /// Until the agent is ready.
    pub ready: f64,
    /// Until its first reply.
    pub first: f64,
    /// Until each later reply.
    pub reply: f64,
    /// For all.
    pub total: f64,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            ready: 60.0,
            first: 60.0,
            reply: 10.0,
            total: 900.0,
        }
    }
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct Question {
    /// The clean environment to play.
    pub environment: EnvironmentId,
    /// The seed of the episodes.
    pub seed: Seed,
    /// The seed of the lane permutations.
    pub permutation_seed: Seed,
    /// How many episodes.
    pub episodes: u32,
    /// `host:port` of the agent server.
    pub address: String,
    /// Deadlines.
    pub deadlines: Deadlines,
}

/// What a scoring found.
#[derive(Debug, Clone, PartialEq)]
pub enum Scoring {
    /// A measurement.
    Scored(Box<Scores>),
    /// The agent did not answer a first batch.
    AgentUnserved {
        /// What the scorer saw.
        reason: String,
    },
}

/// A measurement; every list has one entry per episode, in episode order.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// Returns, none below the environment's floor.
    pub performance: Performance,
    /// Returns as played.
    pub unfloored_returns: Vec<f64>,
    /// Steps.
    pub lengths: Vec<u64>,
    /// Whether the episode ended by itself.
    pub terminated: Vec<bool>,
    /// Sum of each reward component.
    pub components: BTreeMap<String, Vec<f64>>,
    /// Invalid actions, of all episodes.
    pub invalid: u64,
    /// Actions clipped to bounds, of all episodes.
    pub clipped: u64,
    /// Episodes put at the floor.
    pub floored: u64,
    /// Share of equal answers to equal batches.
    pub consistency: f64,
    /// Wall clock.
    pub seconds: f64,
    /// Processor time of the scorer.
    pub cpu_seconds: f64,
    /// Hash of the scorer's own source.
    pub source_hash: String,
    /// Versions of what the result depends on.
    pub versions: BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
struct Asked<'a> {
    environment: &'a str,
    seed: String,
    permutation_seed: String,
    episodes: u32,
    address: &'a str,
    deadlines: Deadlines,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case", deny_unknown_fields)]
enum Told {
    Scored {
        returns: Vec<f64>,
        unfloored_returns: Vec<f64>,
        lengths: Vec<u64>,
        terminated: Vec<bool>,
        components: BTreeMap<String, Vec<f64>>,
        invalid: u64,
        clipped: u64,
        floored: u64,
        consistency: f64,
        seconds: f64,
        cpu_seconds: f64,
        source_hash: String,
        versions: BTreeMap<String, String>,
    },
    AgentUnserved {
        reason: String,
    },
    ScorerFailed {
        reason: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ready {
    ready: bool,
    versions: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Warmed {
    warmed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SelfDriven {
    self_drive: bool,
    returns: Vec<f64>,
    lengths: Vec<u64>,
}

fn failed(reason: impl Into<String>) -> HarnessFault {
    HarnessFault::new(FaultKind::ScorerFailed, reason)
}

/// Reads the answer to a question about `episodes` episodes. Nothing but a whole, finite measurement is one.
///
/// # Errors
/// `scorer_failed` for every other text.
pub fn read_answer(line: &[u8], episodes: u32) -> Result<Scoring, HarnessFault> {
    let told: Told = serde_json::from_slice(line)
        .map_err(|error| failed(format!("answer of the scorer: {error}")))?;
    match told {
        Told::AgentUnserved { reason } => Ok(Scoring::AgentUnserved { reason }),
        Told::ScorerFailed { reason } => Err(failed(reason)),
        Told::Scored {
            returns,
            unfloored_returns,
            lengths,
            terminated,
            components,
            invalid,
            clipped,
            floored,
            consistency,
            seconds,
            cpu_seconds,
            source_hash,
            versions,
        } => {
            let wanted = episodes as usize;
            let counts = [
                ("returns", returns.len()),
                ("unfloored_returns", unfloored_returns.len()),
                ("lengths", lengths.len()),
                ("terminated", terminated.len()),
            ];
            let components_counts = components
                .iter()
                .map(|(name, of)| (name.as_str(), of.len()));
            for (name, count) in counts.into_iter().chain(components_counts) {
                if count != wanted {
                    return Err(failed(format!("{count} {name} for {wanted} episodes")));
                }
            }
            let finite = unfloored_returns
                .iter()
                .chain(components.values().flatten())
                .chain([&seconds, &cpu_seconds])
                .all(|value| value.is_finite());
            if !finite || !(0.0..=1.0).contains(&consistency) {
                return Err(failed("a number of the scorer is out of range"));
            }
            let performance =
                Performance::new(returns).map_err(|error| failed(error.to_string()))?;
            Ok(Scoring::Scored(Box::new(Scores {
                performance,
                unfloored_returns,
                lengths,
                terminated,
                components,
                invalid,
                clipped,
                floored,
                consistency,
                seconds,
                cpu_seconds,
                source_hash,
                versions,
            })))
        }
    }
}

/// A scorer process, warm from the start of its session; never shared between sessions.
pub struct Scorer {
    stdin: std::pin::Pin<Box<dyn tokio::io::AsyncWrite + Send>>,
    lines: Lines,
    errors: Tail,
    versions: BTreeMap<String, String>,
    /// A question whose answer was not awaited makes every later answer ambiguous.
    out_of_step: bool,
}

impl Scorer {
    /// Starts the process in a scorer sandbox and waits until it has imported its packages.
    ///
    /// # Errors
    /// `scorer_failed` when it does not say that it is ready.
    pub async fn start(sandbox: &dyn Running) -> Result<Self, HarnessFault> {
        let argv = ["python3", "-I", "-m", "evalxrl_envs.scoring"];
        let duplex = sandbox.attach(Command::new(User::Coder, &argv)).await?;
        let mut scorer = Self {
            stdin: duplex.stdin,
            lines: Lines::new(duplex.stdout, LONGEST),
            errors: Tail::drain(duplex.stderr, 16 * 1024, |_| {}),
            versions: BTreeMap::new(),
            out_of_step: false,
        };
        let line = scorer.line(READY).await?;
        let ready: Ready = serde_json::from_slice(&line)
            .map_err(|error| failed(format!("first line of the scorer: {error}")))?;
        if !ready.ready {
            return Err(failed("the scorer is not ready"));
        }
        scorer.versions = ready.versions;
        Ok(scorer)
    }

    /// Versions of what its results depend on.
    #[must_use]
    pub fn versions(&self) -> &BTreeMap<String, String> {
        &self.versions
    }

    /// Compiles ahead what so many episodes of an environment need.
    ///
    /// # Errors
    /// `scorer_failed`.
    pub async fn warm(
        &mut self,
        environment: &EnvironmentId,
        episodes: u32,
    ) -> Result<(), HarnessFault> {
        let request = serde_json::json!({
            "warm": {"environment": environment.as_str(), "episodes": episodes}
        });
        let line = self.ask(&request, COMPILE).await?;
        match serde_json::from_slice::<Warmed>(&line) {
            Ok(Warmed { warmed: true }) => Ok(()),
            _ => Err(self.unexpected("warming", &line)),
        }
    }

    /// Plays the constant default action without any agent: the health check.
    ///
    /// # Errors
    /// `scorer_failed`.
    pub async fn self_drive(
        &mut self,
        environment: &EnvironmentId,
        episodes: u32,
    ) -> Result<(), HarnessFault> {
        let request = serde_json::json!({
            "self_drive": {"environment": environment.as_str(), "episodes": episodes}
        });
        let line = self.ask(&request, COMPILE).await?;
        let wanted = episodes as usize;
        match serde_json::from_slice::<SelfDriven>(&line) {
            Ok(SelfDriven {
                self_drive: true,
                returns,
                lengths,
            }) if returns.len() == wanted && lengths.len() == wanted => Ok(()),
            _ => Err(self.unexpected("the health check", &line)),
        }
    }

    /// Measures an agent, once. When the agent did not answer, the scorer's own health is checked before that is believed.
    ///
    /// # Errors
    /// `scorer_failed`: the process is gone, late, or told anything but a whole measurement.
    pub async fn score(&mut self, question: &Question) -> Result<Scoring, HarnessFault> {
        let asked = Asked {
            environment: question.environment.as_str(),
            seed: question.seed.hex(),
            permutation_seed: question.permutation_seed.hex(),
            episodes: question.episodes,
            address: &question.address,
            deadlines: question.deadlines,
        };
        let limit = Duration::from_secs_f64(question.deadlines.total.max(0.0)) + COMPILE;
        let line = self.ask(&asked, limit).await?;
        let scoring = read_answer(&line, question.episodes)?;
        if matches!(scoring, Scoring::AgentUnserved { .. }) {
            self.self_drive(&question.environment, question.episodes)
                .await?;
        }
        Ok(scoring)
    }

    async fn ask(
        &mut self,
        request: &impl Serialize,
        limit: Duration,
    ) -> Result<Vec<u8>, HarnessFault> {
        if self.out_of_step {
            return Err(failed("an earlier question was abandoned"));
        }
        let mut line = serde_json::to_vec(request)
            .map_err(|error| HarnessFault::new(FaultKind::Internal, error.to_string()))?;
        line.push(b'\n');
        self.out_of_step = true;
        let write = async {
            self.stdin.write_all(&line).await?;
            self.stdin.flush().await
        };
        match tokio::time::timeout(limit, write).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(self.explain(&format!("asking the scorer: {error}"))),
            Err(_) => return Err(self.explain("the scorer does not read")),
        }
        let answer = self.line(limit).await?;
        self.out_of_step = false;
        Ok(answer)
    }

    async fn line(&mut self, limit: Duration) -> Result<Vec<u8>, HarnessFault> {
        match tokio::time::timeout(limit, self.lines.next()).await {
            Ok(Line::Whole(line)) => Ok(line),
            Ok(Line::TooLong) => Err(self.explain("answer of the scorer beyond all bounds")),
            Ok(Line::End) => Err(self.explain("the scorer has ended")),
            Err(_) => {
                Err(self.explain(&format!("no answer of the scorer in {} s", limit.as_secs())))
            }
        }
    }

    fn unexpected(&self, during: &str, line: &[u8]) -> HarnessFault {
        let text: String = String::from_utf8_lossy(line).chars().take(300).collect();
        self.explain(&format!("{during} was answered with {text}"))
    }

    fn explain(&self, reason: &str) -> HarnessFault {
        let errors = self.errors.text();
        let last = errors.trim().lines().next_back().unwrap_or_default();
        if last.is_empty() {
            failed(reason)
        } else {
            failed(format!("{reason} ({last})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(returns: &str) -> String {
        format!(
            r#"{{"status":"scored","returns":{returns},"unfloored_returns":[1,2],"lengths":[3,4],
            "terminated":[true,false],"components":{{"step":[0.5,1]}},"invalid":0,"clipped":0,"floored":0,
            "consistency":1.0,"seconds":0.1,"cpu_seconds":0.1,"source_hash":"x","versions":{{"jax":"0"}}}}"#
        )
    }

    #[test]
    fn a_whole_finite_measurement_is_read() {
        let Scoring::Scored(scores) = read_answer(scored("[1, -2.5]").as_bytes(), 2).unwrap()
        else {
            unreachable!("the answer says scored")
        };
        assert_eq!(scores.performance.returns(), [1.0, -2.5]);
        assert_eq!(scores.components["step"], [0.5, 1.0]);
    }

    #[test]
    fn anything_that_is_no_number_is_a_failed_scorer_and_never_a_number() {
        for returns in [
            "null",
            "{}",
            "[]",
            "\"1\"",
            "[1]",
            "[1,2,3]",
            "[NaN,1]",
            "[null,1]",
            "[1e400,1]",
            "[-1e400,1]",
            "[\"1\",1]",
            "[true,1]",
            "[[1],1]",
            "[Infinity,1]",
        ] {
            let fault = read_answer(scored(returns).as_bytes(), 2).unwrap_err();
            assert_eq!(fault.kind, FaultKind::ScorerFailed, "{returns}");
        }
        for line in [
            "",
            "null",
            "{}",
            "[]",
            "1",
            r#"{"status":"done"}"#,
            r#"{"status":"scored"}"#,
        ] {
            let fault = read_answer(line.as_bytes(), 2).unwrap_err();
            assert_eq!(fault.kind, FaultKind::ScorerFailed, "{line}");
        }
    }

    #[test]
    fn an_unknown_field_or_a_share_beyond_one_is_a_failed_scorer() {
        let more = scored("[1,2]").replacen('{', r#"{"extra":1,"#, 1);
        assert!(read_answer(more.as_bytes(), 2).is_err());
        let share = scored("[1,2]").replace(r#""consistency":1.0"#, r#""consistency":1.5"#);
        assert!(read_answer(share.as_bytes(), 2).is_err());
    }

    #[test]
    fn an_unserved_agent_is_told_apart_from_a_failed_scorer() {
        let line = br#"{"status":"agent_unserved","reason":"no connection"}"#;
        assert_eq!(
            read_answer(line, 2).unwrap(),
            Scoring::AgentUnserved {
                reason: "no connection".to_owned()
            }
        );
        let line = br#"{"status":"scorer_failed","reason":"boom"}"#;
        assert_eq!(
            read_answer(line, 2).unwrap_err().kind,
            FaultKind::ScorerFailed
        );
    }
}
