//! Knows null data made of scaled residuals with random signs, which keep the variance of each cell.
//! Must not know permutations.
//! Start at `wild_test`.

use rand_core::RngCore;
use rayon::prelude::*;

use super::decomposition::Observed;
use super::matrix::Matrix;
use super::session_labels::TIE;
use crate::computed::NotComputed;
use crate::estimate::PValue;
use crate::moments::mean;
use crate::plan::AnalysisPlan;
use crate::randomness::Streams;

/// Sessions whose signs are looked up together.
const RUN: usize = 8;

/// Residuals (Y − c_mk)·sqrt(N_mk/(N_mk − 1)); a cell with one session has none and becomes empty.
pub(crate) fn scaled_residuals(matrix: &Matrix) -> Matrix {
    matrix.map_cells(|cell| {
        if cell.len() < 2 {
            return Vec::new();
        }
        let n = cell.len() as f64;
        let centre = mean(cell);
        cell.iter()
            .map(|score| (score - centre) * (n / (n - 1.0)).sqrt())
            .collect()
    })
}

/// The part of a matrix that has residuals: cells with one session become empty.
fn with_residuals(matrix: &Matrix) -> Matrix {
    matrix.map_cells(|cell| {
        if cell.len() < 2 {
            Vec::new()
        } else {
            cell.to_vec()
        }
    })
}

/// F_I with its p-value under one Rademacher sign per session; both over cells of two sessions and more. (Wild bootstrap
/// of Liu, imposing additivity through null data without effects, which change neither SS_I nor SSE.)
///
/// # Errors
/// No error term, or no interaction left without the cells of one session.
pub(crate) fn wild_test(
    matrix: &Matrix,
    plan: &AnalysisPlan,
    streams: &Streams,
) -> Result<(f64, PValue), NotComputed> {
    let part = with_residuals(matrix);
    if part
        .cells()
        .iter()
        .any(|cells| cells.iter().all(Vec::is_empty))
    {
        return Err(NotComputed::because(
            "a malfunction has one session in every cell",
        ));
    }
    let observed = Observed::new(&part)?;
    let f = observed.design.f(observed.sums.interaction, observed.sse)?;
    let signs = Signs::of_residuals(&observed.centred);
    let scratch = || (vec![0.0; signs.cells], vec![0.0; observed.design.methods]);
    let extreme = |sums: &[f64], residuals: &mut [f64]| {
        let null = observed.design.sums(sums, residuals);
        let null_sse = observed.zeroed(signs.squares - null.cells);
        let interaction = observed.zeroed(null.interaction);
        u64::from(interaction * observed.sse >= observed.sums.interaction * null_sse * TIE)
    };
    let all = 2.0_f64.powf(signs.sessions as f64);
    if all <= plan.exact_limit_h1 as f64 {
        let total = all as u64;
        let count = (0..total)
            .into_par_iter()
            .map_init(scratch, |(sums, residuals), mask| {
                signs.given(sums, mask);
                extreme(sums, residuals)
            })
            .sum();
        return Ok((f, PValue::exact(count, total)));
    }
    let draws = usize::try_from(plan.permutations).expect("the number of draws fits into memory");
    let [count] = streams.tally(draws, scratch, |(sums, residuals), rng| {
        signs.draw(sums, rng);
        [extreme(sums, residuals)]
    });
    Ok((f, PValue::monte_carlo(count, plan.permutations)))
}

/// The sums of cells under any signs of their residuals, prepared for runs of up to eight sessions of a cell: the signs of
/// a run, as bits of a number (1 = minus), find its sum in a list of 2^length.
#[derive(Debug, Clone)]
pub(crate) struct Signs {
    runs: Vec<Run>,
    /// The lists of all runs, one after the other.
    sums: Vec<f64>,
    /// Cells (k·M + m), the empty ones too.
    pub(crate) cells: usize,
    sessions: usize,
    /// Σ of squared residuals, which no sign changes.
    squares: f64,
}

#[derive(Debug, Clone)]
struct Run {
    cell: usize,
    length: usize,
    first: usize,
}

impl Signs {
    /// Prepares the scaled residuals of a matrix, cell after cell.
    pub(crate) fn of_residuals(matrix: &Matrix) -> Self {
        let residuals = scaled_residuals(matrix);
        let mut signs = Self {
            runs: Vec::new(),
            sums: Vec::new(),
            cells: 0,
            sessions: 0,
            squares: 0.0,
        };
        for cell in residuals.cells().iter().flatten() {
            for run in cell.chunks(RUN) {
                let first = signs.sums.len();
                signs.runs.push(Run {
                    cell: signs.cells,
                    length: run.len(),
                    first,
                });
                signs.sums.push(run.iter().sum());
                for (session, residual) in run.iter().enumerate() {
                    for before in first..first + (1 << session) {
                        let sum = signs.sums[before] - 2.0 * residual;
                        signs.sums.push(sum);
                    }
                }
                signs.squares += run.iter().map(|residual| residual * residual).sum::<f64>();
            }
            signs.sessions += cell.len();
            signs.cells += 1;
        }
        signs
    }

    /// Fills the sums of cells with random signs.
    pub(crate) fn draw(&self, sums: &mut [f64], rng: &mut impl RngCore) {
        sums.fill(0.0);
        let (mut word, mut bits) = (0, 0);
        for run in &self.runs {
            if bits < run.length {
                (word, bits) = (rng.next_u64(), 64);
            }
            sums[run.cell] += self.sums[run.first + (word & ((1 << run.length) - 1)) as usize];
            word >>= run.length;
            bits -= run.length;
        }
    }

    /// Fills the sums of cells with the signs given as bits, the first session least significant; for up to 64 sessions.
    fn given(&self, sums: &mut [f64], mut mask: u64) {
        sums.fill(0.0);
        for run in &self.runs {
            sums[run.cell] += self.sums[run.first + (mask & ((1 << run.length) - 1)) as usize];
            mask >>= run.length;
        }
    }
}

/// Means of cells (k·M + m) of one `wild` null data set per replicate, handed to a statistic; every cell must have two
/// sessions.
pub(crate) fn wild_means<T: Send>(
    matrix: &Matrix,
    draws: usize,
    streams: &Streams,
    statistic: impl Fn(&[f64]) -> T + Sync,
) -> Vec<T> {
    let signs = Signs::of_residuals(matrix);
    let sizes: Vec<f64> = matrix
        .cells()
        .iter()
        .flatten()
        .map(|cell| cell.len() as f64)
        .collect();
    streams.replicates(
        draws,
        || vec![0.0; signs.cells],
        |means, rng| {
            signs.draw(means, rng);
            for (mean, size) in means.iter_mut().zip(&sizes) {
                *mean /= size;
            }
            statistic(means)
        },
    )
}
