//! Knows the laws that hold for any data.
//! Must not know reference values.
//! Start at the properties.

use evalxrl_analysis::multiplicity::benjamini_hochberg;
use evalxrl_analysis::repair_score::RepairScore;
use evalxrl_analysis::two_sample::{
    Alternative, Effort, assignments, permutation_mean, rank_sum, welch,
};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

fn sample() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-8_i32..8).prop_map(|score| f64::from(score) / 4.0), 2..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

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
