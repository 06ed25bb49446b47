//! Knows how candidates are screened: the weakest strength first, few seeds, and all of the evidence for what bites.
//! Must not know where figures are kept.
//! Start at `Bureau::climb`.

use crate::catalog::{Candidate, CandidateFigures, Environment, Rung};

use super::admission::Further;
use super::{Bureau, FEWEST_SEEDS, Figures, ReferenceError, Subject};

/// Training seeds that tell whether a rung bites at all.
pub const SCREENING_SEEDS: usize = 3;

/// A rung of a ladder as it was gone through.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Which rung, from 1.
    pub at: usize,
    /// What was measured of it.
    pub rung: Rung,
    /// Whether it was measured now.
    pub new: bool,
    /// Why it could not be trained or played, if so.
    pub crash: Option<String>,
}

impl Bureau<'_> {
    /// Goes through a candidate's ladder, handing over each rung once it is measured; the first that meets every rule ends it.
    ///
    /// A rung is measured with few seeds, and again with all when its gap is large enough (A1). Rungs in `known` of the same
    /// source and edit are not measured again.
    ///
    /// # Errors
    /// Measuring failed for another reason than the fault, or what `each` says.
    pub fn climb<E: From<ReferenceError>>(
        &mut self,
        environment: &Environment,
        candidate: &Candidate,
        known: &CandidateFigures,
        each: &mut dyn FnMut(Step) -> Result<(), E>,
    ) -> Result<(), E> {
        for (index, strength) in candidate.ladder.iter().enumerate() {
            let subject = Subject::of_rung(environment, candidate, strength)?;
            let edit = subject.edit();
            let kept = known.fresh(&candidate.entry, strength, subject.source(), &edit);
            let (rung, crash) = match kept {
                Some(rung) => (rung.clone(), None),
                None => self.rung(candidate, strength, &subject)?,
            };
            let passes = rung.reason.is_empty();
            each(Step {
                at: index + 1,
                rung,
                new: kept.is_none(),
                crash,
            })?;
            if passes {
                break;
            }
        }
        Ok(())
    }

    fn rung(
        &mut self,
        candidate: &Candidate,
        strength: &str,
        subject: &Subject<'_>,
    ) -> Result<(Rung, Option<String>), ReferenceError> {
        let mut crash = None;
        let mut rung = Rung {
            entry: candidate.entry.clone(),
            class: candidate.class,
            strength: strength.to_owned(),
            source: subject.source().to_owned(),
            edit: subject.edit(),
            n: SCREENING_SEEDS,
            p_clean: 0.0,
            p_broken: None,
            p_random: 0.0,
            gap_over_span: None,
            clean_beats_broken: None,
            gap_over_error: None,
            repaired: None,
            above_random: None,
            tuned: None,
            training_time: None,
            reason: String::new(),
        };
        (rung.p_clean, rung.p_random) = self.clean_levels(subject.environment, SCREENING_SEEDS)?;
        for seeds in [SCREENING_SEEDS, FEWEST_SEEDS] {
            match self.judged(subject, seeds) {
                Ok((figures, further, reason)) => fill(&mut rung, seeds, &figures, further, reason),
                Err(ReferenceError::Crash { error, .. }) => {
                    crash = Some(error.to_string());
                    rung.n = seeds;
                    "crash".clone_into(&mut rung.reason);
                }
                Err(error) => return Err(error),
            }
            if !rung.reason.is_empty() {
                break;
            }
        }
        Ok((rung, crash))
    }

    /// Figures, what was measured beside them, and the rules that are not met, by name.
    fn judged(
        &mut self,
        subject: &Subject<'_>,
        seeds: usize,
    ) -> Result<(Figures, Further, String), ReferenceError> {
        let figures = self.compare(subject, seeds)?.figures;
        if seeds < FEWEST_SEEDS {
            let small = if figures.is_small() { "A1" } else { "" };
            return Ok((figures, Further::default(), small.to_owned()));
        }
        let mut refusals = figures.refusals();
        let mut further = Further::default();
        if refusals.is_empty() {
            further = self.further(subject, &figures)?;
            refusals = further.refusals();
        }
        let rules: Vec<&str> = refusals.iter().map(|refusal| refusal.rule).collect();
        Ok((figures, further, rules.join(", ")))
    }
}

fn fill(rung: &mut Rung, seeds: usize, figures: &Figures, further: Further, reason: String) {
    rung.n = seeds;
    rung.p_clean = figures.clean.mean;
    rung.p_broken = Some(figures.broken.mean);
    rung.p_random = figures.p_random;
    rung.gap_over_span = Some(figures.gap_over_span);
    rung.clean_beats_broken = Some(figures.clean_beats_broken);
    rung.gap_over_error = Some(figures.gap_over_error);
    rung.above_random = Some(figures.above_random);
    rung.repaired = further.repaired;
    rung.tuned = further.tuned;
    rung.training_time = further.training_time;
    rung.reason = reason;
}
