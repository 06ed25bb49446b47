//! Knows the table of predictions: what was expected of a cell, and what was found.
//! Must not know how a prediction is judged.
//! Start at `predictions`.

use crate::report::predictions::{Found, PredictionFinding};
use crate::report::run::Expected;
use crate::report::table::{Cell, Column, Kind, Row, Table};

/// One row per prediction of a stratum.
pub(in crate::report) fn predictions<'a, 'b: 'a>(
    found: impl Iterator<Item = &'a PredictionFinding<'b>>,
) -> Table {
    let rows = found.map(|each| Row {
        strong: each.found == Found::Contradicted,
        cells: vec![
            Cell::text(each.prediction.malfunction.as_str()),
            Cell::text(each.prediction.method.as_str()),
            Cell::text(match each.prediction.expected {
                Expected::Reveal => "reveals",
                Expected::Mislead => "misleads",
            }),
            Cell::of(&each.lift, Cell::difference),
            Cell::of(&each.lift, |lift| Cell::range(&lift.welch)),
            Cell::text(match (each.found, each.harmed) {
                (Found::Confirmed, true) => "confirmed, and harmed by H3",
                (Found::Confirmed, false) => "confirmed",
                (Found::Contradicted, _) => "contradicted",
                (Found::Undecided, _) => "undecided",
                (Found::NotRun, _) => "not run",
            }),
        ],
    });
    Table {
        name: "predictions".to_owned(),
        title: "What was predicted, and what was found".to_owned(),
        note: "Written into each malfunction before any session. A method that reveals should lift, one that misleads should \
               lower. Confirmed or contradicted: the Welch interval of the raw lift lies wholly on one side of 0. Each is read \
               by itself, without adjustment for their number."
            .to_owned(),
        columns: vec![
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("method", "method", Kind::Text),
            Column::new("expected", "expected", Kind::Text),
            Column::new("lift_raw", "lift, raw", Kind::Interval),
            Column::new("lift_welch", "Welch interval", Kind::Range),
            Column::new("found", "found", Kind::Text),
        ],
        rows: rows.collect(),
    }
}
