//! Knows the verdict of H1: is the method × malfunction matrix uniform, of a single axis, or structured?
//! Must not know how sums of squares are tested.
//! Start at `structure`.

use serde::{Deserialize, Serialize};

use crate::computed::Computed;
use crate::estimate::PValue;

/// The verdict of H1 over both scales.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct H1Verdict {
    /// The word; `undecided` where the scales disagree.
    pub word: StructureWord,
    /// The word on the clipped scale.
    pub clipped: StructureWord,
    /// The word on the raw scale.
    pub raw: StructureWord,
    /// Whether H1 is supported: `structured` or `structured_crossover`.
    pub supported: bool,
    /// p of `literal` on the clipped scale.
    pub literal_p: Computed<PValue>,
    /// p of `wild` on the clipped scale.
    pub wild_p: Computed<PValue>,
    /// Where `literal` and `wild` disagree at α on the clipped scale: why; null where they agree.
    pub disagreement: Option<String>,
}

/// The words of H1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructureWord {
    /// No effect of method detected.
    Uniform,
    /// Methods differ by the same amount on every malfunction, as far as detected.
    SingleAxisParallel,
    /// Methods differ in strength only (rank 1, one sign).
    SingleAxisStrength,
    /// More than one axis.
    Structured,
    /// One axis, on which the order of methods reverses between malfunctions.
    StructuredCrossover,
    /// `clipped` and `raw` disagree.
    Undecided,
}

/// The steps of the verdict on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Structure {
    /// Where the steps end.
    pub word: StructureWord,
    /// The level of each step.
    pub alpha: f64,
    /// Malfunctions left out, because a cell is empty.
    pub left_out: Vec<String>,
    /// N of step 3: sessions per cell, or the harmonic mean of them.
    pub sessions_per_cell: f64,
    /// Whether N is a harmonic mean of unequal numbers.
    pub harmonic: bool,
    /// Step 1: F_any by session labels.
    pub any_effect: PValue,
    /// Step 2: `wild`; absent where step 1 ended or it cannot be computed.
    pub additivity: Computed<PValue>,
    /// Step 3: F_2 beyond the first axis; absent where an earlier step ended or M = 2.
    pub beyond_first_axis: Computed<BeyondFirstAxis>,
    /// Singular values of C_mk = c_mk − c_.k, descending, in score units.
    pub singular_values: Vec<f64>,
    /// s_1²/Σs².
    pub first_share: Computed<f64>,
    /// The mean of `first_share` under `wild` null data: what noise alone gives.
    pub first_share_under_noise: Computed<f64>,
    /// The first axis over malfunctions; absent where no step needed it.
    pub first_axis: Computed<Vec<AxisEntry>>,
}

/// What is left beyond the first axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BeyondFirstAxis {
    /// F_2.
    pub f: f64,
    /// (M − 2)(K − 1).
    pub df: u64,
    /// By residual bootstrap.
    pub p: PValue,
}

/// The first axis at one malfunction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AxisEntry {
    /// Id of the malfunction.
    pub malfunction: String,
    /// Entry of v_1, unit-free.
    pub value: f64,
    /// Lower end over stratified resamples.
    pub low: f64,
    /// Upper end over stratified resamples.
    pub high: f64,
}
