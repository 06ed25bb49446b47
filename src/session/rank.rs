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

/// The note that `search` leaves about its order; only the first candidates are listed.
#[derive(Debug, Deserialize)]
struct OrderNote {
    kept: u32,
    first: Vec<Candidate>,
}

/// The note that `search` leaves about its query.
#[derive(Debug, Deserialize)]
struct QueryNote {
    text: String,
}

/// Ranks the restoring edit; `None` for coders that left no notes about candidates.
#[must_use]
pub fn restoring_rank(
    remarks: &BTreeMap<String, Value>,
    clean: &Tree,
    broken: &Tree,
    seed: &Seed,
) -> Option<RestoringRank> {
    let order: OrderNote = note(remarks, "search_order")?;
    let query: QueryNote = note(remarks, "search_query")?;
    let files = texts(broken);
    let restored: BTreeMap<String, String> = texts(clean)
        .into_iter()
        .filter(|(path, text)| files.get(path) != Some(text))
        .collect();
    // Beyond the listed ones the whole order follows from files, query and seed.
    let rank = rank_of(&order.first, &files, &restored).or_else(|| {
        rank_of(
            &search::candidates(&files, &query.text, seed).ordered,
            &files,
            &restored,
        )
    });
    Some(RestoringRank {
        rank: rank.and_then(|rank| u32::try_from(rank).ok()),
        candidates: order.kept,
    })
}

fn note<T: for<'de> Deserialize<'de>>(remarks: &BTreeMap<String, Value>, event: &str) -> Option<T> {
    remarks
        .get(event)
        .and_then(|note| T::deserialize(note).ok())
}

/// The files that `search` edits, as text.
fn texts(tree: &Tree) -> BTreeMap<String, String> {
    tree.iter()
        .filter(|(path, _)| search::is_searched(path))
        .map(|(path, bytes)| (path.clone(), String::from_utf8_lossy(bytes).into_owned()))
        .collect()
}
