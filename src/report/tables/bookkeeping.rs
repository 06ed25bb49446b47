//! Knows the tables about the run itself: sessions, what is missing, time, candidates of the search, references.
//! Must not know statistics.
//! Start at `sessions`.

use std::collections::BTreeSet;

use evalxrl_analysis::score_table::{Outcome, TableSummary};

use crate::report::document::{Document, SessionEntry};
use crate::report::run::Malfunction;
use crate::report::table::{Cell, Column, Kind, Row, Table};
use crate::vocab::Arm;

/// Every session that ended as data.
pub(in crate::report) fn sessions(document: &Document<'_>) -> Table {
    let mut table = Table {
        name: "sessions".to_owned(),
        title: "Sessions".to_owned(),
        note: "Every outcome but `submitted` scores as the broken agent, 0. Actions are shell commands and tool calls."
            .to_owned(),
        columns: vec![
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("method", "method", Kind::Text),
            Column::new("coder", "coder", Kind::Text),
            Column::new("invocations", "invocations", Kind::Text),
            Column::new("replication", "r", Kind::Count),
            Column::new("outcome", "outcome", Kind::Text),
            Column::new("raw", "raw", Kind::Number),
            Column::new("clipped", "clipped", Kind::Number),
            Column::new("actions", "actions", Kind::Count),
            Column::new("cost_usd", "cost, USD", Kind::Number),
            Column::new("minutes", "minutes", Kind::Number),
            Column::new("fault_touched", "faulty line touched", Kind::Text),
            Column::new("serving_changed", "serving changed", Kind::Text),
            Column::new("transcript", "transcript", Kind::Text),
        ],
        rows: document.sessions.iter().map(session).collect(),
    };
    // One coder with one budget needs no columns for them; the script of optimal-repair is a coder of its own.
    let strata: BTreeSet<_> = document
        .sessions
        .iter()
        .map(|entry| &entry.session.key)
        .filter(|key| Arm::of(&key.method) != Arm::OptimalRepair)
        .map(|key| (key.coder.as_str(), key.invocations))
        .collect();
    if strata.len() <= 1 {
        table.remove("coder");
        table.remove("invocations");
    }
    table
}

fn session(entry: &SessionEntry<'_>) -> Row {
    let row = entry.session;
    let outcome = match &row.detail {
        Some(detail) => format!("{}: {detail}", row.outcome.as_str()),
        None => row.outcome.as_str().to_owned(),
    };
    Row::of(vec![
        Cell::text(row.key.malfunction.as_str()),
        Cell::text(row.key.method.as_str()),
        Cell::text(row.key.coder.as_str()),
        Cell::text(row.key.invocations.to_string()),
        Cell::Count(u64::from(row.key.replication)),
        Cell::text(outcome),
        Cell::Number(row.raw),
        Cell::Number(row.clipped),
        Cell::Count(row.actions),
        Cell::Number(row.cost_usd),
        Cell::Number(entry.minutes),
        match row.fault_touched {
            Some(true) => Cell::text("yes"),
            Some(false) => Cell::text("no"),
            None => Cell::Absent("no submission was accepted".to_owned()),
        },
        Cell::text(if row.serving_changed.is_empty() {
            "no".to_owned()
        } else {
            row.serving_changed.join(", ")
        }),
        match &entry.transcript {
            Some(href) => Cell::Link {
                text: "read".to_owned(),
                href: href.replace('+', "%2B"),
            },
            None => Cell::Absent("no transcript is kept".to_owned()),
        },
    ])
}

/// Planned sessions without a record.
pub(in crate::report) fn missing(document: &Document<'_>) -> Table {
    Table {
        name: "missing".to_owned(),
        title: "Missing sessions".to_owned(),
        note: "Planned, but without a record: not run yet, or failed by the harness. Never counted as 0.".to_owned(),
        columns: vec![
            Column::new("session", "session", Kind::Text),
            Column::new("failed_attempts", "failed attempts", Kind::Count),
            Column::new("last_failure", "last failure", Kind::Text),
        ],
        rows: document
            .progress
            .missing
            .iter()
            .map(|missing| {
                Row::of(vec![
                    Cell::text(&missing.session),
                    Cell::Count(missing.failed_attempts),
                    missing
                        .last_failure
                        .as_ref()
                        .map_or_else(|| Cell::Absent("not run yet".to_owned()), Cell::text),
                ])
            })
            .collect(),
    }
}

/// Where the time of the sessions went.
pub(in crate::report) fn time(document: &Document<'_>) -> Table {
    let minutes = [
        "wall",
        "training",
        "scoring",
        "tools",
        "provider",
        "sandboxes",
        "other",
    ];
    let labels = [
        "in all",
        "commands and training",
        "scoring",
        "dossier tools",
        "provider",
        "sandboxes",
        "other",
    ];
    let mut columns = vec![
        Column::new("arm", "arm", Kind::Text),
        Column::new("sessions", "sessions", Kind::Count),
    ];
    let timed = minutes.into_iter().zip(labels);
    columns.extend(timed.map(|(key, label)| Column::new(key, label, Kind::Number)));
    Table {
        name: "time".to_owned(),
        title: "Where the time goes".to_owned(),
        note: "Minutes, added over sessions; sessions that ran side by side count in full."
            .to_owned(),
        columns,
        rows: document
            .time
            .iter()
            .map(|entry| {
                let spent = [
                    entry.wall,
                    entry.training,
                    entry.scoring,
                    entry.tools,
                    entry.provider,
                    entry.sandboxes,
                    entry.other,
                ];
                let mut cells = vec![Cell::text(&entry.arm), Cell::Count(entry.sessions as u64)];
                cells.extend(spent.map(Cell::Number));
                Row {
                    strong: entry.arm == "all arms",
                    cells,
                }
            })
            .collect(),
    }
}

