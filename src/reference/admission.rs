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
    /// Mean raw repair score of clean agents from other seeds.
    pub repaired: f64,
    /// Share of broken agents above random play.
    pub above_random: f64,
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
    /// The span or the gap is zero.
    #[error(
        "clean agents are no better than random play or than the broken ones by any measurable amount"
    )]
    NoSpan,
}

impl Figures {
    /// Computes the figures from one mean return per training seed.
    ///
    /// # Errors
    /// Too few seeds, unequal lists, or no span to divide by.
    pub fn of(
        clean: &[f64],
        broken: &[f64],
        p_random: f64,
        repaired: &[f64],
    ) -> Result<Self, NoFigures> {
        if clean.len() != broken.len() {
            return Err(NoFigures::Unequal);
        }
        let over = |list| ReferencePerformance::over_seeds(list).ok_or(NoFigures::TooFewSeeds);
        let (first, second) = (over(clean)?, over(broken)?);
        let gap = first.mean - second.mean;
        let span = first.mean - p_random;
        if gap.abs() < 1e-12 || span < 1e-12 || repaired.is_empty() {
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
        let repaired_mean = repaired.iter().sum::<f64>() / repaired.len() as f64;
        Ok(Self {
            clean: first,
            broken: second,
            p_random,
            gap_over_span: gap / span,
            clean_beats_broken: wins / (clean.len() * broken.len()) as f64,
            gap_over_error: gap / error,
            repaired: (repaired_mean - second.mean) / gap,
            above_random: above as f64 / broken.len() as f64,
        })
    }

    /// P_clean − P_broken.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.clean.mean - self.broken.mean
    }

    /// Whether the broken agents play no better than chance (A6).
    #[must_use]
    pub fn is_floor(&self) -> bool {
        self.above_random < 0.5
    }

    /// The rules that are not met, each with its figure; none means admitted.
    #[must_use]
    pub fn refusals(&self) -> Vec<String> {
        let mut refusals = Vec::new();
        if self.gap_over_span < 0.25 || self.gap_over_span.is_nan() {
            refusals.push(format!(
                "A1: gap/span {:.3} is below 0.25",
                self.gap_over_span
            ));
        }
        if self.clean_beats_broken <= 0.95 {
            refusals.push(format!(
                "A2: a clean agent beats a broken one with probability {:.3}, not above 0.95",
                self.clean_beats_broken
            ));
        }
        if self.gap_over_error < 5.0 || self.gap_over_error.is_nan() {
            refusals.push(format!(
                "A3: the gap is {:.1} of its standard errors, below 5",
                self.gap_over_error
            ));
        }
        if self.repaired < 0.95 || self.repaired.is_nan() {
            refusals.push(format!(
                "A5: repaired and retrained agents score {:.3}, below 0.95",
                self.repaired
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
        let figures = Figures::of(&[3.0, 5.0], &[1.0, 3.0], 0.0, &[4.0]).unwrap();
        assert!((figures.gap_over_span - 0.5).abs() < 1e-12);
        assert!((figures.clean_beats_broken - 0.875).abs() < 1e-12);
        // SE² = 2/2 + 2/2, gap 2.
        assert!((figures.gap_over_error - 2.0 / 2f64.sqrt()).abs() < 1e-12);
        assert!((figures.repaired - 1.0).abs() < 1e-12);
        assert!((figures.above_random - 1.0).abs() < 1e-12);
    }

    #[test]
    fn each_rule_refuses_what_only_it_forbids() {
        let refused = |clean: &[f64], broken: &[f64], repaired: &[f64]| {
            Figures::of(clean, broken, 0.0, repaired)
                .unwrap()
                .refusals()
        };
        let clean = spread(10.0);
        assert!(refused(&clean, &spread(5.0), &clean).is_empty());
        let small = refused(&clean, &spread(8.0), &clean);
        assert!(small.len() == 1 && small[0].starts_with("A1"), "{small:?}");
        let mut uneven = spread(2.0);
        uneven[0] = 12.0;
        let unsure = refused(&clean, &uneven, &clean);
        assert!(
            unsure.iter().any(|rule| rule.starts_with("A2")),
            "{unsure:?}"
        );
        let mut wild = spread(0.0);
        (wild[0], wild[1]) = (9.9, -9.9);
        assert!(wild.len() == FEWEST_SEEDS);
        let noisy = refused(
            &spread(10.0),
            &[9.9, -20.0, 9.9, 9.9, 9.9, 9.9, 9.9, 9.9, 9.9, -20.0],
            &clean,
        );
        assert!(noisy.iter().any(|rule| rule.starts_with("A3")), "{noisy:?}");
        let unrepaired = refused(&clean, &spread(5.0), &spread(9.0));
        assert!(
            unrepaired.len() == 1 && unrepaired[0].starts_with("A5"),
            "{unrepaired:?}"
        );
    }

    #[test]
    fn agents_worse_than_chance_make_a_floor_pair() {
        let figures = Figures::of(&spread(10.0), &spread(-3.0), -2.0, &spread(10.0)).unwrap();
        assert!(figures.is_floor());
        assert!(Figures::of(&[1.0], &[0.0], 0.0, &[1.0]).is_err());
    }
}
