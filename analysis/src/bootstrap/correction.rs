//! Knows how a BCa interval corrects its ends for bias and acceleration (Efron 1987), with a stratified jackknife.
//! Must not know how resamples are drawn.
//! Start at `Correction::new`.

use super::tails;
use crate::moments::{normal_lower_tail, normal_quantile};

/// The correction of a BCa interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correction {
    /// z0: the bias, in normal units.
    pub bias: f64,
    /// a: the acceleration.
    pub acceleration: f64,
}

impl Correction {
    /// z0 from `replicates`, a from a stratified jackknife: `left_out[k][i]` is the estimate without session i of cell k.
    pub fn new(estimate: f64, replicates: &[f64], left_out: &[Vec<f64>]) -> Self {
        // A resample that repeats the data may differ from the estimate in the last digit: then it ties.
        let room = 1e-12 * estimate.abs().max(1.0);
        let count = |ties: &dyn Fn(f64) -> bool| {
            replicates.iter().filter(|value| ties(**value)).count() as f64
        };
        let less = count(&|value| value < estimate - room);
        let equal = count(&|value| (value - estimate).abs() <= room);
        let (mut cubes, mut squares) = (0.0, 0.0);
        for cell in left_out {
            let n = cell.len() as f64;
            for value in cell {
                let influence = (n - 1.0) * (estimate - value) / n;
                cubes += influence.powi(3);
                squares += influence.powi(2);
            }
        }
        // Without influence there is none; beyond the range of floating point it is left at 0 too.
        let acceleration = cubes / squares.powf(1.5) / 6.0;
        Self {
            bias: normal_quantile((less + 0.5 * equal) / replicates.len() as f64),
            acceleration: if acceleration.is_finite() {
                acceleration
            } else {
                0.0
            },
        }
    }

    /// α' = Φ(z0 + (z0 + z)/(1 − a(z0 + z))) for both ends of a level.
    pub fn probabilities(&self, level: f64) -> [f64; 2] {
        tails(level).map(|tail| {
            let shifted = self.bias + normal_quantile(tail);
            let divisor = 1.0 - self.acceleration * shifted;
            // Past its pole the formula would turn back from the far end.
            if divisor <= 0.0 {
                return if shifted > 0.0 { 1.0 } else { 0.0 };
            }
            normal_lower_tail(self.bias + shifted / divisor)
        })
    }
}

/// Applies a statistic without each session in turn: `[k][i]` is its value without session i of cell k, as `Correction::new`
/// takes them. Every cell must have two sessions.
pub fn jackknife(cells: &[Vec<f64>], statistic: impl Fn(&[Vec<f64>]) -> f64) -> Vec<Vec<f64>> {
    (0..cells.len())
        .map(|cell| {
            (0..cells[cell].len())
                .map(|session| {
                    let mut fewer = cells.to_vec();
                    fewer[cell].remove(session);
                    statistic(&fewer)
                })
                .collect()
        })
        .collect()
}
