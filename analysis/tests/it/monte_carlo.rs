//! Knows that drawing null data agrees with enumerating it, and does not depend on threads.
//! Must not know reference values.
//! Start at the tests.

use evalxrl_analysis::interaction::{TestName, interaction_of};
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::two_sample::{Alternative, Effort, permutation_mean};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::golden::cases;
use crate::golden_interaction::{analyse, balanced, matrix};

#[test]
fn drawn_p_values_lie_near_the_enumerated_ones() {
    let exact = AnalysisPlan {
        resamples: 100,
        ..AnalysisPlan::default()
    };
    let drawn = AnalysisPlan {
        exact_limit_h1: 0,
        ..exact.clone()
    };
    for case in cases("h1_balanced.json")
        .iter()
        .filter(|case| !case["exact"].is_null())
    {
        let matrix = balanced(case);
        let (exact, drawn) = (analyse(&matrix, &exact), analyse(&matrix, &drawn));
        for name in [
            TestName::Literal,
            TestName::SessionF,
            TestName::SessionAny,
            TestName::Wild,
            TestName::FreedmanLane,
            TestName::CellLabelPermutation,
        ] {
            let p = exact.test(name).unwrap().p.value().unwrap().value;
            let estimate = drawn.test(name).unwrap().p.value().unwrap();
            assert!(!estimate.exact);
            let allowed = 4.0 * (p * (1.0 - p) / 9_999.0).sqrt() + 1.0 / 9_999.0;
            let distance = (estimate.value - p).abs();
            assert!(
                distance <= allowed,
                "{name:?} of {}: {} for {p}",
                case["name"],
                estimate.value
            );
        }
    }
}

#[test]
fn a_drawn_two_sample_test_lies_near_the_enumerated_one() {
    let first = [0.1, 0.4, 0.2, 0.9, 0.3, 0.35];
    let second = [0.5, 0.45, 0.8, 0.7, 0.2, 0.6, 0.65];
    let p = |exact_limit| {
        let mut rng = ChaCha8Rng::from_seed([3; 32]);
        let effort = Effort {
            exact_limit,
            draws: 99_999,
        };
        permutation_mean(&first, &second, Alternative::Less, effort, &mut rng).unwrap()
    };
    let (exact, drawn) = (p(5_000), p(0));
    assert!(exact.exact && !drawn.exact);
    assert!((exact.value - drawn.value).abs() < 4.0 * drawn.monte_carlo_error.unwrap());
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let cells: Vec<Vec<Vec<f64>>> = (0..3)
        .map(|m| {
            (0..4)
                .map(|k| {
                    let centre = if m == k { 0.9 } else { 0.2 };
                    (0..5)
                        .map(|n| centre + f64::from((m * 7 + k * 5 + n * 3) % 11) / 20.0)
                        .collect()
                })
                .collect()
        })
        .collect();
    let matrix = matrix(&cells);
    let plan = AnalysisPlan {
        permutations: 1_999,
        resamples: 1_000,
        ..AnalysisPlan::default()
    };
    let document = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let mut rng = ChaCha8Rng::from_seed([11; 32]);
            let found = interaction_of(&matrix, Scale::Raw, &plan, &mut rng).unwrap();
            serde_json::to_string(&found).unwrap()
        })
    };
    let one = document(1);
    assert!(one.contains("monte_carlo_error"));
    assert_eq!(one, document(2));
    assert_eq!(one, document(16));
}
