//! Knows what the smallest possible p-value of a test is, and how many cells must reach it together.
//! Must not know a score.
//! Start at `attainability`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::score_table::Stratum;

/// What to plan, whatever the design.
pub const ADVICE: &str = "plan N = N0 of at least 8; for one harmed cell of 2 standard deviations among 60, N = N0 = 10 \
                          has a power of about .7 and N = N0 = 12 of about .86";

/// The reach of one test of H3 with given numbers of sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attainability {
    /// The test.
    pub test: AttainableTest,
    /// N: sessions per method cell.
    pub sessions: u64,
    /// N0: sessions per baseline cell.
    pub baseline_sessions: u64,
    /// m: planned cells of the family.
    pub cells: u64,
    /// How many of them have these numbers of sessions.
    pub cells_of_this_size: u64,
    /// 1/p_min, as a whole number where it fits.
    pub arrangements: Option<u64>,
    /// The smallest possible p-value.
    pub p_min: f64,
    /// ⌈m·p_min/q⌉: so many cells at p_min are rejected together, fewer are not.
    pub cells_needed: u64,
    /// What that means.
    pub state: Reach,
    /// The smallest N = N0 at which one cell suffices.
    pub sessions_for_one_cell: u64,
}

/// A test whose smallest p-value is known before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttainableTest {
    /// The unpaired two-sample permutation test, the primary of H3.
    Permutation,
    /// Paired sign tests, such as the signed rank test.
    SignedRank,
}

/// How far a design reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// One cell can be found alone.
    OneCell,
    /// Only several cells together can be found.
    SeveralCells,
    /// No outcome can be found.
    NotTestable,
}

impl Attainability {
    /// Says, before a run, what these numbers of sessions cannot find, and the smallest N that cures it; `None` where one
    /// harmed cell can be found alone.
    pub fn warning(&self) -> Option<String> {
        let Self {
            sessions,
            baseline_sessions,
            cells,
            cells_needed,
            sessions_for_one_cell,
            ..
        } = self;
        let arms = format!(
            "{}: with N = {sessions} and N0 = {baseline_sessions}",
            self.test.name()
        );
        let cure = format!("N = N0 = {sessions_for_one_cell} finds one cell alone");
        match self.state {
            Reach::OneCell => None,
            Reach::SeveralCells => Some(format!(
                "{arms}, fewer than {cells_needed} harmed cells of {cells} cannot be found; {cure}"
            )),
            Reach::NotTestable => Some(format!(
                "{arms}, harm in {cells} cells is not testable; {cure}"
            )),
        }
    }
}

impl AttainableTest {
    /// The name in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Permutation => "permutation test",
            Self::SignedRank => "signed rank test",
        }
    }

    /// 1/p_min: all arrangements of `sessions` against `baseline_sessions`, as a float (exact up to 2^53).
    pub fn arrangements(self, sessions: u64, baseline_sessions: u64) -> f64 {
        match self {
            Self::Permutation => crate::two_sample::assignments(sessions, baseline_sessions),
            Self::SignedRank => 2.0_f64.powf(sessions.min(baseline_sessions) as f64),
        }
    }

    /// ⌈m·p_min/q⌉, at least 1: so many cells tied at p_min are rejected together.
    pub fn cells_needed(self, sessions: u64, baseline_sessions: u64, cells: u64, q: f64) -> u64 {
        let needed = cells as f64 / (self.arrangements(sessions, baseline_sessions) * q);
        // The same tolerance as the rejection itself: p adjusted ≤ q(1 + 1e-12).
        (needed / (1.0 + 1e-12)).ceil().max(1.0) as u64
    }
}

