//! Knows how a kind of sandbox is chosen and opened, images included.
//! Must not know what is done in sandboxes.
//! Start at `open`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;

use crate::harness::images::{self, Base, Recipe};
use crate::harness::{Docker, Engine, Isolation, Local, Role, Sandbox, Sealing};
use crate::plan::SandboxKind;
use crate::vocab::{FaultKind, HarnessFault};

use super::exit::{Code, Failure};
use super::{context, out};

/// The sandbox as it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Choice {
    /// Sealed containers.
    Docker,
    /// Local processes; nothing is sealed.
    Local,
    /// Containers where an engine answers, else local processes.
    Auto,
}

impl From<SandboxKind> for Choice {
    fn from(kind: SandboxKind) -> Self {
        match kind {
            SandboxKind::Docker => Self::Docker,
            SandboxKind::Local => Self::Local,
        }
    }
}

/// An opened kind of sandbox.
pub(super) struct Opened {
    /// Makes sandboxes.
    pub(super) sandbox: Arc<dyn Sandbox>,
    /// Which kind.
    pub(super) kind: SandboxKind,
}

impl Opened {
    /// Image tags by role, for plans.
    pub(super) fn tags(&self) -> BTreeMap<String, String> {
        self.sandbox
            .images()
            .into_iter()
            .map(|(role, facts)| (role_name(role).to_owned(), facts.tag))
            .collect()
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Workspace => "workspace",
        Role::Agent => "agent",
        Role::Scorer => "scorer",
    }
}

/// Opens a kind of sandbox; `auto` keeps to what a resumed run was frozen with.
pub(super) async fn open(
    choice: Choice,
    frozen: Option<SandboxKind>,
    root: &Path,
) -> Result<Opened, Failure> {
    let engine = match (choice, frozen) {
        (Choice::Local, _) | (Choice::Auto, Some(SandboxKind::Local)) => None,
        (Choice::Docker, _) | (Choice::Auto, Some(SandboxKind::Docker)) => {
            Some(Engine::connect(None).await.map_err(failure)?)
        }
        (Choice::Auto, None) => match Engine::connect(None).await {
            Ok(engine) => Some(engine),
            Err(fault) => {
                out::talk(&format!("no container engine is used: {}", fault.message));
                None
            }
        },
    };
    let recipe = Recipe::of(root, &context::cache()?);
    match engine {
        Some(engine) => {
            let facts = images::docker(&engine, &recipe, Base::default(), &out::talk)
                .await
                .map_err(failure)?;
            let docker = Docker::new(engine, facts, Sealing::default()).map_err(failure)?;
            Ok(Opened {
                sandbox: Arc::new(docker),
                kind: SandboxKind::Docker,
            })
        }
        None => {
            let runtime = images::local(&recipe, &out::talk).await.map_err(failure)?;
            let local = Local::open(runtime).map_err(failure)?;
            Ok(Opened {
                sandbox: Arc::new(local),
                kind: SandboxKind::Local,
            })
        }
    }
}

/// Tells which kind of sandbox is used.
pub(super) fn tell_isolation(isolation: Isolation) {
    match isolation {
        Isolation::Docker => out::talk("sandboxes: containers"),
        Isolation::None => out::talk(
            "sandboxes: local processes, which nothing seals (isolation = \"none\" in every record)",
        ),
    }
}

/// What a harness failure outside a session means to a person.
pub(super) fn failure(fault: HarnessFault) -> Failure {
    let (code, remedy) = match fault.kind {
        FaultKind::DockerUnavailable => (
            Code::Harness,
            "start the Docker engine (scripts/docker-engine.sh installs one on Debian), or use --sandbox local",
        ),
        FaultKind::ImageMissing => (
            Code::Harness,
            "see what failed above, then `evalxrl images build` tries again",
        ),
        FaultKind::IsolationBroken => (
            Code::Isolation,
            "`evalxrl doctor` shows which way out is open; no session runs until it is shut",
        ),
        FaultKind::DiskFull => (
            Code::Harness,
            "free some disk, then run the same command again",
        ),
        _ => (
            Code::Harness,
            "`evalxrl doctor` tells what this machine lacks",
        ),
    };
    Failure::new(code, fault.to_string()).remedy(remedy)
}
