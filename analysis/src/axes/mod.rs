//! Knows the axes of the column-centred matrix C_mk = c_mk − c_.k: singular values, what lies beyond the first, its signs.
//! Must not know the words of a verdict.
//! Start at `Axes::new`.

mod summary;
mod tukey;

pub use summary::{AxesSummary, BeyondFirst};
pub use tukey::Tukey;

pub(crate) use summary::summary;

use nalgebra::{DMatrix, DVector};

use crate::computed::NotComputed;
use crate::estimate::PValue;
use crate::interaction::{Matrix, Observed, column_centred, scaled_residuals, wild_means};
use crate::moments::{mean, quantile};
use crate::plan::AnalysisPlan;
use crate::randomness::{BoundedDraws, EvenDraws, Streams};
use crate::structure::{AxisEntry, BeyondFirstAxis};

/// Singular values below this share of the root of SS_T count as 0.
const NO_AXIS: f64 = 1e-10;

/// The singular value decomposition of a complete matrix.
#[derive(Debug, Clone)]
pub struct Axes {
    /// Descending, in score units.
    pub singular_values: Vec<f64>,
    /// Sessions per cell, or their harmonic mean.
    pub sessions_per_cell: f64,
    malfunctions: Vec<String>,
    /// u_1.
    left: DVector<f64>,
    /// v_1, oriented to a sum of at least 0.
    right: DVector<f64>,
}

impl Axes {
    /// Decomposes the cell means of a complete matrix.
    ///
    /// # Errors
    /// Fewer than two methods or malfunctions.
    pub fn new(matrix: &Matrix) -> Result<Self, NotComputed> {
        let (methods, malfunctions) = (matrix.methods().len(), matrix.malfunctions().len());
        if methods < 2 || malfunctions < 2 {
            return Err(NotComputed::because(
                "fewer than two methods or malfunctions form a complete matrix",
            ));
        }
        let decomposed = column_centred(methods, &means(matrix)).svd(true, true);
        let lacking = || NotComputed::because("the singular value decomposition has no vectors");
        let left_vectors = decomposed.u.ok_or_else(lacking)?;
        let right_vectors = decomposed.v_t.ok_or_else(lacking)?;
        let first = decomposed.singular_values.imax();
        let mut left: DVector<f64> = left_vectors.column(first).into_owned();
        let mut right: DVector<f64> = right_vectors.row(first).transpose();
        if right.sum() < 0.0 {
            left.neg_mut();
            right.neg_mut();
        }
        let cells = (methods * malfunctions) as f64;
        let reciprocals: f64 = matrix
            .cells()
            .iter()
            .flatten()
            .map(|cell| 1.0 / cell.len() as f64)
            .sum();
        Ok(Self {
            singular_values: cleaned(decomposed.singular_values.as_slice(), matrix),
            sessions_per_cell: matrix.balanced().map_or(cells / reciprocals, |n| n as f64),
            malfunctions: matrix.malfunctions().to_vec(),
            left,
            right,
        })
    }

    fn squares(&self) -> f64 {
        self.singular_values.iter().map(|value| value * value).sum()
    }

    /// s_1²/Σs².
    ///
    /// # Errors
    /// All methods alike on every malfunction.
    pub fn first_share(&self) -> Result<f64, NotComputed> {
        let all = self.squares();
        if all == 0.0 {
            return Err(NotComputed::because("methods do not differ at all"));
        }
        Ok(self.singular_values[0].powi(2) / all)
    }

    /// Mean of the first share under `wild` null data.
    ///
    /// # Errors
    /// A cell of one session, or no variation within cells.
    pub fn share_under_noise(
        &self,
        matrix: &Matrix,
        plan: &AnalysisPlan,
        streams: &Streams,
    ) -> Result<f64, NotComputed> {
        if matrix.cells().iter().flatten().any(|cell| cell.len() < 2) {
            return Err(NotComputed::because("a cell has one session"));
        }
        let methods = matrix.methods().len();
        let draws = usize::try_from(plan.permutations).expect("draws fit into memory");
        let shares = wild_means(matrix, draws, streams, |means| {
            let centred = column_centred(methods, means);
            let all = centred.norm_squared();
            (all > 0.0).then(|| largest_square(&centred) / all)
        });
        let shares: Vec<f64> = shares.into_iter().flatten().collect();
        if shares.is_empty() {
            return Err(NotComputed::because("sessions do not vary within cells"));
        }
        Ok(mean(&shares))
    }

    /// F_2 = [N·Σ_{j≥2} s_j²/((M − 2)(K − 1))]/MSE.
    ///
    /// # Errors
    /// Two methods only, or no error term.
    pub fn f_beyond_first(&self, matrix: &Matrix) -> Result<(f64, u64), NotComputed> {
        let df = self.df_beyond_first(matrix)?;
        let observed = Observed::new(matrix)?;
        let mse = observed.design.mse(observed.sse)?;
        let rest: f64 = self.singular_values[1..]
            .iter()
            .map(|value| value * value)
            .sum();
        Ok((self.sessions_per_cell * rest / df as f64 / mse, df))
    }

    fn df_beyond_first(&self, matrix: &Matrix) -> Result<u64, NotComputed> {
        let methods = matrix.methods().len();
        if methods < 3 {
            return Err(NotComputed::because(
                "two methods leave nothing beyond the first axis",
            ));
        }
        Ok(((methods - 2) * (self.malfunctions.len() - 1)) as u64)
    }

