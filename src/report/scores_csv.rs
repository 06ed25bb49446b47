//! Knows `scores.csv`: its columns, how a row is written, and every way a line can be wrong.
//! Must not know statistics, nor where the file lies.
//! Start at `write_scores` and `read_scores`.

use std::fmt::Write as _;
use std::str::FromStr;

use evalxrl_analysis::score_table::{Invocations, Outcome, Roles, RowError, ScoreRow, ScoreTable};

const COLUMNS: [&str; 13] = [
    "malfunction",
    "environment",
    "method",
    "replication",
    "coder",
    "invocations",
    "block",
    "raw",
    "clipped",
    "outcome",
    "tool_calls",
    "cost_usd",
    "wall_s",
];

const REQUIRED: [&str; 5] = ["malfunction", "environment", "method", "replication", "raw"];

/// A tidy table that cannot be read, with every reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", listed(.name, .problems))]
pub struct ScoresError {
    /// The file's name as the reader knows it.
    pub name: String,
    /// Everything wrong with it, in order of lines.
    pub problems: Vec<RowError>,
}

fn listed(name: &str, problems: &[RowError]) -> String {
    let mut text = String::new();
    for (index, problem) in problems.iter().enumerate() {
        let separator = if index == 0 { "" } else { "\n" };
        let line = super::inert::inert_line(&problem.to_string());
        write!(text, "{separator}{name}:{line}").expect("a string takes any text");
    }
    text
}

/// Writes the table: header, LF, `.` decimals, shortest floats that read back equal; optional columns only where used.
///
/// # Errors
/// A row that the CSV writer refuses; none is known.
pub fn write_scores(table: &ScoreTable) -> Result<Vec<u8>, csv::Error> {
    let rows = table.rows();
    let used: Vec<&str> = COLUMNS
        .into_iter()
        .filter(|column| match *column {
            "coder" => rows.iter().any(|row| row.coder.is_some()),
            "invocations" => rows.iter().any(|row| row.invocations.is_some()),
            "block" => rows.iter().any(|row| row.block.is_some()),
            _ => true,
        })
        .collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&used)?;
    for row in rows {
        writer.write_record(used.iter().map(|column| cell(row, column)))?;
    }
    writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))
}

fn cell(row: &ScoreRow, column: &str) -> String {
    fn text<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
    // Adding zero turns −0 into 0, which other readers would print with its sign.
    let number = |value: Option<f64>| text(value.map(|value| value + 0.0));
    match column {
        "malfunction" => row.malfunction.clone(),
        "environment" => row.environment.clone(),
        "method" => row.method.clone(),
        "replication" => row.replication.to_string(),
        "coder" => text(row.coder.as_ref()),
        "invocations" => text(row.invocations),
        "block" => text(row.block.as_ref()),
        "raw" => number(Some(row.raw)),
        "clipped" => number(row.clipped),
        "outcome" => row.outcome.name().to_owned(),
        "tool_calls" => text(row.tool_calls),
        "cost_usd" => number(row.cost_usd),
        _ => number(row.wall_s),
    }
}

/// Reads a table; `name` is the file's name in messages. Column order is free.
///
/// # Errors
/// Every bad line at once, and every rule of the table that its rows break.
pub fn read_scores(bytes: &[u8], name: &str, roles: Roles) -> Result<ScoreTable, ScoresError> {
    let mut problems = Vec::new();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes);
    let mut records = reader.records();
    let columns = match records.next() {
        Some(Ok(header)) => header_columns(&header, &mut problems),
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
        return Err(ScoresError {
            name: name.to_owned(),
            problems,
        });
    }
    let mut rows = Vec::new();
    for record in records {
        match record {
            Ok(record) => {
                let line = record.position().map_or(0, csv::Position::line);
                let mut fields = Fields {
                    line,
                    columns: &columns,
                    record: &record,
                    problems: &mut problems,
                };
                rows.extend(fields.row().map(|row| (line, row)));
            }
            Err(error) => problems.push(unreadable(&error)),
        }
    }
    match ScoreTable::from_rows(rows, roles) {
        Ok(table) if problems.is_empty() => return Ok(table),
        Ok(_) => {}
        Err(broken) => problems.extend(broken),
    }
    problems.sort_by_key(|problem| problem.line);
    Err(ScoresError {
        name: name.to_owned(),
        problems,
    })
}

