//! Knows the laws of H1 that hold for any data, however odd.
//! Must not know reference values.
//! Start at the properties.

use evalxrl_analysis::interaction::{
    Interaction, Matrix, TestName, balanced_sums_of_squares, interaction_of,
};
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::golden_interaction::{analyse, matrix};

fn quick() -> AnalysisPlan {
    AnalysisPlan {
        permutations: 199,
        resamples: 100,
        exact_limit_h1: 0,
        ..AnalysisPlan::default()
    }
}

/// Scores of a balanced matrix `[method][malfunction][session]`.
fn balanced_cells() -> impl Strategy<Value = Vec<Vec<Vec<f64>>>> {
    (2_usize..5, 2_usize..5, 2_usize..5).prop_flat_map(|(methods, malfunctions, sessions)| {
        let session = (-20_i32..20).prop_map(|score| f64::from(score) / 10.0);
        let cell = prop::collection::vec(session, sessions);
        prop::collection::vec(prop::collection::vec(cell, malfunctions), methods)
    })
}

/// A session: its score and its block, if it has one.
type Session = (f64, Option<u64>);

/// Ragged cells `[method][malfunction]`: few different scores, so that equal scores and equal cells are common, on any
/// scale and around any centre; in some matrices single scores of another magnitude.
fn odd_cells() -> impl Strategy<Value = Vec<Vec<Vec<Session>>>> {
    let scales = vec![1.0, 1.0, 1.0, 1e-3, 1e59, 1e-59, 1e300, 1e-300, 0.0];
    let shifts = vec![0.0, 0.0, 0.0, 0.1, 1e6, 1e300];
    let strangers = vec![
        1e300,
        1e-300,
        1e59,
        -1e59,
        1e10,
        f64::MAX,
        f64::MIN_POSITIVE,
        -0.0,
    ];
    let shape = (1_usize..6, 1_usize..6, 0_usize..3, 0_usize..3);
    let scale = (
        prop::sample::select(scales),
        prop::sample::select(shifts),
        0_u32..3,
    );
    (shape, scale).prop_flat_map(
        move |((methods, malfunctions, least, more), (scale, shift, strange))| {
            let score = prop_oneof![
                60 => (-3_i32..4).prop_map(move |score| shift + scale * f64::from(score) / 4.0),
                10 => (-1.0_f64..1.0).prop_map(move |score| shift + scale * score),
                strange => prop::sample::select(strangers.clone()),
            ];
            let session = (score, prop::option::weighted(0.9, 0_u64..3));
            let cell = prop::collection::vec(session, least..=least + more);
            prop::collection::vec(prop::collection::vec(cell, malfunctions), methods)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_constant_per_malfunction_changes_nothing(
        cells in balanced_cells(),
        shifts in prop::collection::vec(-4_i32..4, 5),
    ) {
        let shifted: Vec<Vec<Vec<f64>>> = cells
            .iter()
            .map(|row| {
                row.iter()
                    .zip(&shifts)
                    .map(|(cell, shift)| cell.iter().map(|y| y + f64::from(*shift)).collect())
                    .collect()
            })
            .collect();
        let (before, after) = (analyse(&matrix(&cells), &quick()), analyse(&matrix(&shifted), &quick()));
        let (first, second) = (&before.decomposition, &after.decomposition);
        prop_assert!((first.ss_interaction - second.ss_interaction).abs() < 1e-9);
        prop_assert!((first.sse - second.sse).abs() < 1e-9);
        for name in [
            TestName::Literal, TestName::Wild, TestName::SessionF, TestName::SessionAny, TestName::FreedmanLane,
            TestName::CellLabelPermutation,
        ] {
            prop_assert_eq!(&before.test(name).unwrap().p, &after.test(name).unwrap().p);
        }
    }

    #[test]
    fn the_order_of_methods_changes_no_enumerated_p_value(
        cells in prop::collection::vec(prop::collection::vec(
            prop::collection::vec((0_i32..20).prop_map(|y| f64::from(y) / 20.0), 2), 2), 3),
    ) {
        let plan = AnalysisPlan { exact_limit_h1: 1_000_000, ..quick() };
        let mut reversed = cells.clone();
        reversed.reverse();
        let (before, after) = (analyse(&matrix(&cells), &plan), analyse(&matrix(&reversed), &plan));
        for name in [
            TestName::Literal, TestName::Wild, TestName::SessionF, TestName::SessionAny, TestName::FreedmanLane,
            TestName::CellLabelPermutation,
        ] {
            prop_assert_eq!(&before.test(name).unwrap().p, &after.test(name).unwrap().p);
        }
    }

    #[test]
    fn the_ragged_fit_of_equal_cells_is_the_balanced_formula(cells in balanced_cells()) {
        let matrix = matrix(&cells);
        let [ss_method, _, ss_interaction] = balanced_sums_of_squares(&matrix).unwrap();
        let fitted = analyse(&matrix, &quick()).decomposition;
        let size = 1.0 + fitted.ss_method_and_interaction;
        prop_assert!((fitted.ss_interaction - ss_interaction).abs() < 1e-10 * size);
        let both = ss_method + ss_interaction;
        prop_assert!((fitted.ss_method_and_interaction - both).abs() < 1e-10 * size);
    }

    #[test]
    fn every_p_value_lies_above_zero_and_up_to_one(cells in balanced_cells()) {
        for test in analyse(&matrix(&cells), &quick()).tests {
            if let Some(p) = test.p.value() {
                prop_assert!(p.value > 0.0 && p.value <= 1.0, "{:?}", test.name);
            }
        }
    }

    #[test]
    fn no_finite_input_panics_or_gives_a_number_that_is_none(cells in odd_cells()) {
        let scores: Vec<Vec<Vec<f64>>> = cells
            .iter()
            .map(|row| row.iter().map(|cell| cell.iter().map(|session| session.0).collect()).collect())
            .collect();
        let blocks: Vec<Vec<Vec<Option<u64>>>> = cells
            .iter()
            .map(|row| row.iter().map(|cell| cell.iter().map(|session| session.1).collect()).collect())
            .collect();
        let names = |count: usize| -> Vec<String> { (0..count).map(|i| i.to_string()).collect() };
        let matrix = Matrix::with_blocks(&names(cells.len()), &names(cells[0].len()), &scores, &blocks).unwrap();
        let mut rng = ChaCha8Rng::from_seed([3; 32]);
        if let Ok(found) = interaction_of(&matrix, Scale::Raw, &quick(), &mut rng) {
            // JSON has no NaN: it would be written as null, which no number is read from.
            let text = serde_json::to_string(&found).unwrap();
            let read: Interaction = serde_json::from_str(&text).map_err(|error| {
                TestCaseError::fail(format!("{error}: {found:?}"))
            })?;
            prop_assert_eq!(&read, &found);
            for test in &found.tests {
                if let Some(p) = test.p.value() {
                    prop_assert!(p.value > 0.0 && p.value <= 1.0, "{:?}", test.name);
                }
            }
        }
    }
}
