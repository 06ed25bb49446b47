//! Knows how edits become candidates: found, checked, ranked, capped.
//! Must not know a bench, budgets or what a query was made from.
//! Start at `candidates`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use tree_sitter::Parser;

use super::bm25::{Profile, Query};
use super::candidate::{Candidate, Edit, Operator};
use super::number::Number;
use super::{config, python, tokens};
use crate::vocab::Seed;

/// Candidates kept in all: the first so many in the final order, so that no file goes unsearched.
pub const CAP: usize = 5000;
/// Best-ranked lines whose literals are tried with the numbers of the query.
const QUOTED_LINES: usize = 20;
/// Lines above and below an edit that belong to its document.
pub(super) const CONTEXT: usize = 2;
/// How many of the first candidates share out the lines, and how many each line gets.
const FIRST: usize = 50;
const PER_LINE: usize = 3;

/// All candidates in the order in which they are to be tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The candidates; index 0 is rank 1.
    pub ordered: Vec<Candidate>,
    /// How many there were before the cap.
    pub found: usize,
}

/// Finds and orders every candidate: a pure function of its arguments.
///
/// `files` are texts by path relative to the workspace root; those named `*.py` and `config.toml` are searched.
/// An empty query gives the order that the seed draws.
#[must_use]
pub fn candidates(files: &BTreeMap<String, String>, query: &str, seed: &Seed) -> Order {
    let mut parser = python::parser();
    let texts: Vec<Text<'_>> = files
        .iter()
        .filter(|(path, _)| is_searched(path))
        .map(|(path, text)| Text::new(path, text))
        .collect();
    let mut pool: Vec<Found> = Vec::new();
    for (file, text) in texts.iter().enumerate() {
        pool.extend(text.checked(file, text.edits(&mut parser), &mut parser));
    }
    let asked = Query::new(query);
    let numbers = tokens::numbers(query);
    if !numbers.is_empty() {
        let lines = best_lines(&texts, &pool, &asked);
        for (file, text) in texts.iter().enumerate() {
            let edits = text.quoted(file, &lines, &numbers, &mut parser);
            pool.extend(text.checked(file, edits, &mut parser));
        }
    }
    settle(&mut pool);
    let found = pool.len();
    let scores = scores(&texts, &pool, &asked);
    let mut generator = ChaCha20Rng::from_seed(seed.bytes());
    let mut keyed: Vec<(f64, u64, Found)> = pool
        .into_iter()
        .zip(scores)
        .map(|(found, score)| (score, generator.next_u64(), found))
        .collect();
    keyed.sort_by(|(a, x, _), (b, y, _)| b.total_cmp(a).then(x.cmp(y)));
    keyed.truncate(CAP);
    let ranked = keyed
        .into_iter()
        .map(|(score, _, found)| texts[found.file].candidate(found.edit, score))
        .collect();
    Order {
        ordered: shared_out(ranked),
        found,
    }
}

/// BM25 of every edit; 0 for all when nothing is asked.
fn scores(texts: &[Text<'_>], pool: &[Found], query: &Query) -> Vec<f64> {
    if query.is_empty() {
        return vec![0.0; pool.len()];
    }
    let mut around: HashMap<(usize, Range<usize>), Profile> = HashMap::new();
    let documents: Vec<Profile> = pool
        .iter()
        .map(|found| {
            let text = &texts[found.file];
            let lines = text.lines_of(&found.edit);
            let context = around
                .entry((found.file, lines.clone()))
                .or_insert_with(|| query.profile(text.context(&lines)));
            text.own_words(&found.edit, &lines, query).with(context)
        })
        .collect();
    query.scores(&documents)
}

/// Whether `search` edits a file.
#[must_use]
pub fn is_searched(path: &str) -> bool {
    path.ends_with(".py") || is_config(path)
}

/// Whether a file is the configuration of an environment.
pub(super) fn is_config(path: &str) -> bool {
    path.rsplit('/').next() == Some("config.toml")
}

/// An edit of one of the texts, with the hash of the text that it makes.
struct Found {
    file: usize,
    edit: Edit,
    result: blake3::Hash,
}

/// One file under search.
struct Text<'a> {
    path: &'a str,
    text: &'a str,
    /// First byte of each line.
    starts: Vec<usize>,
}

impl<'a> Text<'a> {
    fn new(path: &'a str, text: &'a str) -> Self {
        Self {
            path,
            text,
            starts: python::line_starts(text),
        }
    }

    fn edits(&self, parser: &mut Parser) -> Vec<Edit> {
        if is_config(self.path) {
            config::edits(self.text)
        } else {
            python::Source::new(parser, self.text).edits()
        }
    }

    /// Those edits that change the text and leave it in a state that parses.
    fn checked(&self, file: usize, edits: Vec<Edit>, parser: &mut Parser) -> Vec<Found> {
        let source = python::Source::new(parser, self.text);
        let mut kept = Vec::new();
        for edit in edits {
            let edited = self.edited(&edit);
            let parses = edited != self.text
                && if is_config(self.path) {
                    config::parses(&edited)
                } else {
                    edit.operator.keeps_form() || source.parses_with(parser, &edit, &edited)
                };
            if parses {
                kept.push(Found {
                    file,
                    result: blake3::hash(edited.as_bytes()),
                    edit,
                });
            }
        }
        kept
    }

