//! Knows what tool calls, budget curves, dossier pairs and coalitions report in cases with a known answer.
//! Must not know how a single statistic is computed.
//! Start at `worked`.

use std::collections::BTreeMap;

use evalxrl_analysis::budget_curve::{budget_curves, planned_curves};
use evalxrl_analysis::computed::NotComputed;
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::{BudgetSource, Invocations, Outcome, ScoreRow, ScoreTable};
use evalxrl_analysis::tool_calls::{ToolCalls, tool_calls};

use crate::findings::{keys, quick};
use crate::table::{session, table};

/// A session that submitted after so many tool calls, or never.
fn worked(malfunction: &str, method: &str, replication: u64, calls: Option<u64>) -> ScoreRow {
    let (outcome, raw) = match calls {
        Some(_) => (Outcome::Submitted, 0.8),
        None => (Outcome::BudgetSpent, 0.0),
    };
    ScoreRow {
        outcome,
        tool_calls: calls.or(Some(60)),
        ..session(malfunction, method, replication, raw)
    }
}

/// Without a method nobody submits before 40 calls; with saliency all do by 20.
fn quicker() -> Vec<ScoreRow> {
    let mut rows = Vec::new();
    for malfunction in ["k0", "k1"] {
        for (n, calls) in [Some(40), None, Some(50), None].into_iter().enumerate() {
            rows.push(worked(malfunction, "no-method", n as u64, calls));
        }
        for (n, calls) in [Some(10), Some(20), Some(10), Some(20)]
            .into_iter()
            .enumerate()
        {
            rows.push(worked(malfunction, "saliency", n as u64, calls));
        }
    }
    rows
}

fn analyse(table: &ScoreTable) -> Result<ToolCalls, NotComputed> {
    tool_calls(&table.strata()[0], &quick(), &keys(1))
}

#[test]
fn calls_are_cut_off_at_the_budget_and_never_ties_above_all() {
    let found = analyse(&table(quicker()).with_tool_call_budget(60)).unwrap();
    assert_eq!(found.budget.source, BudgetSource::Given);
    let [baseline, saliency] = found.methods.as_slice() else {
        panic!("two methods");
    };
    assert_eq!((baseline.sessions, baseline.submitted), (8, 4));
    assert_eq!(baseline.share_submitted.estimate, 0.5);
    assert_eq!(
        baseline.restricted_mean.estimate,
        (40.0 + 50.0 + 2.0 * 60.0) / 4.0
    );
    assert_eq!(baseline.median.reason(), Some("not reached"));
    assert_eq!(baseline.difference.reason(), Some("the baseline itself"));
    assert_eq!(saliency.median.value(), Some(&15.0));
    let cell = saliency.cells[0].difference.value().unwrap();
    // The fewest calls of 4 against 4: twice 1/70.
    assert_eq!(
        (cell.rank_sum.count, cell.rank_sum.total),
        (Some(2), Some(70))
    );
    let whole = saliency.difference.value().unwrap();
    assert_eq!(whole.restricted_mean.estimate, 15.0 - 52.5);
    assert_eq!(
        (whole.rank_sum.count, whole.rank_sum.total),
        (Some(2), Some(4_900))
    );
    let interval = whole.restricted_mean.interval.value().unwrap();
    assert!(interval.low <= -37.5 && -37.5 <= interval.high && interval.high < -20.0);
}

#[test]
fn the_largest_observed_number_stands_in_for_an_unknown_budget_and_is_flagged() {
    let found = analyse(&table(quicker())).unwrap();
    assert_eq!(
        (found.budget.steps, found.budget.source),
        (50, BudgetSource::LargestObserved)
    );
}

#[test]
fn unequal_budgets_are_refused_with_coders_and_numbers() {
    let budgets = |numbers: [(&str, u64); 2]| -> BTreeMap<String, u64> {
        numbers
            .map(|(coder, steps)| (coder.to_owned(), steps))
            .into()
    };
    let unequal = table(quicker()).with_tool_call_budgets(budgets([("small", 60), ("large", 80)]));
    let reason = "the tool-call budgets of the coders differ: large 80, small 60";
    assert_eq!(analyse(&unequal).unwrap_err().to_string(), reason);
    let curves = budget_curves(&unequal, &quick(), &keys(1));
    assert_eq!(curves.truncation[0].curves.reason(), Some(reason));
    let equal = table(quicker()).with_tool_call_budgets(budgets([("small", 60), ("large", 60)]));
    assert_eq!(analyse(&equal).unwrap().budget.source, BudgetSource::Plan);
}

