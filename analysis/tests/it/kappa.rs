//! Knows the published values of kappa, and what is said where it cannot be trusted.
//! Must not know other statistics.
//! Start at the tests.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::estimate::IntervalFlag;
use evalxrl_analysis::kappa::{Weights, agreement, kappa};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde_json::Value;

use crate::golden::{cases, close, numbers, within};

const ALL: [(&str, Weights); 3] = [
    ("unweighted", Weights::Unweighted),
    ("linear", Weights::Linear),
    ("quadratic", Weights::Quadratic),
];

#[test]
fn kappa_matches_the_reference_values() {
    for case in cases("kappa.json") {
        let rows = case["table"].as_array().unwrap().iter().map(numbers);
        let table: Vec<Vec<u64>> = rows
            .map(|row| row.iter().map(|count| *count as u64).collect())
            .collect();
        for (name, weights) in ALL {
            let target = &case[name];
            let what = |field: &str| format!("{field}, {name}, of {}", case["name"]);
            let found = match kappa(&table, weights, 0.95) {
                Ok(found) => found,
                Err(reason) => {
                    assert!(target["kappa"].is_null(), "{reason}: {}", what("kappa"));
                    continue;
                }
            };
            close(&what("kappa"), found.kappa, &target["kappa"]);
            let kappa_max = *found.kappa_max.value().unwrap();
            close(&what("kappa_max"), kappa_max, &target["kappa_max"]);
            optional(&what("se"), &found.standard_error, &target["se"]);
            if !target["se"].is_null() {
                let null = *found.null_standard_error.value().unwrap();
                close(&what("se0"), null, &target["se0"]);
                let interval = found.normal.value().unwrap();
                within(&what("low"), interval.low, &target["ci95"][0], 1e-8);
                within(&what("high"), interval.high, &target["ci95"][1], 1e-8);
            }
        }
    }
}

fn optional(what: &str, ours: &Computed<f64>, target: &Value) {
    match ours.value() {
        Some(ours) => close(what, *ours, target),
        None => assert!(target.is_null(), "{what}: {:?}", ours.reason()),
    }
}

/// Items of a table of two categories.
fn items(table: [[usize; 2]; 2]) -> Vec<(usize, usize)> {
    let cells = [(0, 0), (0, 1), (1, 0), (1, 1)];
    cells
        .into_iter()
        .flat_map(|(i, j)| vec![(i, j); table[i][j]])
        .collect()
}

fn agree(
    items: &[(usize, usize)],
    clusters: Option<&[usize]>,
) -> evalxrl_analysis::kappa::Agreement {
    let mut rng = ChaCha8Rng::from_seed([4; 32]);
    agreement(items, clusters, Weights::Unweighted, 0.95, 4_000, &mut rng).unwrap()
}

#[test]
fn intervals_over_items_have_the_width_that_planning_counts_on() {
    let half = |found: &evalxrl_analysis::kappa::Agreement| {
        let interval = found.interval.value().unwrap();
        (interval.high - interval.low) / 2.0
    };
    let found = agree(&items([[51, 9], [9, 51]]), None);
    assert!((found.kappa.kappa - 0.7).abs() < 1e-12);
    assert!((half(&found) - 0.13).abs() < 0.015, "{}", half(&found));
    let interval = found.interval.value().unwrap();
    assert!(interval.flags.is_empty());
    let few = agree(&items([[5, 1], [1, 5]]), None);
    assert!((half(&few) - 0.42).abs() < 0.1, "{}", half(&few));
    let flags = &few.interval.value().unwrap().flags;
    assert_eq!(flags, &[IntervalFlag::TooFewToInform]);
    assert_eq!(few.kappa.flags, [IntervalFlag::TooFewToInform]);
}

#[test]
fn clusters_of_equal_verdicts_widen_the_interval() {
    let once = items([[12, 4], [4, 12]]);
    let many: Vec<(usize, usize)> = once.iter().flat_map(|item| vec![*item; 4]).collect();
    let clusters: Vec<usize> = (0..many.len()).map(|item| item / 4).collect();
    let width = |found: evalxrl_analysis::kappa::Agreement| {
        let interval = found.interval.value().unwrap().clone();
        interval.high - interval.low
    };
    let clustered = agree(&many, Some(&clusters));
    assert_eq!(clustered.clusters, Some(32));
    let (clustered, single) = (width(clustered), width(agree(&many, None)));
    assert!(clustered > 1.6 * single, "{clustered} {single}");
}

