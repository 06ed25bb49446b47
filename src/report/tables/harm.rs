//! Knows the tables of H3: tests, cells and what the design could have found.
//! Must not know how a test works.
//! Start at `hypothesis`.

use evalxrl_analysis::attainability::{ADVICE, Attainability, AttainableTest, Reach};
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::harm::{Harm, HarmCell, HarmTest, HarmTestName};

use super::Part;
use crate::report::numerals::sentence;
use crate::report::table::{Cell, Column, Kind, Row, Table};

const TESTS: [HarmTestName; 7] = HarmTestName::ALL;

/// H3 with its reach.
pub(super) fn hypothesis(h3: &Computed<Harm>, reach: &[Attainability]) -> Part {
    // The advice stands once: among the warnings where they have it, else below the table.
    let advised = h3
        .value()
        .is_some_and(|harm| harm.warnings.iter().any(|warning| warning == ADVICE));
    let (tables, warnings) = match h3 {
        Computed::Value(harm) => (
            vec![
                tests(harm),
                attainability(reach, advised),
                cells(harm),
                zeroed(harm),
            ],
            harm.warnings.clone(),
        ),
        Computed::NotComputed(reason) => (
            vec![attainability(reach, advised)],
            std::iter::once(format!("Not computed: {reason}."))
                .chain(reach.iter().filter_map(Attainability::warning))
                .collect(),
        ),
    };
    Part {
        anchor: "h3",
        title: "H3: does some method harm?",
        remarks: Vec::new(),
        open: 2,
        tables,
        warnings,
    }
}

fn tests(harm: &Harm) -> Table {
    let rows = TESTS.into_iter().filter_map(|name| {
        let found: Vec<&HarmTest> = harm
            .cells
            .iter()
            .filter_map(|cell| of(cell, name))
            .collect();
        let first = found.first()?;
        let least = |value: fn(&HarmTest) -> Option<f64>| {
            let values = found.iter().filter_map(|test| value(test));
            values.min_by(f64::total_cmp).map_or_else(
                || Cell::Absent("no cell was tested".to_owned()),
                Cell::PValue,
            )
        };
        Some(Row {
            strong: first.primary,
            cells: vec![
                Cell::text(word(name)),
                Cell::text(if first.primary {
                    "primary"
                } else {
                    "sensitivity"
                }),
                least(|test| test.p.value().map(|p| p.value)),
                least(|test| test.p_adjusted.value().copied()),
                Cell::text(discoveries(&found)),
                Cell::text(assumes(name)),
            ],
        })
    });
    Table {
        name: "h3_tests".to_owned(),
        title: "H3: tests over all cells".to_owned(),
        note: "One-sided, on raw scores: is the method's mean below no-method's? The bold row decides.".to_owned(),
        columns: vec![
            Column::new("test", "test", Kind::Text),
            Column::new("role", "role", Kind::Text),
            Column::new("p_least", "smallest p", Kind::PValue),
            Column::new("p_adjusted_least", "smallest adjusted p", Kind::PValue),
            Column::new("harmed", "harmed cells", Kind::Text),
            Column::new("assumes", "what it assumes", Kind::Prose),
        ],
        rows: rows.collect(),
    }
}

fn discoveries(found: &[&HarmTest]) -> &'static str {
    if found.iter().any(|test| test.discovery) {
        "some; see the cells"
    } else {
        "none"
    }
}

fn cells(harm: &Harm) -> Table {
    let rows = harm.cells.iter().map(|cell| {
        let primary = of(cell, HarmTestName::PermutationMean);
        let p = |name| match of(cell, name) {
            Some(test) => Cell::p(&test.p),
            None => Cell::Absent(String::new()),
        };
        let harmed = primary.is_some_and(|test| test.discovery);
        Row {
            strong: harmed,
            cells: vec![
                Cell::text(&cell.method),
                Cell::text(&cell.malfunction),
                Cell::Count(cell.sessions),
                Cell::Count(cell.baseline_sessions),
                Cell::of(&cell.lift, |lift| Cell::Signed(*lift)),
                p(HarmTestName::PermutationMean),
                match primary.map(|test| &test.p_adjusted) {
                    Some(Computed::Value(value)) => Cell::PValue(*value),
                    Some(Computed::NotComputed(reason)) => Cell::Absent(reason.to_string()),
                    None => Cell::Absent(String::new()),
                },
                p(HarmTestName::Welch),
                p(HarmTestName::RankSum),
                p(HarmTestName::PermutationWelch),
                Cell::of(&cell.pairing, |pairing| Cell::Count(pairing.pairs)),
                p(HarmTestName::SignedRankWilcox),
                p(HarmTestName::SignedRankPratt),
                p(HarmTestName::SignFlipMean),
                Cell::text(found(harmed)),
            ],
        }
    });
    Table {
        name: "h3_cells".to_owned(),
        title: "H3: every cell".to_owned(),
        note: "Where N and N of the baseline differ, the permutation test can be too liberal: read Welch first."
            .to_owned(),
        columns: vec![
            Column::new("method", "method", Kind::Text),
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("sessions", "N", Kind::Count),
            Column::new("baseline_sessions", "N of no-method", Kind::Count),
            Column::new("lift", "lift, raw", Kind::Number),
            Column::new("p_permutation_mean", "p", Kind::PValue),
            Column::new("p_adjusted", "p adjusted", Kind::PValue),
            Column::new("p_welch", "p Welch", Kind::PValue),
            Column::new("p_rank_sum", "p rank sum", Kind::PValue),
            Column::new("p_permutation_welch", "p permutation Welch", Kind::PValue),
            Column::new("pairs", "pairs", Kind::Count),
            Column::new("p_signed_rank_wilcox", "p signed rank", Kind::PValue),
            Column::new("p_signed_rank_pratt", "zeros ranked", Kind::PValue),
            Column::new("p_sign_flip_mean", "p sign flip", Kind::PValue),
            Column::new("harmed", "found", Kind::Text),
        ],
        rows: rows.collect(),
    }
}

