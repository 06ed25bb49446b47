//! Knows the tool relay: requests of shims in a sandbox come out of an attached process, answers go back into it.
//! Must not know what the tools do; the session room answers.
//! Start at `Relay::start`.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use super::lines::{Line, Lines, Tail};
use super::{Command, Isolation, Place, Running, State, User};
use crate::vocab::{FaultKind, HarnessFault};

/// The text of the relay, placed into both kinds of sandbox.
pub(super) const RELAY: &str = include_str!("../../docker/workspace/relay.py");
/// The text of the shims.
pub(super) const SHIM: &str = include_str!("../../docker/workspace/shim");

const LINE: usize = 64 * 1024;
/// Raw bytes of an answer line, so that base64 and framing stay below the line limit.
const CHUNK: usize = 45 * 1024;
const RESTARTS: u32 = 3;
const READY: Duration = Duration::from_secs(30);
const WRITE: Duration = Duration::from_secs(30);

/// A tool call from inside a sandbox. One is served at a time.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// To be named in every answer.
    pub id: u64,
    /// The name the shim was called by.
    pub tool: String,
    /// Its arguments.
    pub argv: Vec<String>,
    /// The caller's working folder, as the sandbox sees it.
    pub directory: String,
}

/// A stream of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output of the shim.
    Stdout,
    /// Standard error of the shim.
    Stderr,
}

#[derive(Debug, Serialize)]
struct Output<'a> {
    id: u64,
    stream: Stream,
    data: &'a str,
}

#[derive(Debug, Serialize)]
struct Exit {
    id: u64,
    exit: i32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ready {
    ready: bool,
}

/// The session's end of the relay. Dropping it ends the relay.
pub struct Relay {
    requests: mpsc::Receiver<Result<Request, HarnessFault>>,
    answers: mpsc::Sender<Vec<u8>>,
}

impl Relay {
    /// Starts the relay in a workspace and waits until it listens.
    ///
    /// # Errors
    /// `relay_lost` when it does not start.
    pub async fn start(
        workspace: Arc<dyn Running>,
        isolation: Isolation,
    ) -> Result<Self, HarnessFault> {
        let process = Process::start(workspace.as_ref(), isolation, 1).await?;
        let (to_session, requests) = mpsc::channel(16);
        let (answers, from_session) = mpsc::channel(16);
        let keeper = Keeper {
            workspace,
            isolation,
            to_session,
            from_session,
        };
        tokio::spawn(keeper.run(process));
        Ok(Self { requests, answers })
    }

    /// Waits for the next request; nothing is lost when the future is dropped.
    ///
    /// # Errors
    /// `relay_lost` after too many restarts, `container_lost` when the sandbox ended.
    pub async fn next(&mut self) -> Result<Request, HarnessFault> {
        match self.requests.recv().await {
            Some(request) => request,
            None => Err(lost("the relay has ended")),
        }
    }

    /// Sends a piece of output of the request under way.
    pub async fn output(&self, id: u64, stream: Stream, bytes: &[u8]) -> Result<(), HarnessFault> {
        for chunk in bytes.chunks(CHUNK) {
            let data = base64::engine::general_purpose::STANDARD.encode(chunk);
            self.send(&Output {
                id,
                stream,
                data: &data,
            })
            .await?;
        }
        Ok(())
    }

    /// Ends the request under way.
    pub async fn exit(&self, id: u64, code: i32) -> Result<(), HarnessFault> {
        self.send(&Exit { id, exit: code }).await
    }

