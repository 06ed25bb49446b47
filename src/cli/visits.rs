//! Knows how a verb opens workspaces to look into: sandboxes, the cache of agents, and leaving when stopped.
//! Must not know what a verb looks for.
//! Start at `Doorway::open`.

use std::future::Future;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::harness::Sandbox;
use crate::session::Visitor;

use super::exit::{Code, Failure};
use super::{context, sandboxes};

/// The label of looks on everything the harness makes.
const LABEL: &str = "look";

/// Where workspaces are entered.
pub(super) struct Doorway {
    sandbox: Arc<dyn Sandbox>,
    /// Enters them.
    pub(super) visitor: Visitor,
}

impl Doorway {
    /// Opens sandboxes and clears away what dead calls left.
    pub(super) async fn open(
        choice: sandboxes::Choice,
        catalog: &Catalog,
    ) -> Result<Self, Failure> {
        let opened = sandboxes::open(choice, None, catalog.root()).await?;
        sandboxes::tell_isolation(opened.sandbox.isolation());
        opened
            .sandbox
            .sweep_owned(None)
            .await
            .map_err(sandboxes::failure)?;
        let visitor = Visitor {
            sandbox: Arc::clone(&opened.sandbox),
            cache: context::cache()?.join("looks"),
            label: LABEL.to_owned(),
            warm: false,
        };
        Ok(Self {
            sandbox: opened.sandbox,
            visitor,
        })
    }

    /// The same, with programs that tools compiled carried from one workspace of an environment into the next.
    pub(super) fn warm(mut self) -> Self {
        self.visitor.warm = true;
        self
    }

    /// Does something in workspaces; Ctrl-C and SIGTERM end it and leave no sandbox behind.
    pub(super) async fn until_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let code = tokio::select! {
            done = work => return done,
            code = stopped() => code?,
        };
        self.sandbox
            .sweep_owned(Some(LABEL))
            .await
            .map_err(sandboxes::failure)?;
        Err(Failure::new(code, "stopped").remedy("run the same command again"))
    }
}

async fn stopped() -> Result<Code, Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let watched = |kind| {
        signal(kind).map_err(|error| {
            Failure::new(
                Code::Internal,
                format!("signals cannot be watched: {error}"),
            )
        })
    };
    let mut interrupts = watched(SignalKind::interrupt())?;
    let mut terms = watched(SignalKind::terminate())?;
    Ok(tokio::select! {
        _ = interrupts.recv() => Code::Interrupted,
        _ = terms.recv() => Code::Terminated,
    })
}

/// Waits for a verb's work on a runtime of its own.
pub(super) fn wait<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::new(Code::Internal, format!("no asynchronous runtime: {error}"))
        })?;
    let ended = runtime.block_on(work);
    // Blocking reads of a stuck engine must not keep a finished call alive.
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    ended
}
