//! Knows the laws of tests of two samples, for any finite scores.
//! Must not know reference values.
//! Start at the properties.

use evalxrl_analysis::estimate::PValue;
use evalxrl_analysis::two_sample::{
    Alternative, Effort, permutation_mean, permutation_mean_of_cells, permutation_welch, rank_sum,
    welch,
};
use proptest::prelude::*;

use crate::sample_laws::{any_score, rng, survives_json};

const EXACT: Effort = Effort {
    exact_limit: 5_000_000,
    draws: 1,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_finite_samples_panic_in_tests_and_p_lies_above_zero_and_up_to_one(
        first in prop::collection::vec(any_score(), 0..6),
        second in prop::collection::vec(any_score(), 0..6),
        exact_limit in prop::sample::select(vec![0, 1_000_000]),
    ) {
        let effort = Effort { exact_limit, draws: 99 };
        for alternative in [Alternative::Less, Alternative::Greater, Alternative::TwoSided] {
            let mut found: Vec<PValue> = Vec::new();
            found.extend(permutation_mean(&first, &second, alternative, effort, &mut rng(1)));
            found.extend(permutation_welch(&first, &second, alternative, effort, &mut rng(1)).map(|(_, p)| p));
            found.extend(rank_sum(&first, &second, alternative));
            found.extend(welch(&first, &second).map(|welch| welch.p(alternative)));
            survives_json(&found);
            prop_assert!(found.iter().all(|p| p.value > 0.0 && p.value <= 1.0));
        }
    }

    #[test]
    fn swapping_the_samples_swaps_less_and_greater(
        first in prop::collection::vec((-8_i32..8).prop_map(|y| f64::from(y) / 4.0), 1..7),
        second in prop::collection::vec((-8_i32..8).prop_map(|y| f64::from(y) / 4.0), 1..7),
    ) {
        let mean = |one: &[f64], other: &[f64], side| permutation_mean(one, other, side, EXACT, &mut rng(1)).unwrap();
        let ranks = |one: &[f64], other: &[f64], side| rank_sum(one, other, side).unwrap();
        for test in [&mean as &dyn Fn(&[f64], &[f64], Alternative) -> PValue, &ranks] {
            let less = test(&first, &second, Alternative::Less);
            let greater = test(&first, &second, Alternative::Greater);
            prop_assert_eq!(&test(&second, &first, Alternative::Greater), &less);
            let both = test(&first, &second, Alternative::TwoSided);
            prop_assert_eq!(both.value, (2.0 * less.value.min(greater.value)).min(1.0));
            prop_assert_eq!(both.count.unwrap() as f64 / both.total.unwrap() as f64, both.value);
        }
    }
}

/// Every subset of a size, summed one by one.
fn counted(pooled: &[f64], size: usize, limit: f64) -> u64 {
    (0_u32..1 << pooled.len())
        .filter(|mask| mask.count_ones() as usize == size)
        .filter(|mask| {
            let sum: f64 = (0..pooled.len())
                .filter(|place| mask >> place & 1 == 1)
                .map(|place| pooled[place])
                .sum();
            sum <= limit
        })
        .count() as u64
}

#[test]
fn sums_of_halves_count_every_assignment_of_uneven_samples() {
    let pooled: Vec<f64> = (0..13_u32).map(|n| f64::from(n * n % 17)).collect();
    for size in 1..13 {
        let (first, second) = pooled.split_at(size);
        let observed: f64 = first.iter().sum();
        let p = permutation_mean(first, second, Alternative::Less, EXACT, &mut rng(1)).unwrap();
        assert_eq!(p.count, Some(counted(&pooled, size, observed)), "{size}");
    }
}

#[test]
fn many_cells_at_once_have_the_p_values_of_each() {
    let cells: Vec<(Vec<f64>, Vec<f64>)> = (0..5_u32)
        .map(|cell| {
            let score = |n: u32| f64::from((cell * 5 + n * n * 3) % 11) / 10.0;
            ((0..6).map(score).collect(), (6..12).map(score).collect())
        })
        .chain([(Vec::new(), vec![1.0])])
        .collect();
    let together = permutation_mean_of_cells(&cells, Alternative::TwoSided, EXACT, &mut rng(1));
    for ((first, second), p) in cells.iter().zip(together) {
        let single = permutation_mean(first, second, Alternative::TwoSided, EXACT, &mut rng(2));
        assert_eq!(p, single);
    }
}

#[test]
fn a_drawn_two_sided_p_value_is_twice_the_smaller_one_with_twice_its_error() {
    let drawn = Effort {
        exact_limit: 0,
        draws: 999,
    };
    let first = [0.1, 0.4, 0.2, 0.5];
    let second = [0.5, 0.9, 0.6, 0.3];
    let p = |side| permutation_mean(&first, &second, side, drawn, &mut rng(1)).unwrap();
    let (less, both) = (p(Alternative::Less), p(Alternative::TwoSided));
    assert_eq!((both.count, both.total), (less.count, Some(999)));
    assert_eq!(both.value, 2.0 * less.value);
    assert_eq!(
        both.monte_carlo_error,
        less.monte_carlo_error.map(|error| 2.0 * error)
    );
}

#[test]
fn values_never_reached_tie_above_all_others_in_the_rank_sum() {
    let never = f64::INFINITY;
    let p = |first: &[f64], second: &[f64]| rank_sum(first, second, Alternative::Less).unwrap();
    let found = p(&[1.0, 2.0, 3.0], &[never, never, 4.0]);
    assert_eq!((found.count, found.total), (Some(1), Some(20)));
    assert_eq!(p(&[never, never], &[never]).value, 1.0);
    let many = vec![0.0; 4_000];
    assert_eq!(
        rank_sum(&many, &many, Alternative::Less)
            .unwrap_err()
            .to_string(),
        "more assignments than can be counted"
    );
}
