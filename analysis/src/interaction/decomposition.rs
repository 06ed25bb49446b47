//! Knows the observed sums of squares of H1 and what follows from them without randomness.
//! Must not know null data.
//! Start at `Observed::new`.

use super::design::{Design, Sums, cell_sums};
use super::matrix::Matrix;
use super::result::Decomposition;
use crate::computed::{Computed, NotComputed};
use crate::moments::{f_upper_tail, mean};

/// Scores beyond this, or spread less than its reciprocal, have fourth powers that a float cannot hold.
const LARGEST_SCORE: f64 = 1e60;

/// A matrix, centred within each malfunction, with its design and observed sums of squares.
#[derive(Debug, Clone)]
pub(crate) struct Observed {
    /// Scores minus the mean of their malfunction: no statistic of H1 changes, and sums of squares keep their digits.
    pub(crate) centred: Matrix,
    pub(crate) design: Design,
    pub(crate) sums: Sums,
    pub(crate) sse: f64,
    /// SS_T = Σ(Y − Ȳ)².
    pub(crate) total: f64,
    /// Σ of squares of the centred scores.
    pub(crate) squares: f64,
}

impl Observed {
    /// Fits the additive model and the cells.
    ///
    /// # Errors
    /// A design without interaction, or scores too large or too close together to be squared.
    pub(crate) fn new(matrix: &Matrix) -> Result<Self, NotComputed> {
        let design = Design::new(matrix)?;
        let total = total(matrix)?;
        Ok(Self::of(design, centre(matrix), total))
    }

    fn of(design: Design, centred: Matrix, total: f64) -> Self {
        let sse = within(&centred);
        let squares = centred.scores().map(|score| score * score).sum();
        let sums = design.sums(&cell_sums(&centred), &mut vec![0.0; design.methods]);
        let mut observed = Self {
            centred,
            design,
            sums,
            sse,
            total,
            squares,
        };
        observed.sse = observed.zeroed(sse);
        observed.sums.interaction = observed.zeroed(sums.interaction);
        observed.sums.any = observed.zeroed(sums.any);
        observed
    }

    /// The same design with the residuals Y − (μ_k + α_m) of the additive fit in place of the scores.
    pub(crate) fn additive_residuals(&self) -> Self {
        let fit = self.design.additive_fit(&cell_sums(&self.centred));
        let mut fitted = fit.iter();
        let residuals = self.centred.map_cells(|cell| {
            let fitted = fitted.next().copied().unwrap_or(0.0);
            cell.iter().map(|score| score - fitted).collect()
        });
        // Residuals add up to 0 within each malfunction but for rounding, which centring removes.
        Self::of(self.design.clone(), centre(&residuals), self.total)
    }

    /// A sum of squares, or 0 where it is only rounding.
    pub(crate) fn zeroed(&self, squares: f64) -> f64 {
        if squares <= 1e-12 * self.total {
            0.0
        } else {
            squares
        }
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
            ss_total: self.total,
            df_interaction: design.df_interaction as u64,
            df_method_and_interaction: design.df_any as u64,
            df_error: design.df_error as u64,
            f_interaction: design.f(sums.interaction, *sse).into(),
            p_any_parametric: design
                .f_any(sums.any, *sse)
                .map(|f| {
                    f_upper_tail(f, design.df_any as f64, design.df_error as f64)
                        .max(f64::MIN_POSITIVE)
                })
                .into(),
            f_any: design.f_any(sums.any, *sse).into(),
            partial_omega_squared: mse.clone().map(|mse| {
                (sums.interaction - df * mse) / (sums.interaction + (sessions - df) * mse)
            }),
            variance_of_interaction: match (&mse, matrix.balanced()) {
                (Computed::Value(mse), Some(n)) => {
                    Computed::Value((sums.interaction / df - mse) / n as f64)
                }
                (Computed::NotComputed(reason), _) => Computed::NotComputed(reason.clone()),
                _ => Computed::NotComputed(unbalanced()),
            },
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

/// Σ(Y − Ȳ)².
fn total(matrix: &Matrix) -> Result<f64, NotComputed> {
    if matrix.scores().any(|score| score.abs() > LARGEST_SCORE) {
        return Err(NotComputed::because(format!(
            "a score is larger than {LARGEST_SCORE:e}, too large to be squared twice"
        )));
    }
    // Taken from the first score, equal scores differ by nothing at all.
    let first = matrix.scores().next().unwrap_or(0.0);
    let scores: Vec<f64> = matrix.scores().map(|score| score - first).collect();
    let grand = mean(&scores);
    let spread = scores
        .iter()
        .map(|score| (score - grand).abs())
        .fold(0.0, f64::max);
    if spread > 0.0 && spread < 1.0 / LARGEST_SCORE {
        return Err(NotComputed::because(format!(
            "scores differ by less than {:e}, too little to be squared twice",
            1.0 / LARGEST_SCORE
        )));
    }
    Ok(scores.iter().map(|score| (score - grand).powi(2)).sum())
}

fn centre(matrix: &Matrix) -> Matrix {
    let cells: Vec<Vec<Vec<f64>>> = matrix
        .cells()
        .iter()
        .map(|cells| {
            // Taken from the first score, equal scores become exactly 0.
            let first = cells.iter().flatten().next().copied().unwrap_or(0.0);
            let group: Vec<f64> = cells.iter().flatten().map(|score| score - first).collect();
            let centre = mean(&group);
            cells
                .iter()
                .map(|cell| cell.iter().map(|score| score - first - centre).collect())
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
