//! Knows how to start a process in a live container, follow its streams, and learn how it ended.
//! Must not know the limits of a command: callers wrap and time it.
//! Start at `start`.

use std::time::Duration;

use bollard::container::LogOutput;
use bollard::exec::StartExecResults;
use bollard::models::ExecConfig;
use futures_util::StreamExt;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use super::container::{pairs, user};
use super::engine::{CALL, Engine, fault, within};
use crate::harness::capture::Streams;
use crate::harness::{Command, Duplex};
use crate::vocab::{FaultKind, HarnessFault};

/// Bytes that a pipe between a container and its reader holds.
const PIPE: usize = 256 * 1024;

/// A started process.
pub(super) struct Exec {
    engine: Engine,
    id: String,
    streams: StartExecResults,
}

/// How following a process ended.
pub(super) enum End {
    /// It ended, with this code.
    Code(i64),
    /// The deadline passed first.
    Overdue,
}

/// Starts `argv` as the user and in the folder of `command`.
pub(super) async fn start(
    engine: &Engine,
    container: &str,
    argv: Vec<String>,
    command: &Command,
    home: &str,
    with_input: bool,
) -> Result<Exec, HarnessFault> {
    let directory = command.directory.clone().unwrap_or_else(|| home.to_owned());
    let config = ExecConfig {
        attach_stdin: Some(with_input),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(false),
        env: Some(pairs(&command.environment)),
        cmd: Some(argv),
        user: Some(user(command.user)),
        working_dir: Some(directory),
        ..ExecConfig::default()
    };
    let client = engine.client();
    let made = within(
        CALL,
        "preparing a command",
        client.create_exec(container, config),
    )
    .await?;
    let streams = within(
        CALL,
        "starting a command",
        client.start_exec(&made.id, None),
    )
    .await?;
    Ok(Exec {
        engine: engine.clone(),
        id: made.id,
        streams,
    })
}

impl Exec {
    /// Feeds `input`, reads both streams to their end, and learns the exit code; at most until `deadline`.
    pub(super) async fn follow(
        self,
        input: &[u8],
        streams: &mut Streams,
        deadline: Instant,
    ) -> Result<End, HarnessFault> {
        let StartExecResults::Attached {
            mut output,
            input: mut stdin,
        } = self.streams
        else {
            return Err(detached());
        };
        let write = async {
            // A process that does not read to the end of its input is no fault of the harness.
            if stdin.write_all(input).await.is_ok() {
                stdin.shutdown().await.is_ok()
            } else {
                false
            }
        };
        let read = async {
            while let Some(item) = output.next().await {
                match item {
                    Ok(LogOutput::StdErr { message }) => streams.stderr(&message),
                    Ok(other) => streams.stdout(&other.into_bytes()),
                    Err(error) => return Err(fault("reading from a command", &error)),
                }
            }
            Ok(())
        };
        let both = async {
            if input.is_empty() {
                return read.await;
            }
            let mut read = std::pin::pin!(read);
            tokio::select! {
                done = &mut read => done,
                _ = write => read.await,
            }
        };
        match tokio::time::timeout_at(deadline, both).await {
            Ok(done) => done?,
            Err(_) => return Ok(End::Overdue),
        }
        exit_code(&self.engine, &self.id, deadline).await
    }

    /// Hands the streams over to a long-lived use.
    pub(super) fn into_duplex(self) -> Result<Duplex, HarnessFault> {
        let StartExecResults::Attached { mut output, input } = self.streams else {
            return Err(detached());
        };
        let (stdout, mut to_stdout) = tokio::io::duplex(PIPE);
        let (stderr, mut to_stderr) = tokio::io::duplex(PIPE);
        tokio::spawn(async move {
            while let Some(Ok(item)) = output.next().await {
                let (pipe, bytes) = match item {
                    LogOutput::StdErr { message } => (&mut to_stderr, message),
                    other => (&mut to_stdout, other.into_bytes()),
                };
                // A reader that went away loses what comes; the process must not block on it.
                let _gone = pipe.write_all(&bytes).await;
            }
        });
        Ok(Duplex {
            stdin: input,
            stdout: Box::pin(stdout),
            stderr: Box::pin(stderr),
        })
    }
}

fn detached() -> HarnessFault {
    HarnessFault::new(FaultKind::Internal, "the engine detached from a command")
}

/// The engine may close the streams shortly before it knows the code.
async fn exit_code(engine: &Engine, id: &str, deadline: Instant) -> Result<End, HarnessFault> {
    let mut pause = Duration::from_millis(5);
    loop {
        let seen = within(
            CALL,
            "inspecting a command",
            engine.client().inspect_exec(id),
        )
        .await?;
        if let (Some(false), Some(code)) = (seen.running, seen.exit_code) {
            return Ok(End::Code(code));
        }
        if Instant::now() >= deadline {
            return Ok(End::Overdue);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}
