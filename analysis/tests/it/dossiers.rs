//! Knows what dossier pairs and coalitions report in cases with a known answer, and what they refuse.
//! Must not know how a single statistic is computed.
//! Start at `arms`.

use evalxrl_analysis::ablation::{Ablation, AblationTestName, ablation};
use evalxrl_analysis::computed::NotComputed;
use evalxrl_analysis::contrast::ResampledCells;
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::{Roles, ScoreRow, ScoreTable, Stratum};
use evalxrl_analysis::shapley::{Shapley, of_stratum};

use crate::findings::{keys, noise, quick};
use crate::table::{session, table};

/// Eight malfunctions, four sessions per cell, each arm near its mean.
fn arms(means: &[(&str, f64)]) -> Vec<ScoreRow> {
    let mut rows = Vec::new();
    for k in 0..8 {
        for (method, mean) in means {
            for n in 0..4 {
                let seed = k * 97 + n * 13 + method.len() as u64;
                rows.push(session(&format!("k{k}"), method, n, mean + noise(seed)));
            }
        }
    }
    rows
}

fn resampled(stratum: &Stratum, plan: &AnalysisPlan) -> [ResampledCells; 2] {
    [Scale::Clipped, Scale::Raw].map(|scale| ResampledCells::new(stratum, scale, plan, &keys(1)))
}

fn compare(table: &ScoreTable, pairs: &[(&str, &str)]) -> Result<Ablation, NotComputed> {
    let plan = AnalysisPlan {
        ablation_pairs: pairs
            .iter()
            .map(|(rich, minimal)| ((*rich).to_owned(), (*minimal).to_owned()))
            .collect(),
        ..quick()
    };
    let stratum = &table.strata()[0];
    let [clipped, raw] = resampled(stratum, &plan);
    ablation(stratum, &plan, &clipped, &raw, &keys(1))
}

fn divide(table: &ScoreTable) -> Result<Shapley, NotComputed> {
    let stratum = &table.strata()[0];
    let [clipped, raw] = resampled(stratum, &quick());
    of_stratum(stratum, &clipped, &raw)
}

#[test]
fn a_richer_dossier_is_read_in_two_ways_and_pairs_are_adjusted_together() {
    let rows = arms(&[
        ("saliency-rich", 0.8),
        ("saliency-minimal", 0.4),
        ("tree-rich", 0.5),
        ("tree-minimal", 0.5),
    ]);
    let found = compare(
        &table(rows),
        &[
            ("saliency-rich", "saliency-minimal"),
            ("tree-rich", "tree-minimal"),
        ],
    )
    .unwrap();
    let pair = found.pairs[0].clipped.value().unwrap();
    assert_eq!((pair.malfunctions.len(), pair.left_out.len()), (8, 0));
    assert!((pair.fixed_malfunctions.estimate - 0.4).abs() < 0.05);
    let interval = pair.fixed_malfunctions.percentile.value().unwrap();
    assert!(interval.low > 0.3);
    for test in &pair.malfunctions_as_sample {
        let p = test.p.value().unwrap();
        // All eight differences are positive: twice 1/2^8.
        assert_eq!((p.count, p.total), (Some(2), Some(256)), "{:?}", test.test);
        let adjusted = *test.p_adjusted.value().unwrap();
        assert!((adjusted - 2.0 * p.value).abs() < 1e-12);
    }
    assert_eq!(
        pair.malfunctions_as_sample[0].test,
        AblationTestName::SignFlipMean
    );
}

#[test]
fn a_pair_that_names_an_unknown_method_is_named_and_still_counts() {
    let rows = arms(&[("a-rich", 0.8), ("a-minimal", 0.4)]);
    let found = compare(
        &table(rows.clone()),
        &[("a-rich", "a-minimal"), ("b-rich", "b-minimal")],
    )
    .unwrap();
    assert_eq!(
        found.pairs[1].raw.reason(),
        Some("no such method in this stratum: b-rich, b-minimal")
    );
    let test = &found.pairs[0].raw.value().unwrap().malfunctions_as_sample[1];
    let adjusted = *test.p_adjusted.value().unwrap();
    assert!((adjusted - 2.0 * test.p.value().unwrap().value).abs() < 1e-12);
    let none = compare(&table(rows), &[]).unwrap_err();
    assert_eq!(none.to_string(), "the plan declares no ablation pair");
}

#[test]
fn malfunctions_with_one_packaging_only_are_left_out_by_name() {
    let rows = arms(&[("a-rich", 0.8), ("a-minimal", 0.4)])
        .into_iter()
        .filter(|row| !(row.method == "a-rich" && row.malfunction == "k3"));
    let found = compare(&table(rows.collect()), &[("a-rich", "a-minimal")]).unwrap();
    let pair = found.pairs[0].clipped.value().unwrap();
    assert_eq!(pair.left_out, ["k3"]);
    assert_eq!(pair.fixed_malfunctions.malfunctions, 7);
}

#[test]
fn shapley_values_divide_what_all_methods_gain_together() {
    let found = divide(&table(arms(&[
        ("no-method", 0.2),
        ("a", 0.5),
        ("b", 0.3),
        ("b+a", 0.8),
        ("c", 0.9),
    ])))
    .unwrap();
    assert_eq!(found.methods, ["a", "b"]);
    assert_eq!(found.malfunctions.len(), 8);
    let scale = &found.clipped;
    assert!(scale.efficient);
    assert_eq!(scale.coalitions[3].members, ["a", "b"]);
    let [a, b] = [0, 1].map(|index| scale.values[index].value);
    assert!((a - 0.4).abs() < 0.05 && (b - 0.2).abs() < 0.05);
    assert!((a + b - scale.gain).abs() < 1e-12);
    let (percentile, t) = (
        scale.values[0].percentile.value().unwrap(),
        scale.values[0].t.value().unwrap(),
    );
    for interval in [percentile, t] {
        assert!(interval.low < a && a < interval.high);
        assert!((interval.estimate - a).abs() < 1e-12);
    }
}

#[test]
fn every_missing_coalition_is_listed() {
    let error = divide(&table(arms(&[("a", 0.5), ("a+b", 0.5), ("b+c", 0.6)]))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "coalitions of a, b, c without sessions: no-method, b, c, a+c, a+b+c"
    );
    let none = divide(&table(arms(&[("a", 0.5), ("no-method", 0.5)]))).unwrap_err();
    assert_eq!(
        none.to_string(),
        "no coalition of methods (an arm such as a+b) in this stratum"
    );
    let everyone: Vec<String> = (0..13).map(|index| format!("m{index:02}")).collect();
    let many = vec![session("k0", &everyone.join("+"), 0, 0.5)];
    assert_eq!(
        divide(&table(many)).unwrap_err().to_string(),
        "13 methods form coalitions; at most 12 are enumerated"
    );
}

#[test]
fn reserved_arms_can_have_other_names() {
    let roles = Roles {
        no_method: "nothing".to_owned(),
        ..Roles::default()
    };
    let rows = arms(&[("nothing", 0.2), ("a", 0.5), ("b", 0.3), ("a+b", 0.8)]);
    let table = ScoreTable::from_rows((2..).zip(rows), roles).unwrap();
    let found = divide(&table).unwrap();
    assert!((found.raw.gain - 0.6).abs() < 0.05);
}