#[test]
fn a_submission_without_a_count_leaves_no_result() {
    let mut rows = quicker();
    rows[4].tool_calls = None;
    rows[6].tool_calls = None;
    // A session that never submitted needs none.
    rows[1].tool_calls = None;
    assert_eq!(
        analyse(&table(rows)).unwrap_err().to_string(),
        "2 submitted sessions have no tool_calls, the first of them saliency on k0, replication 0"
    );
}

#[test]
fn truncation_rises_with_the_observed_calls_and_its_area_is_normalised() {
    let curves = budget_curves(
        &table(quicker()).with_tool_call_budget(60),
        &quick(),
        &keys(1),
    );
    let stratum = &curves.truncation[0];
    assert_eq!(
        stratum.label,
        "not the behaviour of a coder who knew the smaller budget"
    );
    let saliency = &stratum.curves.value().unwrap()[2];
    assert_eq!(
        (saliency.method.as_str(), saliency.scale),
        ("saliency", Scale::Clipped)
    );
    assert_eq!(saliency.calls, [10, 20]);
    let close = |ours: f64, target: f64| (ours - target).abs() < 1e-12;
    assert!(close(saliency.means[0], 0.4) && close(saliency.means[1], 0.8));
    assert!(close(
        saliency.area.estimate,
        (0.4 * 10.0 + 0.8 * 40.0) / 60.0
    ));
    let (low, high) = (
        saliency.low.value().unwrap(),
        saliency.high.value().unwrap(),
    );
    assert!(low[0] < 0.4 && 0.4 < high[0]);
    assert!(close(low[1], 0.8) && close(high[1], 0.8));
    assert_eq!(
        curves.planned.reason(),
        Some("no coder has two invocation budgets")
    );
}

#[test]
fn planned_budgets_are_compared_on_the_malfunctions_they_share() {
    let mut rows = Vec::new();
    for (invocations, raw) in [
        (Invocations::Unlimited, 0.9),
        (Invocations::AtMost(3), 0.2),
        (Invocations::AtMost(10), 0.6),
    ] {
        for malfunction in ["k0", "k1"] {
            if malfunction == "k1" && invocations == Invocations::Unlimited {
                continue;
            }
            for n in 0..4 {
                rows.push(ScoreRow {
                    coder: Some("agent".to_owned()),
                    invocations: Some(invocations),
                    ..session(malfunction, "saliency", n, raw)
                });
            }
        }
    }
    let table = table(rows);
    let curves = budget_curves(&table, &quick(), &keys(1));
    let planned = curves.planned.value().unwrap();
    let alone = planned_curves(&table, &quick(), &keys(1)).unwrap();
    assert_eq!(*planned, alone);
    assert_eq!(planned.len(), 2);
    let curve = &planned[0];
    assert_eq!(
        (curve.coder.as_deref(), curve.malfunctions),
        (Some("agent"), 1)
    );
    let means: Vec<(String, f64)> = curve
        .points
        .iter()
        .map(|point| (point.invocations.to_string(), point.mean.estimate))
        .collect();
    let expected = [("3", 0.2), ("10", 0.6), ("unlimited", 0.9)];
    for ((budget, mean), (name, value)) in means.iter().zip(expected) {
        assert!(budget == name && (mean - value).abs() < 1e-12);
    }
}

#[test]
fn an_arm_of_scripted_repairs_has_no_tool_calls_to_count() {
    let mut rows = quicker();
    rows.push(session("k0", "optimal-repair", 0, 1.0));
    let found = analyse(&table(rows)).unwrap();
    assert!(
        found
            .methods
            .iter()
            .all(|method| method.method != "optimal-repair")
    );
    let only = table(vec![session("k0", "optimal-repair", 0, 1.0)]);
    let plan = AnalysisPlan::default();
    assert!(tool_calls(&only.strata()[0], &plan, &keys(1)).is_err());
}
