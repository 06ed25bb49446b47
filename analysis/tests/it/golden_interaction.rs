//! Knows the reference values of H1: sums of squares, F, singular values, and exact counts.
//! Must not know null data of its own.
//! Start at the tests.

use evalxrl_analysis::effect_size::noncentral_f_interval;
use evalxrl_analysis::interaction::{Interaction, Matrix, TestName, ats_box, interaction_of};
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde_json::Value;

use crate::golden::{cases, close, numbers, within};

fn names(kind: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|index| format!("{kind}{index:02}"))
        .collect()
}

pub(crate) fn matrix(cells: &[Vec<Vec<f64>>]) -> Matrix {
    Matrix::new(&names("m", cells.len()), &names("k", cells[0].len()), cells).unwrap()
}

pub(crate) fn balanced(case: &Value) -> Matrix {
    let cells: Vec<Vec<Vec<f64>>> = case["Y"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(numbers).collect())
        .collect();
    matrix(&cells)
}

/// One balanced case; none where the reference data is absent.
pub(crate) fn named(name: &str) -> Option<Value> {
    let cases = cases("h1_balanced.json");
    let found = cases.iter().find(|case| case["name"] == name).cloned();
    assert!(found.is_some() || cases.is_empty(), "no case {name}");
    found
}

/// The matrix of a case with its replication numbers as blocks.
pub(crate) fn blocked(case: &Value) -> Matrix {
    let matrix = balanced(case);
    let cells: Vec<Vec<Vec<f64>>> = (0..matrix.methods().len())
        .map(|m| {
            matrix
                .cells()
                .iter()
                .map(|cells| cells[m].clone())
                .collect()
        })
        .collect();
    let blocks: Vec<Vec<Vec<Option<u64>>>> = cells
        .iter()
        .map(|row| {
            row.iter()
                .map(|cell| (0..cell.len() as u64).map(Some).collect())
                .collect()
        })
        .collect();
    Matrix::with_blocks(matrix.methods(), matrix.malfunctions(), &cells, &blocks).unwrap()
}

pub(crate) fn analyse(matrix: &Matrix, plan: &AnalysisPlan) -> Interaction {
    let mut rng = ChaCha8Rng::from_seed([7; 32]);
    interaction_of(matrix, Scale::RawUnwinsorised, plan, &mut rng).unwrap()
}

fn quick() -> AnalysisPlan {
    AnalysisPlan {
        permutations: 199,
        resamples: 200,
        ..AnalysisPlan::default()
    }
}

#[test]
fn balanced_decompositions_match_the_reference_values() {
    for case in cases("h1_balanced.json") {
        let matrix = balanced(&case);
        let found = analyse(&matrix, &quick());
        let target = &case["summary"];
        let sums = &found.decomposition;
        close(
            "SS_method",
            *sums.ss_method.value().unwrap(),
            &target["SS_method"],
        );
        close(
            "SS_malfunction",
            *sums.ss_malfunction.value().unwrap(),
            &target["SS_malfunction"],
        );
        close(
            "SS_interaction",
            sums.ss_interaction,
            &target["SS_interaction"],
        );
        close("SSE", sums.sse, &target["SSE"]);
        assert_eq!(Some(sums.df_interaction), target["df_int"].as_u64());
        assert_eq!(Some(sums.df_error), target["df_err"].as_u64());
        close("MSE", *sums.mse.value().unwrap(), &target["MSE"]);
        close(
            "F_int",
            *sums.f_interaction.value().unwrap(),
            &target["F_int"],
        );
        close("F_any", *sums.f_any.value().unwrap(), &target["F_any"]);
        let omega = *sums.partial_omega_squared.value().unwrap();
        close("partial_omega2", omega, &target["partial_omega2"]);
        let p = found
            .test(TestName::Parametric)
            .unwrap()
            .p
            .value()
            .unwrap()
            .value;
        within("p_F", p, &target["p_F"], 1e-8);
        let p_any = *sums.p_any_parametric.value().unwrap();
        within("p_any", p_any, &target["p_any"], 1e-8);
        let variance = *sums.variance_of_interaction.value().unwrap();
        close("sigma2_int", variance, &target["sigma2_int"]);
        let size = found.effect_size.value().unwrap();
        close(
            "partial_omega2",
            size.partial_omega_squared,
            &target["partial_omega2"],
        );
        close("omega2", size.omega_squared, &target["omega2"]);
        close("eta2", size.eta_squared, &target["eta2"]);
        close(
            "partial_eta2",
            size.partial_eta_squared,
            &target["partial_eta2"],
        );
    }
}

fn close_values(what: &str, ours: &[f64], target: &Value) {
    let target = numbers(target);
    assert_eq!(ours.len(), target.len(), "{what}");
    for (ours, target) in ours.iter().zip(target) {
        if target < 1e-10 {
            assert_eq!(*ours, 0.0, "{what}");
        } else {
            close(what, *ours, &target.into());
        }
    }
}

#[test]
fn axes_match_the_reference_values() {
    for case in cases("h1_balanced.json") {
        let found = analyse(&balanced(&case), &quick());
        let axes = found.axes.value().unwrap();
        let target = &case["summary"];
        close_values(
            "sv_column_centred",
            &axes.singular_values,
            &target["sv_column_centred"],
        );
        close_values(
            "sv_double_centred",
            &axes.interaction_singular_values,
            &target["sv_double_centred"],
        );
        let share = *axes.first_share.value().unwrap();
        close("rank1_share", share, &target["rank1_share"]);
        let share = *axes.interaction_first_share.value().unwrap();
        close("ammi_share1", share, &target["ammi_share1"]);
        match axes.beyond_first.value() {
            Some(beyond) => {
                close("F_beyond_rank1", beyond.f, &target["F_beyond_rank1"]);
                assert_eq!(Some(beyond.df), target["df_beyond_rank1"].as_u64());
                let (p, key) = (beyond.p_approximate, "p_beyond_rank1_Fapprox");
                within(key, p, &target[key], 1e-8);
            }
            None => assert!(target["F_beyond_rank1"].is_null()),
        }
    }
}

