//! Knows what H1 says beside its numbers: roles, notes, refusals, groups.
//! Must not know reference values.
//! Start at the tests.

use evalxrl_analysis::clusters::Clustering;
use evalxrl_analysis::effect_size::adjusted_interval;
use evalxrl_analysis::interaction::{Matrix, TestName, TestRole, interaction_of, run_tests};
use evalxrl_analysis::plan::{AnalysisPlan, Blocks};
use evalxrl_analysis::scale::Scale;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use crate::golden_interaction::{analyse, balanced, blocked, matrix, named};

fn quick(blocks: Blocks) -> AnalysisPlan {
    AnalysisPlan {
        permutations: 499,
        resamples: 500,
        blocks,
        ..AnalysisPlan::default()
    }
}

/// Roughly normal noise with standard deviation 1.
fn noise(rng: &mut ChaCha8Rng) -> f64 {
    let sum: f64 = (0..12)
        .map(|_| f64::from(rng.next_u32()) / f64::from(u32::MAX))
        .sum();
    sum - 6.0
}

/// Methods and malfunctions of three kinds, by number; sessions around `base`, plus `match_gain` where the kinds agree.
fn of_kinds(match_gain: f64, spread: f64) -> Matrix {
    let mut rng = ChaCha8Rng::from_seed([21; 32]);
    let cells: Vec<Vec<Vec<f64>>> = (0..6)
        .map(|m| {
            (0..12)
                .map(|k| {
                    let gain = if m % 3 == k % 3 { match_gain } else { 0.0 };
                    let base = 0.2 + 0.02 * f64::from(m) + 0.01 * f64::from(k);
                    (0..6)
                        .map(|_| base + gain + spread * noise(&mut rng))
                        .collect()
                })
                .collect()
        })
        .collect();
    matrix(&cells)
}

#[test]
fn planted_groups_of_methods_and_malfunctions_are_found() {
    let found = analyse(&of_kinds(0.5, 0.25), &quick(Blocks::Ignore));
    let clusters = found.clusters.value().unwrap();
    for side in [&clusters.methods, &clusters.malfunctions] {
        let side: &Clustering = side.value().unwrap();
        let kinds: Vec<u64> = (0..side.items.len() as u64).map(|item| item % 3).collect();
        assert_eq!(side.assignment, kinds);
        assert!(side.distinguishable && side.stability > 0.9, "{side:?}");
        assert_eq!(side.consensus[1][1], 1.0);
        assert!(side.consensus[0][3] > 0.9 && side.consensus[0][1] < 0.1);
    }
}

#[test]
fn groups_of_noise_are_called_noise() {
    let found = analyse(&of_kinds(0.0, 0.25), &quick(Blocks::Ignore));
    let clusters = found.clusters.value().unwrap();
    for side in [&clusters.methods, &clusters.malfunctions] {
        let side = side.value().unwrap();
        assert!(!side.distinguishable);
        assert_eq!(side.statement, "not distinguishable from noise");
    }
}

#[test]
fn few_methods_and_constant_ones_form_no_groups() {
    let cells = vec![vec![vec![0.1, 0.3], vec![0.5, 0.2], vec![0.9, 0.4]]; 5];
    let found = analyse(&matrix(&cells), &quick(Blocks::Ignore));
    let clusters = found.clusters.value().unwrap();
    assert_eq!(
        clusters.methods.reason(),
        Some("methods with interaction: 0; clusters need 4")
    );
}

#[test]
fn the_plan_makes_the_blocked_test_the_primary() {
    let Some(case) = named("5x10x6 interaction") else {
        return;
    };
    let matrix = blocked(&case);
    for (blocks, primary) in [
        (Blocks::Ignore, TestName::Literal),
        (Blocks::Use, TestName::BlockedLiteral),
    ] {
        let found = analyse(&matrix, &quick(blocks));
        assert_eq!(found.tests[0].name, primary);
        let primaries = found
            .tests
            .iter()
            .filter(|test| test.role == TestRole::Primary);
        assert_eq!(primaries.count(), 1);
        assert_eq!(found.tests.len(), TestName::ALL.len());
    }
}

