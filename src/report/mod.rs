//! Knows how a run becomes `findings.json`, `scores.csv`, one page, figures, tables and a summary for a terminal.
//! Must not compute statistics, print, read a clock, or know how a session was run.
//! Start at `write`.

mod account;
mod analyse;
mod answers;
mod csv_lines;
mod document;
mod drawings;
mod facts;
mod figures;
mod inert;
mod localisation;
mod mixing;
mod numerals;
mod page;
mod plain;
mod planned_csv;
mod predictions;
mod ratings;
mod rows;
mod run;
mod scores_csv;
mod source;
mod summary;
mod table;
mod table_files;
mod table_view;
mod tables;
#[cfg(test)]
mod tests;
mod transcript;
mod view;

use std::path::{Path, PathBuf};

use evalxrl_analysis::findings::Findings;

pub use account::{Account, Detail};
pub use analyse::{Scores, analyse, score_table};
pub use csv_lines::CsvError;
pub use figures::FigureError;
pub use inert::{inert, inert_line};
pub use mixing::Mixed;
pub use planned_csv::read_planned;
pub use ratings::{Agreements, Ratings};
pub use run::{
    Coder, Condition, Expected, Facts, Failure, Malfunction, Prediction, Reference, Run, SessionRow,
};
pub use scores_csv::{read_scores, write_scores};

use crate::store;

/// What `write` made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// For a terminal: at most 20 lines of 100 columns.
    pub summary: String,
    /// The page.
    pub page: PathBuf,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Sessions that must not be reported together.
    #[error("sessions of this run cannot be reported together:\n{}", lines(.0))]
    Mixed(Vec<Mixed>),
    /// Records that contradict the plan or each other.
    #[error("session records contradict the plan:\n{}", lines(.0))]
    Contradiction(Vec<String>),
    /// An analysis plan with values out of range.
    #[error("the analysis plan is out of range:\n{}", lines(.0))]
    Analysis(Vec<evalxrl_analysis::plan::PlanError>),
    /// A figure that cannot be drawn.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// A template that cannot be rendered.
    #[error("page cannot be rendered: {0}")]
    Template(#[from] minijinja::Error),
    /// A table that cannot be written.
    #[error("table cannot be written: {0}")]
    Table(#[from] csv::Error),
    /// Findings that cannot be written as JSON.
    #[error("findings cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// A file that cannot be written or read.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
}

fn lines<T: ToString>(items: &[T]) -> String {
    let lines: Vec<String> = items
        .iter()
        .map(|item| format!("  {}", item.to_string()))
        .collect();
    lines.join("\n")
}

/// Analyses a run and writes everything under `out`: `findings.json`, `scores.csv` and the folder `report`.
/// The same run gives the same bytes.
///
/// # Errors
/// Sessions that must not be mixed, records that contradict the plan, or a file that cannot be written.
pub fn write(run: &Run, out: &Path) -> Result<Report, ReportError> {
    let findings = analyse(run)?;
    write_findings(run, &findings, out)
}

/// As `write`, with findings that are there already.
///
/// # Errors
/// As `write`.
pub fn write_findings(run: &Run, findings: &Findings, out: &Path) -> Result<Report, ReportError> {
    let document = document::Document::of(run, findings);
    let view = view::View::of(&document)?;
    let pages = page::Pages::new()?;

    let mut json = serde_json::to_vec_pretty(&document)?;
    json.push(b'\n');
    let nonce = blake3::hash(&json).to_hex();
    put(&out.join("findings.json"), &json)?;
    put(&out.join("scores.csv"), &write_scores(&score_table(run)?)?)?;

    let folder = out.join("report");
    for figure in &view.figures {
        let name = &figure.name;
        put(
            &folder.join(format!("figures/{name}.svg")),
            figure.svg.as_bytes(),
        )?;
        put(&folder.join(format!("figures/{name}.png")), &figure.png)?;
    }
    for table in &view.tables {
        table.write(&folder.join("tables"))?;
    }
    transcripts(&document, &pages, &folder)?;
    put(
        &folder.join("report.md"),
        pages.markdown(&view.shown)?.as_bytes(),
    )?;
    let page = folder.join("report.html");
    put(&page, pages.html(&view.shown, &nonce[..32])?.as_bytes())?;
    Ok(Report {
        summary: summary::summary(&document, &page.display().to_string()),
        page,
    })
}

fn transcripts(
    document: &document::Document<'_>,
    pages: &page::Pages,
    folder: &Path,
) -> Result<(), ReportError> {
    for entry in &document.sessions {
        let (Some(place), Some(source)) = (&entry.transcript, &entry.session.transcript) else {
            continue;
        };
        let lines = store::read_transcript(source).map_err(|error| ReportError::File {
            path: source.clone(),
            source: error,
        })?;
        let shown = transcript::TranscriptPage::of(entry.session, &lines);
        put(&folder.join(place), pages.transcript(&shown)?.as_bytes())?;
    }
    Ok(())
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    store::publish(path, bytes).map_err(|source| ReportError::File {
        path: path.to_owned(),
        source,
    })
}
