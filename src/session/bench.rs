//! Knows the workspace as one coder meets it: runs commands, serves tools, counts, and writes the transcript.
//! Must not know which scaffold works here, nor what is broken.
//! Start at `SessionBench`, which implements `coder::Bench`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::coder::{Bench, Observation, Remaining, Score, Stop};
use crate::harness::relay::Relay;
use crate::harness::{Command, Execution, Exit, Place, Running, State, User};
use crate::store::{Calls, Event, Seconds, Transcript};
use crate::vocab::{Budget, FaultKind, HarnessFault, Limit};

use super::bundle::{Bundle, CAPS, pack};
use super::place::untar;
use super::rehearsal::Rehearsal;
use super::serving::REJECTIONS;
use super::tools::Tool;

/// What the orchestrator prints in place of the output of the command that submitted.
pub const MARKER: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";

/// The bench of one session.
pub struct SessionBench {
    pub(super) workspace: Arc<dyn Running>,
    pub(super) relay: Relay,
    pub(super) rehearsal: Rehearsal,
    pub(super) transcript: Transcript,
    pub(super) budget: Budget,
    pub(super) tools: BTreeMap<String, Tool>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) started: Instant,
    pub(super) calls: Calls,
    pub(super) strays: u32,
    pub(super) seconds: Seconds,
    pub(super) rejections: u32,
    pub(super) last_rejection: String,
    pub(super) submission: Option<Bundle>,
    pub(super) note: Option<String>,
    /// What the scaffold remarked about its candidates, by event.
    pub(super) remarks: BTreeMap<String, Value>,
}

impl SessionBench {
    pub(super) fn write_line(&mut self, kind: Event, data: Value) -> Result<(), HarnessFault> {
        let at = self.started.elapsed().as_secs_f64();
        self.transcript.add(at, kind, data).map_err(|error| {
            let kind = match error.kind() {
                std::io::ErrorKind::StorageFull => FaultKind::DiskFull,
                _ => FaultKind::Internal,
            };
            HarnessFault::new(kind, format!("transcript.jsonl: {error}"))
        })
    }

    fn ended(&self) -> bool {
        self.submission.is_some() || self.rejections >= REJECTIONS
    }

    /// What every action asks first.
    fn admit(&mut self) -> Result<(), Stop> {
        if self.ended() {
            return Err(Stop::Ended);
        }
        let spent = if self.calls.steps >= self.budget.steps {
            Some(Limit::Steps)
        } else if self.wall_left().is_zero() {
            Some(Limit::Wall)
        } else if self.working_left().is_zero() {
            Some(Limit::Working)
        } else {
            None
        };
        match spent {
            Some(limit) => {
                self.write_line(Event::Limit, json!({ "limit": limit }))?;
                Err(Stop::Budget(limit))
            }
            None => Ok(()),
        }
    }

    /// No scaffold waits for a provider, so all time since the start is working time.
    fn working_left(&self) -> Duration {
        Duration::from_secs(self.budget.working_seconds).saturating_sub(self.started.elapsed())
    }

    fn wall_left(&self) -> Duration {
        Duration::from_secs(self.budget.wall_seconds).saturating_sub(self.started.elapsed())
    }

    /// Runs a command to its end while the relay is served; time spent in tools does not count against it.
    async fn execute(&mut self, command: Command) -> Result<(Execution, bool), Stop> {
        let workspace = Arc::clone(&self.workspace);
        let began = Instant::now();
        let limit = Duration::from_secs(self.budget.command_seconds).min(self.wall_left());
        let mut tool_time = Duration::ZERO;
        let mut timed_out = false;
        let mut finished = None;
        let exec = workspace.exec(command.limit(limit + Duration::from_secs(900)));
        tokio::pin!(exec);
        while finished.is_none() {
            let request = tokio::select! {
                biased;
                result = &mut exec => { finished = Some(result); None }
                request = self.relay.next() => Some(request?),
                () = tokio::time::sleep_until(began + limit + tool_time), if !timed_out => {
                    timed_out = true;
                    workspace.sweep(User::Coder).await?;
                    None
                }
            };
            if let Some(request) = request {
                let asked = Instant::now();
                let serving = self.serve(request);
                tokio::pin!(serving);
                loop {
                    tokio::select! {
                        served = &mut serving => { served?; break; }
                        result = &mut exec, if finished.is_none() => finished = Some(result),
                    }
                }
                tool_time += asked.elapsed();
            }
        }
        let execution = match finished {
            Some(Ok(execution)) => execution,
            Some(Err(fault)) => return Err(explain(workspace.as_ref(), fault).await),
            None => {
                return Err(
                    HarnessFault::new(FaultKind::Internal, "a command without an end").into(),
                );
            }
        };
        self.seconds.training += (execution.seconds - tool_time.as_secs_f64()).max(0.0);
        if matches!(execution.exit, Exit::Lost) && !self.ended() {
            check_alive(workspace.as_ref()).await?;
        }
        let timed_out = timed_out || execution.exit == Exit::TimedOut;
        Ok((execution, timed_out))
    }

    /// Host-side file access of embedded scaffolds: quick, bounded, not an action of the coder.
    async fn file_access(&mut self, argv: &[&str]) -> Result<Vec<u8>, Stop> {
        if self.ended() {
            return Err(Stop::Ended);
        }
        let command = Command::new(User::Coder, argv).limit(Duration::from_secs(60));
        let execution = self.workspace.exec(command).await?;
        match execution.exit {
            Exit::Code(0) => Ok(execution.stdout),
            _ => {
                check_alive(self.workspace.as_ref()).await?;
                let seen = text_of(&execution.stderr);
                Err(
                    HarnessFault::new(FaultKind::Internal, format!("{}: {seen}", argv.join(" ")))
                        .into(),
                )
            }
        }
    }
}

