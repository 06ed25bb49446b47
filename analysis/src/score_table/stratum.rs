//! Knows one stratum: the sessions of one coder with one invocation budget, with the reserved arms that join it.
//! Must not know any statistic; hypotheses take a `Stratum`, so that strata are never pooled.
//! Start at `ScoreTable::strata`.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    CellKey, Invocations, PlannedCell, ReferenceError, Role, Roles, ScoreRow, ScoreTable,
    ToolCallBudget, cell_key, planned_key,
};
use crate::computed::Computed;
use crate::scale::Scale;

/// A score table narrowed to one coder and one invocation budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Stratum {
    coder: Option<String>,
    invocations: Option<Invocations>,
    /// By (malfunction, method).
    cells: BTreeMap<(String, String), Cell>,
    references: BTreeMap<String, ReferenceError>,
    budget: Computed<ToolCallBudget>,
    roles: Roles,
}

/// The sessions of one malfunction with one method.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Id of the environment.
    pub environment: String,
    /// Sessions planned.
    pub planned: u64,
    /// Sessions with a score, sorted by replication.
    pub rows: Vec<ScoreRow>,
}

impl Cell {
    /// Places the sessions on a scale.
    pub fn scores(&self, scale: Scale, winsor_floor: f64) -> Vec<f64> {
        self.rows
            .iter()
            .map(|row| scale.place(row.raw, winsor_floor))
            .collect()
    }
}

impl Stratum {
    /// The coder; `None` where the table has no such column.
    pub fn coder(&self) -> Option<&str> {
        self.coder.as_deref()
    }

    /// The invocation budget; `None` where the table has no such column.
    pub fn invocations(&self) -> Option<Invocations> {
        self.invocations
    }

    /// The roles of the methods.
    pub fn roles(&self) -> &Roles {
        &self.roles
    }

    /// The planned cells, with (malfunction, method), sorted.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &str, &Cell)> {
        self.cells
            .iter()
            .map(|((malfunction, method), cell)| (malfunction.as_str(), method.as_str(), cell))
    }

    /// One planned cell.
    pub fn cell(&self, malfunction: &str, method: &str) -> Option<&Cell> {
        self.cells.get(&(malfunction.to_owned(), method.to_owned()))
    }

    /// The scores of a cell; empty where it is not planned or has no session.
    pub fn scores(
        &self,
        malfunction: &str,
        method: &str,
        scale: Scale,
        winsor_floor: f64,
    ) -> Vec<f64> {
        self.cell(malfunction, method)
            .map_or_else(Vec::new, |cell| cell.scores(scale, winsor_floor))
    }

    /// Ids of the planned malfunctions, sorted.
    pub fn malfunctions(&self) -> Vec<&str> {
        let set: BTreeSet<&str> = self
            .cells()
            .map(|(malfunction, _, _)| malfunction)
            .collect();
        set.into_iter().collect()
    }

    /// Ids of the planned methods, sorted.
    pub fn methods(&self) -> Vec<&str> {
        let set: BTreeSet<&str> = self.cells().map(|(_, method, _)| method).collect();
        set.into_iter().collect()
    }

    /// The error of a malfunction's references, if known.
    pub fn reference(&self, malfunction: &str) -> Option<&ReferenceError> {
        self.references.get(malfunction)
    }

    /// τ, the tool-call budget of the table.
    pub fn tool_call_budget(&self) -> &Computed<ToolCallBudget> {
        &self.budget
    }

    /// Says whether any session names its block.
    pub fn has_blocks(&self) -> bool {
        self.cells()
            .any(|(_, _, cell)| cell.rows.iter().any(|row| row.block.is_some()))
    }
}

impl ScoreTable {
    /// Splits the table by coder and invocation budget, in that order. `no-method` and `cheat-oracle` of the same coder
    /// join whatever their budget, `optimal-repair` whatever its coder; an arm run under the stratum's own coder and
    /// budget is used instead, where there is one.
    pub fn strata(&self) -> Vec<Stratum> {
        let mut keys: BTreeSet<(Option<String>, Option<Invocations>)> = BTreeSet::new();
        // Arms that join elsewhere found a stratum only where nothing else does.
        let joining: [&[Role]; 3] = [
            &[Role::OptimalRepair, Role::NoMethod, Role::CheatOracle],
            &[Role::OptimalRepair],
            &[],
        ];
        for joins in joining {
            if keys.is_empty() {
                keys.extend(
                    self.planned
                        .iter()
                        .filter(|cell| !joins.contains(&self.roles.of(&cell.method)))
                        .map(|cell| (cell.coder.clone(), cell.invocations)),
                );
            }
        }
        let mut rows: BTreeMap<CellKey, Vec<ScoreRow>> = BTreeMap::new();
        for row in &self.rows {
            rows.entry(cell_key(row)).or_default().push(row.clone());
        }
        keys.into_iter()
            .map(|(coder, invocations)| self.stratum(coder, invocations, &rows))
            .collect()
    }

    fn stratum(
        &self,
        coder: Option<String>,
        invocations: Option<Invocations>,
        rows: &BTreeMap<CellKey, Vec<ScoreRow>>,
    ) -> Stratum {
        let own = |cell: &PlannedCell| cell.coder == coder && cell.invocations == invocations;
        let same_coder = |cell: &PlannedCell| cell.coder == coder;
        let of_role = |role: Role| {
            self.planned
                .iter()
                .filter(move |cell| self.roles.of(&cell.method) == role)
        };
        let mut cells: BTreeMap<(String, String), Cell> = BTreeMap::new();
        let mut admit = |cell: &PlannedCell| {
            let entry = cells
                .entry((cell.malfunction.clone(), cell.method.clone()))
                .or_insert_with(|| Cell {
                    environment: cell.environment.clone(),
                    planned: 0,
                    rows: Vec::new(),
                });
            entry.planned += cell.sessions;
            entry
                .rows
                .extend(rows.get(&planned_key(cell)).into_iter().flatten().cloned());
            entry.rows.sort_by_key(|row| row.replication);
        };
        for role in [Role::Xrl, Role::Placebo] {
            of_role(role).filter(|cell| own(cell)).for_each(&mut admit);
        }
        for role in [Role::NoMethod, Role::CheatOracle, Role::OptimalRepair] {
            if of_role(role).any(own) {
                of_role(role).filter(|cell| own(cell)).for_each(&mut admit);
            } else if role != Role::OptimalRepair || of_role(role).any(same_coder) {
                of_role(role)
                    .filter(|cell| same_coder(cell))
                    .for_each(&mut admit);
            } else {
                of_role(role).for_each(&mut admit);
            }
        }
        Stratum {
            coder,
            invocations,
            cells,
            references: self.references.clone(),
            budget: self.tool_call_budget(),
            roles: self.roles.clone(),
        }
    }
}
