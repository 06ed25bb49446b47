//! Knows how the statistics of cells are called: intervals, aggregates, profiles, probabilities of improvement.
//! Must not know a formula.
//! Start at `interval`.

use evalxrl_analysis::aggregate::{self, Statistic};
use evalxrl_analysis::bootstrap::{self, Kind, Options};
use evalxrl_analysis::cells;
use evalxrl_analysis::computed::{Computed, NotComputed};
use evalxrl_analysis::estimate::{Estimated, Interval};
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::Roles;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::refusal::{compute, document, refuse};
use crate::seed::Seed;
use crate::tidy::{Sessions, plan, word};

/// Where each session went: (cell, place within it).
pub(crate) type Places = Vec<(usize, usize)>;

/// Sorts sessions into cells; `cell[i]` numbers the cell of `score[i]` from 0.
pub(crate) fn sorted(
    score: &PyReadonlyArray1<'_, f64>,
    cell: &PyReadonlyArray1<'_, i64>,
) -> PyResult<(Vec<Vec<f64>>, Places)> {
    let (score, cell) = (score.as_slice()?, cell.as_slice()?);
    let mut cells: Vec<Vec<f64>> = Vec::new();
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
    Ok((cells, places))
}

/// Reads the options of a bootstrap from JSON.
fn options(text: &str) -> PyResult<Options> {
    serde_json::from_str(text).map_err(refuse)
}

/// Gives the Student t interval of a mean.
#[pyfunction]
pub(crate) fn student_t(
    py: Python<'_>,
    score: PyReadonlyArray1<'_, f64>,
    level: f64,
) -> PyResult<String> {
    let score = score.as_slice()?.to_vec();
    let found = compute(py, || {
        cells::student_t(&score, level).and_then(Interval::finite)
    })?;
    document(&Computed::from(found))
}

/// Gives a bootstrap interval of a statistic of cells.
#[pyfunction]
pub(crate) fn interval(
    py: Python<'_>,
    score: PyReadonlyArray1<'_, f64>,
    cell: PyReadonlyArray1<'_, i64>,
    statistic: &str,
    target: f64,
    options_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let (cells, _) = sorted(&score, &cell)?;
    let statistic: Statistic = word("statistic", statistic)?;
    let options = options(options_text)?;
    let mut rng = seed.generator("interval");
    let found = compute(py, || {
        aggregate::aggregate_interval(&cells, statistic, target, &options, &mut rng)
    })?;
    document(&Computed::from(found))
}

/// As `interval`, with the resamples given: row b of `indices` holds for each session the position of the session to take
/// instead of it, in the same cell.
#[pyfunction]
pub(crate) fn interval_from(
    py: Python<'_>,
    score: PyReadonlyArray1<'_, f64>,
    cell: PyReadonlyArray1<'_, i64>,
    statistic: &str,
    target: f64,
    options_text: &str,
    indices: PyReadonlyArray2<'_, i64>,
) -> PyResult<String> {
    let (cells, places) = sorted(&score, &cell)?;
    let statistic: Statistic = word("statistic", statistic)?;
    let options = options(options_text)?;
    let sets = index_sets(&indices, &places, &cells)?;
    let found = compute(py, || from_sets(&cells, sets, statistic, target, &options))?;
    document(&Computed::from(found))
}

fn from_sets(
    cells: &[Vec<f64>],
    sets: Vec<Vec<Vec<usize>>>,
    statistic: Statistic,
    target: f64,
    options: &Options,
) -> Result<Interval, NotComputed> {
    let estimate = aggregate::estimate(cells, statistic, target)?;
    let of = |cells: &[Vec<f64>]| aggregate::estimate(cells, statistic, target);
    let replicates: Vec<f64> = bootstrap::replicates_from(cells, sets, of)
        .into_iter()
        .collect::<Result<_, _>>()?;
    match options.kind {
        Kind::Percentile => bootstrap::percentile(estimate, &replicates, options.level),
        Kind::Basic => bootstrap::basic(estimate, &replicates, options.level),
        Kind::Bca => {
            if cells.iter().any(|cell| cell.len() < 2) {
                return Err(NotComputed::because("a cell has one session"));
            }
            // Every value that the jackknife leaves out leaves a cell that the statistic takes.
            let left_out = bootstrap::jackknife(cells, |fewer| of(fewer).unwrap_or(estimate));
            bootstrap::bca(estimate, &replicates, &left_out, options.level)
        }
    }
    .finite()
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
                let taken = usize::try_from(*position).map_or(None, |index| places.get(index));
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

/// Gives the aggregates of every method and the probabilities of improvement, on both scales.
#[pyfunction]
pub(crate) fn aggregates(
    py: Python<'_>,
    sessions: Sessions<'_>,
    plan_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let (stratum, plan) = (sessions.stratum(Roles::default())?, plan(plan_text)?);
    let seeds = seed.named();
    document(&compute(py, || {
        aggregate::aggregates(&stratum, &plan, &seeds)
    })?)
}

/// The cells of two methods, in the same order of malfunctions.
type Pair = [Vec<Vec<f64>>; 2];

fn pair(sessions: &Sessions<'_>, scale: &str, floor: f64, names: [&str; 2]) -> PyResult<Pair> {
    let mut cells = sessions.cells(word::<Scale>("scale", scale)?, floor)?;
    let place = |name: &str| {
        sessions
            .methods()
            .iter()
            .position(|method| method == name)
            .ok_or_else(|| refuse(format!("method holds no session of {name:?}")))
    };
    let [first, second] = [place(names[0])?, place(names[1])?];
    let taken = cells[second].clone();
    Ok([std::mem::take(&mut cells[first]), taken])
}

/// Gives the probability that a session of one method is better than one of another, with its interval.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of one Python function")]
pub(crate) fn probability_of_improvement(
    py: Python<'_>,
    sessions: Sessions<'_>,
    first: &str,
    second: &str,
    scale: &str,
    winsor_floor: f64,
    options_text: &str,
    seed: Seed,
) -> PyResult<String> {
    let [first, second] = pair(&sessions, scale, winsor_floor, [first, second])?;
    let options = options(options_text)?;
    let mut rng = seed.generator("probability_of_improvement");
    let found = compute(py, || {
        aggregate::probability_of_improvement(&first, &second).map(|estimate| Estimated {
            estimate,
            interval: aggregate::improvement_interval(&first, &second, &options, &mut rng).into(),
        })
    })?;
    document(&Computed::from(found))
}

/// Gives both profiles of every method, by method, each with the key `performance_profile/{method}`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of one Python function")]
pub(crate) fn performance_profile(
    py: Python<'_>,
    sessions: Sessions<'_>,
    scale: &str,
    winsor_floor: f64,
    thresholds: Vec<f64>,
    level: f64,
    resamples: u64,
    seed: Seed,
) -> PyResult<String> {
    let cells = sessions.cells(word::<Scale>("scale", scale)?, winsor_floor)?;
    let methods = sessions.methods().to_vec();
    let found = compute(py, || {
        cells
            .iter()
            .zip(&methods)
            .map(|(cells, method)| {
                let mut rng = seed.generator(&format!("performance_profile/{method}"));
                Computed::from(aggregate::profiles(
                    cells,
                    &thresholds,
                    level,
                    resamples,
                    &mut rng,
                ))
            })
            .collect::<Vec<_>>()
    })?;
    document(&found)
}
