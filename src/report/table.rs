//! Knows a table of a report: typed columns and cells, written as CSV and LaTeX.
//! Must not know which tables there are.
//! Start at `Table`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::estimate::{Interval, PValue};
use evalxrl_analysis::lift::Difference;
use serde::Serialize;

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
    pub(super) key: &'static str,
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
    Link { text: String, href: String },
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
            ends: value.percentile.value().map(|found| [found.low, found.high]),
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
    pub(super) fn new(key: &'static str, label: &str, kind: Kind) -> Self {
        Self {
            key,
            label: label.to_owned(),
            kind,
        }
    }

    fn is_numeric(&self) -> bool {
        !matches!(self.kind, Kind::Text | Kind::Prose)
    }

    fn alignment(&self) -> &'static str {
        match self.kind {
            Kind::Text => "l",
            Kind::Prose => "p{6cm}",
            _ => "r",
        }
    }
}

/// A table as templates see it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TableView {
    name: String,
    title: String,
    note: String,
    columns: Vec<ColumnView>,
    rows: Vec<RowView>,
}

#[derive(Debug, Clone, Serialize)]
struct ColumnView {
    label: String,
    numeric: bool,
    prose: bool,
}

#[derive(Debug, Clone, Serialize)]
struct RowView {
    strong: bool,
    cells: Vec<CellView>,
}

#[derive(Debug, Clone, Serialize)]
struct CellView {
    text: String,
    numeric: bool,
    href: Option<String>,
    reason: Option<String>,
}

impl Table {
    pub(super) fn view(&self) -> TableView {
        TableView {
            name: self.name.clone(),
            title: self.title.clone(),
            note: self.note.clone(),
            columns: self
                .columns
                .iter()
                .map(|column| ColumnView {
                    label: column.label.clone(),
                    numeric: column.is_numeric(),
                    prose: column.kind == Kind::Prose,
                })
                .collect(),
            rows: self.rows.iter().map(|row| self.row_view(row)).collect(),
        }
    }

    fn row_view(&self, row: &Row) -> RowView {
        let cells = row.cells.iter().zip(&self.columns);
        RowView {
            strong: row.strong,
            cells: cells
                .map(|(cell, column)| CellView {
                    text: cell.shown(),
                    numeric: column.is_numeric(),
                    href: match cell {
                        Cell::Link { href, .. } => Some(href.clone()),
                        _ => None,
                    },
                    reason: match cell {
                        Cell::Absent(reason) if !reason.is_empty() => Some(reason.clone()),
                        _ => None,
                    },
                })
                .collect(),
        }
    }

    /// CSV with full precision; an interval takes three columns, an absent value is an empty cell.
    pub(super) fn csv(&self) -> Result<Vec<u8>, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.columns.iter().flat_map(|column| match column.kind {
            Kind::Interval => ["", "_low", "_high"]
                .map(|end| format!("{}{end}", column.key))
                .to_vec(),
            Kind::Range => ["_low", "_high"]
                .map(|end| format!("{}{end}", column.key))
                .to_vec(),
            _ => vec![column.key.to_owned()],
        }))?;
        for row in &self.rows {
            let cells = row.cells.iter().zip(&self.columns);
            writer.write_record(cells.flat_map(|(cell, column)| csv_cells(cell, column.kind)))?;
        }
        writer
            .into_inner()
            .map_err(|error| csv::Error::from(error.into_error()))
    }

    /// A LaTeX table in the manner of package `booktabs`; needs nothing else.
    pub(super) fn tex(&self) -> String {
        let alignment: String = self
            .columns
            .iter()
            .map(Column::alignment)
            .collect::<Vec<_>>()
            .concat();
        let heading: Vec<String> = self.columns.iter().map(|c| tex_text(&c.label)).collect();
        let mut lines = vec![
            "% needs \\usepackage{booktabs}".to_owned(),
            "\\begin{table}".to_owned(),
            "\\centering".to_owned(),
            format!("\\caption{{{}}}", tex_text(&self.title)),
            format!("\\begin{{tabular}}{{{alignment}}}"),
            "\\toprule".to_owned(),
            format!("{} \\\\", heading.join(" & ")),
            "\\midrule".to_owned(),
        ];
        for row in &self.rows {
            let cells: Vec<String> = row
                .cells
                .iter()
                .map(|cell| {
                    let text = tex_text(&cell.shown());
                    if row.strong {
                        format!("\\textbf{{{text}}}")
                    } else {
                        text
                    }
                })
                .collect();
            lines.push(format!("{} \\\\", cells.join(" & ")));
        }
        for line in ["\\bottomrule", "\\end{tabular}", "\\end{table}", ""] {
            lines.push(line.to_owned());
        }
        lines.join("\n")
    }
}

