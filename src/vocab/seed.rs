//! Knows the root seed of a run and how every other seed follows from it by name.
//! Must not know a clock or a generator: the operating system's bytes come in as an argument.
//! Start at `RootSeed::derive`.

use serde::{Deserialize, Serialize};

use super::{EnvironmentId, MalfunctionId, SessionKey};

/// A text that is not a root seed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("root seed `{0}` must be 64 hexadecimal digits")]
pub struct SeedError(pub String);

/// The one seed of a run, 32 bytes; written as 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RootSeed([u8; 32]);

impl RootSeed {
    /// Takes 32 bytes from the operating system's generator.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Spreads a short integer over 32 bytes; such a seed can be guessed and is recorded as weak.
    #[must_use]
    pub fn weak(number: u64) -> Self {
        Self(*blake3::hash(format!("evalxrl weak root seed {number}").as_bytes()).as_bytes())
    }

    /// `seed(name)` = BLAKE3 keyed hash of the name under the root.
    #[must_use]
    pub fn derive(&self, name: &SeedName) -> Seed {
        Seed(*blake3::keyed_hash(&self.0, name.as_str().as_bytes()).as_bytes())
    }
}

impl TryFrom<String> for RootSeed {
    type Error = SeedError;
    fn try_from(text: String) -> Result<Self, SeedError> {
        let mut bytes = [0; 32];
        match hex::decode_to_slice(&text, &mut bytes) {
            Ok(()) => Ok(Self(bytes)),
            Err(_) => Err(SeedError(text)),
        }
    }
}

impl From<RootSeed> for String {
    fn from(seed: RootSeed) -> String {
        hex::encode(seed.0)
    }
}

/// The name under which a seed is derived; records store names, never values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeedName(String);

impl SeedName {
    /// Any other use, by a path-like name such as `order/3` or `cell/<malfunction>/<method>`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Episodes of final scoring; shared by every arm, since replications are blocks.
    #[must_use]
    pub fn final_episodes(environment: &EnvironmentId, replication: u32) -> Self {
        Self(format!("final/{environment}/{replication}"))
    }

    /// Episodes of the coder's `score` tool; never those of final scoring.
    #[must_use]
    pub fn development_episodes(environment: &EnvironmentId, replication: u32) -> Self {
        Self(format!("development/{environment}/{replication}"))
    }

    /// Training of the broken agent of a block; `passed_over` earlier seeds had too small a gap.
    #[must_use]
    pub fn training(malfunction: &MalfunctionId, replication: u32, passed_over: u32) -> Self {
        if passed_over == 0 {
            Self(format!("train/{malfunction}/{replication}"))
        } else {
            Self(format!("train/{malfunction}/{replication}/{passed_over}"))
        }
    }

    /// Lane permutations while scoring one session.
    #[must_use]
    pub fn permutation(purpose: &str, key: &SessionKey) -> Self {
        Self(format!("permutation/{purpose}/{key}"))
    }

    /// Whatever a coder draws.
    #[must_use]
    pub fn coder(key: &SessionKey) -> Self {
        Self(format!("search/{key}"))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// 32 derived bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// All bytes, for a generator.
    #[must_use]
    pub fn bytes(&self) -> [u8; 32] {
        self.0
    }

    /// 64 hexadecimal digits, for the scorer.
    #[must_use]
    pub fn hex(&self) -> String {
        hex::encode(self.0)
    }

    /// The first 8 bytes, little-endian, for `train --seed`.
    #[must_use]
    pub fn integer(&self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0[..8]);
        u64::from_le_bytes(first)
    }
}

impl std::fmt::Debug for Seed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Seed(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn training_development_and_final_seeds_are_pairwise_distinct() {
        let root = RootSeed::weak(7);
        let environment = EnvironmentId::new("treasure_grid").unwrap();
        let malfunction = MalfunctionId::new("treasure-grid-x").unwrap();
        let mut seen = BTreeSet::new();
        for replication in 0..20 {
            for name in [
                SeedName::final_episodes(&environment, replication),
                SeedName::development_episodes(&environment, replication),
                SeedName::training(&malfunction, replication, 0),
                SeedName::training(&malfunction, replication, 1),
            ] {
                assert!(seen.insert(root.derive(&name).hex()), "{name:?}");
            }
        }
    }

    #[test]
    fn another_root_gives_another_seed_under_the_same_name() {
        let name = SeedName::new("order/0");
        assert_ne!(
            RootSeed::weak(0).derive(&name),
            RootSeed::weak(1).derive(&name)
        );
    }

    #[test]
    fn a_derived_seed_does_not_show_itself_in_debug_output() {
        let seed = RootSeed::weak(0).derive(&SeedName::new("order/0"));
        assert_eq!(format!("{seed:?}"), "Seed(hidden)");
    }

    #[test]
    fn a_root_seed_of_the_wrong_length_is_refused() {
        assert!(RootSeed::try_from("00".repeat(31)).is_err());
        assert!(RootSeed::try_from("zz".repeat(32)).is_err());
        assert!(RootSeed::try_from("0f".repeat(32)).is_ok());
    }
}
