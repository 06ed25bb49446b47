//! Knows sandboxes: how to make, seal, fill, watch, freeze and remove them, in containers or in local processes.
//! Must not know malfunctions, methods or scores; it is handed files to place and commands to run.
//! Start at `Sandbox`, then `Running`.

pub mod agent_server;
pub mod blocking;
mod capture;
pub mod docker;
pub mod images;
mod lines;
pub mod local;
mod owner;
pub mod probes;
pub mod relay;
pub mod scorer;
mod scripts;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::vocab::{HarnessFault, Opaque};
pub use crate::vocab::{ImageFacts, Isolation, Probe};

pub use docker::{Docker, Engine, Sealing};
pub use local::Local;
pub use owner::Identity;

/// What a sandbox is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Where the coder works; no network.
    Workspace,
    /// Serves a frozen bundle; same image as the workspace.
    Agent,
    /// Holds the clean environment and measures.
    Scorer,
}

/// Who a process in a sandbox belongs to; the uid in containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum User {
    /// Commands of the coder, agent servers and the scorer (uid 1000).
    Coder,
    /// Dossier tools (uid 1001).
    Method,
    /// The process that keeps the container alive (uid 1002).
    Holder,
    /// The tool relay (uid 1003).
    Relay,
}

impl User {
    /// The numeric user id inside a container.
    #[must_use]
    pub fn uid(self) -> u32 {
        match self {
            Self::Coder => 1000,
            Self::Method => 1001,
            Self::Holder => 1002,
            Self::Relay => 1003,
        }
    }
}

/// A writable folder of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// `/home/coder`.
    Home,
    /// `/tmp`.
    Temporary,
    /// `/opt/method`, owned by `method`.
    Method,
    /// `/run/relay`, owned by `relay`.
    Relay,
}

/// Resource limits of one sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Memory without swap, bytes.
    pub memory: u64,
    /// Processor share, in processors.
    pub cpus: f64,
    /// Processor set, e.g. `0-1`; all when absent.
    pub cpuset: Option<String>,
    /// Processes and threads.
    pub pids: i64,
    /// Size of the home folder, bytes.
    pub home: u64,
    /// Size of the temporary folder, bytes.
    pub temporary: u64,
}

/// Who owns what the harness makes, so that left-overs can be told from the living.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The run, opaque.
    pub run: String,
    /// The session, opaque.
    pub session: Opaque,
}

/// A network of one session; agent and scorer alone share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// The engine's id; empty for local processes.
    pub id: String,
}

/// What to create.
#[derive(Debug, Clone)]
pub struct Spec {
    /// Decides image, folders and defaults.
    pub role: Role,
    /// The network to join; `None` means no network at all.
    pub network: Option<Network>,
    /// Resource limits.
    pub limits: Limits,
    /// After this long the sandbox removes itself.
    pub life: Duration,
    /// Environment variables of every command.
    pub environment: BTreeMap<String, String>,
    /// Labels for cleaning.
    pub owner: Owner,
}

/// One command in a sandbox.
#[derive(Debug, Clone)]
pub struct Command {
    /// Program and arguments; a bare `python3` is the image's Python.
    pub argv: Vec<String>,
    /// Who runs it.
    pub user: User,
    /// Working folder as `Running::path` names it; the home folder when `None`.
    pub directory: Option<String>,
    /// Variables added to those of the sandbox.
    pub environment: BTreeMap<String, String>,
    /// Bytes for standard input.
    pub stdin: Vec<u8>,
    /// Time limit.
    pub limit: Duration,
    /// Bytes kept of both streams together (half head, half tail).
    pub output_cap: usize,
}

impl Command {
    /// A command with the default caps: 600 s, 10 MB of output, home folder, no input.
    #[must_use]
    pub fn new(user: User, argv: &[&str]) -> Self {
        Self {
            argv: argv.iter().map(ToString::to_string).collect(),
            user,
            directory: None,
            environment: BTreeMap::new(),
            stdin: Vec::new(),
            limit: Duration::from_secs(600),
            output_cap: 10_000_000,
        }
    }

    /// The same command with another time limit.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// Killed at its limit.
    TimedOut,
    /// The engine lost sight of it; it was swept.
    Lost,
}

