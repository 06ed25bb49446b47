//! Knows H2: how far the cheat oracle stays below an optimal repair.
//! Must not know the other hypotheses.
//! Start at `oracle_gap`.

use serde::{Deserialize, Serialize};

use crate::computed::Computed;
use crate::estimate::{Interval, PValue};
use crate::scale::Scale;

/// H2 on both scales; `clipped` leads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct H2 {
    /// On the clipped scale: the verdict of the whole.
    pub clipped: Computed<OracleGap>,
    /// On the raw scale, winsorised.
    pub raw: Computed<OracleGap>,
}

/// The gap between optimal repair and cheat oracle on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OracleGap {
    /// The scale of every number here.
    pub scale: Scale,
    /// δ: the margin of the verdict.
    pub margin: f64,
    /// Whether the constant 1 stands in for a missing `optimal-repair` arm.
    pub optimal_repair_assumed: bool,
    /// D: mean of D_k over the malfunctions, bootstrap interval.
    pub gap: Interval,
    /// D with the Welch interval.
    pub gap_welch: Computed<Interval>,
    /// R = Σ mean(oracle)/Σ mean(optimal).
    pub recovered_ratio: Computed<Interval>,
    /// From the interval of D against δ.
    pub verdict: GapVerdict,
    /// One entry per malfunction with both arms.
    pub malfunctions: Vec<MalfunctionGap>,
    /// Malfunctions of the stratum left out, because an arm has no session.
    pub left_out: Vec<String>,
}

/// The gap on one malfunction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MalfunctionGap {
    /// Id of the malfunction.
    pub malfunction: String,
    /// Mean of optimal repair (1 where assumed).
    pub optimal_mean: f64,
    /// Mean of the cheat oracle.
    pub oracle_mean: f64,
    /// D_k with the bootstrap interval.
    pub gap: Interval,
    /// D_k with the Welch interval.
    pub gap_welch: Computed<Interval>,
    /// Two-sample permutation, alternative optimal > oracle; descriptive.
    pub p: Computed<PValue>,
    /// `p` adjusted by Benjamini–Hochberg over the malfunctions.
    pub p_adjusted: Computed<f64>,
    /// From the interval of D_k against δ.
    pub verdict: GapVerdict,
}

/// The words for a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapVerdict {
    /// The interval lies below the margin.
    AtCeiling,
    /// The interval lies above the margin.
    Gap,
    /// The interval holds the margin.
    Undecided,
}
