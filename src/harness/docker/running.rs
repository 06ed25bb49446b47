//! Knows a live container: commands, streams, files, sweeping, its end.
//! Must not know how it was created.
//! Start at `Container`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bollard::models::ContainerUpdateBody;
use bollard::query_parameters::InspectContainerOptions;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use super::engine::{CALL, Engine, status, within};
use super::exec::{End, start};
use super::sweeping::remove_container;
use super::{Docker, Network, Owner};
use crate::harness::capture::Streams;
use crate::harness::{Command, Duplex, Execution, Exit, Place, Running, State, User, scripts};
use crate::vocab::{FaultKind, HarnessFault};

/// Beyond limit and grace a command is lost.
const MARGIN: Duration = Duration::from_secs(20);
/// Deadline of moving files in or out.
const TRANSFER: Duration = Duration::from_secs(120);
/// Deadline of sweeping, freezing and thawing.
const SWEEP: Duration = Duration::from_secs(30);
/// Processes added while a full container is swept.
const SPARE_PIDS: i64 = 64;

/// A live container.
pub(super) struct Container {
    engine: Engine,
    name: String,
    address: String,
    pids: i64,
    addresses: Arc<Mutex<HashMap<String, (Network, Owner)>>>,
}

impl Container {
    /// A container of this name, not in any network yet.
    pub(super) fn new(docker: &Docker, name: String, pids: i64) -> Self {
        Self {
            engine: docker.engine.clone(),
            name,
            address: String::new(),
            pids,
            addresses: Arc::clone(&docker.addresses),
        }
    }

    /// Notes where the container is in its network.
    pub(super) fn join(&mut self, address: String, network: Network, owner: Owner) {
        self.addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(address.clone(), (network, owner));
        self.address = address;
    }

    /// Runs a command of the harness itself: unwrapped, with a deadline, without an exec limit.
    async fn run(
        &self,
        user: User,
        argv: Vec<String>,
        input: &[u8],
        limit: Duration,
        cap: usize,
    ) -> Result<(i64, Execution), HarnessFault> {
        let mut command = Command::new(user, &[]);
        command.directory = Some("/".to_owned());
        let began = Instant::now();
        let mut streams = Streams::new(cap);
        let exec = start(
            &self.engine,
            &self.name,
            argv,
            &command,
            "/",
            !input.is_empty(),
        )
        .await?;
        match exec.follow(input, &mut streams, began + limit).await? {
            End::Code(code) => {
                let seconds = began.elapsed().as_secs_f64();
                Ok((code, streams.execution(Exit::Code(code as i32), seconds)))
            }
            End::Overdue => Err(HarnessFault::new(
                FaultKind::Deadline,
                format!("a command of the harness outlasted {} s", limit.as_secs()),
            )),
        }
    }

    async fn limit_pids(&self, pids: i64) -> Result<(), HarnessFault> {
        let update = ContainerUpdateBody {
            pids_limit: Some(pids),
            ..ContainerUpdateBody::default()
        };
        within(
            CALL,
            "changing the process limit",
            self.engine.client().update_container(&self.name, update),
        )
        .await
    }

