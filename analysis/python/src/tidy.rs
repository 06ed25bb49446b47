//! Knows the functions of tidy arrays: one score per session, with the number of its method and malfunction.
//! Must not know a formula.
//! Start at `Sessions`.

use evalxrl_analysis::bootstrap;
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::contrast::ResampledCells;
use evalxrl_analysis::interaction::{Matrix, interaction_of};
use evalxrl_analysis::moments::mean;
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::{Outcome, Roles, ScoreRow, ScoreTable, Stratum};
use evalxrl_analysis::{harm as h3, oracle_gap as h2};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::{document, refuse, seed};

/// Tidy arrays: `score[i]` belongs to `methods[method[i]]` on `malfunctions[malfunction[i]]`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Sessions<'py> {
    score: PyReadonlyArray1<'py, f64>,
    method: PyReadonlyArray1<'py, i64>,
    malfunction: PyReadonlyArray1<'py, i64>,
    methods: Vec<String>,
    malfunctions: Vec<String>,
}

impl Sessions<'_> {
    /// Iterates over (score, method number, malfunction number).
    fn each(&self) -> PyResult<Vec<(f64, usize, usize)>> {
        let place = |number: i64, names: &[String]| {
            usize::try_from(number)
                .ok()
                .filter(|index| *index < names.len())
                .ok_or_else(|| refuse(format!("no name for number {number}")))
        };
        let (methods, malfunctions) = (self.method.as_slice()?, self.malfunction.as_slice()?);
        self.score
            .as_slice()?
            .iter()
            .zip(methods.iter().zip(malfunctions))
            .map(|(score, (method, malfunction))| {
                Ok((
                    *score,
                    place(*method, &self.methods)?,
                    place(*malfunction, &self.malfunctions)?,
                ))
            })
            .collect()
    }

    fn matrix(&self) -> PyResult<Matrix> {
        let mut cells = vec![vec![Vec::new(); self.malfunctions.len()]; self.methods.len()];
        for (score, method, malfunction) in self.each()? {
            cells[method][malfunction].push(score);
        }
        Matrix::new(&self.methods, &self.malfunctions, &cells).map_err(refuse)
    }

    /// One stratum; sessions of a cell are numbered in their order.
    fn stratum(&self, roles: Roles) -> PyResult<Stratum> {
        let mut rows = Vec::new();
        for (position, (score, method, malfunction)) in self.each()?.into_iter().enumerate() {
            rows.push((
                position as u64,
                ScoreRow {
                    malfunction: self.malfunctions[malfunction].clone(),
                    environment: "-".to_owned(),
                    method: self.methods[method].clone(),
                    replication: position as u64,
                    coder: None,
                    invocations: None,
                    block: None,
                    raw: score,
                    clipped: None,
                    outcome: Outcome::Submitted,
                    tool_calls: None,
                    cost_usd: None,
                    wall_s: None,
                },
            ));
        }
        let table = ScoreTable::from_rows(rows, roles).map_err(|errors| {
            let lines: Vec<String> = errors
                .iter()
                .map(|error| format!("position {error}"))
                .collect();
            refuse(lines.join("; "))
        })?;
        table
            .strata()
            .pop()
            .ok_or_else(|| refuse("score has no session"))
    }
}

/// Reads a plan from JSON and checks it.
fn plan(text: &str) -> PyResult<AnalysisPlan> {
    let plan: AnalysisPlan = serde_json::from_str(text).map_err(refuse)?;
    plan.check().map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        refuse(lines.join("; "))
    })?;
    Ok(plan)
}

/// Computes H1 of scores as they are.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "extracted from Python by value"
)]
pub(crate) fn interaction(
    py: Python<'_>,
    sessions: Sessions<'_>,
    plan_text: &str,
    seed: u64,
) -> PyResult<String> {
    let (matrix, plan) = (sessions.matrix()?, plan(plan_text)?);
    let mut rng = seed::generator(seed);
    let found = py.detach(|| interaction_of(&matrix, Scale::RawUnwinsorised, &plan, &mut rng));
    document(&Computed::from(found))
}

