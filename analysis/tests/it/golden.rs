//! Knows where the reference data lies and how close a result must come to it.
//! Must not know results of other packages recorded beside the targets.
//! Start at `cases`.

use evalxrl_analysis::bootstrap::{Correction, basic, bca, jackknife, percentile, replicates_from};
use evalxrl_analysis::moments::{mean, quantile};
use evalxrl_analysis::multiplicity::benjamini_hochberg;
use evalxrl_analysis::repair_score::RepairScore;
use evalxrl_analysis::two_sample::{
    Alternative, Effort, permutation_mean, permutation_welch, rank_sum, welch,
};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde_json::Value;

/// Reads the cases of one file, or prints that the reference data is absent.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
pub(crate) fn cases(file: &str) -> Vec<Value> {
    let folder = std::env::var("EVALXRL_SHARED")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared").to_owned());
    let path = std::path::Path::new(&folder)
        .join("data/statistics")
        .join(file);
    if !path.exists() {
        eprintln!("skipped: {} is absent; set EVALXRL_SHARED", path.display());
        return Vec::new();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_f64().unwrap())
        .collect()
}

/// Asserts 1e-10 relative, 1e-12 absolute near 0.
pub(crate) fn close(what: &str, ours: f64, target: &Value) {
    within(what, ours, target, 1e-10);
}

/// Asserts a relative tolerance, 1e-12 absolute near 0.
pub(crate) fn within(what: &str, ours: f64, target: &Value, relative: f64) {
    let target = target
        .as_f64()
        .unwrap_or_else(|| panic!("{what}: target {target}"));
    let allowed = 1e-12_f64.max(relative * target.abs());
    assert!(
        (ours - target).abs() <= allowed,
        "{what}: {ours} instead of {target}"
    );
}

#[test]
fn scores_match_the_reference_values() {
    for case in cases("score.json") {
        let number = |key: &str| case[key].as_f64().unwrap_or(f64::NAN);
        let score = RepairScore::of(number("P_post"), number("P_clean"), number("P_broken"));
        let usable = !case["unclipped"].is_null() && case["inverted_denominator"] == false;
        match score {
            Ok(score) => {
                assert!(usable, "{case}");
                close("unclipped", score.raw(), &case["unclipped"]);
                close("clipped", score.clipped(), &case["clipped"]);
            }
            Err(error) => assert!(!usable, "{error}: {case}"),
        }
    }
}

#[test]
fn benjamini_hochberg_matches_the_reference_values() {
    for case in cases("bh.json") {
        let p: Vec<Option<f64>> = case["p"]
            .as_array()
            .unwrap()
            .iter()
            .map(Value::as_f64)
            .collect();
        let adjusted = benjamini_hochberg(&p, 0.05, None).unwrap();
        assert_eq!(adjusted.len(), p.len());
        for (index, adjusted) in adjusted.iter().enumerate() {
            match adjusted {
                None => assert!(case["bh_adjusted"][index].is_null()),
                Some(adjusted) => {
                    close("adjusted", adjusted.value, &case["bh_adjusted"][index]);
                    let rejected = case["reject_q05"][index].as_bool().unwrap();
                    assert_eq!(adjusted.rejected, rejected, "{}", case["name"]);
                }
            }
        }
    }
}

#[test]
fn two_sample_tests_match_the_reference_counts() {
    for case in cases("two_sample_perm.json") {
        let (method, baseline) = (numbers(&case["method"]), numbers(&case["baseline"]));
        let effort = Effort {
            exact_limit: 5_000_000,
            draws: 1,
        };
        let mut rng = ChaCha8Rng::from_seed([0; 32]);
        let counts = |what: &str, p: &evalxrl_analysis::estimate::PValue| {
            assert!(p.exact, "{what}");
            assert_eq!(
                p.count,
                case[what]["count"].as_u64(),
                "{what} of {}",
                case["name"]
            );
            assert_eq!(
                p.total,
                case[what]["total"].as_u64(),
                "{what} of {}",
                case["name"]
            );
            close(what, p.value, &case[what]["p"]);
        };
        close("diff", mean(&method) - mean(&baseline), &case["diff"]);
        let less = Alternative::Less;
        let p = permutation_mean(&method, &baseline, less, effort, &mut rng).unwrap();
        counts("perm_mean_less", &p);
        let (t, p) = permutation_welch(&method, &baseline, less, effort, &mut rng).unwrap();
        counts("perm_welch_less", &p);
        match case["perm_welch_less"]["t"].as_f64() {
            Some(_) => close("t", t, &case["perm_welch_less"]["t"]),
            None => assert!(t.is_infinite()),
        }
        counts(
            "perm_ranksum_less",
            &rank_sum(&method, &baseline, less).unwrap(),
        );
        match welch(&method, &baseline) {
            Ok(welch) => within("welch", welch.p_less().value, &case["welch_less"], 1e-8),
            Err(_) => assert!(case["welch_less"].is_null()),
        }
    }
}

