//! Knows what a table holds: planned, present and missing sessions and outcomes, per arm.
//! Must not know scores.
//! Start at `ScoreTable::summary`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{CellKey, Invocations, Outcome, Role, ScoreTable, cell_key, planned_key};

/// What a table holds, missing sessions and outcomes included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSummary {
    /// Sessions planned.
    pub planned: u64,
    /// Sessions with a score.
    pub sessions: u64,
    /// Planned sessions without a score.
    pub missing: u64,
    /// Ids of the planned malfunctions, sorted.
    pub malfunctions: Vec<String>,
    /// One entry per (coder, invocations, method), sorted.
    pub arms: Vec<ArmSummary>,
}

/// What a table holds of one method of one stratum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmSummary {
    /// The coder.
    pub coder: Option<String>,
    /// The invocation budget.
    pub invocations: Option<Invocations>,
    /// Id of the method.
    pub method: String,
    /// Its role.
    pub role: Role,
    /// Sessions planned.
    pub planned: u64,
    /// Sessions with a score.
    pub sessions: u64,
    /// Planned sessions without a score.
    pub missing: u64,
    /// Sessions per outcome; outcomes that did not occur are absent.
    pub outcomes: BTreeMap<Outcome, u64>,
}

impl ScoreTable {
    /// Counts what the table holds.
    pub fn summary(&self) -> TableSummary {
        let mut arms: BTreeMap<(Option<String>, Option<Invocations>, String), ArmSummary> =
            BTreeMap::new();
        let mut outcomes: BTreeMap<CellKey, Vec<Outcome>> = BTreeMap::new();
        for row in &self.rows {
            outcomes.entry(cell_key(row)).or_default().push(row.outcome);
        }
        for cell in &self.planned {
            let key = (cell.coder.clone(), cell.invocations, cell.method.clone());
            let arm = arms.entry(key).or_insert_with(|| ArmSummary {
                coder: cell.coder.clone(),
                invocations: cell.invocations,
                method: cell.method.clone(),
                role: self.roles.of(&cell.method),
                planned: 0,
                sessions: 0,
                missing: 0,
                outcomes: BTreeMap::new(),
            });
            let present = outcomes
                .get(&planned_key(cell))
                .map_or(&[][..], Vec::as_slice);
            for outcome in present {
                *arm.outcomes.entry(*outcome).or_insert(0) += 1;
            }
            let count = present.len() as u64;
            arm.planned += cell.sessions;
            arm.sessions += count;
            arm.missing += cell.sessions.saturating_sub(count);
        }
        let arms: Vec<ArmSummary> = arms.into_values().collect();
        let malfunctions: BTreeSet<&String> =
            self.planned.iter().map(|cell| &cell.malfunction).collect();
        TableSummary {
            planned: arms.iter().map(|arm| arm.planned).sum(),
            sessions: arms.iter().map(|arm| arm.sessions).sum(),
            missing: arms.iter().map(|arm| arm.missing).sum(),
            malfunctions: malfunctions.into_iter().cloned().collect(),
            arms,
        }
    }
}
