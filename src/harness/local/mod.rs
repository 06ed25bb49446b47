//! Knows sandboxes made of local processes: a folder of their own, a cleared environment, nothing sealed.
//! Must not know containers; what it cannot shut off it declares as isolation `none`.
//! Start at `Local::open`.

mod folder;
mod processes;
mod running;

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;

use super::images::Runtime;
use super::{
    Identity, ImageFacts, Isolation, Network, Owner, Probe, Role, Running, Sandbox, Spec, Swept,
};
use crate::vocab::HarnessFault;

/// Makes sandboxes in local processes.
pub struct Local {
    runtime: Runtime,
    temporary: PathBuf,
    identity: Identity,
}

impl Local {
    /// A maker of sandboxes that run on this runtime; their folders lie below the system's temporary folder.
    ///
    /// # Errors
    /// This process cannot be identified.
    pub fn open(runtime: Runtime) -> Result<Self, HarnessFault> {
        Self::open_below(runtime, std::env::temp_dir())
    }

    /// The same with the folders below another one; its path must be short, since sockets lie in it.
    ///
    /// # Errors
    /// This process cannot be identified.
    pub fn open_below(runtime: Runtime, temporary: PathBuf) -> Result<Self, HarnessFault> {
        Ok(Self {
            runtime,
            temporary,
            identity: Identity::current()?,
        })
    }
}

/// Removes local sandboxes whose owner is dead or whose deadline has passed; needs no runtime.
///
/// # Errors
/// A folder that cannot be removed.
pub fn sweep_dead() -> Result<Swept, HarnessFault> {
    folder::sweep(&std::env::temp_dir(), &Identity::current()?, None)
}

#[async_trait]
impl Sandbox for Local {
    fn isolation(&self) -> Isolation {
        Isolation::None
    }

    fn images(&self) -> BTreeMap<Role, ImageFacts> {
        self.runtime.facts()
    }

    async fn network(&self, _owner: &Owner) -> Result<Network, HarnessFault> {
        Ok(Network { id: String::new() })
    }

    async fn remove_network(&self, _network: &Network) -> Result<(), HarnessFault> {
        Ok(())
    }

    async fn create(&self, spec: Spec) -> Result<Box<dyn Running>, HarnessFault> {
        let folder = folder::Folder::make(&self.temporary, &self.identity, &spec.owner, spec.life)?;
        let python = self.runtime.interpreter(spec.role);
        folder.furnish(python)?;
        Ok(Box::new(running::Processes::new(folder, python, &spec)))
    }

    async fn probe(
        &self,
        workspace: &dyn Running,
        _scorer: &dyn Running,
    ) -> Result<Vec<Probe>, HarnessFault> {
        running::probe_table(workspace).await
    }

    async fn sweep_owned(&self, run: Option<&str>) -> Result<Swept, HarnessFault> {
        folder::sweep(&self.temporary, &self.identity, run)
    }
}
