//! Knows the laws of paired tests and Shapley values that hold for any data.
//! Must not know reference values.
//! Start at the properties.

use evalxrl_analysis::estimate::PValue;
use evalxrl_analysis::shapley::shapley;
use evalxrl_analysis::signed_rank::{ZeroRule, sign_flip, signed_rank};
use evalxrl_analysis::two_sample::Effort;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

const RULES: [ZeroRule; 2] = [ZeroRule::Wilcox, ZeroRule::Pratt];

/// Differences with many ties and zeros.
fn differences(most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-6_i32..=6).prop_map(|d| f64::from(d) / 4.0), 1..=most)
}

fn effort(exact_limit: u64) -> Effort {
    Effort {
        exact_limit,
        draws: 199,
    }
}

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::from_seed([5; 32])
}

/// W⁺ of every sign vector in turn, from midranks found by comparing all pairs: slow, and written from the definition.
fn brute_force(differences: &[f64], rule: ZeroRule) -> (u64, u64, u64) {
    let ranked: Vec<f64> = match rule {
        ZeroRule::Wilcox => differences.iter().copied().filter(|d| *d != 0.0).collect(),
        ZeroRule::Pratt => differences.to_vec(),
    };
    let rank = |size: f64| {
        let below = ranked.iter().filter(|d| d.abs() < size).count() as f64;
        let tied = ranked.iter().filter(|d| d.abs() == size).count() as f64;
        below + (tied + 1.0) / 2.0
    };
    let moving: Vec<(f64, bool)> = ranked
        .iter()
        .filter(|d| **d != 0.0)
        .map(|d| (rank(d.abs()), *d > 0.0))
        .collect();
    let observed: f64 = moving.iter().filter(|(_, up)| *up).map(|(r, _)| r).sum();
    let (mut less, mut greater) = (0, 0);
    for signs in 0..1_u64 << moving.len() {
        let sum: f64 = moving
            .iter()
            .enumerate()
            .filter(|(index, _)| signs >> index & 1 == 1)
            .map(|(_, (rank, _))| rank)
            .sum();
        less += u64::from(sum <= observed);
        greater += u64::from(sum >= observed);
    }
    (less, greater, 1 << moving.len())
}

fn counted(p: &PValue) -> (u64, u64) {
    (p.count.unwrap(), p.total.unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_exact_signed_rank_test_is_the_enumeration(differences in differences(10)) {
        for rule in RULES {
            let found = signed_rank(&differences, rule).unwrap();
            let (less, greater, total) = brute_force(&differences, rule);
            prop_assert_eq!(counted(&found.less), (less, total));
            prop_assert_eq!(counted(&found.greater), (greater, total));
        }
    }

    #[test]
    fn negation_swaps_less_and_greater(differences in differences(60)) {
        let negated: Vec<f64> = differences.iter().map(|d| -d).collect();
        for rule in RULES {
            let (one, other) = (signed_rank(&differences, rule).unwrap(), signed_rank(&negated, rule).unwrap());
            prop_assert_eq!((&one.less, &one.greater), (&other.greater, &other.less));
            prop_assert_eq!(&one.two_sided, &other.two_sided);
            prop_assert_eq!((one.w_plus, one.w_minus), (other.w_minus, other.w_plus));
        }
        let flips = |differences: &[f64]| sign_flip(differences, effort(1 << 22), &mut rng()).unwrap();
        if differences.len() <= 22 {
            prop_assert_eq!(flips(&differences).less, flips(&negated).greater);
        }
    }

    #[test]
    fn the_exact_sign_flip_test_is_the_enumeration(differences in differences(10)) {
        let found = sign_flip(&differences, effort(1 << 20), &mut rng()).unwrap();
        let observed: f64 = differences.iter().sum();
        let total = 1_u64 << differences.len();
        let sum = |signs: u64| -> f64 {
            differences
                .iter()
                .enumerate()
                .map(|(index, d)| if signs >> index & 1 == 1 { *d } else { -d })
                .sum()
        };
        let less = (0..total).filter(|signs| sum(*signs) <= observed).count() as u64;
        prop_assert_eq!(counted(&found.less), (less, total));
    }

    #[test]
    fn paired_p_values_lie_above_zero_and_up_to_one(
        differences in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 1..60),
    ) {
        for rule in RULES {
            let found = signed_rank(&differences, rule).unwrap();
            for p in [&found.less, &found.greater, &found.two_sided] {
                prop_assert!(p.value > 0.0 && p.value <= 1.0);
            }
        }
        let found = sign_flip(&differences, effort(1 << 12), &mut rng()).unwrap();
        for p in [&found.less, &found.greater, &found.two_sided] {
            prop_assert!(p.value > 0.0 && p.value <= 1.0);
        }
        prop_assert!(found.mean.is_finite());
    }

    #[test]
    fn a_two_sided_p_value_is_twice_the_smaller_tail(differences in differences(16)) {
        let found = sign_flip(&differences, effort(0), &mut rng()).unwrap();
        let twice = (2.0 * found.less.value.min(found.greater.value)).min(1.0);
        prop_assert!((found.two_sided.value - twice).abs() < 1e-12);
    }

    #[test]
    fn shapley_values_add_up_to_the_gain_and_ignore_a_constant(
        v in (1_u32..7).prop_flat_map(|n| prop::collection::vec(-1.0_f64..1.0, 1_usize << n)),
        shift in -4_i32..4,
    ) {
        let found = shapley(&v).unwrap();
        prop_assert!((found.sum - found.efficiency).abs() <= 1e-12);
        let shifted: Vec<f64> = v.iter().map(|worth| worth + f64::from(shift)).collect();
        for (one, other) in found.values.iter().zip(shapley(&shifted).unwrap().values) {
            prop_assert!((one - other).abs() <= 1e-12);
        }
    }

    #[test]
    fn shapley_values_follow_their_methods_when_two_change_places(
        v in prop::collection::vec(-1.0_f64..1.0, 16),
    ) {
        let swapped = |mask: usize| mask & 0b1100 | (mask & 1) << 1 | (mask & 2) >> 1;
        let other: Vec<f64> = (0..16).map(|mask| v[swapped(mask)]).collect();
        let (one, other) = (shapley(&v).unwrap().values, shapley(&other).unwrap().values);
        prop_assert!((one[0] - other[1]).abs() <= 1e-12 && (one[1] - other[0]).abs() <= 1e-12);
        prop_assert!((one[3] - other[3]).abs() <= 1e-12);
    }
}
