//! Knows the laws of `scores.csv` and every message about a bad line.
//! Must not know the run behind a table.
//! Start at `what_is_written_is_read_back_equal`.

use evalxrl_analysis::score_table::{Outcome, Roles, ScoreRow, ScoreTable};
use proptest::prelude::*;

use super::synthetic::Shape;
use crate::report::{read_scores, score_table, write_scores};

fn read(text: &str) -> Result<ScoreTable, String> {
    read_scores(text.as_bytes(), "scores.csv", Roles::default()).map_err(|error| error.to_string())
}

#[test]
fn a_run_is_written_sorted_with_every_column() {
    let table = score_table(&Shape::of(1, 1, 2).run()).unwrap();
    let text = String::from_utf8(write_scores(&table).unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "malfunction,environment,method,replication,coder,invocations,block,raw,clipped,outcome,\
         tool_calls,cost_usd,wall_s"
    );
    assert_eq!(lines.len(), 9);
    assert!(
        lines[1].contains(",optimal,"),
        "sorted by coder first: {}",
        lines[1]
    );
    assert!(!text.contains('\r'));
    assert_eq!(read(&text).unwrap().rows(), table.rows());
}

#[test]
fn every_bad_line_is_reported_at_once() {
    let text = "\
malfunction,environment,method,replication,raw,clipped,outcome
a,grid,no-method,0,0.5,0.5,submitted
a,grid,no-method,1,,,submitted
a,grid,no-method,2,NaN,0,submitted
a,grid,no-method,x,0.5,0.5,submitted
a,grid,no-method,0,0.5,0.5,submitted
a,grid,saliency,0,0.5,0.9,submitted
a,grid,saliency,1,0.5,0.5,budget_spent
a,grid,saliency,2,0.5,0.5,crashed
a,other,saliency,3,0.5,0.5,submitted
a,grid,saliency,4,inf,1,submitted
a,grid,saliency
";
    let error = read(text).unwrap_err();
    let starts = [
        "scores.csv:3: raw \"\": empty",
        "scores.csv:3: clipped \"\": empty",
        "scores.csv:4: raw NaN: not finite",
        "scores.csv:5: replication x: not a whole number from 0",
        "scores.csv:6: replication 0: a second session of no-method on a",
        "scores.csv:7: clipped 0.9: contradicts raw 0.5",
        "scores.csv:8: raw 0.5: must be 0",
        "scores.csv:9: outcome crashed: not one of submitted",
        "scores.csv:10: environment other: a belongs to grid",
        "scores.csv:11: raw inf: not finite",
        "scores.csv:12: line with 3 fields: 7 fields",
    ];
    for start in starts {
        assert!(
            error.lines().any(|line| line.starts_with(start)),
            "{start}\nis not in\n{error}"
        );
    }
    assert_eq!(error.lines().count(), starts.len(), "{error}");
    let numbers: Vec<u32> = error
        .lines()
        .map(|line| line.split(':').nth(1).unwrap().parse().unwrap())
        .collect();
    assert!(numbers.is_sorted());
}

#[test]
fn an_unknown_a_doubled_and_a_missing_column_are_all_named() {
    let error = read("malfunction,method,method,replication,score\n").unwrap_err();
    for part in [
        "header score: an unknown column",
        "header method: the column appears twice",
        "header raw: the column is missing",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert!(read("").unwrap_err().contains("the file is empty"));
}

#[test]
fn an_absent_outcome_column_means_submitted_and_an_absent_clipped_one_is_computed() {
    let table = read("raw,replication,method,environment,malfunction\n1.5,0,m,e,a\n").unwrap();
    let row = &table.rows()[0];
    assert_eq!(row.outcome, Outcome::Submitted);
    assert_eq!(row.clipped, Some(1.0));
    assert_eq!(row.coder, None);
}

#[test]
fn text_with_bytes_that_are_no_characters_is_a_message() {
    let error = read_scores(
        b"malfunction,environment,method,replication,raw\n\xff,e,m,0,0.5\n",
        "scores.csv",
        Roles::default(),
    )
    .unwrap_err();
    assert!(error.to_string().starts_with("scores.csv:2: "), "{error}");
}

fn row() -> impl Strategy<Value = ScoreRow> {
    let ids = ("[a-c]", "[a-c](\\+[d-e])?", 0u64..4);
    let values = (
        proptest::num::f64::NORMAL | proptest::num::f64::ZERO,
        proptest::option::of(0u64..1000),
        proptest::option::of(0.0..1e12f64),
        ".{1,12}",
    );
    (ids, values).prop_map(
        |((malfunction, method, replication), (raw, tool_calls, cost, coder))| ScoreRow {
            malfunction,
            environment: "grid, \"1\"".to_owned(),
            method,
            replication,
            coder: Some(coder),
            invocations: None,
            block: None,
            raw: raw + 0.0,
            clipped: None,
            outcome: Outcome::Submitted,
            tool_calls,
            cost_usd: cost,
            wall_s: cost,
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_equal(rows in proptest::collection::vec(row(), 1..12)) {
        let rows = rows.into_iter().enumerate().map(|(index, mut row)| {
            row.replication = index as u64;
            (index as u64 + 1, row)
        });
        let table = ScoreTable::from_rows(rows, Roles::default()).unwrap();
        let bytes = write_scores(&table).unwrap();
        let again = read_scores(&bytes, "scores.csv", Roles::default()).unwrap();
        prop_assert_eq!(table.rows(), again.rows());
        prop_assert_eq!(bytes, write_scores(&again).unwrap());
    }
}