/// Tells what a test of H3 can reach with N sessions against N0, in a family of m cells at rate q in (0, 1).
pub fn attainability(
    test: AttainableTest,
    sessions: u64,
    baseline_sessions: u64,
    cells: u64,
    cells_of_this_size: u64,
    q: f64,
) -> Attainability {
    let arrangements = test.arrangements(sessions, baseline_sessions);
    let cells_needed = test.cells_needed(sessions, baseline_sessions, cells, q);
    let mut sessions_for_one_cell = 1;
    while test.cells_needed(sessions_for_one_cell, sessions_for_one_cell, cells, q) > 1 {
        sessions_for_one_cell += 1;
    }
    let state = match cells_needed {
        1 => Reach::OneCell,
        needed if needed <= cells => Reach::SeveralCells,
        _ => Reach::NotTestable,
    };
    Attainability {
        test,
        sessions,
        baseline_sessions,
        cells,
        cells_of_this_size,
        arrangements: (arrangements < 2.0_f64.powi(53)).then_some(arrangements as u64),
        p_min: 1.0 / arrangements,
        cells_needed,
        state,
        sessions_for_one_cell,
    }
}

/// Lists the reach of both tests for every pair of session numbers planned in a stratum, in a family of all planned cells.
pub fn of_stratum(stratum: &Stratum, q: f64) -> Vec<Attainability> {
    let family = hypothesis_cells(stratum);
    let mut sizes: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for (malfunction, method) in &family {
        let planned = |method: &str| {
            stratum
                .cell(malfunction, method)
                .map_or(0, |cell| cell.planned)
        };
        let size = (planned(method), planned(&stratum.roles().no_method));
        *sizes.entry(size).or_insert(0) += 1;
    }
    let mut list = Vec::new();
    for test in [AttainableTest::Permutation, AttainableTest::SignedRank] {
        for (&(sessions, baseline), &count) in &sizes {
            if sessions > 0 && baseline > 0 {
                list.push(attainability(
                    test,
                    sessions,
                    baseline,
                    family.len() as u64,
                    count,
                    q,
                ));
            }
        }
    }
    list
}

/// The planned cells of H3: (malfunction, method) of simple explanation methods.
pub(crate) fn hypothesis_cells(stratum: &Stratum) -> Vec<(&str, &str)> {
    stratum
        .cells()
        .filter(|(_, method, _)| stratum.roles().enters_hypotheses(method))
        .map(|(malfunction, method, _)| (malfunction, method))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_eighteen_integers_are_reproduced() {
        let signed = |n, m| AttainableTest::SignedRank.cells_needed(n, n, m, 0.05);
        let signed_rank = |m| [6, 8, 10, 11, 12].map(|n| signed(n, m));
        assert_eq!(signed_rank(60), [19, 5, 2, 1, 1]);
        assert_eq!(signed_rank(105), [33, 9, 3, 2, 1]);
        let unpaired = |n, n0, m| AttainableTest::Permutation.cells_needed(n, n0, m, 0.05);
        let permutation = |m| [(6, 6), (7, 7), (8, 8), (6, 12)].map(|(n, n0)| unpaired(n, n0, m));
        assert_eq!(permutation(60), [2, 1, 1, 1]);
        assert_eq!(permutation(105), [3, 1, 1, 1]);
    }

    #[test]
    fn a_plan_with_six_sessions_names_the_number_that_cures_it() {
        let permutation = attainability(AttainableTest::Permutation, 6, 6, 60, 60, 0.05);
        assert_eq!(permutation.state, Reach::SeveralCells);
        assert_eq!(
            (permutation.sessions_for_one_cell, permutation.arrangements),
            (7, Some(924))
        );
        let signed_rank = attainability(AttainableTest::SignedRank, 6, 6, 60, 60, 0.05);
        assert_eq!(signed_rank.sessions_for_one_cell, 11);
        assert_eq!(
            permutation.warning().unwrap(),
            "permutation test: with N = 6 and N0 = 6, fewer than 2 harmed cells of 60 cannot be found; N = N0 = 7 finds \
             one cell alone"
        );
        assert!(
            signed_rank
                .warning()
                .unwrap()
                .contains("N = N0 = 11 finds one cell alone")
        );
    }

    #[test]
    fn two_sessions_per_cell_are_not_testable() {
        let reach = attainability(AttainableTest::Permutation, 2, 2, 3, 3, 0.05);
        assert_eq!((reach.cells_needed, reach.state), (10, Reach::NotTestable));
        assert!(reach.warning().unwrap().contains("is not testable"));
    }
}
