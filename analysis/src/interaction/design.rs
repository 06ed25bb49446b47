//! Knows the additive model y ~ method + malfunction over given cell sizes, factored once for any number of data sets.
//! Must not know how data sets are made.
//! Start at `Design::new` and `Design::sums`.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::matrix::Matrix;
use crate::computed::NotComputed;

/// The sizes of the cells and the factored projection on main effects. Cells are numbered k·M + m.
#[derive(Debug, Clone)]
pub(crate) struct Design {
    pub(crate) methods: usize,
    pub(crate) malfunctions: usize,
    /// N_mk at k·M + m.
    pub(crate) sizes: Vec<usize>,
    /// N_.k.
    pub(crate) group_sizes: Vec<usize>,
    pub(crate) df_interaction: usize,
    pub(crate) df_any: usize,
    pub(crate) df_error: usize,
    /// 1/N_mk at k·M + m; 0 for an empty cell.
    reciprocals: Vec<f64>,
    /// L⁻¹, row after row, of L·Lᵗ = the normal equations of all methods but the last, malfunctions eliminated.
    inverse: Vec<f64>,
    /// 1/(K·N) where every cell has N sessions.
    balanced: Option<f64>,
}

/// Sums of squares of one data set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sums {
    /// SS_I.
    pub(crate) interaction: f64,
    /// SS of method and interaction together.
    pub(crate) any: f64,
    /// Σ N_mk c_mk², which is ΣY² − SSE.
    pub(crate) cells: f64,
}

impl Design {
    /// Factors the design of a matrix.
    ///
    /// # Errors
    /// Fewer than two methods or malfunctions, no degree of freedom for interaction, or cells that do not connect.
    pub(crate) fn new(matrix: &Matrix) -> Result<Self, NotComputed> {
        let (methods, malfunctions) = (matrix.methods().len(), matrix.malfunctions().len());
        if methods < 2 {
            return Err(NotComputed::because(format!(
                "explanation methods in default packaging with sessions: {methods}; two are needed"
            )));
        }
        if malfunctions < 2 {
            return Err(NotComputed::because(format!(
                "{malfunctions} malfunction has sessions; two are needed"
            )));
        }
        connected(matrix)?;
        let sizes: Vec<usize> = matrix.cells().iter().flatten().map(Vec::len).collect();
        let group_sizes: Vec<usize> = sizes
            .chunks(methods)
            .map(|group| group.iter().sum())
            .collect();
        let cells = sizes.iter().filter(|size| **size > 0).count();
        let df_interaction = cells - (methods + malfunctions - 1);
        if df_interaction == 0 {
            return Err(NotComputed::because(
                "the cells leave no degree of freedom for interaction",
            ));
        }
        let mut normal = DMatrix::zeros(methods - 1, methods - 1);
        for (group, total) in sizes.chunks(methods).zip(&group_sizes) {
            for row in 0..methods - 1 {
                normal[(row, row)] += group[row] as f64;
                for column in 0..methods - 1 {
                    normal[(row, column)] -= (group[row] * group[column]) as f64 / *total as f64;
                }
            }
        }
        let factor = Cholesky::<f64, Dyn>::new(normal)
            .and_then(|factored| {
                factored
                    .unpack()
                    .solve_lower_triangular(&DMatrix::identity(methods - 1, methods - 1))
            })
            .ok_or_else(|| NotComputed::because("the additive model cannot be fitted"))?;
        Ok(Self {
            methods,
            malfunctions,
            df_interaction,
            df_any: cells - malfunctions,
            df_error: matrix.sessions() - cells,
            reciprocals: sizes
                .iter()
                .map(|size| if *size > 0 { 1.0 / *size as f64 } else { 0.0 })
                .collect(),
            inverse: factor.transpose().as_slice().to_vec(),
            balanced: matrix.balanced().map(|n| 1.0 / (malfunctions * n) as f64),
            sizes,
            group_sizes,
        })
    }

    /// L⁻¹ r_k for one malfunction: its share of the vector whose square is SS of methods adjusted for malfunctions.
    pub(crate) fn adjusted(&self, malfunction: usize, sums: &[f64]) -> Vec<f64> {
        let mut residuals = vec![0.0; self.methods];
        self.add_residual_sums(malfunction, sums, &mut residuals);
        self.inverse
            .chunks(self.methods - 1)
            .enumerate()
            .map(|(row, entries)| product(&entries[..=row], &residuals))
            .collect()
    }

