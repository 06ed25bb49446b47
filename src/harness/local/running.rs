//! Knows a live local sandbox: commands as process groups with a cleared environment, streams, files, sweeping.
//! Must not know how it was laid out.
//! Start at `Processes`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use nix::sys::signal::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::time::Instant;

use super::folder::Folder;
use super::processes::{MARK, Wanted, kill_all, mark, signal_all};
use crate::harness::capture::Streams;
use crate::harness::probes::row;
use crate::harness::{
    Command, Duplex, Execution, Exit, Place, Probe, Running, Spec, State, User, scripts,
};
use crate::vocab::{FaultKind, HarnessFault};

/// Beyond limit and grace a command is lost.
const MARGIN: Duration = Duration::from_secs(20);
/// How long output of what a command left behind is waited for.
const LINGER: Duration = Duration::from_secs(2);
/// Deadline of moving files in or out.
const TRANSFER: Duration = Duration::from_secs(120);
/// Sets what can be set without the right to raise it again.
const LIMITS: [&str; 3] = ["/usr/bin/prlimit", "--nofile=1024:1024", "--core=0:0"];

/// A live local sandbox.
pub(super) struct Processes {
    folder: Folder,
    environment: BTreeMap<String, String>,
    limits: bool,
}

impl Processes {
    /// Nothing runs yet.
    pub(super) fn new(folder: Folder, python: &Path, spec: &Spec) -> Self {
        let runtime = python.parent().unwrap_or(Path::new("/usr/bin"));
        let own = |path: &str| folder.inside(path).display().to_string();
        let mut environment = BTreeMap::from([
            (
                "PATH".to_owned(),
                format!(
                    "{}:{}:{}:/usr/bin:/bin",
                    own("/usr/local/bin"),
                    own("/opt/method/bin"),
                    runtime.display()
                ),
            ),
            ("HOME".to_owned(), own("/home/coder")),
            ("TMPDIR".to_owned(), own("/tmp")),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()),
            ("EVALXRL_RELAY".to_owned(), own("/run/relay/socket")),
        ]);
        environment.extend(spec.environment.clone());
        Self {
            folder,
            environment,
            limits: Path::new(LIMITS[0]).exists(),
        }
    }

    fn spawn(
        &self,
        argv: &[String],
        command: &Command,
        directory: &str,
        input: bool,
    ) -> Result<Child, HarnessFault> {
        let mut full: Vec<String> = Vec::new();
        if self.limits {
            full.extend(LIMITS.iter().map(ToString::to_string));
        }
        full.extend_from_slice(argv);
        let (program, arguments) = full
            .split_first()
            .ok_or_else(|| HarnessFault::new(FaultKind::Internal, "a command without a program"))?;
        let mut process = tokio::process::Command::new(program);
        process
            .args(arguments)
            .env_clear()
            .envs(&self.environment)
            .env(MARK, mark(&self.folder.mark, command.user))
            .current_dir(directory)
            .stdin(if input { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if command.user == User::Method {
            process.env("HOME", self.path(Place::Method));
        }
        process.envs(&command.environment);
        process.spawn().map_err(|error| {
            HarnessFault::new(
                if self.folder.root().exists() {
                    FaultKind::Internal
                } else {
                    FaultKind::ContainerLost
                },
                format!("starting {program}: {error}"),
            )
        })
    }

    fn wanted(&self, user: User) -> Wanted {
        Wanted::user(&self.folder.mark, user, self.folder.root())
    }

    /// Runs a command of the harness itself.
    async fn run(
        &self,
        argv: &[String],
        input: &[u8],
        cap: usize,
    ) -> Result<Execution, HarnessFault> {
        let mut command = Command::new(User::Holder, &[]).limit(TRANSFER);
        command.argv = argv.to_vec();
        command.stdin = input.to_vec();
        command.output_cap = cap;
        command.directory = Some("/".to_owned());
        self.exec(command).await
    }

    fn alive(&self) -> Result<(), HarnessFault> {
        if self.folder.root().exists() {
            return Ok(());
        }
        Err(HarnessFault::new(
            FaultKind::ContainerLost,
            format!("the sandbox {} is gone", self.folder.mark),
        ))
    }
}

#[async_trait]
impl Running for Processes {
    fn path(&self, place: Place) -> String {
        self.folder.place(place).display().to_string()
    }

    fn host(&self) -> String {
        "127.0.0.1".to_owned()
    }

    async fn exec(&self, command: Command) -> Result<Execution, HarnessFault> {
        self.alive()?;
        let began = Instant::now();
        let home = self.path(Place::Home);
        let directory = command.directory.as_deref().unwrap_or(&home);
        let argv = scripts::limited(command.limit, directory, &command.argv);
        let mut child = self.spawn(&argv, &command, "/", !command.stdin.is_empty())?;
        let mut streams = Streams::new(command.output_cap);
        let end = {
            let follow = follow(&mut child, &command.stdin, &mut streams);
            tokio::time::timeout(command.limit + MARGIN, follow).await
        };
        let elapsed = began.elapsed();
        let exit = match end {
            Err(_) => {
                self.sweep(command.user).await?;
                Exit::Lost
            }
            Ok(code) => {
                let code = code?;
                if scripts::reached(command.limit, i64::from(code), elapsed) {
                    Exit::TimedOut
                } else {
                    self.alive()?;
                    Exit::Code(code)
                }
            }
        };
        Ok(streams.execution(exit, elapsed.as_secs_f64()))
    }

    async fn attach(&self, command: Command) -> Result<Duplex, HarnessFault> {
        self.alive()?;
        let home = self.path(Place::Home);
        let directory = command.directory.as_deref().unwrap_or(&home);
        let mut child = self.spawn(&command.argv, &command, directory, true)?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(HarnessFault::new(
                FaultKind::Internal,
                "a process without streams",
            ));
        };
        tokio::spawn(async move { child.wait().await });
        if !command.stdin.is_empty() {
            stdin.write_all(&command.stdin).await.map_err(|error| {
                HarnessFault::new(FaultKind::ContainerLost, format!("first input: {error}"))
            })?;
        }
        Ok(Duplex {
            stdin: Box::pin(stdin),
            stdout: Box::pin(stdout),
            stderr: Box::pin(stderr),
        })
    }

    async fn put(&self, _user: User, place: Place, tar: &[u8]) -> Result<(), HarnessFault> {
        let done = self
            .run(&scripts::put(&self.path(place)), tar, 4096)
            .await?;
        if done.exit == Exit::Code(0) {
            return Ok(());
        }
        Err(HarnessFault::new(
            FaultKind::Internal,
            format!(
                "unpacking into {}: {:?}, {}",
                self.path(place),
                done.exit,
                String::from_utf8_lossy(&done.merged).trim()
            ),
        ))
    }

    async fn take(&self, paths: &[&str], cap: u64) -> Result<Vec<u8>, HarnessFault> {
        let argv = scripts::take(&self.path(Place::Home), paths, cap);
        let keep = usize::try_from(cap + 1).unwrap_or(usize::MAX);
        let done = self.run(&argv, &[], keep).await?;
        match done.exit {
            Exit::Code(0) => Ok(done.stdout),
            exit => Err(HarnessFault::new(
                FaultKind::Deadline,
                format!("packing the home folder: {exit:?}"),
            )),
        }
    }

    async fn sweep(&self, user: User) -> Result<u32, HarnessFault> {
        let wanted = self.wanted(user);
        let killed = tokio::task::spawn_blocking(move || kill_all(&wanted)).await;
        match killed {
            Ok((before, 0)) => Ok(before),
            Ok((_, left)) => Err(HarnessFault::new(
                FaultKind::ContainerLost,
                format!("{left} processes of {user:?} survive"),
            )),
            Err(error) => Err(HarnessFault::new(FaultKind::Internal, error.to_string())),
        }
    }

    async fn freeze(&self, user: User) -> Result<(), HarnessFault> {
        signal_all(&self.wanted(user), Signal::SIGSTOP);
        Ok(())
    }

    async fn thaw(&self, user: User) -> Result<(), HarnessFault> {
        signal_all(&self.wanted(user), Signal::SIGCONT);
        Ok(())
    }

    async fn state(&self) -> Result<State, HarnessFault> {
        Ok(if self.folder.root().exists() {
            State::Running
        } else {
            State::Gone
        })
    }

    async fn remove(&self) -> Result<(), HarnessFault> {
        let folder = self.folder.clone();
        match tokio::task::spawn_blocking(move || folder.clear()).await {
            Ok(done) => done,
            Err(error) => Err(HarnessFault::new(FaultKind::Internal, error.to_string())),
        }
    }
}

