//! Knows what sessions cost, per method.
//! Must not know scores.
//! Start at `costs`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::computed::Computed;
use crate::score_table::{ScoreRow, Stratum};

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

/// Sums up what the sessions of each method cost.
pub fn costs(stratum: &Stratum) -> Vec<MethodCost> {
    let mut methods: BTreeMap<&str, Vec<&ScoreRow>> = BTreeMap::new();
    for (_, method, cell) in stratum.cells() {
        methods.entry(method).or_default().extend(&cell.rows);
    }
    methods
        .into_iter()
        .map(|(method, rows)| MethodCost {
            method: method.to_owned(),
            sessions: rows.len() as u64,
            cost_usd: total(rows.iter().filter_map(|row| row.cost_usd)),
            wall_s: total(rows.iter().filter_map(|row| row.wall_s)),
        })
        .collect()
}

fn total(values: impl Iterator<Item = f64>) -> Computed<Total> {
    let values: Vec<f64> = values.collect();
    if values.is_empty() {
        return Computed::absent("no session has the value");
    }
    let sum: f64 = values.iter().sum();
    Computed::Value(Total {
        sum,
        mean: sum / values.len() as f64,
        sessions: values.len() as u64,
    })
}
