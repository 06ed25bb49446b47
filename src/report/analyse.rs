//! Knows how a run or a bare table becomes what `evalxrl-analysis` takes, and the findings of either.
//! Must not compute a statistic itself.
//! Start at `Scores`.

use std::collections::BTreeMap;

use evalxrl_analysis::findings::{Findings, findings};
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::score_table::{
    Invocations, Outcome, PlannedCell, ReferenceError, Roles, ScoreRow, ScoreTable,
};

use super::ReportError;
use super::mixing::refuse_mixed;
use super::run::{Malfunction, Run, SessionRow};
use crate::vocab::{self, OutcomeKind, RootSeed, SeedName};

/// Scores with all that an analysis of them depends on.
#[derive(Debug, Clone)]
pub struct Scores {
    /// The tidy table, with its planned cells and references where they are known.
    pub table: ScoreTable,
    /// The malfunctions of the plan with their references; none for a bare table.
    pub admission: Option<Vec<Malfunction>>,
    /// From which every seed of the analysis is derived by name.
    pub root_seed: RootSeed,
    /// The analysis to be done.
    pub analysis: AnalysisPlan,
    /// The analysis frozen with the run; none for a bare table.
    pub frozen: Option<AnalysisPlan>,
}

impl Scores {
    /// Takes a run whose sessions may be put into one table.
    ///
    /// # Errors
    /// Sessions that must not be mixed, or records that contradict the plan.
    pub fn of_run(run: &Run, roles: Roles) -> Result<Self, ReportError> {
        let mixed = refuse_mixed(&run.sessions);
        if !mixed.is_empty() {
            return Err(ReportError::Mixed(mixed));
        }
        Ok(Self {
            table: table_of(run, roles)?,
            admission: Some(run.malfunctions.clone()),
            root_seed: run.root_seed.clone(),
            analysis: run.analysis.clone(),
            frozen: Some(run.frozen.clone()),
        })
    }

    /// Takes a bare table, with the default analysis.
    #[must_use]
    pub fn bare(table: ScoreTable, root_seed: RootSeed) -> Self {
        Self {
            table,
            admission: None,
            root_seed,
            analysis: AnalysisPlan::default(),
            frozen: None,
        }
    }

    /// Computes all findings; seeds follow from the root seed by name.
    ///
    /// # Errors
    /// An analysis plan out of range.
    pub fn findings(&self) -> Result<Findings, ReportError> {
        let seeds = |name: &str| self.root_seed.derive(&SeedName::new(name)).bytes();
        let frozen = self.frozen.as_ref();
        let mut found =
            findings(&self.table, &self.analysis, frozen, &seeds).map_err(ReportError::Analysis)?;
        found.analysis.root_seed = Some(self.root_seed.clone().into());
        Ok(found)
    }
}

/// Computes all findings of a run; seeds follow from the root seed by name.
///
/// # Errors
/// Sessions that must not be mixed, records that contradict the plan, or an analysis plan out of range.
pub fn analyse(run: &Run) -> Result<Findings, ReportError> {
    Scores::of_run(run, Roles::default())?.findings()
}

/// The tidy table of a run, with planned cells and references.
///
/// # Errors
/// Records that contradict the plan or each other, all of them.
pub fn score_table(run: &Run) -> Result<ScoreTable, ReportError> {
    table_of(run, Roles::default())
}

fn table_of(run: &Run, roles: Roles) -> Result<ScoreTable, ReportError> {
    let contradiction = |errors: Vec<String>| ReportError::Contradiction(errors);
    let rows = run.sessions.iter().map(score_row);
    let table = ScoreTable::from_rows((1..).zip(rows), roles).map_err(|errors| {
        let named = errors.iter().map(|error| {
            let index = usize::try_from(error.line).unwrap_or(0);
            let session = index
                .checked_sub(1)
                .and_then(|index| run.sessions.get(index));
            let key = session.map_or_else(String::new, |row| row.key.to_string());
            format!("{key}: {} {}: {}", error.column, error.value, error.problem)
        });
        contradiction(named.collect())
    })?;
    let table = table
        .with_planned(planned(run))
        .map_err(|errors| contradiction(errors.iter().map(ToString::to_string).collect()))?;
    table
        .with_tool_call_budgets(run.tool_call_budgets.clone())
        .with_references(references(run))
        .map_err(|errors| contradiction(errors.iter().map(ToString::to_string).collect()))
}

fn score_row(row: &SessionRow) -> ScoreRow {
    ScoreRow {
        malfunction: row.key.malfunction.to_string(),
        environment: row.environment.to_string(),
        method: row.key.method.to_string(),
        replication: u64::from(row.key.replication),
        coder: Some(row.key.coder.to_string()),
        invocations: Some(invocations(row.key.invocations)),
        block: Some(format!(
            "{}/r{:02}",
            row.key.malfunction, row.key.replication
        )),
        raw: row.raw,
        clipped: Some(row.clipped),
        outcome: match row.outcome {
            OutcomeKind::Submitted => Outcome::Submitted,
            OutcomeKind::BudgetSpent => Outcome::BudgetSpent,
            OutcomeKind::GaveUp => Outcome::GaveUp,
            OutcomeKind::AgentUnserved => Outcome::AgentUnserved,
            OutcomeKind::ScoringRejected => Outcome::ScoringRejected,
        },
        tool_calls: Some(row.actions),
        cost_usd: Some(row.cost_usd),
        wall_s: Some(row.seconds.wall),
    }
}

fn invocations(budget: vocab::Invocations) -> Invocations {
    match budget {
        vocab::Invocations::AtMost(calls) => Invocations::AtMost(u64::from(calls)),
        vocab::Invocations::Unlimited => Invocations::Unlimited,
    }
}

fn planned(run: &Run) -> Vec<PlannedCell> {
    let environments: BTreeMap<&str, String> = run
        .malfunctions
        .iter()
        .map(|each| (each.id.as_str(), each.environment.to_string()))
        .collect();
    let mut cells: BTreeMap<_, PlannedCell> = BTreeMap::new();
    for key in &run.planned {
        let malfunction = key.malfunction.as_str();
        let budget = invocations(key.invocations);
        let cell = (key.coder.clone(), budget, key.cell());
        let cell = cells.entry(cell).or_insert_with(|| PlannedCell {
            coder: Some(key.coder.to_string()),
            invocations: Some(budget),
            malfunction: malfunction.to_owned(),
            method: key.method.to_string(),
            environment: environments.get(malfunction).cloned().unwrap_or_default(),
            sessions: 0,
        });
        cell.sessions += 1;
    }
    cells.into_values().collect()
}

fn references(run: &Run) -> BTreeMap<String, ReferenceError> {
    let known = run.malfunctions.iter().filter_map(|each| {
        let reference = each.reference?;
        Some((
            each.id.to_string(),
            ReferenceError {
                gap: reference.clean - reference.broken,
                standard_error_clean: reference.standard_error_clean,
                standard_error_broken: reference.standard_error_broken,
            },
        ))
    });
    known.collect()
}
