//! Knows the tables that compare dossiers: rich against minimal, and what each method adds to a coalition.
//! Must not know how a comparison is computed.
//! Start at `ablation` and `shapley`.

use evalxrl_analysis::ablation::{Ablation, AblationTestName, DossierDifference};
use evalxrl_analysis::shapley::{Shapley, ShapleyScale};

use super::Part;
use crate::report::table::{Cell, Column, Kind, Row, Table};

/// Rich against minimal dossiers, both readings.
pub(super) fn ablation(ablation: &Ablation) -> Part {
    let (mut fixed, mut sampled, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    for pair in &ablation.pairs {
        for result in [&pair.clipped, &pair.raw] {
            match result.as_result() {
                Ok(found) => {
                    fixed.push(fixed_row(&pair.rich, &pair.minimal, found));
                    sampled.extend(sampled_rows(&pair.rich, &pair.minimal, found));
                }
                Err(reason) => warnings.push(format!(
                    "{} against {} is not computed: {reason}.",
                    pair.rich, pair.minimal
                )),
            }
        }
    }
    warnings.dedup();
    Part {
        anchor: "ablation",
        title: "Rich against minimal dossiers",
        remarks: Vec::new(),
        open: 1,
        tables: vec![fixed_table(fixed), sampled_table(sampled)],
        warnings,
    }
}

fn fixed_row(rich: &str, minimal: &str, found: &DossierDifference) -> Row {
    Row::of(vec![
        Cell::text(rich),
        Cell::text(minimal),
        Cell::text(found.scale.name()),
        Cell::Count(found.fixed_malfunctions.malfunctions),
        Cell::difference(&found.fixed_malfunctions),
        Cell::range(&found.fixed_malfunctions.welch),
    ])
}

fn fixed_table(rows: Vec<Row>) -> Table {
    Table {
        name: "ablation".to_owned(),
        title: "Rich minus minimal, these malfunctions".to_owned(),
        note: "Malfunctions are fixed: sessions are resampled within each cell, and nothing is said of other malfunctions."
            .to_owned(),
        columns: vec![
            Column::new("rich", "rich", Kind::Text),
            Column::new("minimal", "minimal", Kind::Text),
            Column::new("scale", "scale", Kind::Text),
            Column::new("malfunctions", "malfunctions", Kind::Count),
            Column::new("difference", "rich − minimal", Kind::Interval),
            Column::new("difference_welch", "Welch interval", Kind::Range),
        ],
        rows,
    }
}

fn sampled_rows(rich: &str, minimal: &str, found: &DossierDifference) -> Vec<Row> {
    let tests = found.malfunctions_as_sample.iter();
    tests
        .map(|test| {
            Row::of(vec![
                Cell::text(rich),
                Cell::text(minimal),
                Cell::text(found.scale.name()),
                Cell::text(match test.test {
                    AblationTestName::SignFlipMean => "sign flip of means",
                    AblationTestName::SignedRankWilcox => "signed rank, zeros dropped",
                    AblationTestName::SignedRankPratt => "signed rank, zeros ranked",
                }),
                Cell::p(&test.p),
                Cell::of(&test.p_adjusted, |p| Cell::PValue(*p)),
                Cell::text(match test.test {
                    AblationTestName::SignFlipMean => {
                        "Differences of malfunctions are symmetric about 0 when the packaging does nothing."
                    }
                    _ => "As before; only the order of the differences' sizes counts.",
                }),
            ])
        })
        .collect()
}

fn sampled_table(rows: Vec<Row>) -> Table {
    Table {
        name: "ablation_tests".to_owned(),
        title: "Rich against minimal, malfunctions as a sample".to_owned(),
        note: "Paired by malfunction, two-sided; adjusted by Benjamini–Hochberg over the pairs of dossiers.".to_owned(),
        columns: vec![
            Column::new("rich", "rich", Kind::Text),
            Column::new("minimal", "minimal", Kind::Text),
            Column::new("scale", "scale", Kind::Text),
            Column::new("test", "test", Kind::Text),
            Column::new("p", "p", Kind::PValue),
            Column::new("p_adjusted", "p adjusted", Kind::PValue),
            Column::new("assumes", "what it assumes", Kind::Prose),
        ],
        rows,
    }
}

/// What each method adds to the coalitions of the others.
pub(super) fn shapley(shapley: &Shapley) -> Part {
    let scales = [&shapley.clipped, &shapley.raw];
    Part {
        anchor: "shapley",
        title: "What each method adds to a joint dossier",
        remarks: vec![format!(
            "Over {}, on {} malfunctions where every coalition has sessions.",
            shapley.methods.join(", "),
            shapley.malfunctions.len()
        )],
        open: 1,
        tables: vec![shares(&scales), coalitions(&scales)],
        warnings: Vec::new(),
    }
}

fn shares(scales: &[&ShapleyScale]) -> Table {
    let mut rows = Vec::new();
    for scale in scales {
        rows.extend(scale.values.iter().map(|value| {
            Row::of(vec![
                Cell::text(&value.method),
                Cell::text(scale.scale.name()),
                Cell::Interval {
                    estimate: value.value,
                    ends: value
                        .percentile
                        .value()
                        .map(|found| [found.low, found.high]),
                },
                Cell::range(&value.t),
                Cell::Number(scale.gain),
            ])
        }));
    }
    Table {
        name: "shapley".to_owned(),
        title: "Shapley values".to_owned(),
        note: "The mean gain of adding the method, over all orders; the values of one scale add up to the gain of the \
               whole coalition over no-method."
            .to_owned(),
        columns: vec![
            Column::new("method", "method", Kind::Text),
            Column::new("scale", "scale", Kind::Text),
            Column::new("value", "Shapley value", Kind::Interval),
            Column::new("value_t", "t interval", Kind::Range),
            Column::new("gain", "gain of all together", Kind::Number),
        ],
        rows,
    }
}

fn coalitions(scales: &[&ShapleyScale]) -> Table {
    let mut rows = Vec::new();
    for scale in scales {
        rows.extend(scale.coalitions.iter().map(|coalition| {
            let members = if coalition.members.is_empty() {
                "none".to_owned()
            } else {
                coalition.members.join(" + ")
            };
            Row::of(vec![
                Cell::text(members),
                Cell::text(scale.scale.name()),
                Cell::Number(coalition.value),
            ])
        }));
    }
    Table {
        name: "coalitions".to_owned(),
        title: "Scores of every coalition".to_owned(),
        note: "Mean over the common malfunctions.".to_owned(),
        columns: vec![
            Column::new("coalition", "coalition", Kind::Text),
            Column::new("scale", "scale", Kind::Text),
            Column::new("value", "mean score", Kind::Number),
        ],
        rows,
    }
}
