//! Knows BM25: how well documents answer a query, both as bags of tokens.
//! Must not know what a document or a query stands for.
//! Start at `Query::scores`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::tokens::tokens;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The distinct tokens of a query.
///
/// A token counts once however often the query repeats it, so that a long table does not drown a sentence.
pub(super) struct Query {
    terms: HashMap<String, usize>,
}

/// What a query needs to know of a document: its length in tokens, and how often it holds each term.
#[derive(Debug, Clone, Default)]
pub(super) struct Profile {
    length: usize,
    counts: BTreeMap<usize, u32>,
}

impl Query {
    /// Reads a query.
    pub(super) fn new(text: &str) -> Self {
        let distinct: BTreeSet<String> = tokens(text).into_iter().collect();
        Self {
            terms: distinct.into_iter().zip(0..).collect(),
        }
    }

    /// Whether it asks for nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// How many distinct tokens it holds.
    pub(super) fn terms(&self) -> usize {
        self.terms.len()
    }

    /// Reads a part of a document.
    pub(super) fn profile(&self, text: &str) -> Profile {
        let mut profile = Profile::default();
        for token in tokens(text) {
            profile.length += 1;
            if let Some(term) = self.terms.get(&token) {
                *profile.counts.entry(*term).or_default() += 1;
            }
        }
        profile
    }

    /// The score of each document, with idf = ln(1 + (N − n + ½)/(n + ½)); all 0 for an empty query.
    pub(super) fn scores(&self, documents: &[Profile]) -> Vec<f64> {
        let mut holding = vec![0_u32; self.terms.len()];
        for term in documents.iter().flat_map(|document| document.counts.keys()) {
            holding[*term] += 1;
        }
        let total = documents.len() as f64;
        let length: usize = documents.iter().map(|document| document.length).sum();
        let mean_length = (length as f64 / total.max(1.0)).max(1.0);
        let idf: Vec<f64> = holding
            .iter()
            .map(|n| (1.0 + (total - f64::from(*n) + 0.5) / (f64::from(*n) + 0.5)).ln())
            .collect();
        documents
            .iter()
            .map(|document| {
                let stretch = K1 * (1.0 - B + B * document.length as f64 / mean_length);
                let weight = |(term, count): (&usize, &u32)| {
                    let count = f64::from(*count);
                    idf[*term] * count * (K1 + 1.0) / (count + stretch)
                };
                document.counts.iter().map(weight).sum::<f64>() + 0.0
            })
            .collect()
    }
}

impl Profile {
    /// The document made of both.
    pub(super) fn with(mut self, other: &Self) -> Self {
        self.length += other.length;
        for (term, count) in &other.counts {
            *self.counts.entry(*term).or_default() += count;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(documents: &[&str], query: &str) -> Vec<f64> {
        let query = Query::new(query);
        let profiles: Vec<Profile> = documents.iter().map(|text| query.profile(text)).collect();
        query.scores(&profiles)
    }

    #[test]
    fn a_score_worked_out_by_hand_is_met() {
        let found = scores(&["a b", "a c c", "d"], "c");
        // N = 3, n = 1, idf = ln(1 + 2.5/1.5); length 3, mean 2; count 2.
        let idf = (1.0_f64 + 2.5 / 1.5).ln();
        let expected = idf * 2.0 * 2.2 / (2.0 + 1.2 * (0.25 + 0.75 * 1.5));
        assert_eq!(found[0], 0.0);
        assert!((found[1] - expected).abs() < 1e-12);
        assert_eq!(found[2], 0.0);
    }

    #[test]
    fn repeating_a_word_in_the_query_changes_nothing() {
        let documents = ["a b", "a c", "b c d"];
        assert_eq!(scores(&documents, "a b"), scores(&documents, "a b b a b"));
    }

    #[test]
    fn a_document_in_parts_is_the_document_whole() {
        let query = Query::new("a b");
        let whole = query.profile("a b b c");
        let parts = query.profile("a b").with(&query.profile("b c"));
        assert_eq!((whole.length, whole.counts), (parts.length, parts.counts));
    }

    #[test]
    fn an_empty_query_scores_nothing() {
        assert!(Query::new(" . ").is_empty());
        assert_eq!(scores(&["a", "b c"], ""), [0.0, 0.0]);
        assert_eq!(scores(&[], "a"), Vec::<f64>::new());
    }
}
