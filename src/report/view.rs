//! Knows what the page and the text report show, in which order: facts, sentences, figures and tables.
//! Must not know markup, nor where files go.
//! Start at `View::of`.

use std::collections::BTreeMap;

use evalxrl_analysis::findings::StratumFindings;
use serde::Serialize;

use super::answers::Answers;
use super::document::Document;
use super::facts::{Fact, deviations, facts, incomplete, listed, provenance};
use super::figures::{Distributions, Figure, FigureError, Forest, Heatmap};
use super::numerals::sentence;
use super::table::Table;
use super::table_view::TableView;
use super::tables::{self, StratumTables};

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
    answers: Answers,
    heatmap: FigureView,
    forest: FigureView,
    distributions: FigureView,
    cell_lifts: TableView,
    lifts: TableView,
    cells: TableView,
    comparisons: TableView,
    hypotheses: Vec<HypothesisView>,
}

#[derive(Debug, Clone, Serialize)]
struct FigureView {
    name: String,
    description: String,
    inline: String,
}

#[derive(Debug, Clone, Serialize)]
struct HypothesisView {
    title: &'static str,
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
            let tables = StratumTables::of(stratum, suffix);
            let drawn = draw(document, stratum, &classes, suffix)?;
            let view = stratum_view(stratum, suffix, &tables, &drawn);
            files.extend(tables.all().cloned());
            figures.extend(drawn);
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

fn draw(
    document: &Document<'_>,
    stratum: &StratumFindings,
    classes: &BTreeMap<String, String>,
    suffix: &str,
) -> Result<[Figure; 3], FigureError> {
    let arms: Vec<&str> = stratum
        .cells
        .iter()
        .map(|cell| cell.method.as_str())
        .collect();
    let roles = evalxrl_analysis::score_table::Roles::default();
    // The same sessions as in the analysis: those of the coder, and arms that join every stratum.
    let sessions = document
        .sessions
        .iter()
        .map(|entry| entry.session)
        .filter(|row| {
            let method = row.key.method.as_str();
            let own = Some(row.key.coder.as_str()) == stratum.coder.as_deref();
            let budget = stratum.invocations.map(|budget| budget.to_string());
            let crossed = roles.of(method) == evalxrl_analysis::score_table::Role::Xrl;
            arms.contains(&method)
                && (own || roles.of(method) == evalxrl_analysis::score_table::Role::OptimalRepair)
                && (!crossed || budget.as_deref() == Some(row.key.invocations.to_string().as_str()))
        });
    let points = Distributions::of(sessions.map(|row| (row.key.method.as_str(), row.raw)));
    let beyond = match points.beyond() {
        0 => String::new(),
        count => format!(
            " {count} of them lie beyond the ends of the axis and are drawn as triangles there."
        ),
    };
    Ok([
        Figure::render(
            format!("heatmap{suffix}"),
            "Mean lift by malfunction and method",
            "Rows are malfunctions by environment and class, columns are arms; a cell shows the mean lift over \
             no-method on the raw score and the number of sessions. The column of no-method shows its mean score. \
             The table below holds the same values."
                .to_owned(),
            &Heatmap::of(stratum, classes),
        )?,
        Figure::render(
            format!("forest{suffix}"),
            "Lift of every method",
            "One line per method: mean lift over no-method on the raw score with its bootstrap interval; dashed lines \
             mark the cheat oracle and, where it was run, the placebo. The table below holds the same values."
                .to_owned(),
            &Forest::of(stratum),
        )?,
        Figure::render(
            format!("distributions{suffix}"),
            "Raw scores of every session by arm",
            format!(
                "One point per session, one line per arm, on the un-clipped score.{beyond} The table of cells below \
                 gives mean and spread."
            ),
            &points,
        )?,
    ])
}

fn stratum_view(
    stratum: &StratumFindings,
    suffix: &str,
    tables: &StratumTables,
    drawn: &[Figure; 3],
) -> StratumView {
    let [heatmap, forest, distributions] = drawn.each_ref().map(|figure| FigureView {
        name: figure.name.clone(),
        description: figure.description.clone(),
        inline: figure.inline.clone(),
    });
    StratumView {
        label: label(stratum),
        anchor: format!("stratum{suffix}"),
        answers: Answers::of(Some(stratum)),
        heatmap,
        forest,
        distributions,
        cell_lifts: tables.cell_lifts.view(),
        lifts: tables.lifts.view(),
        cells: tables.cells.view(),
        comparisons: tables.comparisons.view(),
        hypotheses: tables
            .hypotheses
            .iter()
            .map(|each| HypothesisView {
                title: each.title,
                tables: each.tables.iter().map(Table::view).collect(),
                warnings: each.warnings.iter().map(|text| sentence(text)).collect(),
            })
            .collect(),
    }
}
