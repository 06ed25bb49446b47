//! Knows the analytic power of a two-sample comparison, and the variance that a pilot lets one plan with.
//! Must not know simulation.
//! Start at `two_sample_t_power` and `pilot_variance`.

use serde::{Deserialize, Serialize};

use crate::computed::NotComputed;
use crate::moments::{chi_squared_quantile, mean, t_quantile};
use crate::noncentral_t;

/// The share of its distribution at which the upper bound of a pilot variance divides: an 80 % bound.
const PILOT_TAIL: f64 = 0.20;
/// The numbers of sessions per arm that power is computed for.
const SESSIONS: [f64; 2] = [1.5, 100_000.0];

/// Why a question about power has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PowerError {
    /// An effect that is not finite, or not above 0 where a number of sessions is asked for.
    #[error("effect d {0} is not {1}")]
    Effect(f64, &'static str),
    /// An α that is none.
    #[error("alpha {0} is not strictly between 0 and 1")]
    Alpha(f64),
    /// A power that is none.
    #[error("power {0} is not strictly between alpha and 1")]
    Power(f64),
    /// Too few sessions for a variance, or too many for its distribution.
    #[error("{0} sessions per arm do not lie between 1.5 and 100000")]
    Sessions(f64),
    /// No number of sessions up to the largest suffices.
    #[error("no number of sessions up to {0} reaches the power")]
    OutOfReach(f64),
}

/// Power of the one-sided two-sample t test: P(t'(2n − 2, d·sqrt(n/2)) > t_{1−α, 2n−2}).
///
/// `d` is the difference in standard deviations, `n` the sessions per arm (a real number from 1.5 to 100,000). The equation is the
/// textbook one for two independent normal samples of equal variance (Cohen 1988, chapter 2).
///
/// # Errors
/// An argument outside its range.
pub fn two_sample_t_power(d: f64, n: f64, alpha: f64) -> Result<f64, PowerError> {
    if !d.is_finite() {
        return Err(PowerError::Effect(d, "finite"));
    }
    if !(SESSIONS[0]..=SESSIONS[1]).contains(&n) {
        return Err(PowerError::Sessions(n));
    }
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(PowerError::Alpha(alpha));
    }
    let df = 2.0 * n - 2.0;
    let critical = t_quantile(1.0 - alpha, df);
    let lower = noncentral_t::lower_tail(critical, df, d * (n / 2.0).sqrt());
    // A critical value beyond the range of floats cannot be exceeded.
    Ok(lower.map_or(0.0, |lower| 1.0 - lower))
}

/// The real number n of sessions per arm at which `two_sample_t_power` equals `power`, by bisection; 1.5 where fewer would
/// suffice.
///
/// # Errors
/// An argument outside its range, or no such n up to 100,000.
pub fn two_sample_t_sessions(d: f64, alpha: f64, power: f64) -> Result<f64, PowerError> {
    if !(d.is_finite() && d > 0.0) {
        return Err(PowerError::Effect(d, "finite and above 0"));
    }
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(PowerError::Alpha(alpha));
    }
    if !(power > alpha && power < 1.0) {
        return Err(PowerError::Power(power));
    }
    let enough = |n: f64| two_sample_t_power(d, n, alpha).map(|reached| reached >= power);
    let [mut low, mut high] = SESSIONS;
    if enough(low)? {
        return Ok(low);
    }
    if !enough(high)? {
        return Err(PowerError::OutOfReach(high));
    }
    while high - low > 1e-12 * high {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

/// The variance within cells of a pilot, and what to plan with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PilotVariance {
    /// Cells with two sessions or more.
    pub cells: u64,
    /// ν = Σ(N_mk − 1).
    pub df: u64,
    /// σ̂, pooled, in score units.
    pub sd: f64,
    /// sqrt(σ̂²ν/χ²_{.20, ν}): the upper 80 % bound of σ, which planning uses.
    pub upper_sd: f64,
}