#[test]
fn resamples_without_a_value_are_dropped_counted_and_flagged() {
    // One item in eight breaks the constancy: about a third of the resamples lack it.
    let found = agree(&items([[7, 0], [0, 1]]), None);
    let share = found.undefined_resamples as f64 / found.resamples as f64;
    assert!((share - (7.0_f64 / 8.0).powi(8)).abs() < 0.04, "{share}");
    let flags = &found.interval.value().unwrap().flags;
    assert!(flags.contains(&IntervalFlag::ManyUndefinedResamples));
}

#[test]
fn what_cannot_be_computed_says_why() {
    let mut rng = ChaCha8Rng::from_seed([4; 32]);
    let mut reason = |items: &[(usize, usize)], clusters: Option<&[usize]>| {
        agreement(items, clusters, Weights::Linear, 0.95, 10, &mut rng)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(reason(&[], None), "no verdict");
    assert_eq!(
        reason(&[(0, 0), (0, 0)], None),
        "both raters gave one and the same category throughout"
    );
    assert_eq!(reason(&[(0, 1)], Some(&[])), "1 items, but clusters for 0");
    assert_eq!(
        reason(&[(0, 5_000_000_000)], None),
        "5000000001 categories; 100 are the most"
    );
    let ragged = kappa(&[vec![1, 2], vec![3]], Weights::Linear, 0.95).unwrap_err();
    assert_eq!(
        ragged.to_string(),
        "the table is not square: 2 rows, and one of 1 columns"
    );
    let constant = kappa(&[vec![5, 5], vec![0, 0]], Weights::Linear, 0.95).unwrap();
    assert_eq!(constant.kappa, 0.0);
    assert_eq!(
        constant.normal.reason(),
        Some("one rater gave one category throughout")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kappa_does_not_depend_on_who_is_first(
        table in prop::collection::vec(prop::collection::vec(0_u64..6, 3), 3),
        choice in 0_usize..3,
    ) {
        let transposed: Vec<Vec<u64>> =
            (0..3).map(|j| table.iter().map(|row| row[j]).collect()).collect();
        let weights = ALL[choice].1;
        match (kappa(&table, weights, 0.95), kappa(&transposed, weights, 0.95)) {
            (Ok(one), Ok(other)) => {
                prop_assert!((one.kappa - other.kappa).abs() < 1e-12);
                prop_assert!(one.kappa <= 1.0 + 1e-12);
                let errors = [(&one.standard_error, &other.standard_error),
                    (&one.null_standard_error, &other.null_standard_error),
                    (&one.kappa_max, &other.kappa_max)];
                for (one, other) in errors {
                    match (one.value(), other.value()) {
                        (Some(one), Some(other)) => prop_assert!((one - other).abs() < 1e-12),
                        (one, other) => prop_assert_eq!(one, other),
                    }
                }
            }
            (one, other) => prop_assert_eq!(one.is_err(), other.is_err()),
        }
    }

    #[test]
    fn no_verdicts_panic_and_every_number_is_finite(
        items in prop::collection::vec((0_usize..4, 0_usize..4), 0..12),
        clusters in prop::collection::vec(0_usize..3, 12),
        clustered in any::<bool>(),
        choice in 0_usize..3,
    ) {
        let mut rng = ChaCha8Rng::from_seed([4; 32]);
        let clusters = clustered.then_some(&clusters[..items.len()]);
        if let Ok(found) = agreement(&items, clusters, ALL[choice].1, 0.95, 50, &mut rng) {
            let text = serde_json::to_string(&found).unwrap();
            prop_assert_eq!(&serde_json::from_str::<evalxrl_analysis::kappa::Agreement>(&text).unwrap(), &found);
            if let Some(interval) = found.interval.value() {
                prop_assert!(interval.low >= -1.0 && interval.high <= 1.0);
            }
        }
    }
}
