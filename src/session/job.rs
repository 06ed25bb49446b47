//! Knows all that one session is told, as values: what is broken, what is at hand, what may be spent.
//! Must not know plans or files on disk.
//! Start at `Job`.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::harness::{Limits, Role};
use crate::vocab::{
    Arm, Budget, BundleMode, EnvironmentId, MalfunctionId, Opaque, RootSeed, Seed, SeedName,
    SessionKey,
};
use crate::workspace::{DossierFiles, Tree};

/// What every session of a (malfunction, replication) shares.
#[derive(Debug, Clone)]
pub struct BlockJob {
    /// What is broken.
    pub malfunction: MalfunctionId,
    /// Where.
    pub environment: EnvironmentId,
    /// Which replication.
    pub replication: u32,
    /// The pruned clean package.
    pub clean: Tree,
    /// The pruned package with the fault applied.
    pub broken: Tree,
    /// The clean reference agents' parameter files by name.
    pub clean_agents: Tree,
    /// Smallest P_clean − P_broken for which sessions may run, return units.
    pub min_gap: f64,
    /// Episodes of final scoring.
    pub episodes: u32,
}

/// One session.
#[derive(Debug, Clone)]
pub struct Job {
    /// Which one.
    pub key: SessionKey,
    /// BLAKE3 of all that matters, from the plan.
    pub session_hash: String,
    /// What it shares with other arms.
    pub block: BlockJob,
    /// The environment's title.
    pub title: String,
    /// What the environment is, in a sentence.
    pub summary: String,
    /// What is at hand; for the cheat oracle a folder whose README is the oracle text.
    pub dossiers: Vec<DossierFiles>,
    /// The package that all dossier tools share.
    pub shared_code: Tree,
    /// The reverse diff; only the scaffold `optimal` is handed it.
    pub reverse_diff: String,
    /// Who repairs.
    pub scaffold: String,
    /// Candidates `search` may train.
    pub candidates: Option<u32>,
    /// What may be spent.
    pub budget: Budget,
    /// What a submission may contain.
    pub bundle_mode: BundleMode,
    /// Limits by role.
    pub limits: BTreeMap<Role, Limits>,
    /// Source hashes for the record.
    pub sources: BTreeMap<String, String>,
    /// The root every seed is derived from.
    pub root_seed: RootSeed,
}

impl BlockJob {
    /// The name of the final episodes' seed.
    #[must_use]
    pub fn final_seed(&self) -> SeedName {
        SeedName::final_episodes(&self.environment, self.replication)
    }

    /// The name of the development episodes' seed.
    #[must_use]
    pub fn development_seed(&self) -> SeedName {
        SeedName::development_episodes(&self.environment, self.replication)
    }
}

impl Job {
    /// The arm.
    #[must_use]
    pub fn arm(&self) -> Arm {
        Arm::of(&self.key.method)
    }

    /// A derived seed.
    #[must_use]
    pub fn seed(&self, name: &SeedName) -> Seed {
        self.root_seed.derive(name)
    }

    /// The opaque name of this session, equal on every machine.
    #[must_use]
    pub fn opaque(&self) -> Opaque {
        Opaque::from_seed(&self.seed(&SeedName::new(format!("opaque/{}", self.key))))
    }

    /// The opaque folder of the dossier at this position.
    #[must_use]
    pub fn folder(&self, position: usize) -> Opaque {
        Opaque::from_seed(&self.seed(&SeedName::new(format!("folder/{}/{position}", self.key))))
    }

    /// How long a sandbox of this session may live.
    #[must_use]
    pub fn life(&self) -> Duration {
        Duration::from_secs(self.budget.wall_seconds + 1800)
    }
}
