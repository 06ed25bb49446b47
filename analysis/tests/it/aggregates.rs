//! Knows what a reader of aggregates may rely on: reproducible, in step with the cells, and silent where data cannot speak.
//! Must not know reference values.
//! Start at `round`.

use evalxrl_analysis::aggregate::{Aggregates, Statistic, aggregate_interval, aggregates};
use evalxrl_analysis::bootstrap::{Kind, Options, Over};
use evalxrl_analysis::cells::summarise;
use evalxrl_analysis::contrast::ResampledCells;
use evalxrl_analysis::estimate::IntervalFlag;
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::Stratum;

use crate::sample_laws::{keys, quick, rng, stratum};

/// Two malfunctions of four methods, six sessions each.
fn round() -> Stratum {
    let cells: Vec<Vec<f64>> = (0..8_u32)
        .map(|cell| {
            (0..6_u32)
                .map(|n| f64::from((cell * 7 + n * n * 3) % 11) / 10.0)
                .collect()
        })
        .collect();
    stratum(&cells)
}

#[test]
fn aggregates_have_the_same_bytes_at_any_number_of_threads_and_others_at_another_seed() {
    let (stratum, plan) = (
        round(),
        AnalysisPlan {
            resamples: 1_000,
            ..quick()
        },
    );
    let bytes = |threads: usize, root: u8| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| serde_json::to_string(&aggregates(&stratum, &plan, &keys(root))).unwrap())
    };
    let one = bytes(1, 1);
    assert!(one == bytes(2, 1));
    assert!(one == bytes(4, 1));
    let [first, other] =
        [one, bytes(2, 2)].map(|text| serde_json::from_str::<Aggregates>(&text).unwrap());
    let low = |found: &Aggregates| {
        found.methods[0]
            .iqm
            .value()
            .unwrap()
            .interval
            .value()
            .unwrap()
            .low
    };
    assert_ne!(low(&first), low(&other));
}

#[test]
fn a_method_on_one_malfunction_has_the_interval_of_its_cell() {
    let stratum = stratum(&[vec![0.1, 0.5, 0.7, 0.2]]);
    let plan = quick();
    let raw = ResampledCells::new(&stratum, Scale::Raw, &plan, &keys(1));
    let clipped = ResampledCells::new(&stratum, Scale::Clipped, &plan, &keys(1));
    let cells = summarise(&stratum, &plan, &clipped, &raw);
    let found = aggregates(&stratum, &plan, &keys(1));
    let of_cell = &cells[0].clipped.value().unwrap().percentile;
    let own = &found.methods[0];
    assert_eq!((own.scale, own.malfunctions), (Scale::Clipped, 1));
    assert_eq!(&own.mean.value().unwrap().interval, of_cell);
    assert_eq!(&own.median.value().unwrap().interval, of_cell);
    let flags = &of_cell.value().unwrap().flags;
    assert_eq!(flags, &[IntervalFlag::UndercoversBelowTen]);
}

#[test]
fn improvements_are_over_every_pair_of_methods_and_over_the_reserved_arms() {
    let found = aggregates(&round(), &quick(), &keys(1));
    let pairs: Vec<(&str, &str)> = found
        .improvements
        .iter()
        .filter(|improvement| improvement.scale == Scale::Raw)
        .map(|improvement| (improvement.first.as_str(), improvement.second.as_str()))
        .collect();
    assert_eq!(
        pairs,
        [
            ("lrp", "no-method"),
            ("lrp", "placebo"),
            ("lrp", "saliency"),
            ("saliency", "no-method"),
            ("saliency", "placebo")
        ]
    );
    assert_eq!(found.methods.len(), 8);
    assert!(
        found
            .improvements
            .iter()
            .all(|improvement| improvement.malfunctions == 2)
    );
}

#[test]
fn resampling_malfunctions_as_well_widens_an_interval_where_they_differ() {
    let cells: Vec<Vec<f64>> = (0..6_u32)
        .map(|k| {
            (0..6_u32)
                .map(|n| f64::from(k) / 5.0 + f64::from(n) / 50.0)
                .collect()
        })
        .collect();
    let width = |over: Over| {
        let options = Options {
            over,
            resamples: 2_000,
            ..Options::default()
        };
        let found = aggregate_interval(&cells, Statistic::Iqm, 1.0, &options, &mut rng(1)).unwrap();
        found.high - found.low
    };
    assert!(width(Over::Malfunctions) > 3.0 * width(Over::Sessions));
}

#[test]
fn intervals_that_cannot_be_made_say_why() {
    let reason = |cells: &[Vec<f64>], options: Options| {
        aggregate_interval(cells, Statistic::Iqm, 1.0, &options, &mut rng(1))
            .unwrap_err()
            .to_string()
    };
    let default = Options::default();
    assert_eq!(reason(&[vec![], vec![]], default), "no session");
    assert_eq!(
        reason(&[vec![1.0], vec![0.0, 1.0]], default),
        "a cell has one session"
    );
    let malfunctions = Options {
        over: Over::Malfunctions,
        ..default
    };
    assert_eq!(reason(&[vec![0.0, 1.0]], malfunctions), "one malfunction");
    let level = Options {
        level: 1.0,
        ..default
    };
    assert_eq!(
        reason(&[vec![0.0, 1.0]], level),
        "the level 1 is not strictly between 0 and 1"
    );
    let none = Options {
        resamples: 0,
        ..default
    };
    assert_eq!(reason(&[vec![0.0, 1.0]], none), "no resamples");
    let large = vec![vec![f64::MAX; 4]];
    assert_eq!(
        reason(&large, default),
        "the scores are too large for floating point"
    );
    let bca = Options {
        kind: Kind::Bca,
        ..default
    };
    let found =
        aggregate_interval(&[vec![0.5; 12]], Statistic::Mean, 1.0, &bca, &mut rng(1)).unwrap();
    assert_eq!((found.low, found.high), (0.5, 0.5));
    assert_eq!(found.flags, [IntervalFlag::Degenerate]);
}
