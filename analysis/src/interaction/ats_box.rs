//! Knows the ANOVA-type statistic of interaction with Box's degrees of freedom, which let variances differ between cells.
//! Must not know null data.
//! Start at `ats_box`.

use super::matrix::Matrix;
use crate::computed::NotComputed;
use crate::moments::{f_upper_tail, variance};

/// F_I against F(f1, f2) with f1 = tr(TV)²/tr(TVTV), f2 = (Σs_c²)²/Σ(s_c⁴/(N − 1)), T = (I_M − J/M) ⊗ (I_K − J/K) and
/// V = diag(s_c²) (Box 1954; Brunner, Dette and Munk 1997).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AtsBox {
    /// Degrees of freedom of the numerator.
    pub f1: f64,
    /// Degrees of freedom of the denominator.
    pub f2: f64,
    /// P(F(f1, f2) > F_I).
    pub p: f64,
}

/// Computes the degrees of freedom and the tail of an observed F_I.
///
/// # Errors
/// Cells of different sizes or of one session, or no variation within cells.
pub fn ats_box(matrix: &Matrix, f: f64) -> Result<AtsBox, NotComputed> {
    let sessions = matrix
        .balanced()
        .ok_or_else(|| NotComputed::because("cells have different numbers of sessions"))?;
    if sessions < 2 {
        return Err(NotComputed::because(
            "one session in every cell leaves no error term",
        ));
    }
    let (methods, malfunctions) = (matrix.methods().len(), matrix.malfunctions().len());
    let variances: Vec<Vec<f64>> = matrix
        .cells()
        .iter()
        .map(|cells| cells.iter().map(|cell| variance(cell)).collect())
        .collect();
    let largest = variances.iter().flatten().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return Err(NotComputed::because("sessions do not vary within cells"));
    }
    // Only ratios of variances matter.
    let shares: Vec<f64> = variances.iter().flatten().map(|s| s / largest).collect();
    let centring = |size: usize, equal: bool| f64::from(u8::from(equal)) - 1.0 / size as f64;
    let diagonal = centring(methods, true) * centring(malfunctions, true);
    let sum: f64 = shares.iter().sum();
    let mut squares = 0.0;
    for (one, share) in shares.iter().enumerate() {
        for (other, other_share) in shares.iter().enumerate() {
            let entry = centring(methods, one % methods == other % methods)
                * centring(malfunctions, one / methods == other / methods);
            squares += entry * entry * share * other_share;
        }
    }
    let f1 = (diagonal * sum).powi(2) / squares;
    let fourth: f64 = shares.iter().map(|share| share * share).sum();
    let f2 = sum * sum * (sessions - 1) as f64 / fourth;
    Ok(AtsBox {
        f1,
        f2,
        p: f_upper_tail(f, f1, f2),
    })
}