#[test]
fn tukeys_degree_of_freedom_matches_the_reference_values() {
    for case in cases("h1_balanced.json") {
        let found = analyse(&balanced(&case), &quick());
        let tukey = found.axes.value().unwrap().tukey.value().unwrap().clone();
        let target = &case["summary"]["tukey_1df"];
        close("SS", tukey.ss, &target["SS"]);
        for (key, ours) in [
            ("F_vs_pure_error", tukey.f_error),
            ("F_vs_remainder", tukey.f_remainder),
        ] {
            close(key, *ours.value().unwrap(), &target[key]);
        }
        for (key, ours) in [
            ("p_vs_pure_error", tukey.p_error),
            ("p_vs_remainder", tukey.p_remainder),
        ] {
            within(key, *ours.value().unwrap(), &target[key], 1e-8);
        }
    }
}

#[test]
fn box_degrees_of_freedom_match_the_reference_values() {
    for case in cases("h1_balanced.json") {
        let matrix = balanced(&case);
        let f = case["summary"]["F_int"].as_f64().unwrap();
        let found = ats_box(&matrix, f).unwrap();
        let target = &case["summary"]["ats_box"];
        close("f1", found.f1, &target["f1"]);
        close("f2", found.f2, &target["f2"]);
        within("p", found.p, &target["p"], 1e-8);
        let row = analyse(&matrix, &quick());
        let row = row.test(TestName::AtsBox).unwrap();
        within("p", row.p.value().unwrap().value, &target["p"], 1e-8);
    }
}

#[test]
fn noncentral_f_intervals_match_the_published_ends() {
    for (name, low, high) in [
        ("5x10x6 interaction", 0.082950, 0.257667),
        ("7x15x6 additive", 0.0, 0.030430),
        ("3x2x2 crossover", 0.957711, 0.996307),
    ] {
        let Some(case) = named(name) else { continue };
        let matrix = balanced(&case);
        let found = noncentral_f_interval(&matrix, 0.95).unwrap();
        assert!((found.low - low).abs() < 1e-5, "{name}: {}", found.low);
        assert!((found.high - high).abs() < 1e-5, "{name}: {}", found.high);
    }
}

#[test]
fn replications_taken_as_blocks_match_the_published_sums() {
    for (name, sse, df, f) in [
        ("5x10x6 interaction", 14.891672, 200, 2.645960),
        ("7x15x6 additive", 17.153109, 450, 0.851217),
    ] {
        let Some(case) = named(name) else { continue };
        let found = analyse(&blocked(&case), &quick());
        let blocks = found.blocked.value().unwrap();
        assert!((blocks.sse - sse).abs() < 1e-6, "{name}: {}", blocks.sse);
        assert_eq!((blocks.df_error, blocks.dropped_sessions), (df, 0));
        let ours = *blocks.f.value().unwrap();
        assert!((ours - f).abs() < 1e-6, "{name}: {ours}");
    }
}

#[test]
fn exact_tests_match_the_reference_counts() {
    for case in cases("h1_balanced.json") {
        if case["exact"].is_null() {
            continue;
        }
        let found = analyse(&balanced(&case), &quick());
        for (name, key) in [
            (TestName::Literal, "session_perm_SS_exact"),
            (TestName::SessionF, "session_perm_F_exact"),
            (TestName::Wild, "wild_rademacher_F_exact"),
            (TestName::FreedmanLane, "freedman_lane_within_F_exact"),
            (TestName::CellLabelPermutation, "cell_perm_SS_exact"),
        ] {
            let p = found.test(name).unwrap().p.value().unwrap();
            let target = &case["exact"][key];
            assert!(p.exact);
            assert_eq!(
                p.count,
                target["count"].as_u64(),
                "{key} of {}",
                case["name"]
            );
            assert_eq!(
                p.total,
                target["total"].as_u64(),
                "{key} of {}",
                case["name"]
            );
            close(key, p.value, &target["p"]);
        }
    }
}

#[test]
fn ragged_decompositions_match_the_reference_values() {
    for case in cases("h1_unbalanced.json") {
        let size = |key: &str| case[key].as_u64().unwrap() as usize;
        let mut cells = vec![vec![Vec::new(); size("K")]; size("M")];
        for row in case["rows"].as_array().unwrap() {
            let row = numbers(row);
            cells[row[0] as usize][row[1] as usize].push(row[3]);
        }
        let found = analyse(&matrix(&cells), &quick());
        let sums = &found.decomposition;
        close("RSS_cells", sums.sse, &case["RSS_cells"]);
        close(
            "RSS_additive",
            sums.sse + sums.ss_interaction,
            &case["RSS_additive"],
        );
        close("SS_int", sums.ss_interaction, &case["SS_int"]);
        assert_eq!(Some(sums.df_interaction), case["df_int"].as_u64());
        assert_eq!(Some(sums.df_error), case["df_err"].as_u64());
        close("F", *sums.f_interaction.value().unwrap(), &case["F"]);
        let p = found
            .test(TestName::Parametric)
            .unwrap()
            .p
            .value()
            .unwrap()
            .value;
        within("p", p, &case["p"], 1e-8);
        assert_eq!(
            found.empty_cells.len(),
            case["missing"].as_array().unwrap().len()
        );
    }
}
