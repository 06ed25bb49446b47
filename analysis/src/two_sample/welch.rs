//! Knows Welch's test of two means.
//! Must not know permutations.
//! Start at `welch`.

use super::Alternative;
use crate::computed::{NotComputed, finite};
use crate::estimate::PValue;
use crate::moments::{mean, t_lower_tail, variance};

/// Welch's test with Satterthwaite degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// mean(first) − mean(second).
    pub difference: f64,
    /// Standard error of the difference.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub df: f64,
}

impl Welch {
    /// P(T ≤ t): the one-sided p-value of `less`.
    pub fn p_less(&self) -> PValue {
        self.p(Alternative::Less)
    }

    /// P(T ≤ t), P(T ≥ t), or twice the smaller one.
    pub fn p(&self, alternative: Alternative) -> PValue {
        let t = self.difference / self.standard_error;
        let tail = |t: f64| PValue::from_distribution(t_lower_tail(t, self.df));
        alternative.choose(|| tail(t), || tail(-t))
    }
}

/// Compares two means with unequal variances: t = (x̄ − ȳ)/sqrt(s_x²/N + s_y²/N0) (Welch 1947).
///
/// # Errors
/// A sample of fewer than two, no variation in both, or scores too large to square.
pub fn welch(first: &[f64], second: &[f64]) -> Result<Welch, NotComputed> {
    if first.len() < 2 || second.len() < 2 {
        return Err(NotComputed::because("fewer than two sessions in an arm"));
    }
    let terms = [first, second].map(|sample| {
        let n = sample.len() as f64;
        (variance(sample) / n, n - 1.0)
    });
    let sum: f64 = terms.iter().map(|(variance, _)| variance).sum();
    if sum <= 1e-24 {
        return Err(NotComputed::because("no variation in both arms"));
    }
    let squares: f64 = terms
        .iter()
        .map(|(variance, df)| variance * variance / df)
        .sum();
    Ok(Welch {
        difference: finite(mean(first) - mean(second))?,
        standard_error: finite(sum.sqrt())?,
        df: finite(sum * sum / squares)?,
    })
}
