//! Knows what the page and the text report show, in which order: facts, sentences, figures and tables.
//! Must not know markup, nor where files go.
//! Start at `View::of`.

use std::collections::BTreeMap;

use evalxrl_analysis::findings::StratumFindings;
use serde::Serialize;

use super::answers::Answers;
use super::document::Document;
use super::drawings::Drawings;
use super::facts::{Fact, deviations, facts, incomplete, listed, provenance};
use super::figures::{Figure, FigureError};
use super::numerals::sentence;
use super::table::Table;
use super::table_view::TableView;
use super::tables::{self, Part, StratumTables};

/// Everything the templates show, with the figures and tables that also become files.
pub(super) struct View {
    pub(super) shown: Shown,
    pub(super) figures: Vec<Figure>,
    pub(super) tables: Vec<Table>,
}

/// What the templates see.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Shown {
    name: String,
    created: String,
    answers: Answers,
    facts: Vec<Fact>,
    incomplete: Option<String>,
    unsealed: bool,
    missing: TableView,
    headline: Option<StratumView>,
    others: Vec<StratumView>,
    localisation: PartView,
    /// One coder under several invocation budgets; none where there is one budget.
    planned_budgets: Option<TableView>,
    restoring_ranks: TableView,
    time: TableView,
    sessions: TableView,
    references: TableView,
    deviations: Vec<String>,
    provenance: Vec<Fact>,
    settings: Vec<Fact>,
}

#[derive(Debug, Clone, Serialize)]
struct StratumView {
    label: String,
    anchor: String,
    /// Whether this is the stratum that leads the page.
    leading: bool,
    answers: Answers,
    heatmap: FigureView,
    forest: FigureView,
    distributions: FigureView,
    cell_lifts: TableView,
    lifts: TableView,
    cells: TableView,
    comparisons: TableView,
    hypotheses: Vec<PartView>,
    /// Whether anything was predicted of the run's malfunctions.
    predicted: bool,
    predictions: TableView,
    aggregates: PartView,
    more: Vec<PartView>,
}

#[derive(Debug, Clone, Serialize)]
struct FigureView {
    name: String,
    description: String,
    inline: String,
}

#[derive(Debug, Clone, Serialize)]
struct FigureWithTable {
    figure: FigureView,
    table: TableView,
}

#[derive(Debug, Clone, Serialize)]
struct PartView {
    anchor: &'static str,
    title: &'static str,
    figure: Option<FigureWithTable>,
    remarks: Vec<String>,
    open: usize,
    tables: Vec<TableView>,
    warnings: Vec<String>,
}

impl View {
    pub(super) fn of(document: &Document<'_>) -> Result<Self, FigureError> {
        let mut figures = Vec::new();
        let mut files = Vec::new();
        let classes: BTreeMap<String, String> = document
            .admission
            .iter()
            .map(|malfunction| (malfunction.id.to_string(), malfunction.class.clone()))
            .collect();
        let mut section = |stratum: &StratumFindings, suffix: &str| {
            let tables = StratumTables::of(stratum, document.budget_curves, suffix);
            let drawn = Drawings::of(document, stratum, &classes, suffix)?;
            let mut predictions = tables::predictions(document.predictions_of(stratum));
            predictions.name.push_str(suffix);
            let view = stratum_view(document, stratum, suffix, &tables, &predictions, &drawn);
            files.extend(tables.all().cloned());
            files.push(predictions);
            figures.extend(drawn.all());
            Ok(view)
        };
        let headline = match document.leading() {
            Some(stratum) => Some(section(stratum, "")?),
            None => None,
        };
        let mut others = Vec::new();
        for stratum in document.others() {
            others.push(section(stratum, &suffix(stratum))?);
        }
        let localisation = tables::localisation(&document.localisation);
        files.extend(localisation.tables.clone());
        let run_tables = [
            tables::missing(document),
            tables::restoring_ranks(document),
            tables::time(document),
            tables::sessions(document),
            tables::admission(document.admission),
        ];
        let [missing, restoring_ranks, time, sessions, references] =
            [0, 1, 2, 3, 4].map(|index: usize| run_tables[index].view());
        files.extend(run_tables);
        let planned_budgets = tables::planned_budgets(document.budget_curves);
        files.extend(planned_budgets.clone());
        let shown = Shown {
            name: document.run.name.clone(),
            created: document.run.created.clone(),
            answers: document.answers.clone(),
            facts: facts(document),
            incomplete: incomplete(document),
            unsealed: document.progress.isolation == "none",
            missing,
            headline,
            others,
            localisation: PartView::of(&localisation, None),
            planned_budgets: planned_budgets.as_ref().map(Table::view),
            restoring_ranks,
            time,
            sessions,
            references,
            deviations: deviations(document),
            provenance: provenance(document),
            settings: listed(&document.run.settings),
        };
        Ok(Self {
            shown,
            figures,
            tables: files,
        })
    }
}

pub(super) fn suffix(stratum: &StratumFindings) -> String {
    let budget = stratum.invocations.map(|budget| format!("-{budget}"));
    format!(
        "-{}{}",
        stratum.coder.as_deref().unwrap_or("all"),
        budget.unwrap_or_default()
    )
}

pub(super) fn label(stratum: &StratumFindings) -> String {
    let coder = stratum.coder.as_deref().unwrap_or("all");
    match stratum.invocations {
        Some(budget) => format!("coder {coder}, invocations {budget}"),
        None => format!("coder {coder}"),
    }
}

fn stratum_view(
    document: &Document<'_>,
    stratum: &StratumFindings,
    suffix: &str,
    tables: &StratumTables,
    predictions: &Table,
    drawn: &Drawings,
) -> StratumView {
    StratumView {
        label: label(stratum),
        anchor: format!("stratum{suffix}"),
        leading: suffix.is_empty(),
        answers: Answers::of(Some(stratum)),
        heatmap: FigureView::of(&drawn.heatmap),
        forest: FigureView::of(&drawn.forest),
        distributions: FigureView::of(&drawn.distributions),
        cell_lifts: tables.cell_lifts.view(),
        lifts: tables.lifts.view(),
        cells: tables.cells.view(),
        comparisons: tables.comparisons.view(),
        hypotheses: tables
            .hypotheses
            .iter()
            .map(|part| PartView::of(part, None))
            .collect(),
        predicted: !document.predictions.is_empty(),
        predictions: predictions.view(),
        aggregates: PartView::of(&tables.aggregates, drawn.profiles.as_ref()),
        more: tables
            .more
            .iter()
            .map(|part| PartView::of(part, drawn.of_part(part.anchor)))
            .collect(),
    }
}

impl FigureView {
    fn of(figure: &Figure) -> Self {
        Self {
            name: figure.name.clone(),
            description: figure.description.clone(),
            inline: figure.inline.clone(),
        }
    }
}

impl PartView {
    /// The table with the values of the figure, which bears its name, stands with it.
    fn of(part: &Part, figure: Option<&Figure>) -> Self {
        let (with_figure, tables): (Vec<&Table>, Vec<&Table>) = part
            .tables
            .iter()
            .partition(|table| figure.is_some_and(|figure| figure.name == table.name));
        Self {
            anchor: part.anchor,
            title: part.title,
            figure: figure
                .zip(with_figure.first())
                .map(|(figure, table)| FigureWithTable {
                    figure: FigureView::of(figure),
                    table: table.view(),
                }),
            remarks: part.remarks.iter().map(|text| sentence(text)).collect(),
            open: part.open,
            tables: tables.into_iter().map(Table::view).collect(),
            warnings: part.warnings.iter().map(|text| sentence(text)).collect(),
        }
    }
}
