//! Knows H3: does some method make repairs worse than no method at all?
//! Must not know the bootstrap, which has no valid p-value here.
//! Start at `harm`.

use serde::{Deserialize, Serialize};

use crate::computed::Computed;
use crate::estimate::PValue;

/// H3 over all planned cells of explanation methods, on the raw scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Harm {
    /// The false discovery rate q.
    pub q: f64,
    /// m_planned: the family that p-values are adjusted over.
    pub planned_cells: u64,
    /// Cells with sessions in both arms.
    pub tested_cells: u64,
    /// The answer.
    pub verdict: HarmVerdict,
    /// The cells behind `harm_found`.
    pub harmed: Vec<HarmedCell>,
    /// ⌈m·p_min/q⌉ of the primary for the most favourable cell: with fewer harmed cells nothing could have been found.
    pub cells_needed: Computed<u64>,
    /// One entry per planned cell.
    pub cells: Vec<HarmCell>,
    /// What a reader must know, as sentences.
    pub warnings: Vec<String>,
}

/// A discovery of the primary test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarmedCell {
    /// Id of the method.
    pub method: String,
    /// Id of the malfunction.
    pub malfunction: String,
}

/// One cell against the baseline of its malfunction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HarmCell {
    /// Id of the method.
    pub method: String,
    /// Id of the malfunction.
    pub malfunction: String,
    /// N: sessions of the method.
    pub sessions: u64,
    /// N0: sessions of the baseline.
    pub baseline_sessions: u64,
    /// ℓ_mk on the raw scale, winsorised.
    pub lift: Computed<f64>,
    /// Whether N ≠ N0: then the permutation test can be too liberal, and Welch comes first.
    pub unequal_sessions: bool,
    /// One entry per test; the primary first, unless the numbers of sessions differ.
    pub tests: Vec<HarmTest>,
}

/// One one-sided test (less) of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HarmTest {
    /// Which test.
    pub test: HarmTestName,
    /// Whether it decides.
    pub primary: bool,
    /// The p-value of the cell.
    pub p: Computed<PValue>,
    /// Adjusted by Benjamini–Hochberg over `planned_cells`, within this test.
    pub p_adjusted: Computed<f64>,
    /// Adjusted p ≤ q and a negative lift.
    pub discovery: bool,
}

/// The tests of H3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HarmTestName {
    /// All assignments of the pooled winsorised scores, difference of means. The primary.
    PermutationMean,
    /// Student t with Satterthwaite degrees of freedom.
    Welch,
    /// Mann–Whitney, exact, on the scores as stored.
    RankSum,
    /// All assignments, Welch's t.
    PermutationWelch,
}

/// The words of H3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HarmVerdict {
    /// At least one discovery.
    HarmFound,
    /// None, though one was possible.
    NoHarmFound,
    /// No outcome of this design could have been a discovery.
    NotTestable,
}