    /// Every literal on the given lines with every number of the query in its place.
    fn quoted(
        &self,
        file: usize,
        lines: &BTreeSet<(usize, usize)>,
        numbers: &[f64],
        parser: &mut Parser,
    ) -> Vec<Edit> {
        let edits = if is_config(self.path) {
            config::edits(self.text)
        } else {
            python::Source::new(parser, self.text).edits()
        };
        let mut seen: HashSet<Range<usize>> = HashSet::new();
        let mut quoted = Vec::new();
        for edit in edits {
            let literal = self.text.get(edit.span.clone()).and_then(Number::parse);
            let Some(literal) = literal.filter(|_| is_numeric(edit.operator)) else {
                continue;
            };
            if lines.contains(&(file, self.line(edit.span.start))) && seen.insert(edit.span.clone())
            {
                quoted.extend(numbers.iter().filter_map(|number| {
                    Some(Edit {
                        after: literal.replaced(*number)?,
                        operator: Operator::QueryNumber,
                        ..edit.clone()
                    })
                }));
            }
        }
        quoted
    }

    fn edited(&self, edit: &Edit) -> String {
        [
            &self.text[..edit.span.start],
            &edit.after,
            &self.text[edit.span.end..],
        ]
        .concat()
    }

    /// The line, from 0, of a byte.
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) - 1
    }

    /// The lines, from 0, that an edit touches.
    fn lines_of(&self, edit: &Edit) -> Range<usize> {
        let last_byte = edit.span.end.max(edit.span.start + 1) - 1;
        self.line(edit.span.start)..self.line(last_byte) + 1
    }

    /// The part of a document that edits of the same lines share: these lines with two more on either side.
    fn context(&self, lines: &Range<usize>) -> &'a str {
        let first = lines.start.saturating_sub(CONTEXT);
        let last = (lines.end + CONTEXT).min(self.starts.len());
        &self.text[self.starts[first]..self.end_of(last)]
    }

    /// The rest of a document: the edited lines as they would read, the enclosing function and the file name.
    fn own_words(&self, edit: &Edit, lines: &Range<usize>, query: &Query) -> Profile {
        let end = self.end_of(lines.end).max(edit.span.end);
        let before = &self.text[self.starts[lines.start]..edit.span.start];
        let after = &self.text[edit.span.end..end];
        query.profile(&format!(
            "{before}{}{after}\n{}\n{}",
            edit.after, edit.scope, self.path
        ))
    }

    /// Where the lines before the given one end.
    fn end_of(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    fn candidate(&self, edit: Edit, score: f64) -> Candidate {
        Candidate {
            path: self.path.to_owned(),
            line: self.line(edit.span.start) + 1,
            scope: edit.scope.to_string(),
            operator: edit.operator,
            start: edit.span.start,
            before: self.text[edit.span].to_owned(),
            after: edit.after,
            score,
        }
    }
}

fn is_numeric(operator: Operator) -> bool {
    operator < Operator::QueryNumber
}

/// The lines, by file and from 0, that hold the best-ranked edits.
fn best_lines(texts: &[Text<'_>], pool: &[Found], query: &Query) -> BTreeSet<(usize, usize)> {
    let mut best: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for (found, score) in pool.iter().zip(scores(texts, pool, query)) {
        let line = (found.file, texts[found.file].line(found.edit.span.start));
        let entry = best.entry(line).or_insert(0.0);
        *entry = entry.max(score);
    }
    let mut lines: Vec<((usize, usize), f64)> =
        best.into_iter().filter(|(_, score)| *score > 0.0).collect();
    lines.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
    lines.truncate(QUOTED_LINES);
    lines.into_iter().map(|(line, _)| line).collect()
}

/// Puts edits in order of path, offset and operator, and drops those that make a text already made.
fn settle(pool: &mut Vec<Found>) {
    pool.sort_by(|a, b| {
        let key = |found: &Found| {
            (
                found.file,
                found.edit.span.start,
                found.edit.operator,
                found.edit.span.end,
            )
        };
        key(a)
            .cmp(&key(b))
            .then_with(|| a.edit.after.cmp(&b.edit.after))
    });
    let mut made = HashSet::new();
    pool.retain(|found| made.insert((found.file, found.result)));
}

/// Lets no line have more than three of the first fifty; what is passed over follows in order.
fn shared_out(ranked: Vec<Candidate>) -> Vec<Candidate> {
    let mut per_line: BTreeMap<(String, usize), usize> = BTreeMap::new();
    let (mut first, mut rest) = (Vec::with_capacity(ranked.len()), Vec::new());
    for candidate in ranked {
        let taken = per_line
            .entry((candidate.path.clone(), candidate.line))
            .or_default();
        if first.len() < FIRST && *taken < PER_LINE {
            *taken += 1;
            first.push(candidate);
        } else {
            rest.push(candidate);
        }
    }
    first.extend(rest);
    first
}

#[cfg(test)]
mod tests;