#[test]
fn without_block_labels_blocked_tests_are_refused_with_the_reason() {
    let Some(case) = named("3x2x2") else { return };
    let found = analyse(&balanced(&case), &quick(Blocks::Use));
    for name in [TestName::BlockedLiteral, TestName::BlockedF] {
        let p = &found.test(name).unwrap().p;
        assert_eq!(p.reason(), Some("the table has no column block"));
    }
}

#[test]
fn incomplete_blocks_are_dropped_and_counted() {
    let Some(case) = named("2x3x3") else { return };
    let whole = blocked(&case);
    let by_method = |matrix: &Matrix| -> Vec<Vec<Vec<f64>>> {
        (0..matrix.methods().len())
            .map(|m| {
                matrix
                    .cells()
                    .iter()
                    .map(|cells| cells[m].clone())
                    .collect()
            })
            .collect()
    };
    let mut cells = by_method(&whole);
    let mut blocks = vec![vec![vec![Some(0), Some(1), Some(2)]; 3]; 2];
    // One method repeats block 0 of malfunction 0 instead of block 2; another session names no block at all.
    blocks[0][0][2] = Some(0);
    blocks[1][1][1] = None;
    let ragged =
        Matrix::with_blocks(whole.methods(), whole.malfunctions(), &cells, &blocks).unwrap();
    let found = analyse(&ragged, &quick(Blocks::Use));
    let decomposition = found.blocked.value().unwrap();
    assert_eq!(
        (decomposition.blocks, decomposition.dropped_sessions),
        (6, 6)
    );
    let test = found.test(TestName::BlockedF).unwrap();
    let note = test.note.as_deref().unwrap();
    assert_eq!(note, "sessions outside complete blocks, left out: 6");
    // What is left is what a table of complete blocks alone gives.
    for m in 0..2 {
        cells[m][0] = vec![cells[m][0][1]];
        cells[m][1] = vec![cells[m][1][0], cells[m][1][2]];
        blocks[m][0] = vec![Some(1)];
        blocks[m][1] = vec![Some(0), Some(2)];
    }
    let alone =
        Matrix::with_blocks(whole.methods(), whole.malfunctions(), &cells, &blocks).unwrap();
    let alone = analyse(&alone, &quick(Blocks::Use));
    let other = alone.test(TestName::BlockedF).unwrap();
    assert_eq!((&test.statistic, &test.p), (&other.statistic, &other.p));
}

#[test]
fn permuted_cell_means_say_that_they_find_nothing_beside_a_main_effect() {
    let Some(case) = named("3x2x2") else { return };
    let found = analyse(&balanced(&case), &quick(Blocks::Ignore));
    let row = found.test(TestName::CellLabelPermutation).unwrap();
    assert_eq!(row.role, TestRole::Diagnostic);
    let note = row.note.as_deref().unwrap();
    assert!(note.contains("never finds interaction beside a main effect"));
}

#[test]
fn the_adjusted_interval_holds_the_truncated_estimate_and_grows_with_its_level() {
    let Some(case) = named("5x10x6 interaction") else {
        return;
    };
    let matrix = balanced(&case);
    let at = |level: f64| {
        adjusted_interval(&matrix, 2_000, level, &mut ChaCha8Rng::from_seed([5; 32])).unwrap()
    };
    let (narrow, wide) = (at(0.8), at(0.99));
    assert!(wide.low <= narrow.low && narrow.high <= wide.high);
    assert!(wide.low < wide.estimate && wide.estimate < wide.high);
    // The noise is taken off twice: the middle of resamples is near the estimate, not above it.
    let middle = f64::midpoint(narrow.low, narrow.high);
    assert!((middle - narrow.estimate).abs() < 0.03, "{narrow:?}");
}

#[test]
fn a_matrix_without_interaction_to_test_says_so_in_every_row() {
    let one = matrix(&[vec![vec![0.1, 0.2], vec![0.3, 0.4]]]);
    let plan = quick(Blocks::Ignore);
    let rows = run_tests(
        &one,
        &TestName::ALL,
        &plan,
        &mut ChaCha8Rng::from_seed([1; 32]),
    );
    assert_eq!(rows.len(), TestName::ALL.len());
    for row in rows {
        let reason = row.p.reason().unwrap();
        assert!(
            reason.ends_with("with sessions: 1; two are needed"),
            "{reason}"
        );
    }
    let mut rng = ChaCha8Rng::from_seed([1; 32]);
    assert!(interaction_of(&one, Scale::Raw, &plan, &mut rng).is_err());
}
