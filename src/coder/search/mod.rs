//! Knows the scaffold `search`: small edits, ranked by what the method's texts say, tried one by one.
//! Must not know what is broken, nor what a clean file reads like.
//! Start at `Search`, then `candidates`.

mod bm25;
mod candidate;
mod config;
mod lines;
mod number;
mod order;
mod progress;
mod python;
mod query;
mod restoration;
mod tokens;
mod trials;

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::json;

use super::{Bench, Brief, Ending, Scaffold, Stop};
use crate::vocab::{FaultKind, HarnessFault};

pub use candidate::{Candidate, Operator};
pub use lines::{Standing, standing};
pub use order::{CAP, Order, candidates, is_searched};
pub use restoration::rank_of;

/// How many candidates the transcript lists.
const LISTED: usize = 200;

/// Deterministic repair without a language model.
pub(super) struct Search;

#[async_trait]
impl Scaffold for Search {
    fn name(&self) -> &'static str {
        "search"
    }

    async fn repair(&self, brief: &Brief, bench: &mut dyn Bench) -> Result<Ending, Stop> {
        let whole_wall = bench.remaining().wall_seconds;
        let files = read_files(brief, bench).await?;
        let query = query::gather(brief, bench).await?;
        let order = ordered(brief, files.clone(), query.clone()).await?;
        bench
            .note(json!({"event": "search_query", "text": query}))
            .await?;
        bench.note(order_event(&order)).await?;
        trials::run(brief, bench, &files, &order.ordered, whole_wall).await
    }
}

/// Every file that candidates may edit, by path relative to the workspace root.
async fn read_files(
    brief: &Brief,
    bench: &mut dyn Bench,
) -> Result<BTreeMap<String, String>, Stop> {
    let mut paths = bench.list(&brief.source).await?;
    paths.retain(|path| is_searched(path));
    let texts = bench.read_many(&paths).await?;
    Ok(paths.into_iter().zip(texts).collect())
}

/// `candidates` on a thread of its own, for it takes a second or two.
async fn ordered(
    brief: &Brief,
    files: BTreeMap<String, String>,
    query: String,
) -> Result<Order, Stop> {
    let seed = brief.seed.clone();
    tokio::task::spawn_blocking(move || candidates(&files, &query, &seed))
        .await
        .map_err(|error| {
            HarnessFault::new(
                FaultKind::Internal,
                format!("candidates of search: {error}"),
            )
            .into()
        })
}

fn order_event(order: &Order) -> serde_json::Value {
    json!({
        "event": "search_order",
        "found": order.found,
        "kept": order.ordered.len(),
        "first": order.ordered.iter().take(LISTED).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests;
