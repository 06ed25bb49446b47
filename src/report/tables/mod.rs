//! Knows which tables a report has, and how each follows from the findings.
//! Must not know files or markup.
//! Start at `StratumTables::of` and `bookkeeping`.

mod aggregates;
mod bookkeeping;
mod dossiers;
mod effects;
mod effort;
mod harm;
mod interaction;
mod localisation;
mod oracle_gap;
mod predictions;
mod scores;

use evalxrl_analysis::budget_curve::BudgetCurves;
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::findings::StratumFindings;

pub(super) use bookkeeping::{admission, arms, missing, restoring_ranks, sessions, time};
pub(super) use effort::planned_budgets;
pub(super) use localisation::localisation;
pub(super) use predictions::predictions;

use super::table::Table;

/// The tables of one stratum, in the order of the page.
#[derive(Debug, Clone)]
pub(super) struct StratumTables {
    /// The heatmap as a table.
    pub(super) cell_lifts: Table,
    /// The forest plot as a table.
    pub(super) lifts: Table,
    /// The score distributions as a table.
    pub(super) cells: Table,
    /// Methods against each other; empty with one method.
    pub(super) comparisons: Table,
    /// H1, H2 and H3.
    pub(super) hypotheses: Vec<Part>,
    /// Aggregates over malfunctions, with the figure of profiles.
    pub(super) aggregates: Part,
    /// What only some data have: ablation, tool calls, curves, Shapley values.
    pub(super) more: Vec<Part>,
    /// What sessions cost.
    pub(super) cost: Table,
}

/// Tables under one heading.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Names the part in links and figures.
    pub(super) anchor: &'static str,
    pub(super) title: &'static str,
    /// What the tables say, as sentences.
    pub(super) remarks: Vec<String>,
    /// So many of the tables are shown at once; the others are folded.
    pub(super) open: usize,
    pub(super) tables: Vec<Table>,
    /// What a reader must beware of, as sentences.
    pub(super) warnings: Vec<String>,
}

impl StratumTables {
    /// `suffix` keeps the names of several strata apart; empty for the headline.
    pub(super) fn of(stratum: &StratumFindings, curves: &BudgetCurves, suffix: &str) -> Self {
        let mut tables = Self {
            cell_lifts: scores::cell_lifts(stratum),
            lifts: scores::lifts(stratum),
            cells: scores::cells(stratum),
            comparisons: scores::comparisons(stratum),
            hypotheses: vec![
                interaction::hypothesis(&stratum.h1),
                oracle_gap::hypothesis(&stratum.h2),
                harm::hypothesis(&stratum.h3, &stratum.attainability),
            ],
            aggregates: aggregates::part(&stratum.aggregates),
            more: more(stratum, curves),
            cost: effort::cost(&stratum.cost),
        };
        for table in tables.all_mut() {
            table.name.push_str(suffix);
        }
        tables
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Table> {
        let parts = self
            .hypotheses
            .iter_mut()
            .chain([&mut self.aggregates])
            .chain(&mut self.more);
        [
            &mut self.cell_lifts,
            &mut self.lifts,
            &mut self.cells,
            &mut self.comparisons,
        ]
        .into_iter()
        .chain(parts.flat_map(|part| &mut part.tables))
        .chain([&mut self.cost])
    }

    /// Every table, for the files.
    pub(super) fn all(&self) -> impl Iterator<Item = &Table> {
        let parts = self
            .hypotheses
            .iter()
            .chain([&self.aggregates])
            .chain(&self.more);
        [
            &self.cell_lifts,
            &self.lifts,
            &self.cells,
            &self.comparisons,
        ]
        .into_iter()
        .chain(parts.flat_map(|part| &part.tables))
        .chain([&self.cost])
    }
}

/// A part for each analysis that the data support.
fn more(stratum: &StratumFindings, curves: &BudgetCurves) -> Vec<Part> {
    let mut parts = Vec::new();
    parts.extend(stratum.ablation.value().map(dossiers::ablation));
    parts.extend(stratum.tool_calls.value().map(effort::tool_calls));
    let own = curves
        .truncation
        .iter()
        .find(|curves| curves.coder == stratum.coder && curves.invocations == stratum.invocations);
    if let Some(own) = own
        && let Computed::Value(found) = &own.curves
    {
        parts.push(effort::truncation(own, found));
    }
    parts.extend(stratum.shapley.value().map(dossiers::shapley));
    parts
}
