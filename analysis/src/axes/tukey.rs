//! Knows Tukey's one degree of freedom for nonadditivity: interaction that is a multiple of the product of main effects.
//! Must not know singular values.
//! Start at `tukey`.

use serde::{Deserialize, Serialize};

use super::means;
use crate::computed::{Computed, NotComputed};
use crate::interaction::{Matrix, Observed};
use crate::moments::{f_upper_tail, mean};

/// SS_1 = N·[Σ g_mk α_m β_k]²/(Σα²·Σβ²) (Tukey 1949), against both possible error terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tukey {
    /// SS_1, in squared score units.
    pub ss: f64,
    /// SS_1/MSE.
    pub f_error: Computed<f64>,
    /// P(F(1, df_E) > f_error).
    pub p_error: Computed<f64>,
    /// SS_1 against the rest of the interaction, (SS_I − SS_1)/(df_I − 1).
    pub f_remainder: Computed<f64>,
    /// P(F(1, df_I − 1) > f_remainder).
    pub p_remainder: Computed<f64>,
}

/// Computes SS_1 of a complete matrix, with N sessions per cell (or their harmonic mean; SS_I is then N·Σg²).
///
/// # Errors
/// No main effect of methods, or none of malfunctions.
pub(super) fn tukey(
    matrix: &Matrix,
    observed: &Observed,
    sessions: f64,
) -> Result<Tukey, NotComputed> {
    let methods = matrix.methods().len();
    let cells = means(matrix);
    let of_malfunctions: Vec<f64> = cells.chunks(methods).map(mean).collect();
    let grand = mean(&of_malfunctions);
    let beta: Vec<f64> = of_malfunctions.iter().map(|mean| mean - grand).collect();
    let mut alpha = vec![0.0; methods];
    for (group, level) in cells.chunks(methods).zip(&of_malfunctions) {
        for (effect, cell) in alpha.iter_mut().zip(group) {
            *effect += (cell - level) / beta.len() as f64;
        }
    }
    let squares = |effects: &[f64]| effects.iter().map(|effect| effect * effect).sum::<f64>();
    let (of_methods, of_levels) = (squares(&alpha), squares(&beta));
    let zeroed = |squares: f64| observed.zeroed(sessions * squares) / sessions;
    if zeroed(of_methods) == 0.0 || zeroed(of_levels) == 0.0 {
        return Err(NotComputed::because(
            "a main effect is missing, so that there is no product of main effects",
        ));
    }
    let (mut contrast, mut interaction) = (0.0, 0.0);
    for ((group, level), beta) in cells.chunks(methods).zip(&of_malfunctions).zip(&beta) {
        for (cell, alpha) in group.iter().zip(&alpha) {
            let g = cell - level - alpha;
            interaction += g * g;
            contrast += g * alpha * beta;
        }
    }
    let ss = sessions * (contrast / of_methods.sqrt() / of_levels.sqrt()).powi(2);
    let remainder = observed.zeroed(sessions * interaction - ss);
    let design = &observed.design;
    let rest = design.df_interaction - 1;
    let f_error: Computed<f64> = design.mse(observed.sse).map(|mse| ss / mse).into();
    let f_remainder = if rest > 0 && remainder > 0.0 {
        Computed::Value(ss / (remainder / rest as f64))
    } else {
        Computed::absent("nothing is left of the interaction")
    };
    let tail = |f: &Computed<f64>, df: usize| {
        f.clone()
            .map(|f| f_upper_tail(f, 1.0, df as f64).max(f64::MIN_POSITIVE))
    };
    Ok(Tukey {
        ss,
        p_error: tail(&f_error, design.df_error),
        p_remainder: tail(&f_remainder, rest),
        f_error,
        f_remainder,
    })
}
