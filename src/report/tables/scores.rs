//! Knows the tables of cells, lifts and comparisons.
//! Must not know hypothesis tests.
//! Start at `cells`.

use evalxrl_analysis::cells::{CellFinding, CellScores};
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::findings::StratumFindings;
use evalxrl_analysis::lift::{CellLift, Difference, MethodLift};
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::{Outcome, Role};

use crate::report::figures::exceeds_oracle;
use crate::report::table::{Cell, Column, Kind, Row, Table};

/// Mean, spread and intervals of every planned cell.
pub(super) fn cells(stratum: &StratumFindings) -> Table {
    Table {
        name: "cells".to_owned(),
        title: "Scores of every cell".to_owned(),
        note: "Raw scores are winsorised from below; intervals are bootstrap percentiles, which cover too little \
               below ten sessions, with Student t beside them."
            .to_owned(),
        columns: vec![
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("environment", "environment", Kind::Text),
            Column::new("method", "method", Kind::Text),
            Column::new("sessions", "N", Kind::Count),
            Column::new("planned", "planned", Kind::Count),
            Column::new("not_submitted", "not submitted", Kind::Count),
            Column::new("raw_mean", "raw mean", Kind::Number),
            Column::new("raw", "raw interval", Kind::Range),
            Column::new("raw_t", "raw t interval", Kind::Range),
            Column::new("raw_sd", "raw SD", Kind::Number),
            Column::new("clipped_mean", "clipped mean", Kind::Number),
            Column::new("clipped", "clipped interval", Kind::Range),
        ],
        rows: stratum.cells.iter().map(cell_row).collect(),
    }
}

fn cell_row(cell: &CellFinding) -> Row {
    let submitted = cell.outcomes.get(&Outcome::Submitted).copied();
    let of = |scores: &Computed<CellScores>, pick: fn(&CellScores) -> Cell| match scores {
        Computed::Value(scores) => pick(scores),
        Computed::NotComputed(reason) => Cell::Absent(reason.to_string()),
    };
    Row::of(vec![
        Cell::text(&cell.malfunction),
        Cell::text(&cell.environment),
        Cell::text(&cell.method),
        Cell::Count(cell.sessions),
        Cell::Count(cell.planned),
        Cell::Count(cell.sessions - submitted.unwrap_or(0)),
        of(&cell.raw, |scores| Cell::Number(scores.mean)),
        of(&cell.raw, |scores| Cell::range(&scores.percentile)),
        of(&cell.raw, |scores| Cell::range(&scores.student_t)),
        of(&cell.raw, |scores| Cell::number(&scores.standard_deviation)),
        of(&cell.clipped, |scores| Cell::Number(scores.mean)),
        of(&cell.clipped, |scores| Cell::range(&scores.percentile)),
    ])
}

/// Lift of every cell on both scales, and raw against the cheat oracle.
pub(super) fn cell_lifts(stratum: &StratumFindings) -> Table {
    let mut rows = Vec::new();
    for raw in of_scale(stratum, Scale::Raw) {
        let clipped = of_scale(stratum, Scale::Clipped).find(|lift| lift.method == raw.method);
        for cell in &raw.malfunctions {
            let other = clipped.and_then(|lift| find(lift, &cell.malfunction));
            rows.push(Row::of(vec![
                Cell::text(&cell.malfunction),
                Cell::text(&raw.method),
                Cell::Count(sessions(stratum, &cell.malfunction, &raw.method)),
                difference(&cell.lift),
                other.map_or_else(
                    || Cell::Absent(String::new()),
                    |found| difference(&found.lift),
                ),
                if raw.role == Role::CheatOracle {
                    Cell::Absent("the cheat oracle itself".to_owned())
                } else {
                    difference(&cell.over_oracle)
                },
                if raw.role == Role::Xrl && exceeds_oracle(cell) {
                    Cell::text("above")
                } else {
                    Cell::Absent(String::new())
                },
            ]));
        }
    }
    Table {
        name: "cell_lifts".to_owned(),
        title: "Lift of every cell".to_owned(),
        note: "Mean of the cell minus mean of no-method on the same malfunction, with bootstrap percentile intervals."
            .to_owned(),
        columns: vec![
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("method", "method", Kind::Text),
            Column::new("sessions", "N", Kind::Count),
            Column::new("lift_raw", "lift, raw", Kind::Interval),
            Column::new("lift_clipped", "lift, clipped", Kind::Interval),
            Column::new("over_oracle_raw", "over the cheat oracle, raw", Kind::Interval),
            Column::new("above_oracle", "interval above the oracle", Kind::Text),
        ],
        rows,
    }
}

