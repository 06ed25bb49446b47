//! Knows the performance of an agent: the returns of its scored episodes.
//! Must not know how they were measured, nor the repair score made of them.
//! Start at `Performance::new`.

use serde::{Deserialize, Serialize};

/// Returns that are no performance.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PerformanceError {
    /// No episode at all.
    #[error("performance needs at least one episode")]
    Empty,
    /// A return that is not a finite number.
    #[error("return of episode {episode} is {value}, not a finite number")]
    NotFinite {
        /// Which episode.
        episode: usize,
        /// The value found.
        value: f64,
    },
}

/// Episode returns of one agent, all finite, at least one; return units of the environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct Performance {
    returns: Vec<f64>,
}

impl Performance {
    /// Accepts the returns of all episodes.
    ///
    /// # Errors
    /// No episode, or a return that is not finite.
    pub fn new(returns: Vec<f64>) -> Result<Self, PerformanceError> {
        if returns.is_empty() {
            return Err(PerformanceError::Empty);
        }
        if let Some((episode, value)) = returns
            .iter()
            .copied()
            .enumerate()
            .find(|(_, value)| !value.is_finite())
        {
            return Err(PerformanceError::NotFinite { episode, value });
        }
        Ok(Self { returns })
    }

    /// Return of each episode, in episode order.
    #[must_use]
    pub fn returns(&self) -> &[f64] {
        &self.returns
    }

    /// Mean return.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.returns.iter().sum::<f64>() / self.returns.len() as f64
    }

    /// Standard error of the mean (n − 1 denominator); 0 for one episode.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        let count = self.returns.len() as f64;
        if self.returns.len() < 2 {
            return 0.0;
        }
        let mean = self.mean();
        let squares: f64 = self
            .returns
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum();
        (squares / (count - 1.0) / count).sqrt()
    }
}

impl TryFrom<Vec<f64>> for Performance {
    type Error = PerformanceError;
    fn try_from(returns: Vec<f64>) -> Result<Self, PerformanceError> {
        Self::new(returns)
    }
}

impl From<Performance> for Vec<f64> {
    fn from(performance: Performance) -> Self {
        performance.returns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_episode_and_no_finite_number_are_no_performance() {
        assert_eq!(Performance::new(vec![]), Err(PerformanceError::Empty));
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = Performance::new(vec![0.0, value]).unwrap_err();
            assert!(matches!(
                error,
                PerformanceError::NotFinite { episode: 1, .. }
            ));
        }
    }

    #[test]
    fn the_standard_error_is_the_textbook_one() {
        let performance = Performance::new(vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((performance.mean() - 2.5).abs() < 1e-12);
        assert!((performance.standard_error() - (5.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
    }
}
