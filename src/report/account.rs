//! Knows what an analysis of scores alone gives: findings as JSON, tables as text, and tables as files.
//! Must not know the sessions behind the scores, nor print.
//! Start at `Account::of`.

use std::path::Path;

use evalxrl_analysis::budget_curve::BudgetCurves;
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::findings::{AnalysisRecord, Findings, StratumFindings};
use evalxrl_analysis::score_table::TableSummary;
use serde::Serialize;

use super::analyse::Scores;
use super::answers::Answers;
use super::inert::inert_line;
use super::numerals::sentence;
use super::plain::folded;
use super::run::Malfunction;
use super::scores_csv::write_scores;
use super::table::Table;
use super::tables::{self, StratumTables, planned_budgets};
use super::view::{label, suffix};
use super::{ReportError, put};

/// Columns of a terminal.
const WIDTH: usize = 100;

/// How many tables a text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Those that a reader wants first: what the page shows unfolded, without tables of every cell.
    Main,
    /// Every table.
    All,
}

/// The findings of scores, ready to be shown.
#[derive(Debug, Clone, Copy)]
pub struct Account<'a> {
    scores: &'a Scores,
    findings: &'a Findings,
}

/// What `findings.json` holds where there are scores and nothing else.
#[derive(Debug, Serialize)]
struct AccountDocument<'a> {
    format: &'static str,
    admission: Computed<&'a [Malfunction]>,
    analysis: &'a AnalysisRecord,
    table: &'a TableSummary,
    budget_curves: &'a BudgetCurves,
    strata: &'a [StratumFindings],
}

impl<'a> Account<'a> {
    /// Joins scores and what was found in them.
    #[must_use]
    pub fn of(scores: &'a Scores, findings: &'a Findings) -> Self {
        Self { scores, findings }
    }

    /// The text of `findings.json`: of what a report of the same run holds, the part that follows from its scores, byte
    /// for byte.
    ///
    /// # Errors
    /// None is known: findings hold finite numbers and texts.
    pub fn json(&self) -> Result<String, ReportError> {
        let document = AccountDocument {
            format: "evalxrl.findings/1",
            admission: match &self.scores.admission {
                Some(malfunctions) => Computed::Value(malfunctions),
                None => Computed::absent("a table holds no references"),
            },
            analysis: &self.findings.analysis,
            table: &self.findings.table,
            budget_curves: &self.findings.budget_curves,
            strata: &self.findings.strata,
        };
        Ok(serde_json::to_string_pretty(&document)? + "\n")
    }

    /// Plain text of at most 100 columns; `name` says where the scores come from.
    #[must_use]
    pub fn text(&self, name: &str, detail: Detail) -> String {
        let mut lines = self.head(name);
        let mut folded_away = 0;
        lines.push(String::new());
        for table in self.whole() {
            lines.push(narrow(&table).plain(WIDTH));
        }
        let several = self.findings.strata.len() > 1;
        for stratum in &self.findings.strata {
            if several {
                lines.push(format!("== {} ==", inert_line(&label(stratum))));
                lines.push(String::new());
            }
            let tables = self.tables_of(stratum);
            let shown = stratum_lines(stratum, &tables, detail, &mut lines);
            folded_away += tables.all().filter(|table| !table.rows.is_empty()).count() - shown;
        }
        if folded_away > 0 {
            lines.push(format!(
                "{folded_away} more tables: --all prints them, --out DIR writes them as CSV and LaTeX."
            ));
        }
        let mut text = lines.join("\n");
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    /// Writes `findings.json`, `scores.csv` and every table as CSV and LaTeX under `out`, each file whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, out: &Path) -> Result<(), ReportError> {
        put(&out.join("findings.json"), self.json()?.as_bytes())?;
        put(&out.join("scores.csv"), &write_scores(&self.scores.table)?)?;
        let mut all = self.whole();
        for stratum in &self.findings.strata {
            all.extend(self.tables_of(stratum).all().cloned());
        }
        for table in &all {
            table.write(&out.join("tables"))?;
        }
        Ok(())
    }