/// Feeds input, drains both streams, and waits; output of what the command left behind is waited for a moment only.
async fn follow(
    child: &mut Child,
    input: &[u8],
    streams: &mut Streams,
) -> Result<i32, HarnessFault> {
    let stdin = child.stdin.take();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A process that does not read to the end of its input is no fault of the harness.
            let _unread = stdin.write_all(input).await;
        }
        std::future::pending::<()>().await;
    };
    let mut ended = None;
    let mut read = std::pin::pin!(drain(stdout, stderr, streams));
    let mut write = std::pin::pin!(write);
    let mut linger = std::pin::pin!(tokio::time::sleep(Duration::MAX));
    loop {
        tokio::select! {
            () = &mut read => break,
            status = child.wait(), if ended.is_none() => {
                ended = Some(status);
                linger.as_mut().reset(Instant::now() + LINGER);
            }
            () = &mut linger, if ended.is_some() => break,
            () = &mut write => {}
        }
    }
    let status = match ended {
        Some(status) => status,
        None => child.wait().await,
    };
    let status = status
        .map_err(|error| HarnessFault::new(FaultKind::Internal, format!("waiting: {error}")))?;
    Ok(status.code().unwrap_or_else(|| {
        128 + std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or(0)
    }))
}

async fn drain(stdout: Option<ChildStdout>, stderr: Option<ChildStderr>, streams: &mut Streams) {
    let (mut stdout, mut stderr) = (stdout, stderr);
    let (mut first, mut second) = (vec![0; 65536], vec![0; 65536]);
    while stdout.is_some() || stderr.is_some() {
        tokio::select! {
            read = some_read(&mut stdout, &mut first) => match read {
                Ok(count) if count > 0 => streams.stdout(&first[..count]),
                _ => stdout = None,
            },
            read = some_read(&mut stderr, &mut second) => match read {
                Ok(count) if count > 0 => streams.stderr(&second[..count]),
                _ => stderr = None,
            },
        }
    }
}

