//! Knows the tidy table of sessions, the only input of the hypotheses: rows, planned cells, roles, references.
//! Must not know files, nor any statistic.
//! Start at `ScoreTable::from_rows`, then `ScoreTable::strata`.

mod arm;
mod row;
mod stratum;
mod summary;
mod tool_call_budget;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use arm::{Role, Roles, canonical_method};
pub use row::{Invocations, Outcome, RowError, ScoreRow, UNKNOWN_ENVIRONMENT};
pub use stratum::{Cell, Stratum};
pub use summary::{ArmSummary, TableSummary};
pub use tool_call_budget::{BudgetSource, ToolCallBudget};

use tool_call_budget::KnownBudgets;

/// A cell that the plan asks for, with its number of sessions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedCell {
    /// Who repairs.
    pub coder: Option<String>,
    /// The invocation budget.
    pub invocations: Option<Invocations>,
    /// Id of the malfunction.
    pub malfunction: String,
    /// Id of the method.
    pub method: String,
    /// Id of the environment.
    pub environment: String,
    /// Sessions (replications) planned.
    pub sessions: u64,
}

/// The references of one malfunction, as far as their error is concerned; in units of performance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceError {
    /// g = P_clean − P_broken, above 0.
    pub gap: f64,
    /// SE_clean over training seeds.
    pub standard_error_clean: f64,
    /// SE_broken over training seeds.
    pub standard_error_broken: f64,
}

impl ReferenceError {
    /// SE_ref(s) = sqrt((1−s)²·SE_broken² + s²·SE_clean²)/g, in score units.
    pub fn at(&self, score: f64) -> f64 {
        let broken = (1.0 - score) * self.standard_error_broken;
        let clean = score * self.standard_error_clean;
        broken.hypot(clean) / self.gap
    }
}

/// What makes a set of planned cells or references contradict the rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A session of a cell that was never planned.
    #[error(
        "{method} on {malfunction} (coder {coder}, invocations {invocations}) has sessions but is not planned"
    )]
    Unplanned {
        /// Id of the method.
        method: String,
        /// Id of the malfunction.
        malfunction: String,
        /// The coder, or `-`.
        coder: String,
        /// The invocation budget, or `-`.
        invocations: String,
    },
    /// A cell planned twice.
    #[error("{method} on {malfunction} is planned twice for the same coder and invocations")]
    PlannedTwice {
        /// Id of the method.
        method: String,
        /// Id of the malfunction.
        malfunction: String,
    },
    /// A malfunction that the plan places in another environment than its sessions.
    #[error("{malfunction} is planned in environment {planned}, but has sessions in {found}")]
    Environment {
        /// Id of the malfunction.
        malfunction: String,
        /// Its environment in the plan.
        planned: String,
        /// Its environment in the rows.
        found: String,
    },
    /// References that no score can be divided by.
    #[error("the references of {malfunction} are not finite, or their gap is not above 0")]
    Reference {
        /// Id of the malfunction.
        malfunction: String,
    },
}

/// Sessions with everything that is known about them before an analysis.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTable {
    rows: Vec<ScoreRow>,
    planned: Vec<PlannedCell>,
    references: BTreeMap<String, ReferenceError>,
    budgets: KnownBudgets,
    roles: Roles,
}

type RowKey = (Option<String>, Option<Invocations>, String, String, u64);

fn row_key(row: &ScoreRow) -> RowKey {
    let ScoreRow {
        coder,
        invocations,
        malfunction,
        method,
        replication,
        ..
    } = row;
    (
        coder.clone(),
        *invocations,
        malfunction.clone(),
        method.clone(),
        *replication,
    )
}

impl ScoreTable {
    /// Builds a table from rows, each with the line the caller found it on; sorts them and fills `clipped`.
    /// The planned cells are malfunctions × methods seen in each stratum, with the sessions seen.
    ///
    /// # Errors
    /// Every broken rule of every row, in order of lines.
    pub fn from_rows(
        rows: impl IntoIterator<Item = (u64, ScoreRow)>,
        roles: Roles,
    ) -> Result<Self, Vec<RowError>> {
        let mut errors = Vec::new();
        let mut kept: Vec<ScoreRow> = Vec::new();
        let mut first_line: BTreeMap<RowKey, u64> = BTreeMap::new();
        let mut environments: BTreeMap<String, (String, u64)> = BTreeMap::new();
        for (line, mut row) in rows {
            row.check(line, &mut errors);
            row.method = canonical_method(&row.method);
            if let Some(first) = first_line.get(&row_key(&row)) {
                errors.push(RowError {
                    line,
                    column: "replication",
                    value: row.replication.to_string(),
                    problem: format!(
                        "a second session of {} on {}, after line {first}",
                        row.method, row.malfunction
                    ),
                });
            } else {
                first_line.insert(row_key(&row), line);
            }
            let (environment, first) = environments
                .entry(row.malfunction.clone())
                .or_insert_with(|| (row.environment.clone(), line));
            if *environment != row.environment {
                errors.push(RowError {
                    line,
                    column: "environment",
                    value: row.environment.clone(),
                    problem: format!(
                        "{} belongs to {environment} on line {first}",
                        row.malfunction
                    ),
                });
            }
            row.clipped = Some(row.raw.clamp(0.0, 1.0));
            kept.push(row);
        }
        if !errors.is_empty() {
            errors.sort_by_key(|error| error.line);
            return Err(errors);
        }
        kept.sort_by_cached_key(row_key);
        let planned = seen_cells(&kept);
        Ok(Self {
            rows: kept,
            planned,
            references: BTreeMap::new(),
            budgets: KnownBudgets::None,
            roles,
        })
    }

