//! Knows the tables of what texts say by themselves, beside what their methods do in use.
//! Must not know how a percentile or a correlation is computed.
//! Start at `part`.

use std::collections::BTreeSet;

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::estimate::{Interval, IntervalFlag};
use evalxrl_analysis::localisation::{LiftCorrelation, MethodLocalisation};
use evalxrl_analysis::rank_correlation::RankCorrelation;
use evalxrl_analysis::scale::Scale;

use super::Part;
use crate::report::localisation::LocalisationFindings;
use crate::report::numerals;
use crate::report::table::{Cell, Column, Kind, Row, Table};

/// Everything about texts beside lifts, or what would make it.
pub(in crate::report) fn localisation(found: &Computed<LocalisationFindings<'_>>) -> Part {
    let mut part = Part {
        anchor: "localisation",
        title: "Standalone against in use",
        remarks: Vec::new(),
        open: 3,
        tables: Vec::new(),
        warnings: Vec::new(),
    };
    match found {
        Computed::NotComputed(reason) => part.remarks.push(format!("Not computed: {reason}.")),
        Computed::Value(found) => {
            part.remarks = remarks(found);
            part.warnings = warnings(found);
            part.tables = vec![
                matrix(found),
                methods(&found.methods),
                correlations(&found.correlations),
                cells(found),
            ];
        }
    }
    part
}

fn remarks(found: &LocalisationFindings<'_>) -> Vec<String> {
    let mut list = vec![
        "Without a coder, every line of the workspace source is ranked by the words that it shares with the text that the tools \
         of a dossier print (BM25). The percentile of the faulty lines is 1 where they stand first and 0 where they stand last; \
         ½ is chance, as from a text that says nothing. A text that merely shares the vocabulary of the source may stand above \
         ½: read methods against the placebo, where it has a row."
            .to_owned(),
    ];
    list.extend(leading(found).map(answer));
    list.push(
        "It assumes that words of the text which stand in a line point at that line. A high percentile with little lift is what \
         gets lost between tool and coder, the tool-to-agent gap; a lift with a percentile of ½ comes from what this does not \
         measure. Where they are correlated, texts that point better help more; that they help because they point better does \
         not follow."
            .to_owned(),
    );
    list
}

/// Over all cells, on raw scores.
fn leading<'a>(found: &'a LocalisationFindings<'_>) -> Option<&'a LiftCorrelation> {
    found.correlations.iter().find(|each| leads(each))
}

fn leads(each: &LiftCorrelation) -> bool {
    each.scale == Scale::Raw && !each.within_malfunctions
}

fn answer(each: &LiftCorrelation) -> String {
    match &each.correlation {
        Computed::Value(found) => format!(
            "Spearman correlation of percentile and raw lift over {} cells of {} malfunctions: {}.",
            found.pairs,
            found.clusters,
            numerals::estimate(found.coefficient, ends(found))
        ),
        Computed::NotComputed(reason) => {
            format!("Spearman correlation of percentile and raw lift: not computed: {reason}.")
        }
    }
}

fn ends(found: &RankCorrelation) -> Option<[f64; 2]> {
    let interval = found.interval.value();
    interval.map(|found| [found.low, found.high])
}

fn warnings(found: &LocalisationFindings<'_>) -> Vec<String> {
    let of_methods = found.methods.iter().map(|each| &each.mean.interval);
    let of_correlations = || {
        let all = found.correlations.iter();
        all.filter_map(|each| each.correlation.value().map(|found| &found.interval))
    };
    let flagged = |interval: &Computed<Interval>, flag| {
        let flags = interval.value().map(|interval| &interval.flags);
        flags.is_some_and(|flags| flags.contains(&flag))
    };
    let few = IntervalFlag::UndercoversBelowTen;
    let undefined = IntervalFlag::ManyUndefinedResamples;
    let mut list = Vec::new();
    if of_methods
        .chain(of_correlations())
        .any(|interval| flagged(interval, few))
    {
        list.push(
            "Fewer than ten malfunctions: intervals that draw malfunctions cover too little."
                .to_owned(),
        );
    }
    if of_correlations().any(|interval| flagged(interval, undefined)) {
        list.push(
            "In many resamples of malfunctions there is no correlation; its interval is that of the others."
                .to_owned(),
        );
    }
    list
}

/// Methods as rows, malfunctions as pairs of columns.
fn matrix(found: &LocalisationFindings<'_>) -> Table {
    let malfunctions: BTreeSet<&str> = found
        .cells
        .iter()
        .map(|cell| cell.malfunction.as_str())
        .collect();
    let mut columns = vec![Column::new("method", "method", Kind::Text)];
    for malfunction in &malfunctions {
        for what in ["percentile", "lift"] {
            let key = format!("{malfunction}_{what}");
            columns.push(Column::new(
                key,
                &format!("{malfunction}: {what}"),
                Kind::Number,
            ));
        }
    }
    let rows = found.methods.iter().map(|method| {
        let mut cells = vec![Cell::text(&method.method)];
        for malfunction in &malfunctions {
            let mut all = found.cells.iter();
            let cell =
                all.find(|cell| cell.method == method.method && cell.malfunction == *malfunction);
            cells.extend(match cell {
                Some(cell) => [
                    Cell::Number(cell.percentile),
                    Cell::of(&cell.raw, |lift| Cell::Signed(lift.estimate)),
                ],
                None => [0, 1].map(|_| Cell::Absent("no record of this text".to_owned())),
            });
        }
        Row::of(cells)
    });
    Table {
        name: "localisation_matrix".to_owned(),
        title: "Percentile of the faulty lines, and the lift of the same cell".to_owned(),
        note: "Percentile: mean over the faulty lines, ties sharing their middle. Lift: raw, mean of the cell minus that of \
               no-method; – where this run does not have it."
            .to_owned(),
        columns,
        rows: rows.collect(),
    }
}