fn problem(line: u64, column: &'static str, value: &str, text: impl Into<String>) -> RowError {
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

fn header_columns(header: &csv::StringRecord, problems: &mut Vec<RowError>) -> Vec<&'static str> {
    let mut columns: Vec<&'static str> = Vec::new();
    for name in header {
        let name = name.trim_start_matches('\u{feff}');
        match COLUMNS.into_iter().find(|column| *column == name) {
            None => problems.push(problem(
                1,
                "header",
                name,
                format!("an unknown column; known are {}", COLUMNS.join(", ")),
            )),
            Some(column) if columns.contains(&column) => {
                problems.push(problem(1, "header", name, "the column appears twice"));
            }
            Some(column) => columns.push(column),
        }
    }
    for column in REQUIRED {
        if !columns.contains(&column) {
            problems.push(problem(1, "header", column, "the column is missing"));
        }
    }
    columns
}

/// One line being read.
struct Fields<'a> {
    line: u64,
    columns: &'a [&'static str],
    record: &'a csv::StringRecord,
    problems: &'a mut Vec<RowError>,
}

impl Fields<'_> {
    /// The row, or nothing where a problem was reported.
    fn row(&mut self) -> Option<ScoreRow> {
        if self.record.len() != self.columns.len() {
            let found = self.record.len().to_string();
            let text = format!(
                "{} fields, as many as the header has, are needed",
                self.columns.len()
            );
            self.problems.push(problem(
                self.line,
                "line",
                &format!("with {found} fields"),
                text,
            ));
            return None;
        }
        let before = self.problems.len();
        let malfunction = self.required::<String>("malfunction", "empty");
        let environment = self.required::<String>("environment", "empty");
        let method = self.required::<String>("method", "empty");
        let replication = self.required::<u64>("replication", "not a whole number from 0");
        let coder = self.present::<String>("coder", "empty");
        let invocations =
            self.present::<Invocations>("invocations", "neither a whole number nor unlimited");
        let block = self.present::<String>("block", "empty");
        let raw = self.required::<f64>("raw", "not a number; a missing session is an absent row");
        let clipped = self.present::<f64>("clipped", "not a number");
        let outcome = self.present::<Outcome>(
            "outcome",
            "not one of submitted, budget_spent, gave_up, agent_unserved, scoring_rejected",
        );
        let tool_calls = self.optional::<u64>("tool_calls", "not a whole number from 0");
        let cost_usd = self.optional::<f64>("cost_usd", "not a number");
        let wall_s = self.optional::<f64>("wall_s", "not a number");
        if self.problems.len() > before {
            return None;
        }
        Some(ScoreRow {
            malfunction: malfunction?,
            environment: environment?,
            method: method?,
            replication: replication?,
            coder,
            invocations,
            block,
            raw: raw?,
            clipped,
            outcome: outcome.unwrap_or(Outcome::Submitted),
            tool_calls,
            cost_usd,
            wall_s,
        })
    }

    fn text(&self, column: &str) -> Option<String> {
        let index = self.columns.iter().position(|known| *known == column)?;
        self.record.get(index).map(str::to_owned)
    }

    /// A column that the header is known to have; its cell must hold a value.
    fn required<T: FromStr>(&mut self, column: &'static str, wrong: &str) -> Option<T> {
        self.present(column, wrong)
    }

    /// A column that may be absent; its cell must hold a value where it is there.
    fn present<T: FromStr>(&mut self, column: &'static str, wrong: &str) -> Option<T> {
        let text = self.text(column)?;
        if text.is_empty() {
            self.problems.push(problem(
                self.line,
                column,
                "\"\"",
                "empty, and this column must hold a value in every row",
            ));
            return None;
        }
        self.parsed(column, &text, wrong)
    }

    /// A column whose cells may be empty.
    fn optional<T: FromStr>(&mut self, column: &'static str, wrong: &str) -> Option<T> {
        let text = self.text(column).filter(|text| !text.is_empty())?;
        self.parsed(column, &text, wrong)
    }

    fn parsed<T: FromStr>(&mut self, column: &'static str, text: &str, wrong: &str) -> Option<T> {
        match text.parse() {
            Ok(value) => Some(value),
            Err(_) => {
                self.problems.push(problem(self.line, column, text, wrong));
                None
            }
        }
    }
}
