//! Knows what the smallest possible p-value of a test is, and how many cells must reach it together.
//! Must not know a score.
//! Start at `attainability`.

use serde::{Deserialize, Serialize};

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
