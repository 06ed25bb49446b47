//! Knows the figures by which a malfunction enters the catalogue, and the rules they must meet.
//! Must not know how performances are measured.
//! Start at `Figures::of`.

use evalxrl_analysis::repair_score::ReferencePerformance;

/// Fewest training seeds of an admission.
pub const FEWEST_SEEDS: usize = 10;

/// What two lists of agents and random play say of a malfunction; performances in return units.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Clean agents: mean and its standard error over training seeds.
    pub clean: ReferencePerformance,
    /// Broken agents, the same seeds.
    pub broken: ReferencePerformance,
    /// Uniform random actions.
    pub p_random: f64,
    /// (P_clean − P_broken)/(P_clean − P_random).
    pub gap_over_span: f64,
    /// Probability that a clean agent beats a broken one, ties counted half.
    pub clean_beats_broken: f64,
    /// Gap in its own standard errors; infinite when agents of a kind are all equal.
    pub gap_over_error: f64,
    /// Share of broken agents above random play.
    pub above_random: f64,
}

/// What is asked of a malfunction beside its figures.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Further {
    /// Mean raw repair score of clean agents from other seeds.
    pub repaired: Option<f64>,
    /// Best raw score of agents trained with the fault left in and one quantity tuned.
    pub tuned: Option<f64>,
    /// Processor time of broken over clean training; nothing when the fault trains nothing.
    pub training_time: Option<f64>,
}

impl Further {
    /// The rules that are not met, each with its figure.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if self
            .repaired
            .is_some_and(|score| score < 0.95 || score.is_nan())
        {
            let score = self.repaired.unwrap_or_default();
            refusals.push(Refusal::new(
                "A5",
                format!("repaired and retrained agents score {score:.3}, below 0.95"),
            ));
        }
        if let Some(score) = self.tuned.filter(|score| *score >= 0.9) {
            refusals.push(Refusal::new(
                "A7",
                format!("tuning alone repairs it: {score:.3} is not below 0.9"),
            ));
        }
        if let Some(ratio) = self.training_time.filter(|ratio| takes_other_time(*ratio)) {
            refusals.push(Refusal::new(
                "time",
                format!("training takes {ratio:.2} of the clean processor time, beyond ±20 %"),
            ));
        }
        refusals
    }
}

/// Whether a ratio of training times lies beyond what a fault may show.
#[must_use]
pub fn takes_other_time(ratio: f64) -> bool {
    !(0.8..=1.2).contains(&ratio)
}

/// A rule that is not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The rule, as in the guide.
    pub rule: &'static str,
    /// Its figure.
    pub why: String,
}

impl Refusal {
    pub(super) fn new(rule: &'static str, why: String) -> Self {
        Self { rule, why }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.rule, self.why)
    }
}

/// Agents whose figures cannot be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoFigures {
    /// A standard error needs two.
    #[error("fewer than two training seeds")]
    TooFewSeeds,
    /// Clean and broken agents come from other seeds.
    #[error("clean and broken agents differ in number")]
    Unequal,
    /// The span is zero.
    #[error("clean agents are no better than random play by any measurable amount")]
    NoSpan,
}

impl Figures {
    /// Computes the figures from one mean return per training seed.
    ///
    /// # Errors
    /// Too few seeds, unequal lists, or no span to divide by.
    pub fn of(clean: &[f64], broken: &[f64], p_random: f64) -> Result<Self, NoFigures> {
        if clean.len() != broken.len() {
            return Err(NoFigures::Unequal);
        }
        let over = |list| ReferencePerformance::over_seeds(list).ok_or(NoFigures::TooFewSeeds);
        let (first, second) = (over(clean)?, over(broken)?);
        let gap = first.mean - second.mean;
        let span = first.mean - p_random;
        if span < 1e-12 {
            return Err(NoFigures::NoSpan);
        }
        let error = first.standard_error.hypot(second.standard_error);
        let wins: f64 = clean
            .iter()
            .flat_map(|c| broken.iter().map(move |b| (c, b)))
            .map(|(c, b)| {
                if c > b {
                    1.0
                } else if c == b {
                    0.5
                } else {
                    0.0
                }
            })
            .sum();
        let above = broken.iter().filter(|b| **b > p_random).count();
        Ok(Self {
            clean: first,
            broken: second,
            p_random,
            gap_over_span: gap / span,
            clean_beats_broken: wins / (clean.len() * broken.len()) as f64,
            // Agents that are all equal and none apart: no gap in any error.
            gap_over_error: if gap == 0.0 { 0.0 } else { gap / error },
            above_random: above as f64 / broken.len() as f64,
        })
    }

