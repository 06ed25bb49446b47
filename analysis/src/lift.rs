//! Knows lift: the difference of a method from the no-method baseline, and of methods from each other.
//! Must not know hypothesis tests.
//! Start at `lifts`.

use serde::{Deserialize, Serialize};

use crate::computed::Computed;
use crate::estimate::Interval;
use crate::scale::Scale;
use crate::score_table::Role;

/// Lifts of a stratum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lifts {
    /// One entry per (method, scale), methods sorted; scales `clipped`, `raw`. The baseline itself has none.
    pub methods: Vec<MethodLift>,
    /// c_m. − c_m'. on common malfunctions for each unordered pair of explanation methods, and each method against `placebo`.
    pub comparisons: Vec<MethodComparison>,
}

/// The lift of one method on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodLift {
    /// Id of the method.
    pub method: String,
    /// Its role.
    pub role: Role,
    /// The scale of every number here.
    pub scale: Scale,
    /// ℓ_m: mean of ℓ_mk over malfunctions where both cells have sessions.
    pub mean: Computed<Difference>,
    /// ℓ_mk, one entry per malfunction planned for the method.
    pub malfunctions: Vec<CellLift>,
}

/// The lift of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellLift {
    /// Id of the malfunction.
    pub malfunction: String,
    /// ℓ_mk = c_mk − c_0k.
    pub lift: Computed<Difference>,
    /// c_mk − c of the cheat oracle on the same malfunction.
    pub over_oracle: Computed<Difference>,
}

/// Two methods compared on the malfunctions they share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodComparison {
    /// Id of the first method.
    pub first: String,
    /// Id of the second method.
    pub second: String,
    /// The scale of the difference.
    pub scale: Scale,
    /// Mean of first − second.
    pub difference: Computed<Difference>,
}

/// A difference of means of cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The difference, in score units.
    pub estimate: f64,
    /// How many malfunctions it is a mean over.
    pub malfunctions: u64,
    /// Stratified bootstrap percentile interval.
    pub percentile: Interval,
    /// Welch interval; absent where an arm has one session in some cell.
    pub welch: Computed<Interval>,
}