    /// One sweep; `None` when it could not start for want of processes.
    async fn try_sweep(&self, user: User) -> Result<Option<(u32, u32)>, HarnessFault> {
        let swept = self.run(user, scripts::sweep(), &[], SWEEP, 4096).await;
        match swept {
            Ok((_, execution)) => {
                let text = String::from_utf8_lossy(&execution.stdout).into_owned();
                let mut numbers = text.split_whitespace().map(str::parse::<u32>);
                match (numbers.next(), numbers.next()) {
                    (Some(Ok(before)), Some(Ok(left))) => Ok(Some((before, left))),
                    _ => Ok(None),
                }
            }
            Err(fault) if fault.kind == FaultKind::Internal => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// An error of a container that is not running is told as such.
    async fn explain(&self, fault: HarnessFault) -> HarnessFault {
        match self.state().await {
            Ok(State::Running) | Err(_) => fault,
            Ok(state) => HarnessFault::new(
                FaultKind::ContainerLost,
                format!(
                    "container {} is not running ({state:?}): {fault}",
                    self.name
                ),
            ),
        }
    }
}

#[async_trait]
impl Running for Container {
    fn path(&self, place: Place) -> String {
        match place {
            Place::Home => "/home/coder",
            Place::Temporary => "/tmp",
            Place::Method => "/opt/method",
            Place::Relay => "/run/relay",
        }
        .to_owned()
    }

    fn host(&self) -> String {
        self.address.clone()
    }

    async fn exec(&self, mut command: Command) -> Result<Execution, HarnessFault> {
        set_home(&mut command);
        let began = Instant::now();
        let deadline = began + command.limit + MARGIN;
        let home = self.path(Place::Home);
        let directory = command.directory.take().unwrap_or(home);
        let argv = scripts::limited(command.limit, &directory, &command.argv);
        let mut streams = Streams::new(command.output_cap);
        let with_input = !command.stdin.is_empty();
        let end = async {
            let exec = start(&self.engine, &self.name, argv, &command, "/", with_input).await?;
            exec.follow(&command.stdin, &mut streams, deadline).await
        }
        .await;
        let elapsed = began.elapsed();
        let exit = match end {
            Ok(End::Overdue) => {
                self.sweep(command.user).await?;
                Exit::Lost
            }
            Ok(End::Code(code)) if scripts::reached(command.limit, code, elapsed) => Exit::TimedOut,
            Ok(End::Code(137)) if self.state().await? != State::Running => {
                return Err(HarnessFault::new(
                    FaultKind::ContainerLost,
                    format!("container {} ended during a command", self.name),
                ));
            }
            Ok(End::Code(code)) => Exit::Code(code as i32),
            Err(fault) => return Err(self.explain(fault).await),
        };
        Ok(streams.execution(exit, elapsed.as_secs_f64()))
    }

    async fn attach(&self, mut command: Command) -> Result<Duplex, HarnessFault> {
        set_home(&mut command);
        let home = self.path(Place::Home);
        let argv = command.argv.clone();
        let exec = start(&self.engine, &self.name, argv, &command, &home, true).await?;
        let mut duplex = exec.into_duplex()?;
        if !command.stdin.is_empty() {
            duplex
                .stdin
                .write_all(&command.stdin)
                .await
                .map_err(|error| {
                    HarnessFault::new(FaultKind::ContainerLost, format!("first input: {error}"))
                })?;
        }
        Ok(duplex)
    }

    async fn put(&self, user: User, place: Place, tar: &[u8]) -> Result<(), HarnessFault> {
        let argv = scripts::put(&self.path(place));
        let (code, execution) = self.run(user, argv, tar, TRANSFER, 4096).await?;
        if code == 0 {
            return Ok(());
        }
        Err(HarnessFault::new(
            FaultKind::Internal,
            format!(
                "unpacking into {}: {}",
                self.path(place),
                String::from_utf8_lossy(&execution.merged).trim()
            ),
        ))
    }

    async fn take(&self, paths: &[&str], cap: u64) -> Result<Vec<u8>, HarnessFault> {
        let argv = scripts::take(&self.path(Place::Home), paths, cap);
        let keep = usize::try_from(cap + 1).unwrap_or(usize::MAX);
        let (_, execution) = self.run(User::Coder, argv, &[], TRANSFER, keep).await?;
        Ok(execution.stdout)
    }

    async fn sweep(&self, user: User) -> Result<u32, HarnessFault> {
        let mut swept = 0;
        for pass in 0..3 {
            match self.try_sweep(user).await? {
                Some((before, left)) => {
                    swept = swept.max(before);
                    if left == 0 {
                        return Ok(swept);
                    }
                }
                None if pass < 2 => {
                    // Full of processes: make room for the sweep itself.
                    self.limit_pids(self.pids + SPARE_PIDS).await?;
                    let again = self.try_sweep(user).await;
                    self.limit_pids(self.pids).await?;
                    if let Some((before, 0)) = again? {
                        return Ok(swept.max(before));
                    }
                }
                None => {}
            }
        }
        let fault = HarnessFault::new(
            FaultKind::ContainerLost,
            format!("processes of {user:?} survive in container {}", self.name),
        );
        Err(self.explain(fault).await)
    }

    async fn freeze(&self, user: User) -> Result<(), HarnessFault> {
        self.run(user, scripts::signal("STOP"), &[], SWEEP, 4096)
            .await
            .map(|_| ())
    }

    async fn thaw(&self, user: User) -> Result<(), HarnessFault> {
        self.run(user, scripts::signal("CONT"), &[], SWEEP, 4096)
            .await
            .map(|_| ())
    }

    async fn state(&self) -> Result<State, HarnessFault> {
        let call = async {
            let options = None::<InspectContainerOptions>;
            match self
                .engine
                .client()
                .inspect_container(&self.name, options)
                .await
            {
                Err(error) if status(&error) == Some(404) => Ok(None),
                other => other.map(Some),
            }
        };
        let seen = within(CALL, "inspecting a container", call).await?;
        let Some(state) = seen.and_then(|seen| seen.state) else {
            return Ok(State::Gone);
        };
        Ok(match (state.running, state.oom_killed) {
            (Some(true), _) => State::Running,
            (_, Some(true)) => State::OutOfMemory,
            _ => State::Gone,
        })
    }

    async fn remove(&self) -> Result<(), HarnessFault> {
        self.addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.address);
        remove_container(&self.engine, &self.name).await
    }
}

/// Dossier tools must not read or write settings in the coder's folder.
fn set_home(command: &mut Command) {
    if command.user == User::Method {
        command
            .environment
            .entry("HOME".to_owned())
            .or_insert_with(|| "/opt/method".to_owned());
    }
}
