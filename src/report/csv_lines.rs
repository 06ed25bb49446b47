//! Knows how a CSV file with named columns is read line by line so that every bad line is found in one reading.
//! Must not know which columns any file has.
//! Start at `read_lines`.

use std::fmt::Write as _;
use std::str::FromStr;

use evalxrl_analysis::score_table::RowError;

use super::inert::inert_line;

/// A CSV file that cannot be read, with every reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", listed(.name, .problems))]
pub struct CsvError {
    /// The file's name as the reader knows it.
    pub name: String,
    /// Everything wrong with it, in order of lines.
    pub problems: Vec<RowError>,
}

impl CsvError {
    pub(super) fn new(name: &str, mut problems: Vec<RowError>) -> Self {
        problems.sort_by_key(|problem| problem.line);
        Self {
            name: name.to_owned(),
            problems,
        }
    }

    /// One message per problem: `{name}:{line}: {column} {value}: {what is wrong}`, inert.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        let problems = self.problems.iter();
        problems
            .map(|problem| {
                let line = inert_line(&problem.to_string());
                format!("{}:{line}", inert_line(&self.name))
            })
            .collect()
    }
}

fn listed(name: &str, problems: &[RowError]) -> String {
    let mut text = String::new();
    for (index, problem) in problems.iter().enumerate() {
        let separator = if index == 0 { "" } else { "\n" };
        let line = inert_line(&problem.to_string());
        write!(text, "{separator}{}:{line}", inert_line(name)).expect("a string takes any text");
    }
    text
}

/// The columns a file may have and those it must have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) known: &'static [&'static str],
    pub(super) required: &'static [&'static str],
}

/// Reads every line; `row` gives nothing where it reported a problem. Column order is free; UTF-8 with or without a mark
/// in front, lines ended by LF or CRLF, quoted fields as RFC 4180 has them.
pub(super) fn read_lines<T>(
    bytes: &[u8],
    columns: Columns,
    mut row: impl FnMut(&mut Line<'_>) -> Option<T>,
) -> (Vec<(u64, T)>, Vec<RowError>) {
    let mut problems = Vec::new();
    let mut rows = Vec::new();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let mut records = reader.records();
    let names = match records.next() {
        Some(Ok(header)) => header_columns(&header, columns, &mut problems),
        Some(Err(error)) => {
            problems.push(unreadable(&error));
            Vec::new()
        }
        None => {
            problems.push(problem(1, "header", "\"\"", "the file is empty"));
            Vec::new()
        }
    };
    if !problems.is_empty() {
        return (rows, problems);
    }
    for record in records {
        match record {
            Ok(record) => {
                let number = record.position().map_or(0, csv::Position::line);
                let mut line = Line {
                    number,
                    columns: &names,
                    record: &record,
                    problems: &mut problems,
                };
                if line.is_whole() {
                    rows.extend(row(&mut line).map(|row| (number, row)));
                }
            }
            Err(error) => problems.push(unreadable(&error)),
        }
    }
    (rows, problems)
}

pub(super) fn problem(
    line: u64,
    column: &'static str,
    value: &str,
    text: impl Into<String>,
) -> RowError {
    RowError {
        line,
        column,
        value: value.to_owned(),
        problem: text.into(),
    }
}

fn unreadable(error: &csv::Error) -> RowError {
    let line = error.position().map_or(1, csv::Position::line);
    problem(line, "line", "unreadable", error.to_string())
}

fn header_columns(
    header: &csv::StringRecord,
    columns: Columns,
    problems: &mut Vec<RowError>,
) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for name in header {
        match columns.known.iter().find(|column| **column == name) {
            None => problems.push(problem(
                1,
                "header",
                name,
                format!("an unknown column; known are {}", columns.known.join(", ")),
            )),
            Some(column) if names.contains(column) => {
                problems.push(problem(1, "header", name, "the column appears twice"));
            }
            Some(column) => names.push(column),
        }
    }
    for column in columns.required {
        if !names.contains(column) {
            problems.push(problem(1, "header", column, "the column is missing"));
        }
    }
    names
}

/// One line being read.
pub(super) struct Line<'a> {
    number: u64,
    columns: &'a [&'static str],
    record: &'a csv::StringRecord,
    problems: &'a mut Vec<RowError>,
}

impl Line<'_> {
    fn is_whole(&mut self) -> bool {
        if self.record.len() == self.columns.len() {
            return true;
        }
        let found = format!("with {} fields", self.record.len());
        let text = format!(
            "{} fields, as many as the header has, are needed",
            self.columns.len()
        );
        self.problems
            .push(problem(self.number, "line", &found, text));
        false
    }

    /// Adds a problem with a cell of this line.
    pub(super) fn reject(&mut self, column: &'static str, value: &str, wrong: &str) {
        let value = if value.is_empty() { "\"\"" } else { value };
        self.problems
            .push(problem(self.number, column, value, wrong));
    }

    /// How many problems have been found so far, in all lines.
    pub(super) fn problems(&self) -> usize {
        self.problems.len()
    }

    fn text(&self, column: &str) -> Option<String> {
        let index = self.columns.iter().position(|known| *known == column)?;
        self.record.get(index).map(str::to_owned)
    }

    /// A column that may be absent unless the header must have it; its cell must hold a value where the column is there.
    pub(super) fn present<T: FromStr>(&mut self, column: &'static str, wrong: &str) -> Option<T> {
        let text = self.text(column)?;
        if text.is_empty() {
            let wrong = "empty, and this column must hold a value in every row";
            self.reject(column, "", wrong);
            return None;
        }
        self.parsed(column, &text, wrong)
    }

    /// A column whose cells may be empty.
    pub(super) fn optional<T: FromStr>(&mut self, column: &'static str, wrong: &str) -> Option<T> {
        let text = self.text(column).filter(|text| !text.is_empty())?;
        self.parsed(column, &text, wrong)
    }

    fn parsed<T: FromStr>(&mut self, column: &'static str, text: &str, wrong: &str) -> Option<T> {
        match text.parse() {
            Ok(value) => Some(value),
            Err(_) => {
                self.reject(column, text, wrong);
                None
            }
        }
    }
}
