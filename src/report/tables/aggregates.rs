//! Knows the tables of aggregates over malfunctions: means, interquartile means, improvement and profiles.
//! Must not know how an aggregate is computed.
//! Start at `part`.

use evalxrl_analysis::aggregate::{Aggregates, Improvement, MethodAggregates, Profile};
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::scale::Scale;

use super::Part;
use crate::report::table::{Cell, Column, Kind, Row, Table};

/// Aggregates of every method, each pair compared, and profiles.
pub(super) fn part(aggregates: &Aggregates) -> Part {
    Part {
        anchor: "aggregates",
        title: "Aggregates over malfunctions",
        remarks: Vec::new(),
        open: 2,
        tables: vec![
            methods(&aggregates.methods),
            improvements(&aggregates.improvements),
            profiles(&aggregates.methods),
        ],
        warnings: Vec::new(),
    }
}

fn methods(methods: &[MethodAggregates]) -> Table {
    let rows = methods.iter().map(|each| {
        let shown = |value| Cell::of(value, Cell::estimated);
        Row::of(vec![
            Cell::text(&each.method),
            Cell::text(each.scale.name()),
            Cell::Count(each.malfunctions),
            shown(&each.iqm),
            shown(&each.mean),
            shown(&each.median),
            shown(&each.optimality_gap),
        ])
    });
    Table {
        name: "aggregates".to_owned(),
        title: "Aggregates of every method".to_owned(),
        note: "Every malfunction has equal weight. IQM: the mean of the middle half of all sessions. Median: of the cell \
               means. Optimality gap: how far sessions stay below the target, on average. Intervals: stratified bootstrap."
            .to_owned(),
        columns: vec![
            Column::new("method", "method", Kind::Text),
            Column::new("scale", "scale", Kind::Text),
            Column::new("malfunctions", "malfunctions", Kind::Count),
            Column::new("iqm", "IQM", Kind::Interval),
            Column::new("mean", "mean", Kind::Interval),
            Column::new("median", "median", Kind::Interval),
            Column::new("optimality_gap", "optimality gap", Kind::Interval),
        ],
        rows: rows.collect(),
    }
}

fn improvements(pairs: &[Improvement]) -> Table {
    let rows = pairs.iter().map(|pair| {
        Row::of(vec![
            Cell::text(&pair.first),
            Cell::text(&pair.second),
            Cell::text(pair.scale.name()),
            Cell::Count(pair.malfunctions),
            Cell::of(&pair.probability, Cell::estimated),
        ])
    });
    Table {
        name: "improvements".to_owned(),
        title: "Probability of improvement".to_owned(),
        note: "How probable it is that a session of the first scores above one of the second on the same malfunction, \
               ties counted half: one half where neither is better."
            .to_owned(),
        columns: vec![
            Column::new("first", "first", Kind::Text),
            Column::new("second", "second", Kind::Text),
            Column::new("scale", "scale", Kind::Text),
            Column::new("malfunctions", "malfunctions", Kind::Count),
            Column::new("probability", "first above second", Kind::Interval),
        ],
        rows: rows.collect(),
    }
}

/// The figure of profiles as a table: raw scores.
fn profiles(methods: &[MethodAggregates]) -> Table {
    let mut rows = Vec::new();
    for each in methods.iter().filter(|each| each.scale == Scale::Raw) {
        let (score, average) = (&each.score_profile, &each.average_score_profile);
        let Some(known) = score.value().or(average.value()) else {
            continue;
        };
        for (index, threshold) in known.thresholds.iter().enumerate() {
            let share = |profile: &Computed<Profile>| Cell::of(profile, |found| at(found, index));
            rows.push(Row::of(vec![
                Cell::text(&each.method),
                Cell::Number(*threshold),
                share(score),
                share(average),
            ]));
        }
    }
    Table {
        name: "profiles".to_owned(),
        title: "Performance profiles".to_owned(),
        note:
            "Raw scores, strictly above the threshold; pointwise bands from one set of resamples."
                .to_owned(),
        columns: vec![
            Column::new("method", "method", Kind::Text),
            Column::new("threshold", "threshold", Kind::Number),
            Column::new("sessions_above", "share of sessions above", Kind::Interval),
            Column::new(
                "malfunctions_above",
                "share of malfunctions above on average",
                Kind::Interval,
            ),
        ],
        rows,
    }
}

fn at(profile: &Profile, index: usize) -> Cell {
    let ends = profile.low.value().zip(profile.high.value());
    Cell::Interval {
        estimate: profile.shares[index],
        ends: ends.map(|(low, high)| [low[index], high[index]]),
    }
}
