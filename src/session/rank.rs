//! Knows where the edit that restores the clean source stood among a coder's candidates.
//! Must not know how candidates are ordered; the coder room tells.
//! Start at `restoring_rank`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// A note about candidates that cannot be read: a defect of the coder that left it.
#[derive(Debug, thiserror::Error)]
#[error("{}: the note `{event}` cannot be read: {source}", transcript.display())]
pub struct RankError {
    /// The transcript that holds the note.
    transcript: PathBuf,
    /// Which note.
    event: &'static str,
    /// What is wrong with it.
    source: serde_json::Error,
}

/// Ranks the restoring edit; `None` for coders that left no notes about candidates. `transcript` is the file that holds
/// the notes.
///
/// # Errors
/// A note that is there and cannot be read.
pub fn restoring_rank(
    transcript: &Path,
    remarks: &BTreeMap<String, Value>,
    clean: &Tree,
    broken: &Tree,
    seed: &Seed,
) -> Result<Option<RestoringRank>, RankError> {
    let order: Option<OrderNote> = note(transcript, remarks, "search_order")?;
    let query: Option<QueryNote> = note(transcript, remarks, "search_query")?;
    let (Some(order), Some(query)) = (order, query) else {
        return Ok(None);
    };
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
    Ok(Some(RestoringRank {
        rank: rank.and_then(|rank| u32::try_from(rank).ok()),
        candidates: order.kept,
    }))
}

fn note<T: for<'de> Deserialize<'de>>(
    transcript: &Path,
    remarks: &BTreeMap<String, Value>,
    event: &'static str,
) -> Result<Option<T>, RankError> {
    let Some(note) = remarks.get(event) else {
        return Ok(None);
    };
    T::deserialize(note).map(Some).map_err(|source| RankError {
        transcript: transcript.to_owned(),
        event,
        source,
    })
}

/// The files that `search` edits, as text.
fn texts(tree: &Tree) -> BTreeMap<String, String> {
    tree.iter()
        .filter(|(path, _)| search::is_searched(path))
        .map(|(path, bytes)| (path.clone(), String::from_utf8_lossy(bytes).into_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::vocab::{RootSeed, SeedName};

    fn rank(remarks: &[(&str, Value)]) -> Result<Option<RestoringRank>, RankError> {
        let remarks = remarks
            .iter()
            .map(|(event, note)| ((*event).to_owned(), note.clone()))
            .collect();
        let seed = RootSeed::weak(1).derive(&SeedName::new("rank"));
        let tree = Tree::new();
        restoring_rank(
            Path::new("r00/transcript.jsonl"),
            &remarks,
            &tree,
            &tree,
            &seed,
        )
    }

    #[test]
    fn a_coder_without_notes_has_no_rank() {
        assert_eq!(rank(&[]).unwrap(), None);
    }

    #[test]
    fn a_note_that_cannot_be_read_is_an_error_that_names_the_transcript() {
        let query = ("search_query", json!({"text": "reward"}));
        let error = rank(&[
            ("search_order", json!({"kept": "many", "first": []})),
            query,
        ]);
        let message = error.unwrap_err().to_string();
        assert!(
            message.starts_with("r00/transcript.jsonl: the note `search_order` cannot be read: "),
            "{message}"
        );
    }
}
