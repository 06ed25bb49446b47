//! Knows where the edit that restores the clean source stood among a coder's candidates.
//! Must not know how candidates are ordered; the coder room tells.
//! Start at `restoring_rank`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::coder::search::{self, Candidate, rank_of};
use crate::store::RestoringRank;
use crate::vocab::Seed;
use crate::workspace::Tree;

/// The note that `search` leaves about its order.
#[derive(Debug, Deserialize)]
struct OrderNote {
    kept: u32,
    first: Vec<Candidate>,
    query: String,
}

/// Ranks the restoring edit; `None` for a note that is not about an order.
#[must_use]
pub fn restoring_rank(note: &Value, clean: &Tree, broken: &Tree, seed: &Seed) -> Option<RestoringRank> {
    let order: OrderNote = serde_json::from_value(note.clone()).ok()?;
    let files = texts(broken);
    let restored: BTreeMap<String, String> = texts(clean)
        .into_iter()
        .filter(|(path, text)| files.get(path) != Some(text))
        .collect();
    // The note lists the first candidates only; the whole order follows from files, query and seed.
    let rank = rank_of(&order.first, &files, &restored)
        .or_else(|| rank_of(&search::candidates(&files, &order.query, seed).ordered, &files, &restored));
    Some(RestoringRank {
        rank: rank.and_then(|rank| u32::try_from(rank).ok()),
        candidates: order.kept,
    })
}

/// The files that `search` edits, as text.
fn texts(tree: &Tree) -> BTreeMap<String, String> {
    tree.iter()
        .filter(|(path, _)| search::is_searched(path))
        .map(|(path, bytes)| (path.clone(), String::from_utf8_lossy(bytes).into_owned()))
        .collect()
}
