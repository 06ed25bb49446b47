//! Knows the laws of aggregates and of their intervals, for any finite scores.
//! Must not know reference values.
//! Start at the properties.

use evalxrl_analysis::aggregate::{
    Aggregates, Statistic, aggregate_interval, aggregates, estimate, improvement_interval, iqm,
    probability_of_improvement, profiles,
};
use evalxrl_analysis::bootstrap::{Kind, Options, Over, percentile, replicates};
use evalxrl_analysis::cells::{CellFinding, summarise};
use evalxrl_analysis::contrast::ResampledCells;
use evalxrl_analysis::estimate::Interval;
use evalxrl_analysis::lift::{Lifts, lifts};
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::Stratum;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::table::{session, table};

const STATISTICS: [Statistic; 4] = [
    Statistic::Mean,
    Statistic::Median,
    Statistic::Iqm,
    Statistic::OptimalityGap,
];

pub(crate) fn rng(seed: u8) -> ChaCha8Rng {
    ChaCha8Rng::from_seed([seed; 32])
}

/// Stands in for the keyed hash of the caller: any function of the name will do.
pub(crate) fn keys(root: u8) -> impl Fn(&str) -> [u8; 32] + Sync {
    move |name: &str| {
        let mut key = [root; 32];
        for (index, byte) in name.bytes().enumerate() {
            key[index % 32] = key[index % 32].rotate_left(3) ^ byte;
        }
        key
    }
}

pub(crate) fn quick() -> AnalysisPlan {
    AnalysisPlan {
        resamples: 300,
        ..AnalysisPlan::default()
    }
}

/// Any score a table can hold, the extremes of floating point among them.
pub(crate) fn any_score() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-8_i32..8).prop_map(|score| f64::from(score) / 4.0),
        1 => prop::sample::select(vec![0.0, -0.0, 1.0, 1e300, -1e300, 1e-300, f64::MAX, f64::MIN]),
    ]
}

fn any_cells(least: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(any_score(), least..7), 1..5)
}

/// A stratum of three methods (baseline and placebo among them) with these cells, in turn.
pub(crate) fn stratum(cells: &[Vec<f64>]) -> Stratum {
    let methods = ["lrp", "no-method", "placebo", "saliency"];
    let mut rows = Vec::new();
    for (place, cell) in cells.iter().enumerate() {
        for (replication, score) in cell.iter().enumerate() {
            let malfunction = format!("k{}", place / methods.len());
            let method = methods[place % methods.len()];
            rows.push(session(&malfunction, method, replication as u64, *score));
        }
    }
    table(rows).strata().remove(0)
}