#[test]
fn bootstrap_intervals_match_the_reference_values_for_given_resamples() {
    let Some(case) = cases("bootstrap.json").into_iter().next() else {
        return;
    };
    let runs: Vec<Vec<f64>> = case["X"].as_array().unwrap().iter().map(numbers).collect();
    let tasks = runs[0].len();
    let cells: Vec<Vec<f64>> = (0..tasks)
        .map(|task| runs.iter().map(|run| run[task]).collect())
        .collect();
    let index_sets = case["idx"].as_array().unwrap().iter().map(|set| {
        let rows: Vec<Vec<f64>> = set.as_array().unwrap().iter().map(numbers).collect();
        (0..tasks)
            .map(|task| rows.iter().map(|row| row[task] as usize).collect())
            .collect()
    });
    let average =
        |cells: &[Vec<f64>]| mean(&cells.iter().map(|cell| mean(cell)).collect::<Vec<_>>());
    let replicates = replicates_from(&cells, index_sets, average);
    let estimate = average(&cells);
    close("mean", estimate, &case["mean"]);
    let interval = percentile(estimate, &replicates, 0.95);
    close("percentile low", interval.low, &case["mean_pct95"][0]);
    close("percentile high", interval.high, &case["mean_pct95"][1]);
    let interval = basic(estimate, &replicates, 0.95);
    close("basic low", interval.low, &case["mean_basic95"][0]);
    close("basic high", interval.high, &case["mean_basic95"][1]);
    let left_out = jackknife(&cells, average);
    let target = &case["bca_mean"];
    let correction = Correction::new(estimate, &replicates, &left_out);
    within("z0", correction.bias, &target["z0"], 1e-8);
    close("a", correction.acceleration, &target["a"]);
    for (end, probability) in correction.probabilities(0.95).into_iter().enumerate() {
        within("alpha", probability, &target["alphas"][end], 1e-8);
    }
    let interval = bca(estimate, &replicates, &left_out, 0.95);
    within("bca low", interval.low, &target["ci"][0], 1e-8);
    within("bca high", interval.high, &target["ci"][1], 1e-8);
}

#[test]
fn all_resamples_of_three_scores_have_the_reference_quantiles() {
    let Some(case) = cases("bootstrap.json").into_iter().nth(1) else {
        return;
    };
    let cells = [numbers(&case["x"]), numbers(&case["y"])];
    let draws: Vec<Vec<usize>> = (0..27)
        .map(|code| vec![code / 9, code / 3 % 3, code % 3])
        .collect();
    let mut means = replicates_from(
        &cells[..1],
        draws.iter().map(|draw| vec![draw.clone()]),
        |drawn| mean(&drawn[0]),
    );
    let both = draws.iter().flat_map(|first| {
        draws
            .iter()
            .map(move |second| vec![first.clone(), second.clone()])
    });
    let mut differences = replicates_from(&cells, both, |drawn| mean(&drawn[0]) - mean(&drawn[1]));
    means.sort_by(f64::total_cmp);
    differences.sort_by(f64::total_cmp);
    for (index, probability) in [0.025, 0.5, 0.975].into_iter().enumerate() {
        close(
            "mean",
            quantile(&means, probability),
            &case["mean_q"][index],
        );
        close(
            "difference",
            quantile(&differences, probability),
            &case["diff_q"][index],
        );
    }
}
