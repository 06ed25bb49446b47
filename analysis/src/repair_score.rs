//! Knows what a repair is worth: the score between broken and clean performance, and when a gap between them may be used.
//! Must not know how performance is measured.
//! Start at `Gap::admit` and `RepairScore::of`.

use serde::{Deserialize, Serialize};

/// Gaps no wider than this are never divided by.
const NO_GAP: f64 = 1e-9;

/// How many of its standard errors a gap must reach, unless a plan says otherwise.
pub const GAP_STANDARD_ERRORS: f64 = 5.0;

/// The value of one repair: 0 = as broken, 1 = as clean; unit-free.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RepairScore {
    raw: f64,
    clipped: f64,
}

/// Why a repair has no score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScoreError {
    /// A performance is NaN or infinite.
    #[error("a performance is not finite")]
    NotFinite,
    /// Clean is not above broken; the sign is never flipped.
    #[error("clean performance is not above broken performance")]
    Inverted,
}

impl RepairScore {
    /// raw = (P_post − P_broken)/(P_clean − P_broken), and its limit to [0, 1]; performances in one unit.
    ///
    /// # Errors
    /// A performance that is not finite, or a clean performance that is not above the broken one.
    pub fn of(post: f64, clean: f64, broken: f64) -> Result<Self, ScoreError> {
        if ![post, clean, broken].iter().all(|value| value.is_finite()) {
            return Err(ScoreError::NotFinite);
        }
        if clean - broken <= NO_GAP {
            return Err(ScoreError::Inverted);
        }
        let raw = (post - broken) / (clean - broken);
        if !raw.is_finite() {
            return Err(ScoreError::NotFinite);
        }
        Ok(Self {
            raw,
            clipped: raw.clamp(0.0, 1.0),
        })
    }

    /// The score of a session that ended without an accepted submission: exactly 0 (intent to treat).
    pub fn unrepaired() -> Self {
        Self {
            raw: 0.0,
            clipped: 0.0,
        }
    }

    /// The score without limits.
    pub fn raw(self) -> f64 {
        self.raw
    }

    /// The score limited to [0, 1].
    pub fn clipped(self) -> f64 {
        self.clipped
    }
}

/// The performance of one reference over training seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReferencePerformance {
    /// Mean over training seeds.
    pub mean: f64,
    /// Its standard error: standard deviation over seeds by the root of their number.
    pub standard_error: f64,
}

impl ReferencePerformance {
    /// Summarises one performance per training seed; `None` for fewer than two seeds.
    pub fn over_seeds(performances: &[f64]) -> Option<Self> {
        let count = performances.len();
        if count < 2 {
            return None;
        }
        let standard_error = (crate::moments::variance(performances) / count as f64).sqrt();
        Some(Self {
            mean: crate::moments::mean(performances),
            standard_error,
        })
    }
}

/// An admitted gap between clean and broken performance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// g = P_clean − P_broken, in units of performance.
    pub value: f64,
    /// SE(g) = sqrt(SE_clean² + SE_broken²).
    pub standard_error: f64,
}

/// Why a malfunction is not admitted.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum GapRefused {
    /// A number is NaN or infinite, or a standard error is negative.
    #[error("not finite")]
    NotFinite,
    /// Clean is not above broken.
    #[error("inverted: the gap is {gap}")]
    Inverted {
        /// g.
        gap: f64,
    },
    /// The gap may be noise.
    #[error("below {}: the gap {gap} is {:.2} of its standard errors", multiple(*.required), gap / standard_error)]
    BelowStandardErrors {
        /// g.
        gap: f64,
        /// SE(g).
        standard_error: f64,
        /// How many standard errors are asked for.
        required: f64,
    },
    /// The gap is too small to matter.
    #[error("below the minimal gap: the gap {gap} is under {min_gap}")]
    BelowMinimalGap {
        /// g.
        gap: f64,
        /// The malfunction's own minimum.
        min_gap: f64,
    },
}

fn multiple(required: f64) -> String {
    if required == GAP_STANDARD_ERRORS {
        "five standard errors".to_owned()
    } else {
        format!("{required} standard errors")
    }
}

impl Gap {
    /// Admits a malfunction for all methods at once: g > 0, g ≥ 5·SE(g), g ≥ `min_gap`.
    ///
    /// # Errors
    /// The first condition that fails.
    pub fn admit(
        clean: ReferencePerformance,
        broken: ReferencePerformance,
        min_gap: f64,
    ) -> Result<Self, GapRefused> {
        Self::admit_at(clean, broken, min_gap, GAP_STANDARD_ERRORS)
    }

    /// As `admit`, with another multiple of the standard error.
    ///
    /// # Errors
    /// The first condition that fails.
    pub fn admit_at(
        clean: ReferencePerformance,
        broken: ReferencePerformance,
        min_gap: f64,
        required: f64,
    ) -> Result<Self, GapRefused> {
        let gap = clean.mean - broken.mean;
        let standard_error = clean.standard_error.hypot(broken.standard_error);
        let negative = clean.standard_error < 0.0 || broken.standard_error < 0.0;
        if !gap.is_finite() || !standard_error.is_finite() || !min_gap.is_finite() || negative {
            return Err(GapRefused::NotFinite);
        }
        if gap <= NO_GAP {
            return Err(GapRefused::Inverted { gap });
        }
        if gap < required * standard_error {
            return Err(GapRefused::BelowStandardErrors {
                gap,
                standard_error,
                required,
            });
        }
        if gap < min_gap {
            return Err(GapRefused::BelowMinimalGap { gap, min_gap });
        }
        Ok(Self {
            value: gap,
            standard_error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(mean: f64, standard_error: f64) -> ReferencePerformance {
        ReferencePerformance {
            mean,
            standard_error,
        }
    }

    #[test]
    fn clipping_hides_harm_but_raw_keeps_it() {
        let score = RepairScore::of(0.0, 10.0, 2.0).unwrap();
        assert_eq!((score.raw(), score.clipped()), (-0.25, 0.0));
    }

    #[test]
    fn each_refused_gap_says_why() {
        let admit = |clean, broken, min_gap| Gap::admit(clean, broken, min_gap);
        let message = |result: Result<Gap, GapRefused>| result.unwrap_err().to_string();
        assert!(
            message(admit(reference(1.0, 0.1), reference(2.0, 0.1), 0.5)).starts_with("inverted")
        );
        assert!(
            message(admit(reference(2.0, 0.2), reference(1.0, 0.2), 0.5))
                .starts_with("below five standard errors")
        );
        assert!(
            message(admit(reference(2.0, 0.1), reference(1.0, 0.1), 1.5))
                .starts_with("below the minimal gap")
        );
        assert_eq!(
            message(admit(reference(f64::NAN, 0.1), reference(1.0, 0.1), 0.5)),
            "not finite"
        );
        assert!(
            message(admit(reference(1.0, 0.0), reference(1.0, 0.0), 0.0)).starts_with("inverted")
        );
        let gap = admit(reference(2.0, 0.03), reference(1.0, 0.04), 0.5).unwrap();
        assert!((gap.standard_error - 0.05).abs() < 1e-15);
    }
}
