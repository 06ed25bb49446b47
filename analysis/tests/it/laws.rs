//! Knows the laws that hold for any data.
//! Must not know reference values.
//! Start at the properties.

use evalxrl_analysis::interaction::{TestName, balanced_sums_of_squares};
use evalxrl_analysis::multiplicity::benjamini_hochberg;
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::repair_score::RepairScore;
use evalxrl_analysis::two_sample::{
    Alternative, Effort, assignments, permutation_mean, rank_sum, welch,
};
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

fn sample() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-8_i32..8).prop_map(|score| f64::from(score) / 4.0), 2..6)
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
        for name in [TestName::Literal, TestName::Wild, TestName::SessionF] {
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
        for name in [TestName::Literal, TestName::Wild, TestName::SessionF, TestName::SessionAny] {
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
    fn less_and_greater_cover_every_assignment(first in sample(), second in sample()) {
        let effort = Effort { exact_limit: 1_000_000, draws: 1 };
        let p = |alternative| {
            let mut rng = ChaCha8Rng::from_seed([0; 32]);
            permutation_mean(&first, &second, alternative, effort, &mut rng).unwrap()
        };
        let (less, greater) = (p(Alternative::Less), p(Alternative::Greater));
        prop_assert!(less.value + greater.value >= 1.0);
        let total = assignments(first.len() as u64, second.len() as u64) as u64;
        prop_assert_eq!((less.total, greater.total), (Some(total), Some(total)));
        prop_assert_eq!(rank_sum(&first, &second, Alternative::Less).unwrap().total, Some(total));
        if let (Ok(forth), Ok(back)) = (welch(&first, &second), welch(&second, &first)) {
            prop_assert!((forth.p_less().value + back.p_less().value - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn adjustment_is_monotone_and_ignores_order(
        p in prop::collection::vec(prop::option::of(0.0_f64..=1.0), 0..20),
        planned in 0_usize..40,
    ) {
        let adjusted = benjamini_hochberg(&p, 0.05, Some(planned)).unwrap();
        for (one, adjusted_one) in p.iter().zip(&adjusted) {
            prop_assert_eq!(one.is_some(), adjusted_one.is_some());
            for (two, adjusted_two) in p.iter().zip(&adjusted) {
                if let (Some(one), Some(two), Some(a), Some(b)) = (one, two, adjusted_one, adjusted_two) {
                    prop_assert!(a.value >= one * (1.0 - 1e-12));
                    prop_assert!(one > two || a.value <= b.value);
                }
            }
        }
        let reversed: Vec<Option<f64>> = p.iter().rev().copied().collect();
        let mut again = benjamini_hochberg(&reversed, 0.05, Some(planned)).unwrap();
        again.reverse();
        prop_assert_eq!(adjusted, again);
    }

    #[test]
    fn doing_nothing_is_zero_and_full_repair_is_one(broken in -100.0_f64..100.0, gap in 0.01_f64..100.0) {
        let clean = broken + gap;
        prop_assert_eq!(RepairScore::of(broken, clean, broken).unwrap().raw(), 0.0);
        prop_assert_eq!(RepairScore::of(clean, clean, broken).unwrap().raw(), 1.0);
    }
}
