//! Knows what a reader may rely on in findings: reproducible, free of NaN, and right in cases with a known answer.
//! Must not know how a single statistic is computed.
//! Start at `round`.

use std::collections::BTreeMap;

use evalxrl_analysis::estimate::IntervalFlag;
use evalxrl_analysis::findings::{Findings, findings};
use evalxrl_analysis::harm::HarmVerdict;
use evalxrl_analysis::oracle_gap::GapVerdict;
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::{PlannedCell, ReferenceError, ScoreRow, ScoreTable};
use evalxrl_analysis::structure::StructureWord;

use crate::table::{session, table};

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
        permutations: 999,
        resamples: 1_000,
        ..AnalysisPlan::default()
    }
}

fn analyse(table: &ScoreTable, plan: &AnalysisPlan, root: u8) -> Findings {
    findings(table, plan, None, &keys(root)).unwrap()
}

/// A small noise that depends on the session alone.
pub(crate) fn noise(seed: u64) -> f64 {
    let scrambled = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    (scrambled % 1_000) as f64 / 10_000.0 - 0.05
}

/// Six malfunctions, eight sessions per cell: three methods that each reveal two of them, oracle at .9, optimal near 1.
pub(crate) fn round() -> Vec<ScoreRow> {
    let malfunctions = ["k0", "k1", "k2", "k3", "k4", "k5"];
    let mut rows = Vec::new();
    for (k, malfunction) in malfunctions.into_iter().enumerate() {
        let arms = [
            ("no-method", 0.3),
            ("cheat-oracle", 0.6),
            ("optimal-repair", 1.0),
            ("counterfactual", if k % 3 == 0 { 0.8 } else { 0.3 }),
            ("reward-decomposition", if k % 3 == 1 { 0.8 } else { 0.3 }),
            ("saliency", if k % 3 == 2 { 0.8 } else { 0.3 }),
        ];
        for (m, (method, mean)) in arms.into_iter().enumerate() {
            for n in 0..8 {
                let seed = (k * 100 + m * 10) as u64 + n + 1;
                rows.push(session(malfunction, method, n, mean + noise(seed)));
            }
        }
    }
    rows
}

#[test]
fn methods_with_their_own_malfunctions_are_structured() {
    let found = analyse(&table(round()), &quick(), 1);
    let stratum = &found.strata[0];
    let verdict = stratum.h1.verdict.value().unwrap();
    assert_eq!(
        (verdict.word, verdict.supported),
        (StructureWord::Structured, true)
    );
    let gap = stratum.h2.clipped.value().unwrap();
    assert_eq!(gap.verdict, GapVerdict::Gap);
    assert!((gap.gap.estimate - 0.4).abs() < 0.05);
    assert_eq!(
        stratum.h3.value().unwrap().verdict,
        HarmVerdict::NoHarmFound
    );
    let lift = stratum
        .lifts
        .methods
        .iter()
        .find(|lift| lift.method == "saliency")
        .unwrap();
    assert_eq!(lift.scale, Scale::Clipped);
    assert!((lift.mean.value().unwrap().estimate - 1.0 / 6.0).abs() < 0.05);
    assert_eq!(stratum.cells.len(), 36);
    assert_eq!(stratum.cost.len(), 6);
}

#[test]
fn methods_apart_by_the_same_amount_are_parallel_and_methods_alike_are_uniform() {
    let shifted = |by: f64| {
        let rows = round()
            .into_iter()
            .filter(|row| row.method != "counterfactual");
        let rows = rows.map(|row| {
            let k = u64::from(row.malfunction.as_bytes()[1]);
            let m = if row.method == "saliency" { by } else { 0.0 };
            let seed = k * 1_000 + row.replication * 7 + row.method.len() as u64;
            ScoreRow {
                raw: 0.4 + m + noise(seed),
                ..row
            }
        });
        analyse(&table(rows.collect()), &quick(), 1)
    };
    let word = |found: &Findings| found.strata[0].h1.verdict.value().unwrap().word;
    assert_eq!(word(&shifted(0.3)), StructureWord::SingleAxisParallel);
    assert_eq!(word(&shifted(0.0)), StructureWord::Uniform);
}

