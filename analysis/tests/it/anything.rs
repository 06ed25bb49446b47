//! Knows that no finite table makes an analysis panic, or leaves a NaN or an infinity in what is written.
//! Must not know what the results are.
//! Start at `tables`.

use evalxrl_analysis::ablation::ablation;
use evalxrl_analysis::attainability;
use evalxrl_analysis::budget_curve::budget_curves;
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::contrast::ResampledCells;
use evalxrl_analysis::findings::findings;
use evalxrl_analysis::harm::harm;
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::{Invocations, Outcome, Roles, ScoreRow, ScoreTable};
use evalxrl_analysis::shapley::of_stratum;
use evalxrl_analysis::tool_calls::tool_calls;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::findings::keys;
use crate::table::session;

const METHODS: [&str; 8] = [
    "no-method",
    "a",
    "b",
    "a+b",
    "a-rich",
    "a-minimal",
    "optimal-repair",
    "placebo",
];

/// Ordinary scores, ties, and numbers whose sums or squares leave the range of `f64`.
fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-8_i32..=8).prop_map(|score| f64::from(score) / 4.0),
        1 => prop::sample::select(vec![0.5, 1e300, -1e300, f64::MAX, f64::MIN, 1e-300, -0.0]),
        1 => -2.0_f64..2.0,
    ]
}

fn row() -> impl Strategy<Value = ScoreRow> {
    (
        (0_usize..3, 0..METHODS.len(), 0_u64..5, score()),
        (
            prop::option::of(0_u64..30),
            prop::option::of(0_u64..4),
            0_u64..6,
            0_u64..2,
        ),
    )
        .prop_map(
            |((k, m, replication, raw), (calls, block, outcome, invocations))| {
                let outcome = if outcome == 0 {
                    Outcome::GaveUp
                } else {
                    Outcome::Submitted
                };
                let raw = if outcome == Outcome::Submitted {
                    raw
                } else {
                    0.0
                };
                ScoreRow {
                    block: block.map(|block| format!("b{block}")),
                    tool_calls: calls,
                    outcome,
                    coder: Some("agent".to_owned()),
                    invocations: Some(Invocations::AtMost(invocations)),
                    ..session(&format!("k{k}"), METHODS[m], replication, raw)
                }
            },
        )
}

/// Ragged tables with missing cells, arms and columns; `full` gives every session a count and a block.
fn tables() -> impl Strategy<Value = ScoreTable> {
    (
        prop::collection::vec(row(), 1..60),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(mut rows, full, equal)| {
            rows.sort_by_key(|row| {
                (
                    row.invocations,
                    row.malfunction.clone(),
                    row.method.clone(),
                    row.replication,
                )
            });
            rows.dedup_by_key(|row| {
                (
                    row.invocations,
                    row.malfunction.clone(),
                    row.method.clone(),
                    row.replication,
                )
            });
            for row in &mut rows {
                if full {
                    row.tool_calls = row.tool_calls.or(Some(7));
                    row.block = Some(format!("b{}", row.replication));
                }
                if equal && row.outcome == Outcome::Submitted {
                    row.raw = 0.5;
                }
            }
            ScoreTable::from_rows((2..).zip(rows), Roles::default()).unwrap()
        })
}

/// serde_json writes NaN and infinities as null, which then does not read back into a number.
fn reads_back<T: Serialize + DeserializeOwned + PartialEq>(value: &T) -> bool {
    let text = serde_json::to_string(value).unwrap();
    serde_json::from_str::<T>(&text).is_ok_and(|again| again == *value)
}

fn small() -> AnalysisPlan {
    AnalysisPlan {
        resamples: 40,
        permutations_two_sample: 49,
        exact_limit_two_sample: 300,
        ablation_pairs: vec![
            ("a-rich".to_owned(), "a-minimal".to_owned()),
            ("a".to_owned(), "nobody".to_owned()),
        ],
        ..AnalysisPlan::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_finite_table_panics_or_leaves_a_nan(table in tables()) {
        let plan = small();
        for stratum in table.strata() {
            let [clipped, raw] = [Scale::Clipped, Scale::Raw]
                .map(|scale| ResampledCells::new(&stratum, scale, &plan, &keys(1)));
            let harm = Computed::from(harm(&stratum, &plan, &keys(1)));
            prop_assert!(reads_back(&harm), "{harm:?}");
            if let Some(harm) = harm.value() {
                for test in harm.cells.iter().flat_map(|cell| &cell.tests) {
                    if let Some(p) = test.p.value() {
                        prop_assert!(p.value > 0.0 && p.value <= 1.0, "{:?}", test);
                    }
                }
            }
            let pairs = Computed::from(ablation(&stratum, &plan, &clipped, &raw, &keys(1)));
            prop_assert!(reads_back(&pairs), "{pairs:?}");
            let calls = Computed::from(tool_calls(&stratum, &plan, &keys(1)));
            prop_assert!(reads_back(&calls), "{calls:?}");
            let values = Computed::from(of_stratum(&stratum, &clipped, &raw));
            prop_assert!(reads_back(&values), "{values:?}");
            prop_assert!(reads_back(&attainability::of_stratum(&stratum, plan.q)));
        }
        let curves = budget_curves(&table, &plan, &keys(1));
        prop_assert!(reads_back(&curves), "{curves:?}");
    }

    #[test]
    fn the_whole_findings_of_any_finite_table_read_back(table in tables()) {
        let plan = AnalysisPlan { permutations: 49, exact_limit_h1: 300, ..small() };
        let found = findings(&table, &plan, None, &keys(1)).unwrap();
        prop_assert!(reads_back(&found));
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bytes(table in tables()) {
        let bytes = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let plan = AnalysisPlan { resamples: 600, ..small() };
                let stratum = &table.strata()[0];
                let found = (
                    Computed::from(harm(stratum, &plan, &keys(1))),
                    Computed::from(tool_calls(stratum, &plan, &keys(1))),
                    budget_curves(&table, &plan, &keys(1)),
                );
                serde_json::to_string(&found).unwrap()
            })
        };
        let one = bytes(1);
        prop_assert_eq!(&one, &bytes(2));
        prop_assert_eq!(&one, &bytes(16));
    }
}