#[async_trait]
impl Bench for SessionBench {
    async fn run(&mut self, command: &str) -> Result<Observation, Stop> {
        self.admit()?;
        self.calls.steps += 1;
        self.calls.actions += 1;
        self.calls.commands += 1;
        self.write_line(Event::Command, json!({ "text": command }))?;
        let mut shell = Command::new(User::Coder, &["/bin/bash", "-c", command]);
        shell.environment = self.environment.clone();
        let began = Instant::now();
        let tools_before = self.seconds.tools + self.seconds.scoring;
        let (execution, timed_out) = match self.execute(shell).await {
            Err(Stop::Ended) if self.rejections >= REJECTIONS => return Err(Stop::Ended),
            other => other?,
        };
        let in_tools = self.seconds.tools + self.seconds.scoring - tools_before;
        let seconds = (began.elapsed().as_secs_f64() - in_tools).max(0.0);
        let observation = if self.submission.is_some() {
            Observation {
                code: 0,
                output: format!("{MARKER}\n"),
                seconds,
            }
        } else {
            let strays = self.workspace.sweep(User::Coder).await?;
            if strays > 0 {
                self.strays += strays;
                self.write_line(Event::Stray, json!({ "killed": strays }))?;
            }
            let mut output = text_of(&execution.merged);
            let code = match execution.exit {
                _ if timed_out => {
                    output.push_str(&format!(
                        "\ncommand timed out after {} seconds\n",
                        self.budget.command_seconds
                    ));
                    -1
                }
                Exit::Code(code) => code,
                Exit::TimedOut | Exit::Lost => -1,
            };
            Observation {
                code,
                output,
                seconds,
            }
        };
        self.write_line(
            Event::Output,
            json!({
                "code": observation.code,
                "text": observation.output,
                "seconds": observation.seconds,
                "bytes": execution.bytes_total,
                "elided": execution.bytes_elided,
                "lossy": std::str::from_utf8(&execution.merged).is_err(),
            }),
        )?;
        Ok(observation)
    }

    async fn tool(&mut self, name: &str, argv: &[String]) -> Result<Observation, Stop> {
        self.admit()?;
        self.calls.steps += 1;
        self.calls.actions += 1;
        let began = Instant::now();
        let answer = self.call_tool(name, argv, None).await?;
        let mut output = text_of(&answer.stdout);
        output.push_str(&text_of(&answer.stderr));
        Ok(Observation {
            code: answer.code,
            output,
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    async fn score(&mut self) -> Result<Result<Score, String>, Stop> {
        self.admit()?;
        self.calls.steps += 1;
        self.calls.actions += 1;
        self.score_now().await
    }

    async fn submit(&mut self, note: &str) -> Result<Result<(), String>, Stop> {
        if self.ended() {
            return Err(Stop::Ended);
        }
        self.calls.steps += 1;
        self.submit_now(note).await
    }

    async fn read(&mut self, path: &str) -> Result<String, Stop> {
        Ok(text_of(&self.file_access(&["/bin/cat", "--", path]).await?))
    }

    async fn read_many(&mut self, paths: &[String]) -> Result<Vec<String>, Stop> {
        if self.ended() {
            return Err(Stop::Ended);
        }
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let stream = self.workspace.take(&paths, CAPS.bytes).await?;
        let files = untar(&stream).map_err(|error| {
            HarnessFault::new(
                FaultKind::Internal,
                format!("files of the workspace: {error}"),
            )
        })?;
        Ok(paths
            .iter()
            .map(|path| {
                files
                    .get(*path)
                    .map_or_else(String::new, |bytes| text_of(bytes))
            })
            .collect())
    }

    async fn list(&mut self, folder: &str) -> Result<Vec<String>, Stop> {
        let found = self
            .file_access(&["/usr/bin/find", folder, "-type", "f"])
            .await?;
        let mut paths: Vec<String> = text_of(&found)
            .lines()
            .filter(|path| !path.contains("__pycache__"))
            .map(str::to_owned)
            .collect();
        paths.sort();
        Ok(paths)
    }

    async fn write(&mut self, path: &str, text: &str) -> Result<(), Stop> {
        if self.ended() {
            return Err(Stop::Ended);
        }
        let tar = pack([(path, text.as_bytes(), 0o644)].into_iter());
        Ok(self.workspace.put(User::Coder, Place::Home, &tar).await?)
    }

    async fn note(&mut self, event: Value) -> Result<(), Stop> {
        if let Some(name) = event.get("event").and_then(Value::as_str)
            && ["search_order", "search_query"].contains(&name)
        {
            self.remarks.insert(name.to_owned(), event.clone());
        }
        Ok(self.write_line(Event::Note, event)?)
    }

    fn remaining(&self) -> Remaining {
        Remaining {
            wall_seconds: self.wall_left().min(self.working_left()).as_secs_f64(),
            score_calls: self.budget.score.calls.saturating_sub(self.calls.score),
            steps: self.budget.steps.saturating_sub(self.calls.steps),
        }
    }
}

/// A sandbox that its own memory limit killed is the coder's doing; one that vanished is ours.
async fn check_alive(workspace: &dyn Running) -> Result<(), Stop> {
    match workspace.state().await? {
        State::Running => Ok(()),
        State::OutOfMemory => Err(Stop::Budget(Limit::Memory)),
        State::Gone => {
            Err(HarnessFault::new(FaultKind::ContainerLost, "the workspace vanished").into())
        }
    }
}

async fn explain(workspace: &dyn Running, fault: HarnessFault) -> Stop {
    match check_alive(workspace).await {
        Err(Stop::Budget(limit)) => Stop::Budget(limit),
        _ => Stop::Harness(fault),
    }
}

pub(super) fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