#[test]
fn the_same_seed_gives_the_same_bytes_at_any_number_of_threads() {
    let table = table(round());
    let bytes = |threads: usize, root: u8| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| serde_json::to_string(&analyse(&table, &quick(), root)).unwrap())
    };
    let one = bytes(1, 1);
    assert!(one == bytes(2, 1));
    assert!(one == bytes(16, 1));
    let other: Findings = serde_json::from_str(&bytes(2, 2)).unwrap();
    let first: Findings = serde_json::from_str(&one).unwrap();
    let low = |found: &Findings| {
        let cell = found.strata[0].cells[0].clipped.value().unwrap();
        cell.percentile.value().unwrap().low
    };
    assert_ne!(low(&first), low(&other));
    assert!(serde_json::to_string(&first).unwrap() == one);
}

#[test]
fn a_new_arm_changes_no_interval_of_the_old_ones() {
    let fewer = round()
        .into_iter()
        .filter(|row| row.method != "saliency")
        .collect();
    let (before, after) = (
        analyse(&table(fewer), &quick(), 1),
        analyse(&table(round()), &quick(), 1),
    );
    for cell in &before.strata[0].cells {
        assert!(after.strata[0].cells.contains(cell));
    }
}

#[test]
fn one_method_on_one_malfunction_succeeds_and_says_what_it_lacks() {
    let found = analyse(&table(vec![session("k0", "saliency", 0, 0.5)]), &quick(), 1);
    let stratum = &found.strata[0];
    let reason = stratum.h1.clipped.reason().unwrap();
    assert_eq!(
        reason,
        "explanation methods in default packaging with sessions: 1; two are needed"
    );
    assert_eq!(
        stratum.h2.clipped.reason(),
        Some("no session of cheat-oracle")
    );
    assert!(
        stratum
            .h3
            .reason()
            .unwrap()
            .starts_with("no malfunction with sessions of both")
    );
    let scores = stratum.cells[0].clipped.value().unwrap();
    assert_eq!(scores.percentile.reason(), Some("a cell has one session"));
}

#[test]
fn equal_scores_leave_no_nan_anywhere() {
    let rows = round()
        .into_iter()
        .map(|row| ScoreRow { raw: 0.5, ..row })
        .collect();
    let found = analyse(&table(rows), &quick(), 1);
    let text = serde_json::to_string(&found).unwrap();
    // serde_json writes NaN and infinities as null, which only the optional keys may be.
    let again: Findings = serde_json::from_str(&text).unwrap();
    assert_eq!(again, found);
    let h1 = found.strata[0].h1.clipped.value().unwrap();
    assert_eq!(h1.tests[0].p.value().unwrap().value, 1.0);
    assert!(h1.tests[1].p.reason().is_some());
    let cell = found.strata[0].cells[0].clipped.value().unwrap();
    let interval = cell.percentile.value().unwrap();
    assert_eq!(interval.flags[0], IntervalFlag::Degenerate);
    assert_eq!((interval.low, interval.high), (0.5, 0.5));
}

#[test]
fn harm_is_found_by_the_exact_test_and_missing_cells_count() {
    let mut rows = round();
    for row in rows
        .iter_mut()
        .filter(|row| row.method == "saliency" && row.malfunction == "k0")
    {
        row.raw -= 0.8;
    }
    let harmed = table(rows);
    let found = analyse(&harmed, &quick(), 1);
    let harm = found.strata[0].h3.value().unwrap();
    assert_eq!(harm.verdict, HarmVerdict::HarmFound);
    assert_eq!(
        (harm.harmed.len(), harm.harmed[0].malfunction.as_str()),
        (1, "k0")
    );
    let planned = harmed
        .planned()
        .iter()
        .cloned()
        .chain((0..18).map(|index| PlannedCell {
            malfunction: format!("never{index}"),
            method: "saliency".to_owned(),
            ..harmed.planned()[0].clone()
        }));
    let more = analyse(&harmed.clone().with_planned(planned).unwrap(), &quick(), 1);
    let more = more.strata[0].h3.value().unwrap();
    assert_eq!(
        (harm.planned_cells, more.planned_cells, more.tested_cells),
        (18, 36, 18)
    );
    let adjusted = |harm: &evalxrl_analysis::harm::Harm| {
        let cell = harm
            .cells
            .iter()
            .find(|cell| cell.method == "saliency" && cell.malfunction == "k0")
            .unwrap();
        *cell.tests[0].p_adjusted.value().unwrap()
    };
    assert!((adjusted(more) - 2.0 * adjusted(harm)).abs() < 1e-12);
}