/// The primary with every missing session as 0; empty where none is missing.
fn zeroed(harm: &Harm) -> Table {
    let cells = harm
        .missing_as_zero
        .value()
        .map_or(&[][..], |found| &found.cells);
    let rows = cells.iter().map(|cell| Row {
        strong: cell.discovery,
        cells: vec![
            Cell::text(&cell.method),
            Cell::text(&cell.malfunction),
            Cell::Count(cell.sessions),
            Cell::Count(cell.baseline_sessions),
            Cell::of(&cell.lift, |lift| Cell::Signed(*lift)),
            Cell::p(&cell.p),
            Cell::of(&cell.p_adjusted, |p| Cell::PValue(*p)),
            Cell::text(found(cell.discovery)),
        ],
    });
    Table {
        name: "h3_missing_as_zero".to_owned(),
        title: "H3: every missing session counted as 0".to_owned(),
        note: "Sensitivity only: the primary test once more, as if missing sessions had changed nothing.".to_owned(),
        columns: vec![
            Column::new("method", "method", Kind::Text),
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("sessions", "N", Kind::Count),
            Column::new("baseline_sessions", "N of no-method", Kind::Count),
            Column::new("lift", "lift, raw", Kind::Number),
            Column::new("p", "p", Kind::PValue),
            Column::new("p_adjusted", "p adjusted", Kind::PValue),
            Column::new("harmed", "found", Kind::Text),
        ],
        rows: rows.collect(),
    }
}

fn found(harmed: bool) -> &'static str {
    if harmed { "harmed" } else { "not found harmed" }
}

fn attainability(reach: &[Attainability], advised: bool) -> Table {
    let rows = reach.iter().map(|entry| {
        Row::of(vec![
            Cell::text(match entry.test {
                AttainableTest::Permutation => "permutation (primary)",
                AttainableTest::SignedRank => "paired signed rank",
            }),
            Cell::Count(entry.sessions),
            Cell::Count(entry.baseline_sessions),
            Cell::Count(entry.cells),
            Cell::Count(entry.cells_of_this_size),
            Cell::PValue(entry.p_min),
            Cell::Count(entry.cells_needed),
            Cell::Count(entry.sessions_for_one_cell),
            Cell::text(match entry.state {
                Reach::OneCell => "one harmed cell can be found alone",
                Reach::SeveralCells => "only several harmed cells together can be found",
                Reach::NotTestable => "no outcome can be found",
            }),
        ])
    });
    Table {
        name: "attainability".to_owned(),
        title: "H3: what this design can find at all".to_owned(),
        note: {
            let note = "The smallest p-value that so few sessions allow, and how many cells must reach it together.";
            if advised {
                note.to_owned()
            } else {
                format!("{note} {}", sentence(ADVICE))
            }
        },
        columns: vec![
            Column::new("test", "test", Kind::Text),
            Column::new("sessions", "N", Kind::Count),
            Column::new("baseline_sessions", "N of no-method", Kind::Count),
            Column::new("cells", "planned cells", Kind::Count),
            Column::new("cells_of_this_size", "cells of this size", Kind::Count),
            Column::new("p_min", "smallest possible p", Kind::PValue),
            Column::new("cells_needed", "cells needed together", Kind::Count),
            Column::new(
                "sessions_for_one_cell",
                "N that one cell needs",
                Kind::Count,
            ),
            Column::new("reach", "so", Kind::Text),
        ],
        rows: rows.collect(),
    }
}

fn of(cell: &HarmCell, name: HarmTestName) -> Option<&HarmTest> {
    cell.tests.iter().find(|test| test.test == name)
}

fn word(name: HarmTestName) -> &'static str {
    match name {
        HarmTestName::PermutationMean => "permutation of means",
        HarmTestName::Welch => "Welch",
        HarmTestName::RankSum => "rank sum",
        HarmTestName::PermutationWelch => "permutation of Welch's t",
        HarmTestName::SignedRankWilcox => "signed rank, zeros dropped",
        HarmTestName::SignedRankPratt => "signed rank, zeros ranked",
        HarmTestName::SignFlipMean => "sign flip of means",
    }
}

fn assumes(name: HarmTestName) -> &'static str {
    match name {
        HarmTestName::PermutationMean => {
            "Sessions of both arms are exchangeable when the method does nothing; equal N guards against unequal spread."
        }
        HarmTestName::Welch => "Means are near normal; variances may differ.",
        HarmTestName::RankSum => {
            "Sessions of both arms are exchangeable; only their order counts, on scores as stored."
        }
        HarmTestName::PermutationWelch => {
            "Sessions of both arms are exchangeable; the spread is estimated in each arm."
        }
        HarmTestName::SignedRankWilcox => {
            "Differences within blocks are symmetric about 0, on scores as stored; equal pairs are left out."
        }
        HarmTestName::SignedRankPratt => {
            "Differences within blocks are symmetric about 0, on scores as stored; equal pairs take up ranks."
        }
        HarmTestName::SignFlipMean => {
            "Differences within blocks are symmetric about 0, on winsorised scores."
        }
    }
}
