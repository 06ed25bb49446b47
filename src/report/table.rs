//! Knows a table of a report: typed columns and cells.
//! Must not know which tables there are, nor how a table is written down.
//! Start at `Table`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::estimate::{Estimated, Interval, PValue};
use evalxrl_analysis::lift::Difference;

use super::numerals;

/// A table; the page, the text report, CSV and LaTeX are written from this one value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    /// File stem and anchor.
    pub(super) name: String,
    /// Caption.
    pub(super) title: String,
    /// What a reader must know, one sentence or two.
    pub(super) note: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

/// A column of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    /// Name in CSV.
    pub(super) key: String,
    /// Heading on the page.
    pub(super) label: String,
    pub(super) kind: Kind,
}

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// Sentences.
    Prose,
    Count,
    Number,
    Interval,
    /// The ends of an interval whose estimate has a column of its own.
    Range,
    PValue,
}

/// A row; strong rows decide.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) strong: bool,
    pub(super) cells: Vec<Cell>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Text(String),
    Link {
        text: String,
        href: String,
    },
    Count(u64),
    /// A number with two decimals on the page.
    Number(f64),
    /// A number with four decimals on the page.
    Fine(f64),
    /// As `Number`, sign always shown.
    Signed(f64),
    /// An estimate, with the ends of its interval where it has one.
    Interval {
        estimate: f64,
        ends: Option<[f64; 2]>,
    },
    Range {
        low: f64,
        high: f64,
    },
    PValue(f64),
    /// Nothing, with the reason where there is one.
    Absent(String),
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn number(value: &Computed<f64>) -> Self {
        match value {
            Computed::Value(value) => Self::Number(*value),
            Computed::NotComputed(reason) => Self::Absent(reason.to_string()),
        }
    }

    pub(super) fn interval(value: &Interval) -> Self {
        Self::Interval {
            estimate: value.estimate,
            ends: Some([value.low, value.high]),
        }
    }

    pub(super) fn difference(value: &Difference) -> Self {
        Self::Interval {
            estimate: value.estimate,
            ends: value
                .percentile
                .value()
                .map(|found| [found.low, found.high]),
        }
    }

    pub(super) fn computed_interval(value: &Computed<Interval>) -> Self {
        match value {
            Computed::Value(value) => Self::interval(value),
            Computed::NotComputed(reason) => Self::Absent(reason.to_string()),
        }
    }

    pub(super) fn fine(value: &Computed<f64>) -> Self {
        match value {
            Computed::Value(value) => Self::Fine(*value),
            Computed::NotComputed(reason) => Self::Absent(reason.to_string()),
        }
    }

    pub(super) fn range(value: &Computed<Interval>) -> Self {
        match value {
            Computed::Value(value) => Self::Range {
                low: value.low,
                high: value.high,
            },
            Computed::NotComputed(reason) => Self::Absent(reason.to_string()),
        }
    }

    /// What there is of a result, or why there is none.
    pub(super) fn of<T>(value: &Computed<T>, shown: impl FnOnce(&T) -> Self) -> Self {
        match value {
            Computed::Value(value) => shown(value),
            Computed::NotComputed(reason) => Self::Absent(reason.to_string()),
        }
    }

    pub(super) fn estimated(value: &Estimated) -> Self {
        Self::Interval {
            estimate: value.estimate,
            ends: value.interval.value().map(|found| [found.low, found.high]),
        }
    }

    pub(super) fn p(value: &Computed<PValue>) -> Self {
        match value {
            Computed::Value(p) => Self::PValue(p.value),
            Computed::NotComputed(reason) => Self::Absent(reason.to_string()),
        }
    }

    /// As a reader sees it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) | Self::Link { text, .. } => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(value) => numerals::score(*value),
            Self::Fine(value) => numerals::decimals(*value, 4),
            Self::Signed(value) => numerals::signed(*value),
            Self::Range { low, high } => {
                format!("[{}, {}]", numerals::score(*low), numerals::score(*high))
            }
            Self::Interval { estimate, ends } => numerals::estimate(*estimate, *ends),
            Self::PValue(value) => numerals::p_value(*value),
            Self::Absent(_) => "–".to_owned(),
        }
    }
}

impl Row {
    pub(super) fn of(cells: Vec<Cell>) -> Self {
        Self {
            strong: false,
            cells,
        }
    }
}

impl Column {
    pub(super) fn new(key: impl Into<String>, label: &str, kind: Kind) -> Self {
        Self {
            key: key.into(),
            label: label.to_owned(),
            kind,
        }
    }

    pub(super) fn is_numeric(&self) -> bool {
        !matches!(self.kind, Kind::Text | Kind::Prose)
    }
}

impl Table {
    /// Takes a column out.
    pub(super) fn remove(&mut self, key: &str) {
        if let Some(index) = self.columns.iter().position(|column| column.key == key) {
            self.columns.remove(index);
            for row in &mut self.rows {
                row.cells.remove(index);
            }
        }
    }
}
