//! Knows published values and laws of the rank correlation, and of texts beside lifts.
//! Must not know private items.
//! Start at `published_values_are_met`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::estimate::IntervalFlag;
use evalxrl_analysis::localisation::{TextPercentile, localisation};
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::rank_correlation::{
    Pair, RankCorrelation, rank_correlation, spearman, within_clusters,
};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

fn pairs(first: &[f64], second: &[f64], per_cluster: usize) -> Vec<Pair> {
    let both = first.iter().zip(second).enumerate();
    both.map(|(index, (first, second))| Pair {
        cluster: index / per_cluster,
        first: *first,
        second: *second,
    })
    .collect()
}

fn found(pairs: &[Pair], seed: u8) -> RankCorrelation {
    let mut rng = ChaCha8Rng::from_seed([seed; 32]);
    rank_correlation(pairs, 0.95, 2_000, &mut rng).unwrap()
}

#[test]
fn published_values_are_met() {
    // Lightness of tuna, Hollander and Wolfe (1973), p. 187, the example of R's `cor.test`: rho = 0.6.
    let hunter = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1];
    let panel = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8];
    let rho = spearman(&pairs(&hunter, &panel, 1)).unwrap();
    assert!((rho - 0.6).abs() < 1e-12, "{rho}");
    // With a tie, the example of scipy.stats.spearmanr: 0.82078268166812329.
    let rho = spearman(&pairs(
        &[1.0, 2.0, 3.0, 4.0, 5.0],
        &[5.0, 6.0, 7.0, 8.0, 7.0],
        1,
    ))
    .unwrap();
    assert!((rho - 0.820_782_681_668_123_3).abs() < 1e-15, "{rho}");
}

#[test]
fn ties_share_the_mean_of_their_ranks() {
    // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5/sqrt(4.5 · 5).
    let rho = spearman(&pairs(&[0.0, 0.5, 0.5, 1.0], &[1.0, 2.0, 3.0, 4.0], 1)).unwrap();
    assert!((rho - 4.5 / 22.5_f64.sqrt()).abs() < 1e-15, "{rho}");
    let zeros = spearman(&pairs(&[-0.0, 0.0, 1.0], &[1.0, 2.0, 3.0], 1)).unwrap();
    assert!((zeros - 0.75_f64.sqrt()).abs() < 1e-15, "{zeros}");
}

#[test]
fn what_has_no_correlation_says_why() {
    let reason = |pairs: &[Pair]| {
        let mut rng = ChaCha8Rng::from_seed([0; 32]);
        rank_correlation(pairs, 0.95, 10, &mut rng).unwrap_err().0
    };
    let short = pairs(&[1.0, 2.0], &[1.0, 2.0], 1);
    assert_eq!(reason(&short), "fewer than three pairs");
    assert_eq!(reason(&[]), "fewer than three pairs");
    let constant = pairs(&[1.0, 2.0, 3.0], &[0.0, 0.0, -0.0], 1);
    assert_eq!(
        reason(&constant),
        "one of the two is the same in every pair"
    );
    let infinite = pairs(&[1.0, 2.0, f64::NAN], &[0.0, 1.0, 2.0], 1);
    assert_eq!(reason(&infinite), "a value is not finite");
}

#[test]
fn one_cluster_has_a_correlation_without_an_interval() {
    let found = found(&pairs(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0], 3), 0);
    assert_eq!((found.coefficient, found.clusters), (0.5, 1));
    assert_eq!(found.interval.reason(), Some("one cluster to resample"));
}

#[test]
fn whole_clusters_are_resampled_and_few_are_flagged() {
    // Within each of two clusters all falls, between them all rises: every resample is one of three.
    let first = [0.1, 0.2, 0.3, 1.1, 1.2, 1.3];
    let second = [3.0, 2.0, 1.0, 6.0, 5.0, 4.0];
    let both = found(&pairs(&first, &second, 3), 1);
    let interval = both.interval.value().unwrap();
    assert_eq!((interval.low, both.undefined_resamples), (-1.0, 0));
    assert!((interval.high - both.coefficient).abs() < 1e-12);
    assert_eq!(interval.flags, [IntervalFlag::UndercoversBelowTen]);
    let centred = within_clusters(&pairs(&first, &second, 3));
    assert_eq!(spearman(&centred).unwrap(), -1.0);
}

#[test]
fn undefined_resamples_are_left_out_and_many_are_flagged() {
    // Two clusters, each constant in itself: half of the resamples hold one cluster alone.
    let first = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    let found = found(&pairs(&first, &first, 3), 2);
    assert_eq!(found.coefficient, 1.0);
    assert!((800..1200).contains(&found.undefined_resamples));
    let flags = &found.interval.value().unwrap().flags;
    assert!(flags.contains(&IntervalFlag::ManyUndefinedResamples));
}

