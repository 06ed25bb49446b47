//! Knows the reference values of H1: sums of squares, F, singular values, and exact counts.
//! Must not know null data of its own.
//! Start at the tests.

use evalxrl_analysis::axes::Axes;
use evalxrl_analysis::interaction::{Interaction, Matrix, TestName, interaction_of};
use evalxrl_analysis::moments::f_upper_tail;
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
        let any = *sums.f_any.value().unwrap();
        let df = (sums.df_method_and_interaction as f64, sums.df_error as f64);
        within(
            "p_any",
            f_upper_tail(any, df.0, df.1),
            &target["p_any"],
            1e-8,
        );
    }
}

#[test]
fn axes_match_the_reference_values() {
    for case in cases("h1_balanced.json") {
        let matrix = balanced(&case);
        let axes = Axes::new(&matrix).unwrap();
        let target = &case["summary"];
        let values = target["sv_column_centred"].as_array().unwrap();
        for (ours, value) in axes.singular_values.iter().zip(values) {
            if value.as_f64().unwrap() < 1e-10 {
                assert_eq!(*ours, 0.0);
            } else {
                close("singular value", *ours, value);
            }
        }
        close(
            "rank1_share",
            axes.first_share().unwrap(),
            &target["rank1_share"],
        );
        match axes.f_beyond_first(&matrix) {
            Ok((f, df)) => {
                close("F_beyond_rank1", f, &target["F_beyond_rank1"]);
                assert_eq!(Some(df), target["df_beyond_rank1"].as_u64());
                let error = target["df_err"].as_f64().unwrap();
                let p = f_upper_tail(f, df as f64, error);
                within("p_beyond_rank1", p, &target["p_beyond_rank1_Fapprox"], 1e-8);
            }
            Err(_) => assert!(target["F_beyond_rank1"].is_null()),
        }
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
