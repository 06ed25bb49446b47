//! Knows what a reader of H3 must be told: missing cells, unequal arms, sessions without a partner, a design that cannot find harm.
//! Must not know how a test works.
//! Start at `warnings`.

use super::HarmCell;
use crate::attainability::{ADVICE, AttainableTest, attainability};

/// The warnings of a family of cells; `needed` is the fewest cells that could be discoveries of the primary together.
pub(super) fn warnings(
    cells: &[HarmCell],
    family: u64,
    needed: Option<u64>,
    q: f64,
    blocks: bool,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let tested = cells
        .iter()
        .filter(|cell| cell.lift.value().is_some())
        .count();
    let missing = family.saturating_sub(tested as u64);
    if missing > 0 {
        warnings.push(format!(
            "{missing} of {family} planned cells have no p-value; they count in the adjustment"
        ));
    }
    let unequal = cells.iter().filter(|cell| cell.unequal_sessions).count();
    if unequal > 0 {
        warnings.push(format!(
            "{unequal} cells have another number of sessions than their baseline: the permutation test can be too \
             liberal there, so Welch comes first"
        ));
    }
    let (mut unmatched, mut unmatched_cells) = (0, 0);
    for pairing in cells.iter().filter_map(|cell| cell.pairing.value()) {
        if pairing.unmatched > 0 {
            unmatched += pairing.unmatched;
            unmatched_cells += 1;
        }
    }
    if unmatched > 0 {
        warnings.push(format!(
            "{unmatched} sessions in {unmatched_cells} cells have no baseline session in their block; the paired tests \
             leave them out"
        ));
    }
    warnings.extend(reach(family, needed, q, blocks));
    warnings
}

fn reach(family: u64, needed: Option<u64>, q: f64, blocks: bool) -> Vec<String> {
    let cure = |test| attainability(test, 1, 1, family, family, q).sessions_for_one_cell;
    let mut warning = match needed {
        Some(1) => return Vec::new(),
        Some(count) => format!("fewer than {count} harmed cells could not have been found"),
        None => "not testable: no harm could have been found with these numbers of sessions".into(),
    };
    let primary = cure(AttainableTest::Permutation);
    warning.push_str(&format!("; N = N0 = {primary} finds one cell"));
    if blocks {
        let paired = cure(AttainableTest::SignedRank);
        warning.push_str(&format!(
            " by the permutation test, {paired} pairs by the signed rank test"
        ));
    }
    vec![warning, ADVICE.to_owned()]
}