/// Asserts that JSON holds every number: NaN and infinities would be written as null, and refused on reading.
pub(crate) fn survives_json<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    value: &T,
) {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_weighted_interquartile_mean_of_equal_cells_is_the_trimmed_mean(
        cells in (1_usize..8).prop_flat_map(|sessions| prop::collection::vec(
            prop::collection::vec((-40_i32..40).prop_map(|y| f64::from(y) / 16.0), sessions), 1..8)),
    ) {
        let mut all: Vec<f64> = cells.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let dropped = all.len() / 4;
        let kept = &all[dropped..all.len() - dropped];
        let trimmed = kept.iter().sum::<f64>() / kept.len() as f64;
        prop_assert!((iqm(&cells).unwrap() - trimmed).abs() < 1e-12);
    }

    #[test]
    fn a_session_given_twice_weighs_as_much_as_once_in_the_interquartile_mean(
        cells in prop::collection::vec(prop::collection::vec((-9_i32..9).prop_map(f64::from), 4), 1..5),
    ) {
        // With every session of every cell doubled n grows, but with n a multiple of 4 no weight moves.
        let doubled: Vec<Vec<f64>> = cells.iter().map(|cell| cell.repeat(2)).collect();
        prop_assert!((iqm(&cells).unwrap() - iqm(&doubled).unwrap()).abs() < 1e-12);
    }

    #[test]
    fn probabilities_of_improvement_either_way_sum_to_one(first in any_cells(1), second in any_cells(1)) {
        let (forth, back) =
            (probability_of_improvement(&first, &second), probability_of_improvement(&second, &first));
        prop_assert!((forth.unwrap() + back.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn replicates_side_by_side_are_those_of_the_plain_statistics(
        first in prop::collection::vec(prop::collection::vec((-9_i32..9).prop_map(|y| f64::from(y) / 4.0), 2..5), 2..4),
    ) {
        let options = Options { resamples: 270, ..Options::default() };
        for statistic in STATISTICS {
            let fast = aggregate_interval(&first, statistic, 1.0, &options, &mut rng(1)).unwrap();
            let plain = replicates(&first, 270, |cells| estimate(cells, statistic, 1.0).unwrap(), &mut rng(1));
            let plain = percentile(estimate(&first, statistic, 1.0).unwrap(), &plain, 0.95);
            prop_assert!((fast.low - plain.low).abs() < 1e-12, "{statistic:?}");
            prop_assert!((fast.high - plain.high).abs() < 1e-12, "{statistic:?}");
        }
        let (own, other) = first.split_at(first.len() / 2);
        let common = own.len();
        let cells: Vec<Vec<f64>> = own.iter().chain(&other[..common]).cloned().collect();
        let fast = improvement_interval(own, other, &options, &mut rng(2)).unwrap();
        let of = |cells: &[Vec<f64>]| probability_of_improvement(&cells[..common], &cells[common..]).unwrap();
        let plain = percentile(of(&cells), &replicates(&cells, 270, of, &mut rng(2)), 0.95);
        prop_assert!((fast.low - plain.low).abs() < 1e-12 && (fast.high - plain.high).abs() < 1e-12);
        let thresholds = [0.5, -1.0, 0.5, 0.0];
        let bands = profiles(&first, &thresholds, 0.95, 270, &mut rng(3)).unwrap();
        for (profile, shares) in [
            (&bands.score, evalxrl_analysis::aggregate::score_profile as fn(&[Vec<f64>], &[f64]) -> _),
            (&bands.average_score, evalxrl_analysis::aggregate::average_score_profile),
        ] {
            for place in 0..thresholds.len() {
                let share = |cells: &[Vec<f64>]| shares(cells, &thresholds).unwrap()[place];
                let plain = percentile(share(&first), &replicates(&first, 270, share, &mut rng(3)), 0.95);
                prop_assert!((profile.low.value().unwrap()[place] - plain.low).abs() < 1e-12);
                prop_assert!((profile.high.value().unwrap()[place] - plain.high).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn no_finite_scores_panic_in_aggregates_and_every_number_is_finite(cells in any_cells(0), seed in any::<u8>()) {
        let other: Vec<Vec<f64>> = cells.iter().rev().cloned().collect();
        for kind in [Kind::Percentile, Kind::Basic, Kind::Bca] {
            for over in [Over::Sessions, Over::Malfunctions] {
                let options = Options { kind, over, resamples: 60, level: 0.9 };
                let mut found: Vec<Interval> = STATISTICS
                    .into_iter()
                    .filter_map(|statistic| aggregate_interval(&cells, statistic, 1.0, &options, &mut rng(seed)).ok())
                    .collect();
                found.extend(improvement_interval(&cells, &other, &options, &mut rng(seed)));
                survives_json(&found);
                prop_assert!(found.iter().all(|interval| interval.low <= interval.high));
            }
        }
        if let Ok(found) = profiles(&cells, &[0.5, 0.0, f64::MAX], 0.9, 60, &mut rng(seed)) {
            survives_json(&found);
        }
    }

    #[test]
    fn no_finite_scores_panic_in_cells_and_lifts_and_every_number_is_finite(
        cells in prop::collection::vec(prop::collection::vec(any_score(), 0..5), 1..9),
    ) {
        prop_assume!(cells.iter().any(|cell| !cell.is_empty()));
        let stratum = stratum(&cells);
        let plan = AnalysisPlan { winsor_floor: f64::MIN, ..quick() };
        let [clipped, raw] =
            [Scale::Clipped, Scale::Raw].map(|scale| ResampledCells::new(&stratum, scale, &plan, &keys(1)));
        let of_cells: Vec<CellFinding> = summarise(&stratum, &plan, &clipped, &raw);
        let of_lifts: Lifts = lifts(&stratum, Scale::Raw, &raw);
        let of_methods: Aggregates = aggregates(&stratum, &plan, &keys(1));
        survives_json(&of_cells);
        survives_json(&of_lifts);
        survives_json(&of_methods);
    }
}