/// Where the edit that restores the source stood among the candidates of the search.
pub(in crate::report) fn restoring_ranks(document: &Document<'_>) -> Table {
    let joined = |values: Vec<String>| {
        let same = values.windows(2).all(|pair| pair[0] == pair[1]);
        match values.first() {
            Some(first) if same => first.clone(),
            _ => values.join(", "),
        }
    };
    Table {
        name: "restoring_ranks".to_owned(),
        title: "Rank of the restoring edit among the search's candidates".to_owned(),
        note: "One rank per replication, or one for all where they agree; the smaller, the earlier it is tried. \
               With no text to go by the order is random."
            .to_owned(),
        columns: vec![
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("method", "method", Kind::Text),
            Column::new("coder", "coder", Kind::Text),
            Column::new("ranks", "rank", Kind::Text),
            Column::new("candidates", "of candidates", Kind::Text),
        ],
        rows: document
            .restoring_ranks
            .iter()
            .map(|entry| {
                let ranks = entry.ranks.iter().map(|rank| {
                    rank.map_or_else(|| "none restores".to_owned(), |rank| rank.to_string())
                });
                let candidates = entry.candidates.iter().map(u32::to_string);
                Row::of(vec![
                    Cell::text(&entry.malfunction),
                    Cell::text(&entry.method),
                    Cell::text(&entry.coder),
                    Cell::text(joined(ranks.collect())),
                    Cell::text(joined(candidates.collect())),
                ])
            })
            .collect(),
    }
}

/// The references that admitted each malfunction.
pub(in crate::report) fn admission(malfunctions: &[Malfunction]) -> Table {
    let rows = malfunctions.iter().map(|malfunction| {
        let mut cells = vec![
            Cell::text(malfunction.id.as_str()),
            Cell::text(malfunction.environment.as_str()),
            Cell::text(&malfunction.class),
        ];
        let values = malfunction.reference.map(|reference| {
            [
                reference.clean,
                reference.standard_error_clean,
                reference.broken,
                reference.standard_error_broken,
                reference.gap_over_error,
            ]
        });
        cells.extend(match values {
            Some(values) => values.map(Cell::Number),
            None => [(); 5].map(|()| Cell::Absent("no reference in the plan".to_owned())),
        });
        Row::of(cells)
    });
    Table {
        name: "references".to_owned(),
        title: "References".to_owned(),
        note: "Mean return of clean and broken agents over training seeds, in units of the environment's return."
            .to_owned(),
        columns: vec![
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("environment", "environment", Kind::Text),
            Column::new("class", "class", Kind::Text),
            Column::new("clean", "clean", Kind::Number),
            Column::new("standard_error_clean", "standard error", Kind::Number),
            Column::new("broken", "broken", Kind::Number),
            Column::new("standard_error_broken", "standard error", Kind::Number),
            Column::new("gap_over_error", "gap in standard errors", Kind::Number),
        ],
        rows: rows.collect(),
    }
}

/// What the table of scores holds of every arm.
pub(in crate::report) fn arms(summary: &TableSummary) -> Table {
    let rows = summary.arms.iter().map(|arm| {
        let submitted = arm.outcomes.get(&Outcome::Submitted).copied();
        Row::of(vec![
            Cell::text(arm.coder.as_deref().unwrap_or("all")),
            Cell::text(
                arm.invocations
                    .map_or_else(|| "all".to_owned(), |invocations| invocations.to_string()),
            ),
            Cell::text(&arm.method),
            Cell::Count(arm.planned),
            Cell::Count(arm.sessions),
            Cell::Count(arm.missing),
            Cell::Count(arm.sessions - submitted.unwrap_or(0)),
        ])
    });
    let mut table = Table {
        name: "arms".to_owned(),
        title: "Sessions of every arm".to_owned(),
        note: String::new(),
        columns: vec![
            Column::new("coder", "coder", Kind::Text),
            Column::new("invocations", "invocations", Kind::Text),
            Column::new("method", "method", Kind::Text),
            Column::new("planned", "planned", Kind::Count),
            Column::new("sessions", "done", Kind::Count),
            Column::new("missing", "missing", Kind::Count),
            Column::new("not_submitted", "not submitted", Kind::Count),
        ],
        rows: rows.collect(),
    };
    if summary.arms.iter().all(|arm| arm.coder.is_none()) {
        table.remove("coder");
    }
    if summary.arms.iter().all(|arm| arm.invocations.is_none()) {
        table.remove("invocations");
    }
    table
}
