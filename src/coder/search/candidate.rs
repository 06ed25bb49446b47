//! Knows one edit of one file: where, by which operator, from what to what.
//! Must not know how edits are found, ranked or tried.
//! Start at `Candidate::apply`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How an edit came about; the order is that of ties at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// c to 10c.
    TimesTen,
    /// c to c/10.
    OverTen,
    /// c to 2c.
    Double,
    /// c to c/2.
    Half,
    /// c to −c.
    Negate,
    /// c to 0.
    Zero,
    /// c to 1.
    One,
    /// c to c + 1.
    Increment,
    /// c to c − 1.
    Decrement,
    /// c to 1 − (1 − c)/10.
    TenthBelowOne,
    /// c to 1 − (1 − c)/2.
    HalfBelowOne,
    /// c to √c.
    Root,
    /// c to a number of the query text.
    QueryNumber,
    /// `<` and `<=`, `>` and `>=`, `==` and `!=` change places.
    Comparison,
    /// `+` and `-` change places.
    PlusMinus,
    /// `*` and `/` change places.
    TimesOver,
    /// `True` and `False` change places.
    Boolean,
    /// `and` and `or`, `&` and `|` change places.
    AndOr,
    /// A condition is negated.
    AddNot,
    /// A negation goes.
    DropNot,
    /// `f(x, …)` becomes `x`, or `x.f(…)` becomes `x`.
    Unwrap,
    /// A summand or factor goes.
    DropTerm,
    /// An index moves up by one.
    IndexUp,
    /// An index moves down by one.
    IndexDown,
    /// `min` and `max` and their kin change places.
    MinMax,
    /// A keyword argument goes.
    DropKeyword,
    /// A name gives way to a similar one of the same function.
    Name,
    /// A simple statement goes.
    DeleteStatement,
}

impl Operator {
    /// Whether it puts one token in the place of another of its kind, so that what parsed still parses.
    pub(super) fn keeps_form(self) -> bool {
        matches!(
            self,
            Self::QueryNumber
                | Self::Comparison
                | Self::PlusMinus
                | Self::TimesOver
                | Self::Boolean
                | Self::AndOr
                | Self::MinMax
                | Self::Name
        ) || self < Self::QueryNumber
    }
}

/// An edit within one text, before ranking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    /// Bytes replaced.
    pub(super) span: Range<usize>,
    /// What stands there afterwards.
    pub(super) after: String,
    /// How it came about.
    pub(super) operator: Operator,
    /// The enclosing function, class or table; empty at the top.
    pub(super) scope: Arc<str>,
}

/// One edit of one file, at its place in the order of `search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The file, relative to the workspace root.
    pub path: String,
    /// Line of the first byte replaced, from 1.
    pub line: usize,
    /// The enclosing function, class or table; empty at the top.
    pub scope: String,
    /// How it came about.
    pub operator: Operator,
    /// First byte replaced.
    pub start: usize,
    /// The text replaced.
    pub before: String,
    /// The text that stands there afterwards.
    pub after: String,
    /// BM25 of its document against the query.
    pub score: f64,
}

impl Candidate {
    /// The whole text of its file with the edit made; `None` when the files do not hold the text replaced.
    #[must_use]
    pub fn apply(&self, files: &BTreeMap<String, String>) -> Option<String> {
        let text = files.get(&self.path)?;
        let end = self.start + self.before.len();
        if text.get(self.start..end)? != self.before {
            return None;
        }
        Some([&text[..self.start], &self.after, &text[end..]].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_of_other_files_is_not_applied() {
        let candidate = Candidate {
            path: "a.py".into(),
            line: 1,
            scope: String::new(),
            operator: Operator::Zero,
            start: 4,
            before: "2".into(),
            after: "0".into(),
            score: 0.0,
        };
        let holding = |text: &str| BTreeMap::from([("a.py".to_owned(), text.to_owned())]);
        assert_eq!(
            candidate.apply(&holding("x = 2\n")).as_deref(),
            Some("x = 0\n")
        );
        assert_eq!(candidate.apply(&holding("x = 3\n")), None);
        assert_eq!(candidate.apply(&holding("x")), None);
        assert_eq!(candidate.apply(&BTreeMap::new()), None);
    }
}