#[test]
fn centring_leaves_no_order_among_equals_and_drops_what_is_alone() {
    let all = pairs(
        &[0.1, 0.1, 0.1, 0.7, 0.7, 0.7, 0.3],
        &[1.0, 2.0, 3.0, 3.0, 2.0, 1.0, 9.0],
        3,
    );
    let centred = within_clusters(&all);
    assert_eq!(centred.len(), 6);
    assert!(centred.iter().all(|pair| pair.first == 0.0));
}

fn values() -> impl Strategy<Value = Vec<(i32, i32)>> {
    prop::collection::vec((-6_i32..6, -6_i32..6), 3..30)
}

fn of(values: &[(i32, i32)], map: impl Fn(f64) -> f64, per_cluster: usize) -> Vec<Pair> {
    let first: Vec<f64> = values.iter().map(|each| map(f64::from(each.0))).collect();
    let second: Vec<f64> = values.iter().map(|each| f64::from(each.1)).collect();
    pairs(&first, &second, per_cluster)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn monotone_maps_change_nothing_and_antimonotone_ones_the_sign(values in values()) {
        let plain = of(&values, |x| x, 4);
        let mut rng = ChaCha8Rng::from_seed([3; 32]);
        if let Ok(before) = rank_correlation(&plain, 0.9, 50, &mut rng) {
            let mut rng = ChaCha8Rng::from_seed([3; 32]);
            let after = rank_correlation(&of(&values, f64::exp, 4), 0.9, 50, &mut rng).unwrap();
            prop_assert_eq!(&before, &after);
            let turned = spearman(&of(&values, |x| -x.powi(3), 4)).unwrap();
            prop_assert_eq!(turned, -before.coefficient);
            prop_assert!(before.coefficient.abs() <= 1.0);
        }
    }

    #[test]
    fn what_rises_or_falls_throughout_is_one_or_minus_one(values in values()) {
        let mut first: Vec<f64> = values.iter().map(|each| f64::from(each.0)).collect();
        first.sort_by(f64::total_cmp);
        first.dedup();
        prop_assume!(first.len() >= 3);
        let up: Vec<f64> = first.iter().map(|x| x.powi(3) + 2.0).collect();
        let down: Vec<f64> = first.iter().map(|x| -x).collect();
        let (rising, falling) = (found(&pairs(&first, &up, 1), 4), spearman(&pairs(&first, &down, 1)));
        prop_assert_eq!(rising.coefficient, 1.0);
        prop_assert_eq!(rising.interval.value().map(|found| (found.low, found.high)), Some((1.0, 1.0)));
        prop_assert_eq!(falling.unwrap(), -1.0);
    }

    #[test]
    fn sides_and_order_of_pairs_do_not_matter(values in values()) {
        let plain = of(&values, |x| x, 1);
        let turned: Vec<Pair> = plain.iter().rev()
            .map(|pair| Pair { first: pair.second, second: pair.first, ..*pair }).collect();
        prop_assert_eq!(spearman(&plain), spearman(&turned));
    }
}

#[test]
fn texts_without_a_run_have_percentiles_and_reasons() {
    let of = |malfunction: &str, method: &str, percentile| TextPercentile {
        malfunction: malfunction.to_owned(),
        method: method.to_owned(),
        percentile,
    };
    let texts = [of("b", "x", 0.75), of("a", "y", 0.5), of("a", "x", 0.25)];
    let plan = AnalysisPlan {
        resamples: 200,
        ..AnalysisPlan::default()
    };
    let seeds = |name: &str| [name.len() as u8; 32];
    let found = localisation(&texts, None, &plan, &seeds);
    let cells: Vec<(&str, &str)> = found
        .cells
        .iter()
        .map(|cell| (cell.malfunction.as_str(), cell.method.as_str()))
        .collect();
    assert_eq!(cells, [("a", "x"), ("a", "y"), ("b", "x")]);
    assert_eq!(found.cells[0].raw.reason(), Some("x was not run on a"));
    let [x, y] = [&found.methods[0], &found.methods[1]];
    assert_eq!((x.mean.estimate, x.malfunctions), (0.5, 2));
    let interval = x.mean.interval.value().unwrap();
    assert_eq!((interval.low, interval.high), (0.25, 0.75));
    assert_eq!(interval.flags, [IntervalFlag::UndercoversBelowTen]);
    assert_eq!(y.mean.interval.reason(), Some("one malfunction"));
    assert_eq!(found.correlations.len(), 4);
    for each in &found.correlations {
        let reason = Computed::reason(&each.correlation);
        assert_eq!(reason, Some("fewer than three pairs"));
    }
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(
        serde_json::from_str::<evalxrl_analysis::localisation::Localisation>(&text).unwrap(),
        found
    );
    let mut turned = texts.to_vec();
    turned.reverse();
    assert_eq!(localisation(&turned, None, &plan, &seeds), found);
}