/// Mean lift of every method over malfunctions.
pub(super) fn lifts(stratum: &StratumFindings) -> Table {
    Table {
        name: "lifts".to_owned(),
        title: "Lift of every method".to_owned(),
        note: "Mean over malfunctions of the lift over no-method. Lifts share the baseline: methods are compared in \
               their own table, never by overlap of these intervals."
            .to_owned(),
        columns: vec![
            Column::new("method", "method", Kind::Text),
            Column::new("scale", "scale", Kind::Text),
            Column::new("malfunctions", "malfunctions", Kind::Count),
            Column::new("lift", "lift, bootstrap interval", Kind::Interval),
            Column::new("lift_welch", "Welch interval", Kind::Range),
        ],
        rows: stratum
            .lifts
            .methods
            .iter()
            .map(|lift| {
                let mut cells = vec![Cell::text(&lift.method), Cell::text(lift.scale.name())];
                cells.extend(difference_cells(&lift.mean));
                Row::of(cells)
            })
            .collect(),
    }
}

/// Methods against each other on the malfunctions they share.
pub(super) fn comparisons(stratum: &StratumFindings) -> Table {
    Table {
        name: "comparisons".to_owned(),
        title: "Methods against each other".to_owned(),
        note: "First minus second on common malfunctions.".to_owned(),
        columns: vec![
            Column::new("first", "first", Kind::Text),
            Column::new("second", "second", Kind::Text),
            Column::new("scale", "scale", Kind::Text),
            Column::new("malfunctions", "malfunctions", Kind::Count),
            Column::new(
                "difference",
                "difference, bootstrap interval",
                Kind::Interval,
            ),
            Column::new("difference_welch", "Welch interval", Kind::Range),
        ],
        rows: stratum
            .lifts
            .comparisons
            .iter()
            .map(|pair| {
                let mut cells = vec![
                    Cell::text(&pair.first),
                    Cell::text(&pair.second),
                    Cell::text(pair.scale.name()),
                ];
                cells.extend(difference_cells(&pair.difference));
                Row::of(cells)
            })
            .collect(),
    }
}

fn of_scale(stratum: &StratumFindings, scale: Scale) -> impl Iterator<Item = &MethodLift> {
    let lifts = stratum.lifts.methods.iter();
    lifts.filter(move |lift| lift.scale == scale)
}

fn find<'a>(lift: &'a MethodLift, malfunction: &str) -> Option<&'a CellLift> {
    let mut cells = lift.malfunctions.iter();
    cells.find(|cell| cell.malfunction == malfunction)
}

fn sessions(stratum: &StratumFindings, malfunction: &str, method: &str) -> u64 {
    stratum
        .cells
        .iter()
        .find(|cell| cell.malfunction == malfunction && cell.method == method)
        .map_or(0, |cell| cell.sessions)
}

fn difference(value: &Computed<Difference>) -> Cell {
    match value {
        Computed::Value(difference) => Cell::difference(difference),
        Computed::NotComputed(reason) => Cell::Absent(reason.to_string()),
    }
}

fn difference_cells(value: &Computed<Difference>) -> [Cell; 3] {
    match value {
        Computed::Value(found) => [
            Cell::Count(found.malfunctions),
            difference(value),
            Cell::range(&found.welch),
        ],
        Computed::NotComputed(reason) => [0, 1, 2].map(|_| Cell::Absent(reason.to_string())),
    }
}