    async fn send(&self, answer: &impl Serialize) -> Result<(), HarnessFault> {
        let mut line = serde_json::to_vec(answer)
            .map_err(|error| HarnessFault::new(FaultKind::Internal, error.to_string()))?;
        line.push(b'\n');
        self.answers
            .send(line)
            .await
            .map_err(|_| lost("the relay has ended"))
    }
}

/// Tar stream that links these tool names to the shim, for `Running::put` into `Place::Method` as `User::Method`.
///
/// # Errors
/// A name that does not fit into a tar header.
pub fn tool_links(names: &[&str]) -> Result<Vec<u8>, HarnessFault> {
    let mut archive = tar::Builder::new(Vec::new());
    for name in names {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_mode(0o777);
        header.set_size(0);
        header.set_mtime(0);
        archive
            .append_link(&mut header, format!("bin/{name}"), "../../evalxrl/shim")
            .map_err(|error| HarnessFault::new(FaultKind::Internal, format!("{name}: {error}")))?;
    }
    archive
        .into_inner()
        .map_err(|error| HarnessFault::new(FaultKind::Internal, error.to_string()))
}

fn lost(message: impl Into<String>) -> HarnessFault {
    HarnessFault::new(FaultKind::RelayLost, message)
}

/// One life of the process in the sandbox.
struct Process {
    stdin: std::pin::Pin<Box<dyn tokio::io::AsyncWrite + Send>>,
    lines: Lines,
    errors: Tail,
}

impl Process {
    async fn start(
        workspace: &dyn Running,
        isolation: Isolation,
        first: u64,
    ) -> Result<Self, HarnessFault> {
        let folder = workspace.path(Place::Relay);
        let (script, uid) = match isolation {
            Isolation::Docker => ("/opt/evalxrl/relay.py".to_owned(), User::Coder.uid()),
            // All local processes are of one user; the script lies in the sandbox's own folder.
            Isolation::None => (
                format!("{folder}/../../opt/evalxrl/relay.py"),
                nix::unistd::getuid().as_raw(),
            ),
        };
        let mut command = Command::new(
            User::Relay,
            &[
                &script,
                "--socket",
                &format!("{folder}/socket"),
                "--uid",
                &uid.to_string(),
                "--first",
                &first.to_string(),
            ],
        );
        command.directory = Some(folder);
        let duplex = workspace.attach(command).await?;
        let mut process = Self {
            stdin: duplex.stdin,
            lines: Lines::new(duplex.stdout, LINE),
            errors: Tail::drain(duplex.stderr, 4096, |_| {}),
        };
        match tokio::time::timeout(READY, process.lines.next()).await {
            Ok(Line::Whole(line))
                if serde_json::from_slice::<Ready>(&line).is_ok_and(|ready| ready.ready) =>
            {
                Ok(process)
            }
            _ => Err(lost(format!(
                "the relay did not start: {}",
                process.errors.text().trim()
            ))),
        }
    }
}

/// Keeps a relay running for as long as the session holds its end.
struct Keeper {
    workspace: Arc<dyn Running>,
    isolation: Isolation,
    to_session: mpsc::Sender<Result<Request, HarnessFault>>,
    from_session: mpsc::Receiver<Vec<u8>>,
}

impl Keeper {
    async fn run(mut self, mut process: Process) {
        let mut next = 1;
        let mut restarts = 0;
        loop {
            let Some(reason) = self.serve(&mut process, &mut next).await else {
                return;
            };
            match self.again(next, &mut restarts, reason).await {
                Ok(started) => process = started,
                Err(fault) => {
                    // A session that no longer listens needs no news.
                    let _unheard = self.to_session.send(Err(fault)).await;
                    return;
                }
            }
        }
    }

    /// A new life of the process; a start that fails uses one up too.
    async fn again(
        &self,
        next: u64,
        restarts: &mut u32,
        reason: String,
    ) -> Result<Process, HarnessFault> {
        let mut reason = reason;
        while *restarts < RESTARTS {
            *restarts += 1;
            match self.restart(next).await {
                Err(fault) if fault.kind == FaultKind::RelayLost => reason = fault.message,
                other => return other,
            }
        }
        Err(lost(format!("{reason}, after {RESTARTS} restarts")))
    }

    async fn restart(&self, next: u64) -> Result<Process, HarnessFault> {
        if self.workspace.state().await? != State::Running {
            return Err(HarnessFault::new(
                FaultKind::ContainerLost,
                "the workspace ended under its relay",
            ));
        }
        self.workspace.sweep(User::Relay).await?;
        Process::start(self.workspace.as_ref(), self.isolation, next).await
    }

    /// Carries lines until the process misbehaves; `None` when the session has let go.
    async fn serve(&mut self, process: &mut Process, next: &mut u64) -> Option<String> {
        loop {
            tokio::select! {
                line = process.lines.next() => match line {
                    Line::Whole(line) => match serde_json::from_slice::<Request>(&line) {
                        Ok(request) if request.id == *next => {
                            *next += 1;
                            if self.to_session.send(Ok(request)).await.is_err() {
                                return None;
                            }
                        }
                        Ok(request) => return Some(format!("request {} out of turn", request.id)),
                        Err(error) => return Some(format!("malformed line from the relay: {error}")),
                    },
                    Line::TooLong => return Some("line from the relay beyond 64 KiB".to_owned()),
                    Line::End => return Some(format!("the relay ended: {}", process.errors.text().trim())),
                },
                answer = self.from_session.recv() => {
                    let line = answer?;
                    let write = async {
                        process.stdin.write_all(&line).await?;
                        process.stdin.flush().await
                    };
                    match tokio::time::timeout(WRITE, write).await {
                        Ok(Ok(())) => {}
                        Ok(Err(error)) => return Some(format!("writing to the relay: {error}")),
                        Err(_) => return Some("the relay does not read".to_owned()),
                    }
                }
            }
        }
    }
}
