//! Knows the observed sums of squares of H1 and what follows from them without randomness.
//! Must not know null data.
//! Start at `Observed::new`.

use super::design::{Design, Sums, cell_sums};
use super::matrix::Matrix;
use super::result::Decomposition;
use crate::computed::{Computed, NotComputed};
use crate::moments::mean;

/// A matrix, centred within each malfunction, with its design and observed sums of squares.
#[derive(Debug, Clone)]
pub(crate) struct Observed {
    /// Scores minus the mean of their malfunction: no statistic of H1 changes, and sums of squares keep their digits.
    pub(crate) centred: Matrix,
    pub(crate) design: Design,
    pub(crate) sums: Sums,
    pub(crate) sse: f64,
    /// 1e-12·Σ(Y − Ȳ)²: sums of squares below count as 0.
    pub(crate) tiny: f64,
    /// Σ of squares of the centred scores.
    pub(crate) squares: f64,
}

impl Observed {
    /// Fits the additive model and the cells.
    ///
    /// # Errors
    /// A design without interaction.
    pub(crate) fn new(matrix: &Matrix) -> Result<Self, NotComputed> {
        let design = Design::new(matrix)?;
        let scores: Vec<f64> = matrix.scores().collect();
        let grand = mean(&scores);
        let tiny = 1e-12
            * scores
                .iter()
                .map(|score| (score - grand).powi(2))
                .sum::<f64>();
        let centred = centre(matrix);
        let sse = within(&centred);
        let sse = if sse < tiny { 0.0 } else { sse };
        let squares = centred.scores().map(|score| score * score).sum();
        let mut scratch = vec![0.0; design.methods - 1];
        let sums = design.sums(&cell_sums(&centred), &mut scratch);
        let mut observed = Self {
            centred,
            design,
            sums,
            sse,
            tiny,
            squares,
        };
        observed.sums.interaction = observed.zeroed(observed.sums.interaction);
        observed.sums.any = observed.zeroed(observed.sums.any);
        Ok(observed)
    }

    /// A sum of squares, or 0 where it is only rounding.
    pub(crate) fn zeroed(&self, squares: f64) -> f64 {
        if squares < self.tiny { 0.0 } else { squares }
    }

    /// Writes the decomposition down; `matrix` is the one that was fitted.
    pub(crate) fn describe(&self, matrix: &Matrix) -> Decomposition {
        let Self {
            design, sums, sse, ..
        } = self;
        let df = design.df_interaction as f64;
        let sessions = matrix.sessions() as f64;
        let mse: Computed<f64> = design.mse(*sse).into();
        let main = balanced_sums_of_squares(matrix);
        let share = |mse: f64, [ss_method, _, ss_interaction]: [f64; 3], n: f64| {
            let (methods, malfunctions) = (design.methods as f64, design.malfunctions as f64);
            let interaction = ((ss_interaction / df - mse) / n).max(0.0);
            let method = ((ss_method / (methods - 1.0) - mse) / (malfunctions * n)).max(0.0);
            let total = interaction + method;
            if total > 0.0 {
                Computed::Value(interaction / total)
            } else {
                Computed::absent("neither methods nor interaction vary beyond noise")
            }
        };
        let unbalanced = || NotComputed::because("cells have different numbers of sessions");
        Decomposition {
            ss_method: main.map(|main| main[0]).ok_or_else(unbalanced).into(),
            ss_malfunction: main.map(|main| main[1]).ok_or_else(unbalanced).into(),
            ss_interaction: sums.interaction,
            ss_method_and_interaction: sums.any,
            sse: *sse,
            df_interaction: design.df_interaction as u64,
            df_method_and_interaction: design.df_any as u64,
            df_error: design.df_error as u64,
            f_interaction: design.f(sums.interaction, *sse).into(),
            f_any: design.f_any(sums.any, *sse).into(),
            partial_omega_squared: mse.clone().map(|mse| {
                (sums.interaction - df * mse) / (sums.interaction + (sessions - df) * mse)
            }),
            interaction_share: match (&mse, main, matrix.balanced()) {
                (Computed::Value(mse), Some(main), Some(n)) => share(*mse, main, n as f64),
                (Computed::NotComputed(reason), _, _) => Computed::NotComputed(reason.clone()),
                _ => Computed::NotComputed(unbalanced()),
            },
            mse,
        }
    }
}

/// [SS_M, SS_K, SS_I] by the formulas for equal numbers of sessions; `None` for unequal ones.
pub fn balanced_sums_of_squares(matrix: &Matrix) -> Option<[f64; 3]> {
    let n = matrix.balanced().filter(|n| *n > 0)? as f64;
    let means: Vec<Vec<f64>> = matrix
        .cells()
        .iter()
        .map(|cells| cells.iter().map(|cell| mean(cell)).collect())
        .collect();
    let malfunction_means: Vec<f64> = means.iter().map(|row| mean(row)).collect();
    let method_means: Vec<f64> = (0..matrix.methods().len())
        .map(|m| means.iter().map(|row| row[m]).sum::<f64>() / means.len() as f64)
        .collect();
    let grand = mean(&malfunction_means);
    let square_sum = |values: &[f64]| {
        values
            .iter()
            .map(|value| (value - grand).powi(2))
            .sum::<f64>()
    };
    let mut interaction = 0.0;
    for (row, row_mean) in means.iter().zip(&malfunction_means) {
        for (cell, column_mean) in row.iter().zip(&method_means) {
            interaction += (cell - row_mean - column_mean + grand).powi(2);
        }
    }
    Some([
        means.len() as f64 * n * square_sum(&method_means),
        method_means.len() as f64 * n * square_sum(&malfunction_means),
        n * interaction,
    ])
}

fn centre(matrix: &Matrix) -> Matrix {
    let cells: Vec<Vec<Vec<f64>>> = matrix
        .cells()
        .iter()
        .map(|cells| {
            let group: Vec<f64> = cells.iter().flatten().copied().collect();
            let centre = mean(&group);
            cells
                .iter()
                .map(|cell| cell.iter().map(|score| score - centre).collect())
                .collect()
        })
        .collect();
    matrix.with_cells(cells)
}

/// SSE: squares around the mean of each cell.
fn within(matrix: &Matrix) -> f64 {
    let mut squares = 0.0;
    for cell in matrix.cells().iter().flatten() {
        let centre = mean(cell);
        squares += cell
            .iter()
            .map(|score| (score - centre).powi(2))
            .sum::<f64>();
    }
    squares
}