/// What a command did.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// How it ended.
    pub exit: Exit,
    /// Standard output, capped.
    pub stdout: Vec<u8>,
    /// Standard error, capped.
    pub stderr: Vec<u8>,
    /// Both streams in order of arrival, capped; an elision is marked by `bytes_elided`.
    pub merged: Vec<u8>,
    /// All bytes that were written.
    pub bytes_total: u64,
    /// Bytes that were dropped between head and tail of `merged`.
    pub bytes_elided: u64,
    /// Wall clock, seconds.
    pub seconds: f64,
}

/// Whether a sandbox lives, and how it died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// Killed by its own memory limit.
    OutOfMemory,
    /// Ended otherwise.
    Gone,
}

/// A long-lived process with its streams.
pub struct Duplex {
    /// To the process.
    pub stdin: std::pin::Pin<Box<dyn tokio::io::AsyncWrite + Send>>,
    /// From the process.
    pub stdout: std::pin::Pin<Box<dyn tokio::io::AsyncRead + Send>>,
    /// Errors from the process.
    pub stderr: std::pin::Pin<Box<dyn tokio::io::AsyncRead + Send>>,
}

/// What was cleared away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Sandboxes removed.
    pub sandboxes: usize,
    /// Networks removed.
    pub networks: usize,
}

/// A way to make sandboxes.
#[async_trait]
pub trait Sandbox: Send + Sync {
    /// How strongly its sandboxes are shut off.
    fn isolation(&self) -> Isolation;

    /// Image facts by role, for records and hashes.
    fn images(&self) -> BTreeMap<Role, ImageFacts>;

    /// Makes the network of one session.
    async fn network(&self, owner: &Owner) -> Result<Network, HarnessFault>;

    /// Removes a network; a missing one is fine.
    async fn remove_network(&self, network: &Network) -> Result<(), HarnessFault>;

    /// Makes and starts a sandbox.
    async fn create(&self, spec: Spec) -> Result<Box<dyn Running>, HarnessFault>;

    /// Tries the ways out of live sandboxes of one session. A sealed kind fails as `isolation_broken`
    /// when a row fails; an unsealed kind returns what holds for it.
    async fn probe(
        &self,
        workspace: &dyn Running,
        scorer: &dyn Running,
    ) -> Result<Vec<Probe>, HarnessFault>;

    /// Removes what bears our labels and whose owner is dead or whose deadline has passed; with `run`
    /// given, also all that this very process made for that run.
    async fn sweep_owned(&self, run: Option<&str>) -> Result<Swept, HarnessFault>;
}

/// A live sandbox.
#[async_trait]
pub trait Running: Send + Sync {
    /// The path of a place as processes in the sandbox see it.
    fn path(&self, place: Place) -> String;

    /// The name or address under which sandboxes of the same network reach it.
    fn host(&self) -> String;

    /// Runs a command to its end.
    async fn exec(&self, command: Command) -> Result<Execution, HarnessFault>;

    /// Starts a long-lived process. Its time limit is the life of the sandbox: `limit` and `output_cap` do not
    /// apply, and `stdin` is written before the stream is handed over. Both output streams must be drained, since one
    /// that is full blocks the other.
    async fn attach(&self, command: Command) -> Result<Duplex, HarnessFault>;

    /// Unpacks a tar stream into a folder below a place, as that user.
    async fn put(&self, user: User, place: Place, tar: &[u8]) -> Result<(), HarnessFault>;

    /// Packs paths (relative to the home folder) into a tar stream of at most `cap` bytes; missing and unreadable
    /// paths are left out.
    /// A stream beyond the cap is cut at the cap plus one byte, so that the reader sees it is too long.
    async fn take(&self, paths: &[&str], cap: u64) -> Result<Vec<u8>, HarnessFault>;

    /// Kills every process of a user; the number killed.
    async fn sweep(&self, user: User) -> Result<u32, HarnessFault>;

    /// Stops every process of a user (SIGSTOP).
    async fn freeze(&self, user: User) -> Result<(), HarnessFault>;

    /// Lets stopped processes of a user go on (SIGCONT).
    async fn thaw(&self, user: User) -> Result<(), HarnessFault>;

    /// Whether it lives.
    async fn state(&self) -> Result<State, HarnessFault>;

    /// Removes it with all its processes and files; twice is fine.
    async fn remove(&self) -> Result<(), HarnessFault>;
}
