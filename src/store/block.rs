//! Knows `block.json`: the agent handed out in one (malfunction, replication) and the pair its scores use.
//! Must not know how the agent was trained or measured.
//! Start at `BlockRecord`.

use serde::{Deserialize, Serialize};

use crate::vocab::{MalfunctionId, Performance, SeedName};

/// One block: every arm of the malfunction at this replication shares it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockRecord {
    /// `evalxrl.block/1`.
    pub format: String,
    /// What is broken.
    pub malfunction: MalfunctionId,
    /// Which replication, from 0.
    pub replication: u32,
    /// The name of the training seed.
    pub seed: SeedName,
    /// Training seeds passed over because their gap was below the minimal one.
    pub passed_over: u32,
    /// BLAKE3 of the parameter file.
    pub agent: String,
    /// BLAKE3 of the derived seed of the final episodes.
    pub episodes: String,
    /// Mean of the clean reference agents on the final episodes.
    pub p_clean: f64,
    /// Standard error of `p_clean` over the clean agents.
    pub p_clean_standard_error: f64,
    /// Performance of the handed-out agent on the final episodes.
    pub p_broken: Performance,
    /// BLAKE3 of the rendered source it was trained from.
    pub source: String,
    /// Wall clock of training and measuring, seconds.
    pub seconds: f64,
}
