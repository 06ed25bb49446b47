//! Knows `scores.csv`: its columns, how a row is written, and every way a line can be wrong.
//! Must not know statistics, nor where the file lies.
//! Start at `write_scores` and `read_scores`.

use evalxrl_analysis::score_table::{
    Invocations, Outcome, Roles, ScoreRow, ScoreTable, UNKNOWN_ENVIRONMENT,
};

use super::csv_lines::{Columns, CsvError, Line, problem, read_lines};
use super::numerals;

const COLUMNS: Columns = Columns {
    known: &[
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
    ],
    required: &["malfunction", "method", "replication", "raw"],
};

/// Writes the table: header, LF, `.` decimals, shortest floats that read back equal; optional columns only where used.
///
/// # Errors
/// A row that the CSV writer refuses; none is known.
pub fn write_scores(table: &ScoreTable) -> Result<Vec<u8>, csv::Error> {
    let rows = table.rows();
    let used: Vec<&str> = COLUMNS
        .known
        .iter()
        .copied()
        .filter(|column| match *column {
            "environment" => rows
                .iter()
                .any(|row| row.environment != UNKNOWN_ENVIRONMENT),
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
    let number = |value: Option<f64>| text(value.map(numerals::float));
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
pub fn read_scores(bytes: &[u8], name: &str, roles: Roles) -> Result<ScoreTable, CsvError> {
    let (rows, mut problems) = read_lines(bytes, COLUMNS, score_row);
    if rows.is_empty() && problems.is_empty() {
        problems.push(problem(1, "header", "alone", "no session follows it"));
    }
    match ScoreTable::from_rows(rows, roles) {
        Ok(table) if problems.is_empty() => return Ok(table),
        Ok(_) => {}
        Err(broken) => problems.extend(broken),
    }
    Err(CsvError::new(name, problems))
}

/// The row, or nothing where a problem was reported.
fn score_row(line: &mut Line<'_>) -> Option<ScoreRow> {
    let before = line.problems();
    let malfunction = line.present::<String>("malfunction", "empty");
    let environment = line.present::<String>("environment", "empty");
    let method = line.present::<String>("method", "empty");
    let replication = line.present::<u64>("replication", "not a whole number from 0");
    let coder = line.present::<String>("coder", "empty");
    let invocations =
        line.present::<Invocations>("invocations", "neither a whole number nor unlimited");
    let block = line.present::<String>("block", "empty");
    let raw = line.present::<f64>("raw", "not a number; a missing session is an absent row");
    let clipped = line.present::<f64>("clipped", "not a number");
    let outcome = line.present::<Outcome>(
        "outcome",
        "not one of submitted, budget_spent, gave_up, agent_unserved, scoring_rejected",
    );
    let tool_calls = line.optional::<u64>("tool_calls", "not a whole number from 0");
    let cost_usd = line.optional::<f64>("cost_usd", "not a number");
    let wall_s = line.optional::<f64>("wall_s", "not a number");
    if line.problems() > before {
        return None;
    }
    Some(ScoreRow {
        malfunction: malfunction?,
        environment: environment.unwrap_or_else(|| UNKNOWN_ENVIRONMENT.to_owned()),
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
