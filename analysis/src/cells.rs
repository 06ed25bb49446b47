//! Knows the summary of one cell (malfunction × method): mean, spread and intervals on both scales.
//! Must not know other cells.
//! Start at `summarise`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::computed::Computed;
use crate::estimate::Interval;
use crate::score_table::{Outcome, Role};

/// One planned cell of a stratum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellFinding {
    /// Id of the malfunction.
    pub malfunction: String,
    /// Id of its environment.
    pub environment: String,
    /// Id of the method.
    pub method: String,
    /// The role of the method.
    pub role: Role,
    /// Sessions planned.
    pub planned: u64,
    /// Sessions with a score.
    pub sessions: u64,
    /// Sessions per outcome; outcomes that did not occur are absent.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// The clipped score.
    pub clipped: Computed<CellScores>,
    /// The raw score, winsorised.
    pub raw: Computed<CellScores>,
}

/// The scores of one cell on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellScores {
    /// Mean over sessions.
    pub mean: f64,
    /// Standard deviation over sessions, with N − 1.
    pub standard_deviation: Computed<f64>,
    /// Bootstrap percentile interval of the mean.
    pub percentile: Computed<Interval>,
    /// Student t interval of the mean.
    pub student_t: Computed<Interval>,
    /// SE_ref at the mean: the error of the references, shared by every method of the malfunction.
    pub reference_error: Computed<f64>,
}