fn csv_cells(cell: &Cell, kind: Kind) -> Vec<String> {
    match cell {
        Cell::Text(text) | Cell::Link { text, .. } => vec![text.clone()],
        Cell::Count(count) => vec![count.to_string()],
        Cell::Number(value)
        | Cell::Fine(value)
        | Cell::Signed(value)
        | Cell::PValue(value) => {
            vec![(value + 0.0).to_string()]
        }
        Cell::Interval { estimate, ends } => {
            let end = |index: usize| ends.map(|ends| ends[index]);
            [Some(*estimate), end(0), end(1)]
                .map(|value| value.map_or_else(String::new, |value| (value + 0.0).to_string()))
                .to_vec()
        }
        Cell::Range { low, high } => {
            [low, high].map(|value| (value + 0.0).to_string()).to_vec()
        }
        Cell::Absent(_) if kind == Kind::Interval => vec![String::new(); 3],
        Cell::Absent(_) if kind == Kind::Range => vec![String::new(); 2],
        Cell::Absent(_) => vec![String::new()],
    }
}

/// Escapes what LaTeX reads as a command; signs beyond ASCII that the default encoding lacks become commands.
fn tex_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in super::inert::inert_line(text).chars() {
        match character {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(character);
            }
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '\u{2212}' => out.push_str("$-$"),
            '–' => out.push_str("--"),
            '…' => out.push_str("\\dots{}"),
            // The first cell of a row must not look like the optional argument of the line before it.
            '[' => out.push_str("{[}"),
            ']' => out.push_str("{]}"),
            plain if plain.is_ascii() => out.push(plain),
            _ => out.push('?'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            name: "lifts".to_owned(),
            title: "Lift & more".to_owned(),
            note: String::new(),
            columns: vec![
                Column::new("method", "method", Kind::Text),
                Column::new("lift", "lift", Kind::Interval),
                Column::new("p", "p", Kind::PValue),
            ],
            rows: vec![
                Row::of(vec![
                    Cell::text("a_b"),
                    Cell::Interval {
                        estimate: -0.123_4,
                        ends: Some([-0.5, 0.25]),
                    },
                    Cell::PValue(0.25),
                ]),
                Row::of(vec![
                    Cell::text("c,\"d\""),
                    Cell::Absent("one session".to_owned()),
                    Cell::Absent("one session".to_owned()),
                ]),
            ],
        }
    }

    #[test]
    fn csv_keeps_full_precision_and_leaves_absent_values_empty() {
        let text = String::from_utf8(table().csv().unwrap()).unwrap();
        assert_eq!(
            text,
            "method,lift,lift_low,lift_high,p\na_b,-0.1234,-0.5,0.25,0.25\n\"c,\"\"d\"\"\",,,,\n"
        );
    }

    #[test]
    fn latex_escapes_what_it_would_read_as_commands() {
        let text = table().tex();
        assert!(text.contains("a\\_b & $-$0.12 {[}$-$0.50, 0.25{]} & 0.250 \\\\"));
        assert!(text.contains("\\caption{Lift \\& more}"));
        assert_eq!(tex_text("\\input{x}\u{1b}"), "\\textbackslash{}input\\{x\\}?");
    }
}
