//! Knows what H3 reports beyond its primary: paired tests by block, unequal arms, missing sessions.
//! Must not know how a test counts.
//! Start at `blocked`.

use evalxrl_analysis::harm::{Harm, HarmCell, HarmTestName, HarmVerdict, harm};
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::score_table::{PlannedCell, ScoreRow, ScoreTable};

use crate::findings::{keys, noise};
use crate::table::{session, table};

/// Baseline and one method on `k0`; session n of both arms runs in block `b{n}`.
fn blocked(sessions: u64, baseline_sessions: u64, effect: f64) -> Vec<ScoreRow> {
    let arms = [
        ("no-method", baseline_sessions, 0.5),
        ("saliency", sessions, 0.5 + effect),
    ];
    arms.into_iter()
        .flat_map(|(method, sessions, mean)| {
            (0..sessions).map(move |n| ScoreRow {
                block: Some(format!("b{n}")),
                ..session("k0", method, n, mean + noise(n * 13 + method.len() as u64))
            })
        })
        .collect()
}

fn analyse(table: &ScoreTable) -> Harm {
    harm(&table.strata()[0], &AnalysisPlan::default(), &keys(1)).unwrap()
}

fn reason(cell: &HarmCell, name: HarmTestName) -> Option<&str> {
    let test = cell.tests.iter().find(|test| test.test == name)?;
    test.p.reason()
}

const PAIRED: [HarmTestName; 3] = [
    HarmTestName::SignedRankWilcox,
    HarmTestName::SignedRankPratt,
    HarmTestName::SignFlipMean,
];

#[test]
fn paired_tests_follow_the_four_unpaired_ones_and_reach_their_smallest_p() {
    let found = analyse(&table(blocked(8, 8, -0.3)));
    let cell = &found.cells[0];
    let names: Vec<HarmTestName> = cell.tests.iter().map(|test| test.test).collect();
    assert_eq!(names, HarmTestName::ALL);
    for name in PAIRED {
        let test = cell.tests.iter().find(|test| test.test == name).unwrap();
        let p = test.p.value().unwrap();
        assert_eq!((p.count, p.total), (Some(1), Some(256)), "{name:?}");
        assert!(test.discovery && !test.primary);
    }
    assert_eq!(cell.pairing.value().unwrap().pairs, 8);
}

#[test]
fn without_the_column_block_no_paired_test_is_computed() {
    let rows = blocked(8, 8, -0.3)
        .into_iter()
        .map(|row| ScoreRow { block: None, ..row });
    let found = analyse(&table(rows.collect()));
    for name in PAIRED {
        assert_eq!(
            reason(&found.cells[0], name),
            Some("the table has no column block")
        );
    }
    assert_eq!(found.verdict, HarmVerdict::HarmFound);
}

#[test]
fn sessions_pair_by_block_alone_and_those_without_a_partner_are_counted() {
    let mut rows = blocked(8, 8, -0.3);
    // Other replication numbers, another order: the blocks still say who belongs together.
    for row in rows.iter_mut().filter(|row| row.method == "saliency") {
        row.replication = 20 - row.replication;
    }
    let same = analyse(&table(rows.clone()));
    let before = analyse(&table(blocked(8, 8, -0.3)));
    for name in PAIRED {
        let p = |found: &Harm| {
            let tests = &found.cells[0].tests;
            tests
                .iter()
                .find(|test| test.test == name)
                .unwrap()
                .p
                .clone()
        };
        assert_eq!(p(&same), p(&before));
    }
    rows[0].block = Some("elsewhere".to_owned());
    let found = analyse(&table(rows));
    let pairing = found.cells[0].pairing.value().unwrap();
    assert_eq!(
        (pairing.pairs, pairing.unmatched, pairing.baseline_unmatched),
        (7, 1, 1)
    );
    assert!(
        found
            .warnings
            .iter()
            .any(|warning| warning.starts_with("1 sessions in 1 cells"))
    );
}

#[test]
fn a_block_with_two_sessions_of_an_arm_pairs_nobody() {
    let mut rows = blocked(6, 6, 0.0);
    rows[1].block = rows[0].block.clone();
    let found = analyse(&table(rows));
    assert_eq!(
        reason(&found.cells[0], HarmTestName::SignFlipMean),
        Some("block b0 has two sessions of no-method on k0")
    );
}

#[test]
fn arms_of_unequal_size_warn_and_show_welch_first() {
    let found = analyse(&table(blocked(6, 12, -0.3)));
    let cell = &found.cells[0];
    assert!(cell.unequal_sessions);
    assert_eq!(cell.tests[0].test, HarmTestName::Welch);
    assert!(found.warnings[0].contains("Welch comes first"));
}

#[test]
fn missing_sessions_of_the_method_count_as_zero_in_a_sensitivity_row() {
    let whole = table(blocked(8, 8, 0.2));
    let rows = blocked(2, 8, 0.2);
    let found = analyse(&table(rows).with_planned(whole.planned().to_vec()).unwrap());
    assert_eq!(found.verdict, HarmVerdict::NoHarmFound);
    let zeroed = found.missing_as_zero.value().unwrap();
    assert_eq!((zeroed.cells[0].sessions, zeroed.harmed.len()), (8, 1));
    assert_eq!(
        analyse(&whole).missing_as_zero.reason(),
        Some("no planned session is missing")
    );
}

#[test]
fn six_sessions_against_six_in_sixty_cells_name_both_cures() {
    let whole = table(blocked(6, 6, 0.0));
    let more = whole
        .planned()
        .iter()
        .cloned()
        .chain((0..59).map(|index| PlannedCell {
            malfunction: format!("never{index}"),
            method: "saliency".to_owned(),
            ..whole.planned()[0].clone()
        }));
    let found = analyse(
        &whole
            .clone()
            .with_planned(more.collect::<Vec<_>>())
            .unwrap(),
    );
    assert_eq!(found.verdict, HarmVerdict::NotTestable);
    let warning = &found.warnings[1];
    assert!(warning.starts_with("not testable"), "{warning}");
    assert!(warning.contains("N = N0 = 7 finds one cell"), "{warning}");
    assert!(
        warning.contains("11 pairs by the signed rank test"),
        "{warning}"
    );
    assert!(found.warnings[2].contains("at least 8"));
}

/// The source of every file of a module that is a folder.
fn sources(module: &str) -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src")
        .join(module);
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect()
}

#[test]
fn harm_never_touches_the_bootstrap_and_the_bootstrap_gives_no_p_value() {
    let harm = sources("harm");
    assert!(harm.len() > 1);
    for module in ["bootstrap", "contrast"] {
        assert!(
            harm.iter()
                .all(|text| !text.contains(&format!("{module}::"))),
            "{module}"
        );
    }
    assert!(
        sources("bootstrap")
            .iter()
            .all(|text| !text.contains("PValue"))
    );
}