fn methods(methods: &[MethodLocalisation]) -> Table {
    let rows = methods.iter().map(|each| {
        let run_on = |lift| {
            Cell::of(lift, |lift: &evalxrl_analysis::lift::Difference| {
                Cell::Count(lift.malfunctions)
            })
        };
        Row::of(vec![
            Cell::text(&each.method),
            Cell::Count(each.malfunctions),
            Cell::estimated(&each.mean),
            Cell::range(&each.student_t),
            run_on(&each.raw),
            Cell::of(&each.raw, Cell::difference),
            Cell::of(&each.clipped, Cell::difference),
        ])
    });
    Table {
        name: "localisation_methods".to_owned(),
        title: "Percentile and lift of every method".to_owned(),
        note: "Means over malfunctions, each with equal weight. Intervals of percentiles draw malfunctions, as if they were a \
               sample of others, with Student t beside them; those of lifts draw sessions. Where the two counts differ, the \
               means are over different malfunctions."
            .to_owned(),
        columns: vec![
            Column::new("method", "method", Kind::Text),
            Column::new("malfunctions", "malfunctions with a text", Kind::Count),
            Column::new("percentile", "percentile", Kind::Interval),
            Column::new("percentile_t", "t interval", Kind::Range),
            Column::new("malfunctions_run", "malfunctions run", Kind::Count),
            Column::new("lift_raw", "lift, raw", Kind::Interval),
            Column::new("lift_clipped", "lift, clipped", Kind::Interval),
        ],
        rows: rows.collect(),
    }
}

fn correlations(all: &[LiftCorrelation]) -> Table {
    let rows = all.iter().map(|each| {
        let of = |shown: fn(&RankCorrelation) -> Cell| Cell::of(&each.correlation, shown);
        let reason = each
            .correlation
            .reason()
            .map(|reason| format!("not computed: {reason}"));
        Row {
            strong: leads(each),
            cells: vec![
                Cell::text(each.scale.name()),
                Cell::text(if each.within_malfunctions {
                    "within malfunctions"
                } else {
                    "over all cells"
                }),
                of(|found| Cell::Count(found.pairs)),
                of(|found| Cell::Count(found.clusters)),
                of(|found| Cell::Interval {
                    estimate: found.coefficient,
                    ends: ends(found),
                }),
                reason.map_or_else(|| of(|found| reservation(&found.interval)), Cell::Text),
            ],
        }
    });
    Table {
        name: "localisation_correlation".to_owned(),
        title: "Spearman correlation of percentile and lift".to_owned(),
        note: "Cells: dossiers that are an arm by themselves, placebo and other packagings among them, on malfunctions for which \
               there are both numbers. Within malfunctions: both less their mean on the malfunction, so that malfunctions that are \
               easy to find and easy to repair add nothing. The interval draws whole malfunctions, since cells of one share their \
               fault and their baseline; it takes them for a sample of others."
            .to_owned(),
        columns: vec![
            Column::new("scale", "scale of the lift", Kind::Text),
            Column::new("over", "over", Kind::Text),
            Column::new("cells", "cells", Kind::Count),
            Column::new("malfunctions", "malfunctions", Kind::Count),
            Column::new("correlation", "correlation", Kind::Interval),
            Column::new("remark", "remark", Kind::Text),
        ],
        rows: rows.collect(),
    }
}

fn reservation(interval: &Computed<Interval>) -> Cell {
    match interval.reason() {
        Some(reason) => Cell::text(format!("no interval: {reason}")),
        None => Cell::Absent(String::new()),
    }
}

fn cells(found: &LocalisationFindings<'_>) -> Table {
    let rows = found.cells.iter().zip(&found.texts).map(|(cell, text)| {
        Row::of(vec![
            Cell::text(&cell.malfunction),
            Cell::text(&cell.method),
            Cell::Fine(cell.percentile),
            Cell::of(&cell.raw, Cell::difference),
            Cell::of(&cell.clipped, Cell::difference),
            Cell::Count(text.faulty_lines as u64),
            Cell::Count(text.lines),
            Cell::Count(text.query_tokens),
            Cell::Count(text.tools as u64),
        ])
    });
    Table {
        name: "localisation_cells".to_owned(),
        title: "Every text beside the lift of its cell".to_owned(),
        note: "Lines: those of the workspace source that are not blank. Words: different ones of the printed text."
            .to_owned(),
        columns: vec![
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("method", "method", Kind::Text),
            Column::new("percentile", "percentile", Kind::Number),
            Column::new("lift_raw", "lift, raw", Kind::Interval),
            Column::new("lift_clipped", "lift, clipped", Kind::Interval),
            Column::new("faulty_lines", "faulty lines", Kind::Count),
            Column::new("lines", "lines", Kind::Count),
            Column::new("query_tokens", "words", Kind::Count),
            Column::new("tools", "tool calls", Kind::Count),
        ],
        rows: rows.collect(),
    }
}
