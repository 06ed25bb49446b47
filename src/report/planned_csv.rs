//! Knows the file of planned cells that goes with a bare table of scores.
//! Must not know scores, nor where the file lies.
//! Start at `read_planned`.

use std::collections::BTreeMap;

use evalxrl_analysis::score_table::{
    Invocations, PlannedCell, ScoreRow, ScoreTable, UNKNOWN_ENVIRONMENT, canonical_method,
};

use super::csv_lines::{Columns, CsvError, Line, problem, read_lines};

const COLUMNS: Columns = Columns {
    known: &["malfunction", "method", "sessions", "coder", "invocations"],
    required: &["malfunction", "method", "sessions"],
};

/// Most sessions that a cell may plan.
const MOST_SESSIONS: u64 = 100_000;

/// One line: (malfunction, method, sessions, coder, invocations).
type Row = (String, String, u64, Option<String>, Option<Invocations>);

/// Replaces the planned cells of a table by those of a file; `name` is the file's name in messages.
///
/// # Errors
/// Every bad line at once: what cannot be read, a cell planned twice, a column that the table has and the file lacks (or
/// the other way round), and sessions of a cell that is not planned.
pub fn read_planned(bytes: &[u8], name: &str, table: ScoreTable) -> Result<ScoreTable, CsvError> {
    let (rows, mut problems) = read_lines(bytes, COLUMNS, planned_row);
    let with_coder = table.rows().iter().any(|row| row.coder.is_some());
    let with_invocations = table.rows().iter().any(|row| row.invocations.is_some());
    if let Some((_, (_, _, _, coder, invocations))) = rows.first() {
        for (column, scores, planned) in [
            ("coder", with_coder, coder.is_some()),
            ("invocations", with_invocations, invocations.is_some()),
        ] {
            if scores != planned {
                let wrong = if scores {
                    "the scores have this column, and the planned cells lack it"
                } else {
                    "the scores lack this column"
                };
                problems.push(problem(1, "header", column, wrong));
            }
        }
    } else if problems.is_empty() {
        problems.push(problem(1, "header", "alone", "no cell is planned"));
    }
    let mut first_line: BTreeMap<_, u64> = BTreeMap::new();
    let (mut cells, mut lines): (Vec<PlannedCell>, Vec<u64>) = (Vec::new(), Vec::new());
    for (line, (malfunction, method, sessions, coder, invocations)) in rows {
        let key = (
            coder.clone(),
            invocations,
            malfunction.clone(),
            method.clone(),
        );
        if let Some(first) = first_line.get(&key) {
            let wrong = format!("{method} on {malfunction} is planned on line {first} already");
            problems.push(problem(line, "method", &method, wrong));
            continue;
        }
        first_line.insert(key, line);
        cells.push(PlannedCell {
            environment: environment(&table, &malfunction),
            coder,
            invocations,
            malfunction,
            method,
            sessions,
        });
        lines.push(line);
    }
    for (cell, line) in cells.iter().zip(&lines) {
        let done = table.rows().iter().filter(|row| belongs(row, cell)).count() as u64;
        if done > cell.sessions {
            let wrong = format!(
                "{} on {} has {done} sessions in the table, more than planned",
                cell.method, cell.malfunction
            );
            problems.push(problem(
                *line,
                "sessions",
                &cell.sessions.to_string(),
                wrong,
            ));
        }
    }
    if !problems.is_empty() {
        return Err(CsvError::new(name, problems));
    }
    table.with_planned(cells).map_err(|errors| {
        let errors = errors.iter();
        let problems = errors.map(|error| problem(1, "cells", "planned", error.to_string()));
        CsvError::new(name, problems.collect())
    })
}

/// Whether a session is one of a planned cell; the ids of a coalition have no order.
fn belongs(row: &ScoreRow, cell: &PlannedCell) -> bool {
    row.coder == cell.coder
        && row.invocations == cell.invocations
        && row.malfunction == cell.malfunction
        && canonical_method(&row.method) == canonical_method(&cell.method)
}

fn environment(table: &ScoreTable, malfunction: &str) -> String {
    let mut rows = table.rows().iter();
    rows.find(|row| row.malfunction == malfunction)
        .map_or(UNKNOWN_ENVIRONMENT, |row| &row.environment)
        .to_owned()
}

fn planned_row(line: &mut Line<'_>) -> Option<Row> {
    let before = line.problems();
    let malfunction = line.present::<String>("malfunction", "empty");
    let method = line.present::<String>("method", "empty");
    let sessions = line.present::<u64>("sessions", "not a whole number from 0");
    let coder = line.present::<String>("coder", "empty");
    let invocations =
        line.present::<Invocations>("invocations", "neither a whole number nor unlimited");
    if let Some(sessions) = sessions.filter(|sessions| *sessions > MOST_SESSIONS) {
        let wrong = format!("a cell plans at most {MOST_SESSIONS} sessions");
        line.reject("sessions", &sessions.to_string(), &wrong);
    }
    if line.problems() > before {
        return None;
    }
    Some((malfunction?, method?, sessions?, coder, invocations))
}