#[test]
fn two_sessions_per_cell_cannot_show_harm_and_the_findings_say_so() {
    let rows = round()
        .into_iter()
        .filter(|row| row.replication < 2)
        .collect();
    let found = analyse(&table(rows), &quick(), 1);
    let harm = found.strata[0].h3.value().unwrap();
    assert_eq!(harm.verdict, HarmVerdict::NotTestable);
    assert!(
        harm.warnings[0].contains("N = N0 = 6 finds one cell"),
        "{:?}",
        harm.warnings
    );
}

#[test]
fn without_optimal_repair_the_constant_one_stands_in() {
    let rows = round()
        .into_iter()
        .filter(|row| row.method != "optimal-repair")
        .collect();
    let reference = ReferenceError {
        gap: 1.0,
        standard_error_clean: 0.01,
        standard_error_broken: 0.02,
    };
    let references: BTreeMap<String, ReferenceError> =
        (0..6).map(|k| (format!("k{k}"), reference)).collect();
    let bare = table(rows);
    let width = |table: &ScoreTable| {
        let found = analyse(table, &quick(), 1);
        let gap = found.strata[0].h2.clipped.value().unwrap().clone();
        assert!(gap.optimal_repair_assumed);
        let welch = gap.gap.welch.value().unwrap().clone();
        assert!(welch.flags.contains(&IntervalFlag::OptimalRepairAssumedOne));
        welch.high - welch.low
    };
    assert!(width(&bare.clone().with_references(references).unwrap()) > width(&bare));
}

#[test]
fn missing_sessions_give_a_sensitivity_row_of_zeros() {
    let whole = table(round());
    let fewer = round();
    let fewer: Vec<ScoreRow> = fewer
        .into_iter()
        .filter(|row| !(row.method == "saliency" && row.malfunction == "k2" && row.replication > 1))
        .collect();
    let found = analyse(
        &table(fewer).with_planned(whole.planned().to_vec()).unwrap(),
        &quick(),
        1,
    );
    assert_eq!(found.table.missing, 6);
    let h1 = &found.strata[0].h1;
    let (as_seen, zeros) = (
        h1.clipped.value().unwrap(),
        h1.missing_as_zero.value().unwrap(),
    );
    assert!(!as_seen.balanced && zeros.balanced);
    assert!(zeros.decomposition.sse > as_seen.decomposition.sse);
}

#[test]
fn a_plan_out_of_range_is_refused_key_by_key_and_deviations_are_listed() {
    let plan = AnalysisPlan {
        alpha: 1.5,
        resamples: 0,
        ..AnalysisPlan::default()
    };
    let errors = findings(&table(round()), &plan, None, &keys(1)).unwrap_err();
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "analysis.alpha: 1.5 is not strictly between 0 and 1",
            "analysis.resamples: 0 is not a whole number from 1 to 1 million"
        ]
    );
    let frozen = AnalysisPlan::default();
    let found = findings(&table(round()), &quick(), Some(&frozen), &keys(1)).unwrap();
    let keys: Vec<&str> = found
        .analysis
        .deviations
        .iter()
        .map(|deviation| deviation.key.as_str())
        .collect();
    assert_eq!(keys, ["permutations", "resamples"]);
    let unknown = serde_json::from_str::<AnalysisPlan>(r#"{"alfa": 0.05}"#).unwrap_err();
    assert!(unknown.to_string().contains("unknown field `alfa`"));
}
