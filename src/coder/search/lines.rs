//! Knows how high each line of a source stands when texts alone are asked, without any edit.
//! Must not know which lines matter, nor where a text came from.
//! Start at `standing`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::bm25::Query;
use super::order::{CONTEXT, is_config, is_searched};
use super::{config, python};

/// How the lines of a source stand against a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Distinct tokens of the text.
    pub tokens: usize,
    /// Every line that is not blank, by path and number from 1; 1 stands first, 0 last, and equals share their middle.
    pub percentiles: BTreeMap<(String, usize), f64>,
}

/// Ranks every non-blank line of the searched files by BM25 (`harness.md` §5.1) against a text.
///
/// The document of a line is that of an edit on it which changes nothing: two lines of context on either side, the line
/// itself, the enclosing function or table, and the path.
#[must_use]
pub fn standing(files: &BTreeMap<String, String>, text: &str) -> Standing {
    let query = Query::new(text);
    let (mut lines, mut documents) = (Vec::new(), Vec::new());
    for (path, source) in files.iter().filter(|(path, _)| is_searched(path)) {
        let rows: Vec<&str> = source.lines().collect();
        let scopes = scopes(path, source, rows.len());
        for (at, row) in rows
            .iter()
            .enumerate()
            .filter(|(_, row)| !row.trim().is_empty())
        {
            let around = &rows[at.saturating_sub(CONTEXT)..rows.len().min(at + CONTEXT + 1)];
            let document = format!("{}\n{row}\n{}\n{path}", around.join("\n"), scopes[at]);
            lines.push((path.clone(), at + 1));
            documents.push(query.profile(&document));
        }
    }
    let percentiles = percentiles(&query.scores(&documents));
    Standing {
        tokens: query.terms(),
        percentiles: lines.into_iter().zip(percentiles).collect(),
    }
}

/// The innermost function, class or table around each line.
fn scopes(path: &str, source: &str, count: usize) -> Vec<Arc<str>> {
    let mut scopes = vec![Arc::from(""); count];
    let starts = python::line_starts(source);
    let line = |at: usize| starts.partition_point(|start| *start <= at) - 1;
    let found: Vec<(Range<usize>, Arc<str>)> = if is_config(path) {
        config::scopes(source)
    } else {
        python::Source::new(&mut python::parser(), source).scopes()
    };
    for (span, name) in found {
        let last = line(span.end.max(span.start + 1) - 1);
        for scope in scopes.iter_mut().take(last + 1).skip(line(span.start)) {
            *scope = Arc::clone(&name);
        }
    }
    scopes
}

/// Share of the others that stand lower, equals counting half; ½ when there are no others.
fn percentiles(scores: &[f64]) -> Vec<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    let others = scores.len().saturating_sub(1);
    scores
        .iter()
        .map(|score| {
            if others == 0 {
                return 0.5;
            }
            let lower = sorted.partition_point(|other| other < score);
            let equal = sorted.partition_point(|other| other <= score) - lower - 1;
            (lower as f64 + equal as f64 / 2.0) / others as f64
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("pkg/a.py".to_owned(), text.to_owned())])
    }

    const SOURCE: &str = "def reward(x):\n    return x\n\n\n\n\n\ndef other(y):\n    z = y\n    w = z\n    v = w\n    return v\n";

    fn at(standing: &Standing, line: usize) -> f64 {
        standing.percentiles[&("pkg/a.py".to_owned(), line)]
    }

    #[test]
    fn lines_of_the_function_that_a_text_names_stand_above_the_others() {
        let standing = standing(&files(SOURCE), "the reward");
        assert_eq!(standing.tokens, 2);
        assert_eq!(standing.percentiles.len(), 7);
        assert!(at(&standing, 2) > at(&standing, 9));
        assert!(at(&standing, 1) > at(&standing, 8));
    }

    #[test]
    fn a_text_that_says_nothing_leaves_every_line_in_the_middle() {
        for text in ["", "unrelated"] {
            let standing = standing(&files(SOURCE), text);
            assert!(standing.percentiles.values().all(|each| *each == 0.5));
        }
    }

    #[test]
    fn percentiles_average_to_one_half_whatever_the_scores() {
        for scores in [vec![1.0, 2.0, 3.0], vec![1.0, 1.0, 0.0], vec![4.0]] {
            let found = percentiles(&scores);
            let mean = found.iter().sum::<f64>() / found.len() as f64;
            assert!((mean - 0.5).abs() < 1e-12, "{scores:?} {found:?}");
        }
        assert_eq!(percentiles(&[1.0, 2.0, 3.0]), [0.0, 0.5, 1.0]);
        assert_eq!(percentiles(&[2.0, 2.0, 0.0]), [0.75, 0.75, 0.0]);
    }

    #[test]
    fn a_setting_belongs_to_its_table() {
        let text = "[training]\nrate = 1\n# note\n[params]\nlist = [\n  1,\n  2,\n]\n";
        let scopes = scopes("e/config.toml", text, 8);
        assert_eq!(scopes[1].as_ref(), "training");
        for scope in &scopes[4..8] {
            assert_eq!(scope.as_ref(), "params");
        }
        assert_eq!(scopes[2].as_ref(), "");
    }

    #[test]
    fn the_innermost_function_counts() {
        let text = "class A:\n    def f(self):\n        return 1\n    x = 2\n";
        let scopes = scopes("a.py", text, 4);
        let names: Vec<&str> = scopes.iter().map(AsRef::as_ref).collect();
        assert_eq!(names, ["A", "f", "f", "A"]);
    }
}
