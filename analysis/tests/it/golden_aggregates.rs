//! Knows the published values of aggregates, and of their replicates from given resamples.
//! Must not know laws.
//! Start at the tests.

use evalxrl_analysis::aggregate::{
    average_score_profile, iqm, mean_of_cells, median_of_cells, optimality_gap,
    probability_of_improvement, score_profile,
};
use evalxrl_analysis::bootstrap::{percentile, replicates_from};
use serde_json::Value;

use crate::golden::{cases, close, numbers};

/// Turns `[run][malfunction]` into the cells of a method by malfunction.
pub(crate) fn cells(rows: &Value) -> Vec<Vec<f64>> {
    let runs: Vec<Vec<f64>> = rows.as_array().unwrap().iter().map(numbers).collect();
    (0..runs[0].len())
        .map(|malfunction| runs.iter().map(|run| run[malfunction]).collect())
        .collect()
}

#[test]
fn aggregates_match_the_reference_values() {
    for case in cases("aggregates.json") {
        let (own, other) = (cells(&case["X"]), cells(&case["Y"]));
        close("mean", mean_of_cells(&own).unwrap(), &case["mean"]);
        close("median", median_of_cells(&own).unwrap(), &case["median"]);
        close("iqm", iqm(&own).unwrap(), &case["iqm"]);
        let gap = optimality_gap(&own, 1.0).unwrap();
        close("optimality gap", gap, &case["optimality_gap"]);
        let improvement = probability_of_improvement(&own, &other).unwrap();
        close("improvement", improvement, &case["prob_improvement"]);
        let thresholds = numbers(&case["taus"]);
        for (what, shares) in [
            ("score_profile", score_profile(&own, &thresholds)),
            (
                "avg_score_profile",
                average_score_profile(&own, &thresholds),
            ),
        ] {
            let shares = shares.unwrap();
            assert_eq!(shares.len(), case[what].as_array().unwrap().len());
            for (share, target) in shares.into_iter().zip(case[what].as_array().unwrap()) {
                close(what, share, target);
            }
        }
    }
}

#[test]
fn interquartile_means_of_given_resamples_match_the_reference_values() {
    let Some(case) = cases("bootstrap.json").into_iter().next() else {
        return;
    };
    let cells = cells(&case["X"]);
    let index_sets = case["idx"].as_array().unwrap().iter().map(|set| {
        let rows: Vec<Vec<f64>> = set.as_array().unwrap().iter().map(numbers).collect();
        (0..cells.len())
            .map(|malfunction| rows.iter().map(|row| row[malfunction] as usize).collect())
            .collect()
    });
    let replicates = replicates_from(&cells, index_sets, |drawn| iqm(drawn).unwrap());
    close("iqm", iqm(&cells).unwrap(), &case["iqm"]);
    for (replicate, target) in replicates
        .iter()
        .zip(case["iqm_reps_first5"].as_array().unwrap())
    {
        close("replicate", *replicate, target);
    }
    let interval = percentile(iqm(&cells).unwrap(), &replicates, 0.95);
    close("low", interval.low, &case["iqm_pct95"][0]);
    close("high", interval.high, &case["iqm_pct95"][1]);
}