    /// F_2 with its p-value from a residual bootstrap of the rank-1 fit, refitted each time.
    ///
    /// # Errors
    /// Two methods only, no error term, or no residuals.
    pub fn beyond_first(
        &self,
        matrix: &Matrix,
        plan: &AnalysisPlan,
        streams: &Streams,
    ) -> Result<BeyondFirstAxis, NotComputed> {
        let (f, df) = self.f_beyond_first(matrix)?;
        let residuals: Vec<f64> = scaled_residuals(matrix).scores().collect();
        if residuals.is_empty() {
            return Err(NotComputed::because("every cell has one session"));
        }
        let bound = u32::try_from(residuals.len()).expect("tables are small");
        let draws = EvenDraws::new(bound);
        let methods = matrix.methods().len();
        let fit = &self.left * self.right.transpose() * self.singular_values[0];
        let sizes: Vec<usize> = matrix.cells().iter().flatten().map(Vec::len).collect();
        let sessions = matrix.sessions();
        let df_error = (sessions - sizes.len()) as f64;
        let replicates = usize::try_from(plan.permutations).expect("draws fit into memory");
        let hits = streams.replicates(
            replicates,
            || (vec![0; sessions], vec![0.0; sizes.len()]),
            |(drawn, means), rng| {
                draws.fill(rng, drawn);
                let (mut sse, mut first) = (0.0, 0);
                for ((mean, size), fitted) in means.iter_mut().zip(&sizes).zip(fit.iter()) {
                    let (mut sum, mut squares) = (0.0, 0.0);
                    for draw in &drawn[first..first + size] {
                        let residual = residuals[*draw as usize];
                        sum += residual;
                        squares += residual * residual;
                    }
                    first += size;
                    sse += (squares - sum * sum / *size as f64).max(0.0);
                    *mean = fitted + sum / *size as f64;
                }
                let centred = column_centred(methods, means);
                let rest = (centred.norm_squared() - largest_square(&centred)).max(0.0);
                self.sessions_per_cell * rest / df as f64 >= f * (sse / df_error) * (1.0 - 1e-9)
            },
        );
        let count = hits.into_iter().filter(|hit| *hit).count() as u64;
        Ok(BeyondFirstAxis {
            f,
            df,
            p: PValue::monte_carlo(count, plan.permutations),
        })
    }

    /// v_1 with percentile intervals over stratified resamples, each aligned to v_1.
    pub fn first_axis(
        &self,
        matrix: &Matrix,
        plan: &AnalysisPlan,
        streams: &Streams,
    ) -> Vec<AxisEntry> {
        let cells: Vec<&Vec<f64>> = matrix.cells().iter().flatten().collect();
        let methods = matrix.methods().len();
        let resamples = usize::try_from(plan.resamples).expect("resamples fit into memory");
        let sizes: Vec<usize> = cells.iter().map(|cell| cell.len()).collect();
        let draws = BoundedDraws::of_cells(&sizes);
        let resampled: Vec<DVector<f64>> = streams.replicates(
            resamples,
            || (vec![0; draws.len()], vec![0.0; cells.len()]),
            |(drawn, means), rng| {
                draws.fill(rng, drawn);
                let mut first = 0;
                for (mean, cell) in means.iter_mut().zip(&cells) {
                    let own = &drawn[first..first + cell.len()];
                    let sum: f64 = own.iter().map(|draw| cell[*draw as usize]).sum();
                    *mean = sum / cell.len() as f64;
                    first += cell.len();
                }
                let vector = first_right_vector(&column_centred(methods, means));
                if vector.dot(&self.right) < 0.0 {
                    -vector
                } else {
                    vector
                }
            },
        );
        let tail = (1.0 - plan.confidence) / 2.0;
        self.malfunctions
            .iter()
            .enumerate()
            .map(|(index, malfunction)| {
                let mut entries: Vec<f64> = resampled.iter().map(|vector| vector[index]).collect();
                entries.sort_unstable_by(f64::total_cmp);
                AxisEntry {
                    malfunction: malfunction.clone(),
                    value: self.right[index],
                    low: quantile(&entries, tail),
                    high: quantile(&entries, 1.0 - tail),
                }
            })
            .collect()
    }
}

/// Singular values in descending order, with 0 for those that are only rounding.
fn cleaned(values: &[f64], matrix: &Matrix) -> Vec<f64> {
    let first = matrix.scores().next().unwrap_or(0.0);
    let scores: Vec<f64> = matrix.scores().map(|score| score - first).collect();
    let centre = mean(&scores);
    let total: f64 = scores.iter().map(|score| (score - centre).powi(2)).sum();
    let mut cleaned: Vec<f64> = values
        .iter()
        .map(|value| {
            if *value <= NO_AXIS * total.sqrt() {
                0.0
            } else {
                *value
            }
        })
        .collect();
    cleaned.sort_by(|one, other| other.total_cmp(one));
    cleaned
}

fn means(matrix: &Matrix) -> Vec<f64> {
    matrix
        .cells()
        .iter()
        .flatten()
        .map(|cell| mean(cell))
        .collect()
}

/// s_1² from the smaller Gram matrix.
fn largest_square(centred: &DMatrix<f64>) -> f64 {
    let gram = if centred.nrows() <= centred.ncols() {
        centred * centred.transpose()
    } else {
        centred.transpose() * centred
    };
    gram.symmetric_eigenvalues().max()
}

/// v_1 of a centred matrix, of either sign; zeros where the matrix is zero.
fn first_right_vector(centred: &DMatrix<f64>) -> DVector<f64> {
    let eigen = (centred * centred.transpose()).symmetric_eigen();
    let first = eigen.eigenvalues.imax();
    let vector = centred.transpose() * eigen.eigenvectors.column(first);
    vector
        .try_normalize(0.0)
        .unwrap_or_else(|| DVector::zeros(centred.ncols()))
}
