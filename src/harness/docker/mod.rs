//! Knows containers: one engine, sealed networks, hardened containers, execs.
//! Must not know what runs inside, nor sessions; names and labels are opaque.
//! Start at `Engine`, then `Docker`.

mod container;
mod engine;
mod exec;
mod network;
mod probing;
mod running;
mod sweeping;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::{
    Identity, ImageFacts, Isolation, Network, Owner, Probe, Role, Running, Sandbox, Spec, Swept,
};
use crate::vocab::{FaultKind, HarnessFault};

pub use engine::Engine;
pub(super) use engine::within;

/// How networks are sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealing {
    /// Networks of sessions are /29 pieces of this pool, `a.b.0.0/16`: its first two numbers.
    pub pool: [u8; 2],
    /// Whether the bridge is kept without an address of the host. Only a test of the probes turns it off.
    pub without_host_address: bool,
    /// A public address and port that must be out of reach.
    pub public_address: String,
    /// A public name that must not resolve.
    pub public_name: String,
}

impl Default for Sealing {
    fn default() -> Self {
        Self {
            pool: [10, 213],
            without_host_address: true,
            public_address: "1.1.1.1:443".to_owned(),
            public_name: "example.com".to_owned(),
        }
    }
}

/// Makes sandboxes in containers.
pub struct Docker {
    engine: Engine,
    images: BTreeMap<Role, ImageFacts>,
    sealing: Sealing,
    identity: Identity,
    /// Network and owner behind an address of ours, for probing.
    addresses: Arc<Mutex<HashMap<String, (Network, Owner)>>>,
    decoy: tokio::sync::Mutex<Option<probing::Decoy>>,
}

impl Docker {
    /// A maker of sandboxes from these images.
    ///
    /// # Errors
    /// This process cannot be identified.
    pub fn new(
        engine: Engine,
        images: BTreeMap<Role, ImageFacts>,
        sealing: Sealing,
    ) -> Result<Self, HarnessFault> {
        Ok(Self {
            engine,
            images,
            sealing,
            identity: Identity::current()?,
            addresses: Arc::default(),
            decoy: tokio::sync::Mutex::new(None),
        })
    }

    fn image(&self, role: Role) -> Result<&ImageFacts, HarnessFault> {
        self.images.get(&role).ok_or_else(|| {
            HarnessFault::new(FaultKind::ImageMissing, format!("no image for {role:?}"))
        })
    }
}

#[async_trait]
impl Sandbox for Docker {
    fn isolation(&self) -> Isolation {
        Isolation::Docker
    }

    fn images(&self) -> BTreeMap<Role, ImageFacts> {
        self.images.clone()
    }

    async fn network(&self, owner: &Owner) -> Result<Network, HarnessFault> {
        network::create(&self.engine, &self.sealing, &self.identity, owner).await
    }

    async fn remove_network(&self, network: &Network) -> Result<(), HarnessFault> {
        network::remove(&self.engine, &network.id).await
    }

    async fn create(&self, spec: Spec) -> Result<Box<dyn Running>, HarnessFault> {
        Ok(Box::new(self.start(spec).await?))
    }

    async fn probe(
        &self,
        workspace: &dyn Running,
        scorer: &dyn Running,
    ) -> Result<Vec<Probe>, HarnessFault> {
        super::probes::verdict(self.probe_table(workspace, scorer).await?)
    }

    async fn sweep_owned(&self, run: Option<&str>) -> Result<Swept, HarnessFault> {
        sweeping::sweep(&self.engine, &self.identity, run).await
    }
}
