//! Knows tidy arrays, one entry per session, and how they become a matrix or a stratum.
//! Must not know a formula.
//! Start at `Sessions`.

use std::str::FromStr;

use evalxrl_analysis::interaction::Matrix;
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::{Outcome, Roles, ScoreRow, ScoreTable, Stratum};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::refusal::{refuse, refuse_all};

/// Tidy arrays: `score[i]` belongs to `methods[method[i]]` on `malfunctions[malfunction[i]]`, in `blocks[block[i]]`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Sessions<'py> {
    score: PyReadonlyArray1<'py, f64>,
    method: PyReadonlyArray1<'py, i64>,
    malfunction: PyReadonlyArray1<'py, i64>,
    block: Option<PyReadonlyArray1<'py, i64>>,
    methods: Vec<String>,
    malfunctions: Vec<String>,
    blocks: Vec<String>,
}

/// What the tool calls of sessions need beside their scores.
pub(crate) struct Calls {
    /// How each session ended, as in the column `outcome`.
    pub(crate) outcomes: Vec<String>,
    /// Tool calls up to the submission; below 0 where absent.
    pub(crate) tool_calls: Vec<i64>,
}

/// Columns of a table beside its scores.
pub(crate) enum Beside<'a> {
    /// None: every session is submitted.
    Nothing,
    /// Outcomes and tool calls.
    Calls(&'a Calls),
    /// The invocation budget of each session, as in the column `invocations`.
    Invocations(&'a [String]),
}

/// One session by the numbers of its names.
struct Session {
    score: f64,
    method: usize,
    malfunction: usize,
    block: Option<usize>,
}

/// `cells[m][k]`: a list per cell.
pub(crate) type CellsOf<T> = Vec<Vec<Vec<T>>>;

impl Sessions<'_> {
    fn each(&self) -> PyResult<Vec<Session>> {
        let place = |number: i64, names: &[String]| {
            usize::try_from(number)
                .map_err(refuse)
                .and_then(|index| match index < names.len() {
                    true => Ok(index),
                    false => Err(refuse(format!("no name for number {number}"))),
                })
        };
        let (methods, malfunctions) = (self.method.as_slice()?, self.malfunction.as_slice()?);
        let blocks = self
            .block
            .as_ref()
            .map(|block| block.as_slice())
            .transpose()?;
        self.score
            .as_slice()?
            .iter()
            .enumerate()
            .map(|(index, score)| {
                Ok(Session {
                    score: *score,
                    method: place(methods[index], &self.methods)?,
                    malfunction: place(malfunctions[index], &self.malfunctions)?,
                    block: blocks
                        .map(|blocks| place(blocks[index], &self.blocks))
                        .transpose()?,
                })
            })
            .collect()
    }

    fn empty<T: Clone>(&self) -> CellsOf<T> {
        vec![vec![Vec::new(); self.malfunctions.len()]; self.methods.len()]
    }

    /// The scores of each cell on a scale, by method, then malfunction, in order of the sessions.
    pub(crate) fn cells(&self, scale: Scale, winsor_floor: f64) -> PyResult<CellsOf<f64>> {
        let mut cells = self.empty();
        for session in self.each()? {
            cells[session.method][session.malfunction]
                .push(scale.place(session.score, winsor_floor));
        }
        Ok(cells)
    }

    /// The names of the methods.
    pub(crate) fn methods(&self) -> &[String] {
        &self.methods
    }

    /// Every method as a row of a matrix.
    pub(crate) fn matrix(&self, scale: Scale, winsor_floor: f64) -> PyResult<Matrix> {
        let cells = self.cells(scale, winsor_floor)?;
        if self.block.is_none() {
            return Matrix::new(&self.methods, &self.malfunctions, &cells).map_err(refuse);
        }
        let mut blocks = self.empty();
        for session in self.each()? {
            let block = session.block.map(|block| block as u64);
            blocks[session.method][session.malfunction].push(block);
        }
        Matrix::with_blocks(&self.methods, &self.malfunctions, &cells, &blocks).map_err(refuse)
    }

    /// A table of one stratum, or of one per invocation budget; sessions of a cell are numbered in their order.
    pub(crate) fn table(&self, roles: Roles, beside: &Beside<'_>) -> PyResult<ScoreTable> {
        let mut rows = Vec::new();
        for (position, session) in self.each()?.into_iter().enumerate() {
            let mut row = ScoreRow {
                malfunction: self.malfunctions[session.malfunction].clone(),
                environment: "-".to_owned(),
                method: self.methods[session.method].clone(),
                replication: position as u64,
                coder: None,
                invocations: None,
                block: session.block.map(|block| self.blocks[block].clone()),
                raw: session.score,
                clipped: None,
                outcome: Outcome::Submitted,
                tool_calls: None,
                cost_usd: None,
                wall_s: None,
            };
            match beside {
                Beside::Nothing => {}
                Beside::Calls(calls) => {
                    row.outcome = parsed("outcome", &calls.outcomes, position)?;
                    let count = calls.tool_calls[position];
                    row.tool_calls = (count >= 0).then_some(count.unsigned_abs());
                }
                Beside::Invocations(budgets) => {
                    row.invocations = Some(parsed("invocations", budgets, position)?);
                }
            }
            rows.push((position as u64, row));
        }
        ScoreTable::from_rows(rows, roles).map_err(|errors| {
            refuse_all(
                errors
                    .iter()
                    .map(|error| format!("position {error}"))
                    .collect(),
            )
        })
    }

    /// The one stratum of that table.
    pub(crate) fn stratum(&self, roles: Roles) -> PyResult<Stratum> {
        only_stratum(&self.table(roles, &Beside::Nothing)?)
    }
}

/// Reads the entry of one session in a column of words.
fn parsed<T: FromStr<Err = String>>(name: &str, words: &[String], at: usize) -> PyResult<T> {
    let text = &words[at];
    text.parse()
        .map_err(|problem| refuse(format!("{name} {text:?}, at [{at}]: {problem}")))
}

/// The stratum of a table without coders and budgets.
pub(crate) fn only_stratum(table: &ScoreTable) -> PyResult<Stratum> {
    table
        .strata()
        .pop()
        .ok_or_else(|| refuse("score has no session"))
}

/// Reads a plan from JSON and checks it.
pub(crate) fn plan(text: &str) -> PyResult<AnalysisPlan> {
    let plan: AnalysisPlan = serde_json::from_str(text).map_err(refuse)?;
    plan.check().map_err(refuse_all)?;
    Ok(plan)
}

/// Reads a word of a snake_case list, such as a scale.
pub(crate) fn word<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> PyResult<T> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
        .map_err(|error| refuse(format!("{name} {text:?}: {error}")))
}
