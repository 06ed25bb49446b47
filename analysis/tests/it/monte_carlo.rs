//! Knows that drawing null data agrees with enumerating it, and does not depend on threads.
//! Must not know reference values.
//! Start at the tests.

use evalxrl_analysis::interaction::{Matrix, TestName, interaction_of, run_tests, structure_of};
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::two_sample::{Alternative, Effort, permutation_mean};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::golden::cases;
use crate::golden_interaction::{analyse, balanced, blocked, named};

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
fn blocked_p_values_drawn_lie_near_the_enumerated_ones() {
    for name in ["3x2x2", "2x3x3", "3x2x2 crossover"] {
        let Some(case) = named(name) else { continue };
        let matrix = blocked(&case);
        let p = |exact_limit_h1: u64| {
            let plan = AnalysisPlan {
                exact_limit_h1,
                ..AnalysisPlan::default()
            };
            let names = [TestName::BlockedLiteral, TestName::BlockedF];
            let rng = &mut ChaCha8Rng::from_seed([4; 32]);
            run_tests(&matrix, &names, &plan, rng)
                .into_iter()
                .map(|test| test.p.value().unwrap().clone())
        };
        for (exact, drawn) in p(1_000_000).zip(p(0)) {
            assert!(exact.exact && !drawn.exact);
            let allowed =
                4.0 * (exact.value * (1.0 - exact.value) / 9_999.0).sqrt() + 1.0 / 9_999.0;
            assert!(
                (exact.value - drawn.value).abs() <= allowed,
                "{name}: {drawn:?} for {exact:?}"
            );
        }
    }
}

#[test]
fn a_test_asked_for_alone_gives_what_it_gives_among_others() {
    let Some(case) = named("5x10x6 interaction") else {
        return;
    };
    let matrix = blocked(&case);
    let plan = AnalysisPlan {
        permutations: 499,
        ..AnalysisPlan::default()
    };
    let run =
        |names: &[TestName]| run_tests(&matrix, names, &plan, &mut ChaCha8Rng::from_seed([9; 32]));
    let together = run(&TestName::ALL);
    for (name, test) in TestName::ALL.into_iter().zip(together) {
        assert!(test.p.value().is_some(), "{test:?}");
        assert_eq!(run(&[name]), [test]);
    }
}

#[test]
fn the_verdict_alone_is_the_verdict_among_everything_else() {
    let plan = AnalysisPlan {
        permutations: 499,
        resamples: 500,
        ..AnalysisPlan::default()
    };
    for name in ["5x10x6 interaction", "7x15x6 additive", "3x2x2 crossover"] {
        let Some(case) = named(name) else { continue };
        let matrix = balanced(&case);
        let rng = || ChaCha8Rng::from_seed([7; 32]);
        let alone = structure_of(&matrix, &plan, &mut rng()).unwrap();
        let whole = interaction_of(&matrix, Scale::Raw, &plan, &mut rng()).unwrap();
        assert_eq!(whole.structure.value(), Some(&alone));
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let cells: Vec<Vec<Vec<f64>>> = (0..4)
        .map(|m| {
            (0..5)
                .map(|k| {
                    let centre = if m == k { 0.9 } else { 0.2 };
                    (0..5)
                        .map(|n| centre + f64::from((m * 7 + k * 5 + n * 3) % 11) / 20.0)
                        .collect()
                })
                .collect()
        })
        .collect();
    let blocks: Vec<Vec<Vec<Option<u64>>>> = vec![vec![(0..5).map(Some).collect(); 5]; 4];
    let names = |count: usize| -> Vec<String> { (0..count).map(|i| i.to_string()).collect() };
    let matrix = Matrix::with_blocks(&names(4), &names(5), &cells, &blocks).unwrap();
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
            assert!(found.tests.iter().all(|test| test.p.value().is_some()));
            assert!(found.clusters.value().unwrap().methods.value().is_some());
            serde_json::to_string(&found).unwrap()
        })
    };
    let one = document(1);
    assert!(one.contains("monte_carlo_error"));
    assert_eq!(one, document(2));
    assert_eq!(one, document(4));
    assert_eq!(one, document(16));
}
