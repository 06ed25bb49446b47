//! Knows null data made of scaled residuals with random signs, which keep the variance of each cell.
//! Must not know permutations.
//! Start at `wild_test`.

use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;
use rayon::prelude::*;

use super::decomposition::Observed;
use super::design::Sums;
use super::matrix::Matrix;
use crate::computed::NotComputed;
use crate::estimate::PValue;
use crate::moments::mean;
use crate::plan::AnalysisPlan;
use crate::randomness::Streams;

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

/// F_I with its p-value under one Rademacher sign per session; both over cells of two sessions and more.
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
    let null = NullData::new(&observed, &part);
    let signs = null.residuals.len();
    let count = |hits: Vec<bool>| hits.into_iter().filter(|hit| *hit).count() as u64;
    let all = 2.0_f64.powf(signs as f64);
    if all <= plan.exact_limit_h1 as f64 {
        let total = all as u64;
        let hits = (0..total)
            .into_par_iter()
            .map_init(
                || null.scratch(),
                |scratch, mask| null.extreme(scratch, |_| mask),
            )
            .collect();
        return Ok((f, PValue::exact(count(hits), total)));
    }
    let draws = usize::try_from(plan.permutations).expect("the number of draws fits into memory");
    let hits = streams.replicates(
        draws,
        || null.scratch(),
        |scratch, rng| null.extreme(scratch, |_| rng.next_u64()),
    );
    Ok((f, PValue::monte_carlo(count(hits), plan.permutations)))
}

/// Means of cells (k·M + m) of one `wild` null data set per replicate, handed to a statistic.
pub(crate) fn wild_means<T: Send>(
    matrix: &Matrix,
    draws: usize,
    streams: &Streams,
    statistic: impl Fn(&[f64]) -> T + Sync,
) -> Result<Vec<T>, NotComputed> {
    let observed = Observed::new(matrix)?;
    let null = NullData::new(&observed, matrix);
    Ok(streams.replicates(
        draws,
        || null.scratch(),
        |scratch, rng: &mut ChaCha8Rng| {
            null.sign(scratch, |_| rng.next_u64());
            for (sum, size) in scratch.sums.iter_mut().zip(&observed.design.sizes) {
                *sum /= *size as f64;
            }
            statistic(&scratch.sums)
        },
    ))
}

struct NullData<'a> {
    observed: &'a Observed,
    residuals: Vec<f64>,
    /// Σ of squared residuals, which no sign changes.
    squares: f64,
}

struct Scratch {
    sums: Vec<f64>,
    vector: Vec<f64>,
}

impl<'a> NullData<'a> {
    fn new(observed: &'a Observed, matrix: &Matrix) -> Self {
        let residuals: Vec<f64> = scaled_residuals(matrix).scores().collect();
        let squares = residuals.iter().map(|residual| residual * residual).sum();
        Self {
            observed,
            residuals,
            squares,
        }
    }

    fn scratch(&self) -> Scratch {
        let design = &self.observed.design;
        Scratch {
            sums: vec![0.0; design.sizes.len()],
            vector: vec![0.0; design.methods - 1],
        }
    }

    /// Fills the sums of cells; `words` gives 64 signs at a time, least significant first.
    fn sign(&self, scratch: &mut Scratch, mut words: impl FnMut(usize) -> u64) {
        let mut word = 0;
        let mut place = 0;
        for (sum, size) in scratch.sums.iter_mut().zip(&self.observed.design.sizes) {
            *sum = 0.0;
            for _ in 0..*size {
                if place % 64 == 0 {
                    word = words(place / 64);
                }
                let residual = self.residuals[place];
                *sum += if word & 1 == 1 { -residual } else { residual };
                word >>= 1;
                place += 1;
            }
        }
    }

    fn extreme(&self, scratch: &mut Scratch, words: impl FnMut(usize) -> u64) -> bool {
        self.sign(scratch, words);
        let Observed {
            design, sums, sse, ..
        } = self.observed;
        let null: Sums = design.sums(&scratch.sums, &mut scratch.vector);
        let null_sse = self.observed.zeroed(self.squares - null.cells);
        let interaction = self.observed.zeroed(null.interaction);
        interaction * sse >= sums.interaction * null_sse * (1.0 - 1e-9)
    }
}
