//! Knows the sandboxes and the network of one session, so that all of them are removed whatever happens.
//! Must not know what runs in them.
//! Start at `Live`.

use std::sync::Arc;

use crate::harness::{Network, Running, Sandbox, Spec};
use crate::vocab::HarnessFault;

/// What a session has made so far.
pub(super) struct Live {
    sandbox: Arc<dyn Sandbox>,
    running: Vec<Arc<dyn Running>>,
    network: Option<Network>,
}

impl Live {
    pub(super) fn new(sandbox: Arc<dyn Sandbox>) -> Self {
        Self {
            sandbox,
            running: Vec::new(),
            network: None,
        }
    }

    pub(super) fn joins(&mut self, network: Network) {
        self.network = Some(network);
    }

    /// Makes a sandbox and holds it.
    pub(super) async fn create(&mut self, spec: Spec) -> Result<Arc<dyn Running>, HarnessFault> {
        let running = self.sandbox.create(spec).await?;
        Ok(self.holds(running))
    }

    pub(super) fn holds(&mut self, running: Box<dyn Running>) -> Arc<dyn Running> {
        let running: Arc<dyn Running> = Arc::from(running);
        self.running.push(Arc::clone(&running));
        running
    }

    /// Removes one sandbox before the end.
    pub(super) async fn remove(&mut self, gone: &Arc<dyn Running>) -> Result<(), HarnessFault> {
        gone.remove().await?;
        self.running.retain(|kept| !Arc::ptr_eq(kept, gone));
        Ok(())
    }

    /// Removes everything, all of it even when a removal fails; the first failure.
    pub(super) async fn clear(&mut self) -> Result<(), HarnessFault> {
        let removals = self
            .running
            .drain(..)
            .map(|running| async move { running.remove().await });
        let mut ends = futures_util::future::join_all(removals).await;
        if let Some(network) = self.network.take() {
            ends.push(self.sandbox.remove_network(&network).await);
        }
        ends.into_iter().collect()
    }
}