    /// Replaces the planned cells by those of a plan.
    ///
    /// # Errors
    /// A cell planned twice, rows in a cell that is not planned, or a malfunction in two environments.
    pub fn with_planned(
        mut self,
        planned: impl IntoIterator<Item = PlannedCell>,
    ) -> Result<Self, Vec<TableError>> {
        let mut errors = Vec::new();
        let mut cells: BTreeMap<CellKey, PlannedCell> = BTreeMap::new();
        for mut cell in planned {
            cell.method = canonical_method(&cell.method);
            let (method, malfunction) = (cell.method.clone(), cell.malfunction.clone());
            let key = (
                cell.coder.clone(),
                cell.invocations,
                malfunction.clone(),
                method.clone(),
            );
            if cells.insert(key, cell).is_some() {
                errors.push(TableError::PlannedTwice {
                    method,
                    malfunction,
                });
            }
        }
        let mut reported = BTreeSet::new();
        for row in &self.rows {
            let key = cell_key(row);
            if !cells.contains_key(&key) && reported.insert(key) {
                errors.push(TableError::Unplanned {
                    method: row.method.clone(),
                    malfunction: row.malfunction.clone(),
                    coder: row.coder.clone().unwrap_or_else(|| "-".to_owned()),
                    invocations: row
                        .invocations
                        .map_or_else(|| "-".to_owned(), |invocations| invocations.to_string()),
                });
            }
        }
        errors.extend(misplaced(&self.rows, cells.values()));
        if !errors.is_empty() {
            return Err(errors);
        }
        self.planned = cells.into_values().collect();
        Ok(self)
    }

    /// Adds the errors of the references, by malfunction id.
    ///
    /// # Errors
    /// References with a gap that is not above 0, or a value that is not finite.
    pub fn with_references(
        mut self,
        references: BTreeMap<String, ReferenceError>,
    ) -> Result<Self, Vec<TableError>> {
        let errors: Vec<TableError> = references
            .iter()
            .filter(|(_, reference)| {
                let errors = [
                    reference.standard_error_clean,
                    reference.standard_error_broken,
                ];
                !(reference.gap.is_finite() && reference.gap > 0.0)
                    || errors
                        .iter()
                        .any(|error| !(error.is_finite() && *error >= 0.0))
            })
            .map(|(malfunction, _)| TableError::Reference {
                malfunction: malfunction.clone(),
            })
            .collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        self.references = references;
        Ok(self)
    }

    /// The rows, sorted by coder, invocations, malfunction, method, replication; `clipped` filled.
    pub fn rows(&self) -> &[ScoreRow] {
        &self.rows
    }

    /// The planned cells, sorted by coder, invocations, malfunction, method.
    pub fn planned(&self) -> &[PlannedCell] {
        &self.planned
    }

    /// The roles of the methods.
    pub fn roles(&self) -> &Roles {
        &self.roles
    }
}

type StratumKey = (Option<String>, Option<Invocations>);
type CellKey = (Option<String>, Option<Invocations>, String, String);

fn cell_key(row: &ScoreRow) -> CellKey {
    (
        row.coder.clone(),
        row.invocations,
        row.malfunction.clone(),
        row.method.clone(),
    )
}

fn planned_key(cell: &PlannedCell) -> CellKey {
    (
        cell.coder.clone(),
        cell.invocations,
        cell.malfunction.clone(),
        cell.method.clone(),
    )
}

/// Malfunctions whose planned environment is known and differs from that of their rows, each once.
fn misplaced<'a>(
    rows: &[ScoreRow],
    planned: impl Iterator<Item = &'a PlannedCell>,
) -> Vec<TableError> {
    let found: BTreeMap<&str, &str> = rows
        .iter()
        .map(|row| (row.malfunction.as_str(), row.environment.as_str()))
        .collect();
    let known = |environment: &str| !environment.is_empty() && environment != UNKNOWN_ENVIRONMENT;
    let mut wrong: BTreeMap<&str, TableError> = BTreeMap::new();
    for cell in planned.filter(|cell| known(&cell.environment)) {
        let Some(found) = found.get(cell.malfunction.as_str()).copied() else {
            continue;
        };
        if known(found) && found != cell.environment {
            wrong
                .entry(&cell.malfunction)
                .or_insert_with(|| TableError::Environment {
                    malfunction: cell.malfunction.clone(),
                    planned: cell.environment.clone(),
                    found: found.to_owned(),
                });
        }
    }
    wrong.into_values().collect()
}

/// Crosses the malfunctions and methods seen under each pair of coder and invocations.
fn seen_cells(rows: &[ScoreRow]) -> Vec<PlannedCell> {
    let mut counts: BTreeMap<CellKey, u64> = BTreeMap::new();
    let mut environments: BTreeMap<&str, &str> = BTreeMap::new();
    let mut seen: BTreeMap<StratumKey, [BTreeSet<String>; 2]> = BTreeMap::new();
    for row in rows {
        *counts.entry(cell_key(row)).or_insert(0) += 1;
        environments.insert(&row.malfunction, &row.environment);
        let [malfunctions, methods] = seen
            .entry((row.coder.clone(), row.invocations))
            .or_default();
        malfunctions.insert(row.malfunction.clone());
        methods.insert(row.method.clone());
    }
    let mut cells = Vec::new();
    for ((coder, invocations), [malfunctions, methods]) in seen {
        for malfunction in &malfunctions {
            for method in &methods {
                let key = (
                    coder.clone(),
                    invocations,
                    malfunction.clone(),
                    method.clone(),
                );
                cells.push(PlannedCell {
                    coder: coder.clone(),
                    invocations,
                    malfunction: malfunction.clone(),
                    method: method.clone(),
                    environment: environments[malfunction.as_str()].to_owned(),
                    sessions: counts.get(&key).copied().unwrap_or(0),
                });
            }
        }
    }
    cells
}
