//! Knows BM25 over documents of tokens.
//! Must not know what a document or a query stands for.
//! Start at `scores`.

use std::collections::{BTreeSet, HashMap};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The score of each document against the distinct tokens of a query; all 0 for an empty query.
///
/// idf = ln(1 + (N − n + ½)/(n + ½)). A token counts once however often the query repeats it, so that a long
/// table does not drown a sentence.
pub(super) fn scores(documents: &[Vec<String>], query: &[String]) -> Vec<f64> {
    let terms: BTreeSet<&str> = query.iter().map(String::as_str).collect();
    let index: HashMap<&str, usize> = terms
        .iter()
        .enumerate()
        .map(|(i, term)| (*term, i))
        .collect();
    let counts: Vec<Vec<(usize, u32)>> = documents
        .iter()
        .map(|document| {
            let mut count: std::collections::BTreeMap<usize, u32> =
                std::collections::BTreeMap::new();
            for token in document {
                if let Some(term) = index.get(token.as_str()) {
                    *count.entry(*term).or_default() += 1;
                }
            }
            count.into_iter().collect()
        })
        .collect();
    let mut holding = vec![0_u32; terms.len()];
    for (term, _) in counts.iter().flatten() {
        holding[*term] += 1;
    }
    let total = documents.len() as f64;
    let mean_length = documents.iter().map(Vec::len).sum::<usize>() as f64 / total.max(1.0);
    let idf: Vec<f64> = holding
        .iter()
        .map(|n| (1.0 + (total - f64::from(*n) + 0.5) / (f64::from(*n) + 0.5)).ln())
        .collect();
    documents
        .iter()
        .zip(&counts)
        .map(|(document, counts)| {
            let stretch = K1 * (1.0 - B + B * document.len() as f64 / mean_length.max(1.0));
            counts
                .iter()
                .map(|(term, count)| {
                    let count = f64::from(*count);
                    idf[*term] * count * (K1 + 1.0) / (count + stretch)
                })
                .sum()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_score_worked_out_by_hand_is_met() {
        let documents = [words("a b"), words("a c c"), words("d")];
        let found = scores(&documents, &words("c"));
        // N = 3, n = 1, idf = ln(1 + 2.5/1.5); length 3, mean 2; count 2.
        let idf = (1.0_f64 + 2.5 / 1.5).ln();
        let expected = idf * 2.0 * 2.2 / (2.0 + 1.2 * (0.25 + 0.75 * 1.5));
        assert_eq!(found[0], 0.0);
        assert!((found[1] - expected).abs() < 1e-12);
        assert_eq!(found[2], 0.0);
    }

    #[test]
    fn repeating_a_word_in_the_query_changes_nothing() {
        let documents = [words("a b"), words("a c"), words("b c d")];
        assert_eq!(
            scores(&documents, &words("a b")),
            scores(&documents, &words("a b b a b"))
        );
    }

    #[test]
    fn an_empty_query_scores_nothing() {
        assert_eq!(scores(&[words("a"), words("b c")], &[]), [0.0, 0.0]);
        assert_eq!(scores(&[], &words("a")), Vec::<f64>::new());
    }
}
