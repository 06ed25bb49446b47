//! Knows what sessions cost, per method.
//! Must not know scores.
//! Start at `costs`.

use serde::{Deserialize, Serialize};

use crate::computed::Computed;

/// The cost of one method's sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodCost {
    /// Id of the method.
    pub method: String,
    /// Sessions with a score.
    pub sessions: u64,
    /// Cost in US dollars.
    pub cost_usd: Computed<Total>,
    /// Wall time in seconds.
    pub wall_s: Computed<Total>,
}

/// A sum and a mean over the sessions that have the value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// The sum.
    pub sum: f64,
    /// The mean.
    pub mean: f64,
    /// How many sessions have the value.
    pub sessions: u64,
}