/// Computes H2 of scores as they are.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "extracted from Python by value"
)]
pub(crate) fn oracle_gap(
    py: Python<'_>,
    sessions: Sessions<'_>,
    oracle: String,
    optimal: String,
    plan_text: &str,
    seed: u64,
) -> PyResult<String> {
    let roles = Roles {
        cheat_oracle: oracle,
        optimal_repair: optimal,
        ..Roles::default()
    };
    let (stratum, plan) = (sessions.stratum(roles)?, plan(plan_text)?);
    let seeds = seed::named(seed);
    let scale = Scale::RawUnwinsorised;
    let found = py.detach(|| {
        let resampled = ResampledCells::new(&stratum, scale, &plan, &seeds);
        h2::oracle_gap(&stratum, scale, &plan, &resampled, &seeds)
    });
    document(&Computed::from(found))
}

/// Computes H3 of raw scores.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "extracted from Python by value"
)]
pub(crate) fn harm(
    py: Python<'_>,
    sessions: Sessions<'_>,
    baseline: String,
    plan_text: &str,
    seed: u64,
) -> PyResult<String> {
    let roles = Roles {
        no_method: baseline,
        ..Roles::default()
    };
    let (stratum, plan) = (sessions.stratum(roles)?, plan(plan_text)?);
    let seeds = seed::named(seed);
    let found = py.detach(|| h3::harm(&stratum, &plan, &seeds));
    document(&Computed::from(found))
}

/// Gives a bootstrap interval of the mean of cell means; `cell[i]` numbers the cell of `score[i]` from 0. With `indices`,
/// row b holds for each session the position of the session to take instead of it, in the same cell.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of one Python function")]
pub(crate) fn bootstrap_interval(
    py: Python<'_>,
    score: PyReadonlyArray1<'_, f64>,
    cell: PyReadonlyArray1<'_, i64>,
    kind: &str,
    level: f64,
    resamples: u64,
    indices: Option<PyReadonlyArray2<'_, i64>>,
    seed: u64,
) -> PyResult<String> {
    let (score, cell) = (score.as_slice()?, cell.as_slice()?);
    let mut cells: Vec<Vec<f64>> = Vec::new();
    // Where each session went: (cell, place within it).
    let mut places = Vec::with_capacity(score.len());
    for (score, number) in score.iter().zip(cell) {
        let number = usize::try_from(*number).map_err(refuse)?;
        if cells.len() <= number {
            cells.resize(number + 1, Vec::new());
        }
        places.push((number, cells[number].len()));
        cells[number].push(*score);
    }
    if cells.is_empty() || cells.iter().any(Vec::is_empty) {
        return Err(refuse("score has no session in some cell"));
    }
    let statistic =
        |cells: &[Vec<f64>]| cells.iter().map(|cell| mean(cell)).sum::<f64>() / cells.len() as f64;
    let replicates = match indices {
        Some(indices) => {
            let sets = index_sets(&indices, &places, &cells)?;
            py.detach(|| bootstrap::replicates_from(&cells, sets, statistic))
        }
        None => {
            let mut rng = seed::generator(seed);
            py.detach(|| bootstrap::replicates(&cells, resamples, statistic, &mut rng))
        }
    };
    if replicates.is_empty() {
        return Err(refuse("no resamples"));
    }
    let estimate = statistic(&cells);
    let interval = match kind {
        "percentile" => bootstrap::percentile(estimate, &replicates, level),
        "basic" => bootstrap::basic(estimate, &replicates, level),
        "bca" => {
            if cells.iter().any(|cell| cell.len() < 2) {
                return document(&Computed::<()>::absent("a cell has one session"));
            }
            bootstrap::bca(
                estimate,
                &replicates,
                &bootstrap::jackknife(&cells, statistic),
                level,
            )
        }
        other => {
            return Err(refuse(format!(
                "kind {other:?} is not percentile, basic or bca"
            )));
        }
    };
    document(&interval)
}

fn index_sets(
    indices: &PyReadonlyArray2<'_, i64>,
    places: &[(usize, usize)],
    cells: &[Vec<f64>],
) -> PyResult<Vec<Vec<Vec<usize>>>> {
    indices
        .as_array()
        .outer_iter()
        .enumerate()
        .map(|(resample, row)| {
            let mut set: Vec<Vec<usize>> = vec![Vec::new(); cells.len()];
            for (session, (position, (cell, _))) in row.iter().zip(places).enumerate() {
                let taken = usize::try_from(*position).ok().and_then(|index| places.get(index));
                match taken {
                    Some((from, place)) if from == cell => set[*cell].push(*place),
                    _ => {
                        return Err(refuse(format!(
                            "indices[{resample}, {session}] = {position} is no session of the same cell"
                        )));
                    }
                }
            }
            Ok(set)
        })
        .collect()
}
