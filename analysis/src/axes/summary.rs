//! Knows what the axes of a matrix describe beside the verdict: shares, what lies beyond the first, Tukey's degree of freedom.
//! Must not know the steps of the verdict.
//! Start at `summary`.

use serde::{Deserialize, Serialize};

use super::tukey::{Tukey, tukey};
use super::{Axes, cleaned, means};
use crate::computed::{Computed, NotComputed};
use crate::interaction::{Matrix, Observed, column_centred};
use crate::moments::f_upper_tail;
use crate::plan::AnalysisPlan;
use crate::randomness::Streams;

/// The axes of the malfunctions without an empty cell; descriptive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AxesSummary {
    /// Malfunctions left out, because a cell is empty.
    pub left_out: Vec<String>,
    /// N: sessions per cell, or the harmonic mean of them.
    pub sessions_per_cell: f64,
    /// Whether N is a harmonic mean of unequal numbers.
    pub harmonic: bool,
    /// Singular values s_j of C_mk = c_mk − c_.k, descending, in score units.
    pub singular_values: Vec<f64>,
    /// s_1²/Σs²; says nothing without `first_share_under_noise`.
    pub first_share: Computed<f64>,
    /// The mean of `first_share` under `wild` null data: what noise alone gives.
    pub first_share_under_noise: Computed<f64>,
    /// F_2 with the tail of its F distribution; absent where M = 2.
    pub beyond_first: Computed<BeyondFirst>,
    /// Singular values of g_mk = c_mk − c_m. − c_.k + c_.., descending, in score units.
    pub interaction_singular_values: Vec<f64>,
    /// The share of the first of them in their squares.
    pub interaction_first_share: Computed<f64>,
    /// Tukey's one degree of freedom.
    pub tukey: Computed<Tukey>,
}

/// What is left beyond the first axis, by the F distribution; the verdict uses a bootstrap in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BeyondFirst {
    /// F_2 = [N·Σ_{j≥2} s_j²/((M − 2)(K − 1))]/MSE.
    pub f: f64,
    /// (M − 2)(K − 1).
    pub df: u64,
    /// P(F(df, df_E) > F_2): approximate, because the first axis was fitted to the same data.
    pub p_approximate: f64,
}

/// Describes the malfunctions without an empty cell.
///
/// # Errors
/// Fewer than two such malfunctions, or scores that cannot be squared.
pub(crate) fn summary(
    whole: &Matrix,
    plan: &AnalysisPlan,
    noise: &Streams,
) -> Result<AxesSummary, NotComputed> {
    let (matrix, left_out) = whole.complete_part();
    let observed = Observed::new(&matrix)?;
    let axes = Axes::new(&matrix)?;
    let beyond_first = axes.f_beyond_first(&matrix).map(|(f, df)| BeyondFirst {
        f,
        df,
        p_approximate: f_upper_tail(f, df as f64, observed.design.df_error as f64)
            .max(f64::MIN_POSITIVE),
    });
    let methods = matrix.methods().len();
    let mut interaction = column_centred(methods, &means(&matrix));
    let main: Vec<f64> = interaction.row_iter().map(|row| row.mean()).collect();
    for (mut row, effect) in interaction.row_iter_mut().zip(&main) {
        row.add_scalar_mut(-effect);
    }
    let values = cleaned(interaction.singular_values().as_slice(), &matrix);
    let all: f64 = values.iter().map(|value| value * value).sum();
    Ok(AxesSummary {
        left_out,
        sessions_per_cell: axes.sessions_per_cell,
        harmonic: matrix.balanced().is_none(),
        first_share: axes.first_share().into(),
        first_share_under_noise: axes.share_under_noise(&matrix, plan, noise).into(),
        singular_values: axes.singular_values.clone(),
        beyond_first: beyond_first.into(),
        interaction_first_share: if all > 0.0 {
            Computed::Value(values[0].powi(2) / all)
        } else {
            Computed::absent("cell means are additive")
        },
        interaction_singular_values: values,
        tukey: tukey(&matrix, &observed, axes.sessions_per_cell).into(),
    })
}