    /// P_clean − P_broken.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.clean.mean - self.broken.mean
    }

    /// The raw repair score of a performance; nothing without a gap to divide by.
    #[must_use]
    pub fn score(&self, performance: f64) -> Option<f64> {
        let gap = self.gap();
        (gap.abs() > 1e-12).then(|| (performance - self.broken.mean) / gap)
    }

    /// Whether the broken agents play no better than chance (A6).
    #[must_use]
    pub fn is_floor(&self) -> bool {
        self.above_random < 0.5
    }

    /// Whether the gap is too small a part of the span (A1).
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.gap_over_span < 0.25 || self.gap_over_span.is_nan()
    }

    /// The rules A1 to A3 that are not met, each with its figure.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if self.is_small() {
            refusals.push(Refusal::new(
                "A1",
                format!("gap/span {:.3} is below 0.25", self.gap_over_span),
            ));
        }
        if self.clean_beats_broken <= 0.95 {
            let share = self.clean_beats_broken;
            refusals.push(Refusal::new(
                "A2",
                format!(
                    "a clean agent beats a broken one with probability {share:.3}, not above 0.95"
                ),
            ));
        }
        if self.gap_over_error < 5.0 || self.gap_over_error.is_nan() {
            refusals.push(Refusal::new(
                "A3",
                format!(
                    "the gap is {:.1} of its standard errors, below 5",
                    self.gap_over_error
                ),
            ));
        }
        refusals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(mean: f64) -> Vec<f64> {
        (0..10)
            .map(|seed| mean + 0.1 * f64::from(seed % 3))
            .collect()
    }

    #[test]
    fn figures_are_those_of_the_specification() {
        let figures = Figures::of(&[3.0, 5.0], &[1.0, 3.0], 0.0).unwrap();
        assert!((figures.gap_over_span - 0.5).abs() < 1e-12);
        assert!((figures.clean_beats_broken - 0.875).abs() < 1e-12);
        // SE² = 2/2 + 2/2, gap 2.
        assert!((figures.gap_over_error - 2.0 / 2f64.sqrt()).abs() < 1e-12);
        assert!((figures.score(4.0).unwrap() - 1.0).abs() < 1e-12);
        assert!((figures.above_random - 1.0).abs() < 1e-12);
    }

    #[test]
    fn each_rule_refuses_what_only_it_forbids() {
        let refused = |clean: &[f64], broken: &[f64]| -> Vec<&str> {
            let figures = Figures::of(clean, broken, 0.0).unwrap();
            figures.refusals().iter().map(|one| one.rule).collect()
        };
        let clean = spread(10.0);
        assert!(refused(&clean, &spread(5.0)).is_empty());
        assert_eq!(refused(&clean, &spread(8.0)), ["A1"]);
        let mut uneven = spread(2.0);
        uneven[0] = 12.0;
        assert!(refused(&clean, &uneven).contains(&"A2"));
        let mut wild = [9.9; FEWEST_SEEDS];
        (wild[1], wild[9]) = (-20.0, -20.0);
        assert!(refused(&clean, &wild).contains(&"A3"));
        let further = |repaired, tuned, training_time| -> Vec<&str> {
            let further = Further {
                repaired: Some(repaired),
                tuned,
                training_time,
            };
            further.refusals().iter().map(|one| one.rule).collect()
        };
        assert!(further(1.0, Some(0.89), Some(1.2)).is_empty());
        assert!(further(0.95, None, None).is_empty());
        assert_eq!(further(0.94, Some(0.5), Some(0.8)), ["A5"]);
        assert_eq!(further(f64::NAN, None, None), ["A5"]);
        assert_eq!(further(1.0, Some(0.9), None), ["A7"]);
        assert_eq!(further(1.0, Some(0.1), Some(1.21)), ["time"]);
        assert_eq!(further(1.0, Some(0.1), Some(0.3)), ["time"]);
    }

    #[test]
    fn a_fault_without_any_effect_has_figures_and_is_refused() {
        let clean = spread(10.0);
        let figures = Figures::of(&clean, &clean, 0.0).unwrap();
        assert!(figures.is_small() && figures.score(3.0).is_none());
        let rules: Vec<&str> = figures.refusals().iter().map(|one| one.rule).collect();
        assert_eq!(rules, ["A1", "A2", "A3"]);
    }

    #[test]
    fn agents_worse_than_chance_make_a_floor_pair() {
        let figures = Figures::of(&spread(10.0), &spread(-3.0), -2.0).unwrap();
        assert!(figures.is_floor());
        assert!(Figures::of(&[1.0], &[0.0], 0.0).is_err());
    }
}