    fn add_residual_sums(&self, malfunction: usize, sums: &[f64], residuals: &mut [f64]) {
        let mean = sums.iter().sum::<f64>() / self.group_sizes[malfunction] as f64;
        let sizes = &self.sizes[malfunction * self.methods..];
        for ((entry, sum), size) in residuals.iter_mut().zip(sums).zip(sizes) {
            *entry += sum - *size as f64 * mean;
        }
    }

    /// SS of methods adjusted for malfunctions, from Σ_k(S_mk − N_mk c_.k) of each method.
    fn method_squares(&self, residuals: &[f64]) -> f64 {
        if let Some(scale) = self.balanced {
            return residuals.iter().map(|sum| sum * sum).sum::<f64>() * scale;
        }
        self.inverse
            .chunks(self.methods - 1)
            .enumerate()
            .map(|(row, entries)| product(&entries[..=row], residuals).powi(2))
            .sum()
    }

    /// (Σ N_mk c_mk², N_.k c_.k²) of one malfunction from the sums of its cells.
    pub(crate) fn group_squares(&self, malfunction: usize, sums: &[f64]) -> (f64, f64) {
        let reciprocals = &self.reciprocals[malfunction * self.methods..];
        let (mut cells, mut total) = (0.0, 0.0);
        for (sum, reciprocal) in sums.iter().zip(reciprocals) {
            cells += sum * sum * reciprocal;
            total += sum;
        }
        (cells, total * total / self.group_sizes[malfunction] as f64)
    }

    /// Sums of squares from the sums of all cells (k·M + m); `residuals` is scratch space of M.
    pub(crate) fn sums(&self, cell_sums: &[f64], residuals: &mut [f64]) -> Sums {
        residuals.fill(0.0);
        let (mut cells, mut any) = (0.0, 0.0);
        for (malfunction, sums) in cell_sums.chunks(self.methods).enumerate() {
            let (squares, main) = self.group_squares(malfunction, sums);
            cells += squares;
            any += squares - main;
            self.add_residual_sums(malfunction, sums, residuals);
        }
        self.close(cells, any, residuals)
    }

    /// As `sums`, where the scores of every malfunction add up to 0; `scratch` is space for two numbers per method.
    pub(crate) fn centred_sums(&self, cell_sums: &[f64], scratch: &mut [f64]) -> Sums {
        scratch.fill(0.0);
        let (residuals, squares) = scratch.split_at_mut(self.methods);
        let groups = cell_sums
            .chunks_exact(self.methods)
            .zip(self.reciprocals.chunks_exact(self.methods));
        // One accumulator per method, so that no addition waits for the one before it.
        for (sums, reciprocals) in groups {
            let slots = residuals.iter_mut().zip(&mut *squares);
            for ((sum, reciprocal), (residual, square)) in sums.iter().zip(reciprocals).zip(slots) {
                *residual += sum;
                *square += sum * sum * reciprocal;
            }
        }
        let cells = squares.iter().sum();
        self.close(cells, cells, residuals)
    }

    fn close(&self, cells: f64, any: f64, residuals: &[f64]) -> Sums {
        Sums {
            interaction: (any - self.method_squares(residuals)).max(0.0),
            any: any.max(0.0),
            cells,
        }
    }

    /// The additive fit μ_k + α_m of every cell (k·M + m) by least squares, empty cells too.
    pub(crate) fn additive_fit(&self, cell_sums: &[f64]) -> Vec<f64> {
        let free = self.methods - 1;
        let mut residuals = vec![0.0; self.methods];
        for (malfunction, sums) in cell_sums.chunks(self.methods).enumerate() {
            self.add_residual_sums(malfunction, sums, &mut residuals);
        }
        let half: Vec<f64> = self
            .inverse
            .chunks(free)
            .enumerate()
            .map(|(row, entries)| product(&entries[..=row], &residuals))
            .collect();
        // α = L⁻ᵗ L⁻¹ r, with 0 for the last method.
        let mut effects = vec![0.0; self.methods];
        for (row, entry) in half.iter().enumerate() {
            for (effect, weight) in effects.iter_mut().zip(&self.inverse[row * free..][..=row]) {
                *effect += weight * entry;
            }
        }
        let mut fit = Vec::with_capacity(cell_sums.len());
        let groups = cell_sums
            .chunks(self.methods)
            .zip(self.sizes.chunks(self.methods))
            .zip(&self.group_sizes);
        for ((sums, sizes), total) in groups {
            let explained: f64 = sizes
                .iter()
                .zip(&effects)
                .map(|(size, effect)| *size as f64 * effect)
                .sum();
            let level = (sums.iter().sum::<f64>() - explained) / *total as f64;
            fit.extend(effects.iter().map(|effect| level + effect));
        }
        fit
    }