/// Reads from a stream that is still open; waits for ever on one that is not.
async fn some_read<R: tokio::io::AsyncRead + Unpin>(
    stream: &mut Option<R>,
    buffer: &mut [u8],
) -> std::io::Result<usize> {
    match stream {
        Some(stream) => stream.read(buffer).await,
        None => std::future::pending().await,
    }
}

/// What holds for local processes: nothing is sealed, and the record says so.
pub(super) async fn probe_table(workspace: &dyn Running) -> Result<Vec<Probe>, HarnessFault> {
    let listing = Command::new(User::Coder, &["/usr/bin/env", "-0"]);
    let seen = workspace
        .exec(listing.limit(Duration::from_secs(20)))
        .await?;
    let names: Vec<String> = seen
        .stdout
        .split(|byte| *byte == 0)
        .filter_map(|variable| variable.split(|byte| *byte == b'=').next())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    let host: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| name.starts_with("XDG_") || name.starts_with("CARGO") || *name == "USER")
        .collect();
    Ok(vec![
        row(
            "sealed",
            false,
            "local processes share network, files and user with the host",
        ),
        row(
            "environment cleared",
            host.is_empty(),
            if host.is_empty() {
                "nothing of the host"
            } else {
                "variables of the host"
            },
        ),
    ])
}
