//! Knows how sessions of a method and of the baseline are paired: by `block` and by nothing else.
//! Must not know a test.
//! Start at `pairs`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::computed::NotComputed;
use crate::scale::Scale;
use crate::score_table::{Cell, Stratum};

/// Why a table without blocks has no paired test.
pub const NO_BLOCKS: &str = "the table has no column block";

/// How the sessions of one cell pair with those of its baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// Blocks with a session of both arms.
    pub pairs: u64,
    /// Sessions of the method without a partner.
    pub unmatched: u64,
    /// Sessions of the baseline without a partner.
    pub baseline_unmatched: u64,
}

/// The differences method − baseline of one cell, one per pair, in order of blocks.
pub(super) struct Pairs {
    pub(super) pairing: Pairing,
    /// Of winsorised scores.
    pub(super) winsorised: Vec<f64>,
    /// Of scores as stored.
    pub(super) stored: Vec<f64>,
}

/// Pairs the sessions of a method and of the baseline on one malfunction.
///
/// # Errors
/// No blocks at all, an arm without sessions, or a block with two sessions of one arm, which leaves open who pairs with whom.
pub(super) fn pairs(
    stratum: &Stratum,
    malfunction: &str,
    method: &str,
    winsor_floor: f64,
) -> Result<Pairs, NotComputed> {
    if !stratum.has_blocks() {
        return Err(NotComputed::because(NO_BLOCKS));
    }
    let arm = |method: &str| {
        let cell = stratum
            .cell(malfunction, method)
            .filter(|cell| !cell.rows.is_empty())
            .ok_or_else(|| {
                NotComputed::because(format!("no session of {method} on {malfunction}"))
            })?;
        by_block(cell, malfunction, method).map(|blocks| (blocks, cell.rows.len()))
    };
    let (ours, sessions) = arm(method)?;
    let (theirs, baseline_sessions) = arm(&stratum.roles().no_method)?;
    let both: BTreeSet<&str> = ours
        .keys()
        .copied()
        .filter(|block| theirs.contains_key(block))
        .collect();
    let differences = |scale: Scale| {
        both.iter()
            .map(|block| {
                scale.place(ours[block], winsor_floor) - scale.place(theirs[block], winsor_floor)
            })
            .collect()
    };
    Ok(Pairs {
        pairing: Pairing {
            pairs: both.len() as u64,
            unmatched: (sessions - both.len()) as u64,
            baseline_unmatched: (baseline_sessions - both.len()) as u64,
        },
        winsorised: differences(Scale::Raw),
        stored: differences(Scale::RawUnwinsorised),
    })
}

/// The raw score by block.
fn by_block<'a>(
    cell: &'a Cell,
    malfunction: &str,
    method: &str,
) -> Result<BTreeMap<&'a str, f64>, NotComputed> {
    let mut blocks = BTreeMap::new();
    for row in &cell.rows {
        let Some(block) = row.block.as_deref() else {
            continue;
        };
        if blocks.insert(block, row.raw).is_some() {
            return Err(NotComputed::because(format!(
                "block {block} has two sessions of {method} on {malfunction}"
            )));
        }
    }
    Ok(blocks)
}