/// Pools the variance within cells: σ̂² = Σ(Y − c_mk)²/ν with ν = Σ(N_mk − 1), and its upper bound σ̂²ν/χ²_{.20, ν}
/// (the exact bound for normal noise). `cells` are the sessions of each cell; cells of one session add nothing.
///
/// # Errors
/// A score that is not finite, no cell of two sessions, or no variation.
pub fn pilot_variance(cells: &[Vec<f64>]) -> Result<PilotVariance, NotComputed> {
    if cells.iter().flatten().any(|score| !score.is_finite()) {
        return Err(NotComputed::because("a score is not finite"));
    }
    let repeated = || cells.iter().filter(|cell| cell.len() >= 2);
    let df: usize = repeated().map(|cell| cell.len() - 1).sum();
    if df == 0 {
        return Err(NotComputed::because(
            "no cell of the pilot has two sessions",
        ));
    }
    let squares: f64 = repeated()
        .map(|cell| {
            let centre = mean(cell);
            cell.iter()
                .map(|score| (score - centre).powi(2))
                .sum::<f64>()
        })
        .sum();
    if !squares.is_finite() {
        return Err(NotComputed::because(
            "the scores of the pilot are too large",
        ));
    }
    if squares <= 0.0 {
        return Err(NotComputed::because(
            "sessions of the pilot do not vary within cells",
        ));
    }
    Ok(PilotVariance {
        cells: repeated().count() as u64,
        df: df as u64,
        sd: (squares / df as f64).sqrt(),
        upper_sd: (squares / chi_squared_quantile(PILOT_TAIL, df as f64)).sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn five_degrees_of_freedom_raise_the_standard_deviation_by_the_published_factor() {
        let pilot = pilot_variance(&[vec![0.1, 0.5, 0.3, 0.9, 0.2, 0.7], vec![0.4]]).unwrap();
        assert_eq!((pilot.cells, pilot.df), (1, 5));
        assert!((pilot.upper_sd / pilot.sd - 1.461).abs() < 5e-4);
    }

    #[test]
    fn a_pilot_without_repetition_or_variation_says_so() {
        let reason = |cells: &[Vec<f64>]| pilot_variance(cells).unwrap_err().0;
        assert!(reason(&[vec![0.5]]).contains("two sessions"));
        assert!(reason(&[vec![0.5, 0.5]]).contains("do not vary"));
        assert!(reason(&[vec![0.5, f64::NAN]]).contains("not finite"));
    }

    #[test]
    fn questions_without_an_answer_are_refused() {
        assert!(matches!(
            two_sample_t_sessions(0.0, 0.05, 0.8),
            Err(PowerError::Effect(..))
        ));
        assert!(matches!(
            two_sample_t_sessions(1.0, 0.0, 0.8),
            Err(PowerError::Alpha(_))
        ));
        assert!(matches!(
            two_sample_t_sessions(1.0, 0.05, 1.0),
            Err(PowerError::Power(_))
        ));
        assert!(matches!(
            two_sample_t_power(1.0, 1.0, 0.05),
            Err(PowerError::Sessions(_))
        ));
        assert!(matches!(
            two_sample_t_sessions(1e-9, 0.05, 0.8),
            Err(PowerError::OutOfReach(_))
        ));
    }

    proptest! {
        #[test]
        fn the_solved_number_reaches_the_power(d in 0.2..5.0_f64, alpha in 1e-4..0.2_f64, power in 0.3..0.99_f64) {
            let n = two_sample_t_sessions(d, alpha, power).unwrap();
            prop_assert!(n == 1.5 || (two_sample_t_power(d, n, alpha).unwrap() - power).abs() < 1e-7);
        }

        #[test]
        fn no_finite_input_panics(d in proptest::num::f64::NORMAL, n in 0.0..1e6_f64, alpha in -0.5..1.5_f64) {
            if let Ok(power) = two_sample_t_power(d, n, alpha) {
                prop_assert!((0.0..=1.0).contains(&power));
            }
        }
    }
}