    /// F_I from sums of squares, if there is an error term.
    pub(crate) fn f(&self, interaction: f64, sse: f64) -> Result<f64, NotComputed> {
        Ok(interaction / self.df_interaction as f64 / self.mse(sse)?)
    }

    /// F_any from sums of squares, if there is an error term.
    pub(crate) fn f_any(&self, any: f64, sse: f64) -> Result<f64, NotComputed> {
        Ok(any / self.df_any as f64 / self.mse(sse)?)
    }

    /// MSE, if it is above 0.
    pub(crate) fn mse(&self, sse: f64) -> Result<f64, NotComputed> {
        if self.df_error == 0 {
            return Err(NotComputed::because(
                "one session in every cell leaves no error term",
            ));
        }
        if sse == 0.0 {
            return Err(NotComputed::because("sessions do not vary within cells"));
        }
        Ok(sse / self.df_error as f64)
    }
}

fn product(weights: &[f64], values: &[f64]) -> f64 {
    weights
        .iter()
        .zip(values)
        .map(|(weight, value)| weight * value)
        .sum()
}

/// Checks that the bipartite graph of methods and malfunctions hangs together.
fn connected(matrix: &Matrix) -> Result<(), NotComputed> {
    let methods = matrix.methods();
    let mut reached = vec![false; methods.len()];
    reached[0] = true;
    loop {
        let before = reached.iter().filter(|is| **is).count();
        for cells in matrix.cells() {
            if cells
                .iter()
                .zip(&reached)
                .any(|(cell, is)| *is && !cell.is_empty())
            {
                for (cell, is) in cells.iter().zip(&mut reached) {
                    *is |= !cell.is_empty();
                }
            }
        }
        if reached.iter().filter(|is| **is).count() == before {
            break;
        }
    }
    if reached.iter().all(|is| *is) {
        return Ok(());
    }
    let named = |wanted: bool| {
        let names: Vec<&str> = methods
            .iter()
            .zip(&reached)
            .filter(|(_, is)| **is == wanted)
            .map(|(name, _)| name.as_str())
            .collect();
        names.join(", ")
    };
    Err(NotComputed::because(format!(
        "methods {{{}}} share no malfunction with {{{}}}",
        named(true),
        named(false)
    )))
}

/// Sums of the sessions of each cell, at k·M + m.
pub(crate) fn cell_sums(matrix: &Matrix) -> Vec<f64> {
    matrix
        .cells()
        .iter()
        .flatten()
        .map(|cell| cell.iter().sum())
        .collect()
}

/// C_mk = c_mk − c_.k (M × K) from means of cells at k·M + m.
pub(crate) fn column_centred(methods: usize, cell_means: &[f64]) -> DMatrix<f64> {
    let mut matrix = DMatrix::from_column_slice(methods, cell_means.len() / methods, cell_means);
    for mut column in matrix.column_iter_mut() {
        let mean = column.mean();
        column -= DVector::from_element(methods, mean);
    }
    matrix
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Design;
    use crate::interaction::Matrix;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|index| index.to_string()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_ragged_projection_of_equal_cells_is_the_balanced_formula(
            (methods, malfunctions, sessions, sums) in (2_usize..6, 2_usize..6, 1_usize..5).prop_flat_map(|(m, k, n)| {
                (Just(m), Just(k), Just(n), prop::collection::vec(-5.0_f64..5.0, m * k))
            }),
        ) {
            let cells = vec![vec![vec![0.0; sessions]; malfunctions]; methods];
            let matrix = Matrix::new(&names(methods), &names(malfunctions), &cells).unwrap();
            let balanced = Design::new(&matrix).unwrap();
            let ragged = Design { balanced: None, ..balanced.clone() };
            let mut space = vec![0.0; 2 * methods];
            let (one, other) = (balanced.sums(&sums, &mut space), ragged.sums(&sums, &mut space));
            let size = 1.0 + one.cells;
            prop_assert!((one.interaction - other.interaction).abs() < 1e-10 * size);
            prop_assert!((one.any - other.any).abs() < 1e-10 * size);
            let mut centred = sums;
            for group in centred.chunks_mut(methods) {
                let mean = group.iter().sum::<f64>() / methods as f64;
                group.iter_mut().for_each(|sum| *sum -= mean);
            }
            for design in [&balanced, &ragged] {
                let short = design.centred_sums(&centred, &mut space);
                prop_assert!((short.interaction - one.interaction).abs() < 1e-10 * size);
                prop_assert!((short.any - one.any).abs() < 1e-10 * size);
            }
        }
    }
}
