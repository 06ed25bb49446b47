//! Knows the table of H2.
//! Must not know how a gap is computed.
//! Start at `hypothesis`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::oracle_gap::{GapVerdict, H2, OracleGap};

use super::Part;
use crate::report::table::{Cell, Column, Kind, Row, Table};

/// H2 on both scales.
pub(super) fn hypothesis(h2: &H2) -> Part {
    let mut warnings = Vec::new();
    let mut rows = Vec::new();
    let mut ratios = Vec::new();
    for (scale, result) in [("clipped", &h2.clipped), ("raw", &h2.raw)] {
        match result {
            Computed::Value(gap) => {
                rows.extend(gap_rows(scale, gap));
                ratios.push(Row::of(vec![
                    Cell::text(scale),
                    Cell::computed_interval(&gap.recovered_ratio),
                ]));
                if gap.optimal_repair_assumed {
                    warnings.push(format!(
                        "On {scale} scores no optimal-repair arm was run: the constant 1 stands in."
                    ));
                }
                if !gap.left_out.is_empty() {
                    warnings.push(format!(
                        "Left out on {scale} scores, because an arm has no session: {}.",
                        gap.left_out.join(", ")
                    ));
                }
            }
            Computed::NotComputed(reason) => {
                warnings.push(format!("Not computed on {scale} scores: {reason}."));
            }
        }
    }
    Part {
        anchor: "h2",
        title: "H2: how far below an optimal repair is the cheat oracle?",
        remarks: Vec::new(),
        open: 1,
        tables: vec![gaps(rows), recovered(ratios)],
        warnings,
    }
}

fn gaps(rows: Vec<Row>) -> Table {
    Table {
        name: "h2_gaps".to_owned(),
        title: "H2: gaps".to_owned(),
        note: "Optimal repair minus cheat oracle. The bold row decides: its interval against the margin.".to_owned(),
        columns: vec![
            Column::new("scale", "scale", Kind::Text),
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("optimal_mean", "optimal repair", Kind::Number),
            Column::new("oracle_mean", "cheat oracle", Kind::Number),
            Column::new("gap", "gap, bootstrap interval", Kind::Interval),
            Column::new("gap_welch", "Welch interval", Kind::Range),
            Column::new("p", "p", Kind::PValue),
            Column::new("p_adjusted", "p adjusted", Kind::PValue),
            Column::new("verdict", "verdict", Kind::Text),
            Column::new("assumes", "what it assumes", Kind::Prose),
        ],
        rows,
    }
}

fn recovered(rows: Vec<Row>) -> Table {
    Table {
        name: "h2_recovered".to_owned(),
        title: "H2: share of an optimal repair that the cheat oracle recovers".to_owned(),
        note: "Sum of the oracle's means over the sum of optimal repair's.".to_owned(),
        columns: vec![
            Column::new("scale", "scale", Kind::Text),
            Column::new("recovered", "recovered ratio", Kind::Interval),
        ],
        rows,
    }
}

fn gap_rows(scale: &'static str, gap: &OracleGap) -> Vec<Row> {
    let mut rows = vec![Row {
        strong: scale == "clipped",
        cells: vec![
            Cell::text(scale),
            Cell::text("mean over malfunctions"),
            Cell::Absent(String::new()),
            Cell::Absent(String::new()),
            Cell::difference(&gap.gap),
            Cell::range(&gap.gap.welch),
            Cell::Absent(String::new()),
            Cell::Absent(String::new()),
            Cell::text(word(gap.verdict)),
            Cell::text(
                "Malfunctions are fixed, not a sample; sessions are resampled within each arm and malfunction.",
            ),
        ],
    }];
    rows.extend(gap.malfunctions.iter().map(|each| {
        Row::of(vec![
            Cell::text(scale),
            Cell::text(&each.malfunction),
            Cell::Number(each.optimal_mean),
            Cell::Number(each.oracle_mean),
            Cell::difference(&each.gap),
            Cell::range(&each.gap.welch),
            Cell::p(&each.p),
            match &each.p_adjusted {
                Computed::Value(p) => Cell::PValue(*p),
                Computed::NotComputed(reason) => Cell::Absent(reason.to_string()),
            },
            Cell::text(word(each.verdict)),
            Cell::text("Descriptive: sessions of both arms are exchangeable when there is no gap."),
        ])
    }));
    rows
}

fn word(verdict: GapVerdict) -> &'static str {
    match verdict {
        GapVerdict::AtCeiling => "at the ceiling",
        GapVerdict::Gap => "gap",
        GapVerdict::Undecided => "undecided",
    }
}