    /// Tables that are not of one stratum.
    fn whole(&self) -> Vec<Table> {
        let mut list = vec![tables::arms(&self.findings.table)];
        list.extend(planned_budgets(&self.findings.budget_curves));
        list.extend(self.scores.admission.as_deref().map(tables::admission));
        list
    }

    /// A stratum that is alone needs no name in those of its tables.
    fn tables_of(&self, stratum: &StratumFindings) -> StratumTables {
        let suffix = match self.findings.strata.len() {
            1 => String::new(),
            _ => suffix(stratum),
        };
        StratumTables::of(stratum, &self.findings.budget_curves, &suffix)
    }

    fn head(&self, name: &str) -> Vec<String> {
        let (analysis, table) = (&self.findings.analysis, &self.findings.table);
        let mut lines = vec![
            format!("scores: {}", inert_line(name)),
            format!(
                "sessions: {} of {} planned, {} missing",
                table.sessions, table.planned, table.missing
            ),
            format!("generator: {}", analysis.generator),
        ];
        if let Some(seed) = &analysis.root_seed {
            lines.push(format!("root seed: {seed}"));
        }
        for deviation in &analysis.deviations {
            let text = format!(
                "DEVIATION from the frozen plan: analysis.{} is {}, but {} there",
                deviation.key, deviation.used, deviation.frozen
            );
            lines.extend(folded(&inert_line(&text), WIDTH, ""));
        }
        lines
    }
}

/// One stratum: the answers, then its tables. Gives the number of tables shown.
fn stratum_lines(
    stratum: &StratumFindings,
    tables: &StratumTables,
    detail: Detail,
    lines: &mut Vec<String>,
) -> usize {
    let answers = Answers::of(Some(stratum));
    for sentence in [&answers.h1, &answers.h2, &answers.h3] {
        lines.extend(folded(&inert_line(sentence), WIDTH, ""));
    }
    lines.push(String::new());
    let mut shown = 0;
    let mut show = |table: &Table, lines: &mut Vec<String>| {
        if !table.rows.is_empty() {
            shown += 1;
            lines.push(narrow(table).plain(WIDTH));
        }
    };
    let of_cells: &[&Table] = match detail {
        Detail::Main => &[],
        Detail::All => &[&tables.cells, &tables.cell_lifts, &tables.cost],
    };
    for table in [&tables.lifts, &tables.comparisons].iter().chain(of_cells) {
        show(table, lines);
    }
    let parts = tables
        .hypotheses
        .iter()
        .chain([&tables.aggregates])
        .chain(&tables.more);
    for part in parts {
        lines.push(format!("{}\n", part.title));
        for remark in &part.remarks {
            lines.extend(folded(&inert_line(&sentence(remark)), WIDTH, ""));
        }
        for warning in &part.warnings {
            lines.extend(folded(&inert_line(&sentence(warning)), WIDTH, "! "));
        }
        if !(part.warnings.is_empty() && part.remarks.is_empty()) {
            lines.push(String::new());
        }
        let open = match detail {
            Detail::Main => part.open,
            Detail::All => part.tables.len(),
        };
        for table in &part.tables[..open.min(part.tables.len())] {
            show(table, lines);
        }
    }
    shown
}

/// Leaves out columns until a terminal has room for the rest; files have them all.
fn narrow(table: &Table) -> Table {
    const DISPENSABLE: [&str; 16] = [
        "environment",
        "planned",
        "raw",
        "clipped",
        "p_signed_rank_pratt",
        "p_permutation_welch",
        "p_sign_flip_mean",
        "pairs",
        "sse",
        "df_error",
        "harmed",
        "median",
        "tukey_p_remainder",
        "interaction_first_share",
        "optimal_mean",
        "oracle_mean",
    ];
    let mut table = table.clone();
    for key in DISPENSABLE {
        if table.fits(WIDTH) {
            break;
        }
        table.remove(key);
    }
    table
}
