//! Knows the course of a measurement: clean, repaired, random, broken, tuned, and what comes of them.
//! Must not know where the references file lies.
//! Start at `Bureau::measure`.

use std::collections::BTreeMap;

use crate::catalog::{
    Catalog, Class, Environment, Files, Malfunction, Reference, ReferenceState, References,
};
use crate::vocab::{EnvironmentId, MalfunctionId, SeedName};

use super::admission::{Further, Refusal, takes_other_time};
use super::agents::{Cache, Lost};
use super::composite::{self, Half};
use super::played::Played;
use super::{
    FEWEST_SEEDS, Figures, Laboratory, Players, ReferenceError, Subject, altered, episodes, repair,
    root, training,
};

/// Scored episodes of every agent.
pub const EPISODES: u32 = 256;

/// Measures malfunctions and candidates one after the other, clean agents once per environment.
pub struct Bureau<'a> {
    pub(super) catalog: &'a Catalog,
    laboratory: &'a mut dyn Laboratory,
    cache: Cache,
    say: &'a dyn Fn(&str),
    clean: BTreeMap<(EnvironmentId, usize), Clean>,
    repaired: BTreeMap<EnvironmentId, f64>,
}

#[derive(Clone)]
struct Clean {
    played: Played,
    p_random: f64,
}

/// Clean and broken agents of the same seeds beside each other.
pub(super) struct Compared {
    pub(super) figures: Figures,
    clean: Played,
    broken: Played,
}

/// What a measurement came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The figures.
    pub figures: Figures,
    /// What was measured beside them; only of what passes A1 to A3.
    pub further: Further,
    /// Gaps of a composite's halves on their own.
    pub halves: Vec<Half>,
    /// Rules not met, and `n` when there are too few seeds.
    pub refusals: Vec<Refusal>,
    /// The row for the references file, when admitted.
    pub reference: Option<Reference>,
}

impl<'a> Bureau<'a> {
    /// A bureau that says what it is at.
    pub fn new(
        catalog: &'a Catalog,
        laboratory: &'a mut dyn Laboratory,
        cache: Cache,
        say: &'a dyn Fn(&str),
    ) -> Self {
        Self {
            catalog,
            laboratory,
            cache,
            say,
            clean: BTreeMap::new(),
            repaired: BTreeMap::new(),
        }
    }

    /// Measures one malfunction; a composite is held against the references of its halves.
    ///
    /// # Errors
    /// Training or playing failed; a fault that cannot be measured.
    pub fn measure(
        &mut self,
        malfunction: &Malfunction,
        seeds: usize,
        references: &References,
    ) -> Result<Measured, ReferenceError> {
        let catalog = self.catalog;
        let subject = Subject::of_malfunction(catalog, malfunction)?;
        let compared = self.compare(&subject, seeds)?;
        let figures = compared.figures.clone();
        let mut refusals = figures.refusals();
        let halves = halves(catalog, malfunction, references);
        if malfunction.class == Class::Composite {
            let span = figures.clean.mean - figures.p_random;
            refusals.extend(composite::refusals(&halves, figures.gap(), span));
        }
        let mut further = Further::default();
        if seeds < FEWEST_SEEDS {
            let why = format!("{seeds} training seeds are below {FEWEST_SEEDS}");
            refusals.push(Refusal::new("n", why));
        } else if refusals.is_empty() {
            further = self.further(&subject, &figures)?;
            refusals.extend(further.refusals());
        }
        let gap_of = |index: usize| halves.get(index).and_then(|half| half.gap);
        let reference = refusals.is_empty().then(|| Reference {
            environment: malfunction.environment.clone(),
            version: malfunction.version,
            source: subject.source().to_owned(),
            fault: malfunction.fault_hash.clone(),
            seeds: names(seeds)
                .iter()
                .map(|name| name.as_str().to_owned())
                .collect(),
            episode_seed: episodes(&malfunction.environment).as_str().to_owned(),
            episodes: EPISODES,
            p_clean: figures.clean.mean,
            se_clean: figures.clean.standard_error,
            p_broken: figures.broken.mean,
            se_broken: figures.broken.standard_error,
            p_random: figures.p_random,
            gap_over_span: figures.gap_over_span,
            clean_beats_broken: figures.clean_beats_broken,
            gap_over_error: figures.gap_over_error,
            repaired: further.repaired.unwrap_or_default(),
            above_random: figures.above_random,
            floor: figures.is_floor(),
            tuned: further.tuned,
            training_time: further.training_time,
            gap_first: gap_of(0),
            gap_second: gap_of(1),
            episode_error: compared.clean.episode_error(&compared.broken),
            clean: compared.clean.by_agent,
            broken: compared.broken.by_agent,
        });
        Ok(Measured {
            figures,
            further,
            halves,
            refusals,
            reference,
        })
    }

    /// Trains and plays clean and broken agents of the same seeds.
    pub(super) fn compare(
        &mut self,
        subject: &Subject<'_>,
        seeds: usize,
    ) -> Result<Compared, ReferenceError> {
        let clean = self.clean(subject.environment, seeds)?;
        self.say(format!("{}: {seeds} broken agents", subject.name));
        let agents = self
            .cache
            .agents(self.laboratory, &subject.broken, &names(seeds));
        let broken = agents.and_then(|agents| {
            self.play(
                subject.environment,
                &subject.played(),
                manner(subject, &agents),
            )
        });
        let broken = match broken {
            Ok(broken) => broken,
            Err(error) => return Err(self.crashed(subject, error)),
        };
        let figures = Figures::of(&clean.played.by_agent, &broken.by_agent, clean.p_random)
            .map_err(|error| ReferenceError::Figures {
                subject: subject.name.clone(),
                error,
            })?;
        Ok(Compared {
            figures,
            clean: clean.played,
            broken,
        })
    }

    /// What a failure of broken agents shows: a fault that crashes only if a clean agent can be trained and played beside it.
    fn crashed(&mut self, subject: &Subject<'_>, error: Lost) -> ReferenceError {
        let error = ReferenceError::of_broken(&subject.name, error);
        if !matches!(error, ReferenceError::Crash { .. }) {
            return error;
        }
        let environment = subject.environment;
        self.say(format!("{}: a clean agent, to compare", environment.id));
        let key = root().derive(&episodes(&environment.id)).hex();
        let source = &environment.source;
        match self.cache.control(self.laboratory, source, &key, EPISODES) {
            Ok(()) => error,
            Err(lost) => ReferenceError::of("a clean agent beside broken ones", lost),
        }
    }

    /// Measures what is asked beside the figures: repair, tuning and training time.
    pub(super) fn further(
        &mut self,
        subject: &Subject<'_>,
        figures: &Figures,
    ) -> Result<Further, ReferenceError> {
        let repaired = figures.score(self.repaired(subject.environment)?);
        let mut further = Further {
            repaired,
            ..Further::default()
        };
        if further.refusals().is_empty() {
            let (tuned, times) = self.tuned(subject, figures)?;
            further.tuned = tuned;
            further.training_time = self.training_time(subject, times)?;
        }
        Ok(further)
    }

    /// The best raw score of tuning with the fault left in, and the processor seconds that its trainings took.
    fn tuned(
        &mut self,
        subject: &Subject<'_>,
        figures: &Figures,
    ) -> Result<(Option<f64>, Vec<f64>), ReferenceError> {
        let list = altered(subject).map_err(|error| ReferenceError::Tuning {
            subject: subject.name.clone(),
            error,
        })?;
        let (mut agents, mut times) = (Vec::new(), Vec::new());
        for one in &list {
            self.say(format!("{}: tuned, {}", subject.name, one.what));
            let trained = self.cache.agents(self.laboratory, &one.files, &names(1));
            match trained {
                Ok(paths) => agents.extend(paths),
                Err(error) => match self.crashed(subject, error) {
                    // What does not even train repairs nothing.
                    ReferenceError::Crash { .. } => continue,
                    other => return Err(other),
                },
            }
            times.extend(self.cache.processor(&one.files, &names(1)));
        }
        if agents.is_empty() {
            return Ok((None, times));
        }
        let played = self
            .play(
                subject.environment,
                &subject.played(),
                manner(subject, &agents),
            )
            .map_err(|error| ReferenceError::of("playing tuned agents", error))?;
        let scores = played.by_agent.iter().filter_map(|one| figures.score(*one));
        Ok((scores.reduce(f64::max), times))
    }

    /// Processor time of broken over clean training, least against least; looked at again before it is told to differ.
    fn training_time(
        &mut self,
        subject: &Subject<'_>,
        mut broken: Vec<f64>,
    ) -> Result<Option<f64>, ReferenceError> {
        if !subject.trains() {
            return Ok(None);
        }
        let (clean, own) = (&subject.environment.source, &subject.broken);
        let failed = |error| ReferenceError::of("timing", error);
        // A first training compiles, and a busy machine slows any: about as many of each show the least of it.
        let mut sound = self.times(clean, 5).map_err(failed)?;
        if broken.len() < 3 {
            broken.extend(self.times(own, 3).map_err(failed)?);
        }
        if takes_other_time(least(&broken) / least(&sound)) {
            self.say(format!("{}: training time once more", subject.name));
            sound = self.times(clean, sound.len() + 2).map_err(failed)?;
            broken.extend(self.times(own, 3).map_err(failed)?);
        }
        Ok(Some(least(&broken) / least(&sound)))
    }

    fn times(&mut self, files: &Files, fewest: usize) -> Result<Vec<f64>, Lost> {
        self.cache.times(self.laboratory, files, fewest)
    }

    /// P_clean and P_random.
    pub(super) fn clean_levels(
        &mut self,
        environment: &Environment,
        seeds: usize,
    ) -> Result<(f64, f64), ReferenceError> {
        let clean = self.clean(environment, seeds)?;
        Ok((clean.played.mean(), clean.p_random))
    }

    fn clean(&mut self, environment: &Environment, seeds: usize) -> Result<Clean, ReferenceError> {
        let key = (environment.id.clone(), seeds);
        if let Some(known) = self.clean.get(&key) {
            return Ok(known.clone());
        }
        self.say(format!("{}: {seeds} clean agents", environment.id));
        let source = &environment.source;
        let agents = self
            .cache
            .agents(self.laboratory, source, &names(seeds))
            .map_err(|error| ReferenceError::of("training clean agents", error))?;
        let played = self
            .play(environment, source, Players::Agents(&agents))
            .map_err(|error| ReferenceError::of("playing clean agents", error))?;
        let random = self
            .play(environment, source, Players::Random)
            .map_err(|error| ReferenceError::of("playing at random", error))?;
        let clean = Clean {
            played,
            p_random: random.mean(),
        };
        self.clean.insert(key, clean.clone());
        Ok(clean)
    }

    /// Mean performance of clean agents from other seeds.
    fn repaired(&mut self, environment: &Environment) -> Result<f64, ReferenceError> {
        if let Some(known) = self.repaired.get(&environment.id) {
            return Ok(*known);
        }
        self.say(format!(
            "{}: {FEWEST_SEEDS} repaired agents",
            environment.id
        ));
        let source = &environment.source;
        let list: Vec<SeedName> = (0..FEWEST_SEEDS).map(repair).collect();
        let agents = self
            .cache
            .agents(self.laboratory, source, &list)
            .map_err(|error| ReferenceError::of("training repaired agents", error))?;
        let played = self
            .play(environment, source, Players::Agents(&agents))
            .map_err(|error| ReferenceError::of("playing repaired agents", error))?;
        self.repaired.insert(environment.id.clone(), played.mean());
        Ok(played.mean())
    }

    /// Plays the environment's reference episodes with each player.
    fn play(
        &mut self,
        environment: &Environment,
        files: &Files,
        players: Players<'_>,
    ) -> Result<Played, Lost> {
        let key = root().derive(&episodes(&environment.id)).hex();
        self.cache
            .returns(self.laboratory, files, players, &key, EPISODES)
            .map(|returns| Played::of(&returns))
    }

    fn say(&self, what: String) {
        (self.say)(&what);
    }
}

fn names(seeds: usize) -> Vec<SeedName> {
    (0..seeds).map(training).collect()
}

fn manner<'p>(subject: &Subject<'_>, agents: &'p [std::path::PathBuf]) -> Players<'p> {
    if subject.served {
        Players::Served(agents)
    } else {
        Players::Agents(agents)
    }
}

fn least(list: &[f64]) -> f64 {
    list.iter().copied().fold(f64::INFINITY, f64::min)
}

fn halves(catalog: &Catalog, malfunction: &Malfunction, references: &References) -> Vec<Half> {
    let gap = |id: &MalfunctionId| {
        let half = catalog.malfunctions().find(|one| one.id == *id)?;
        let mut environments = catalog.environments();
        let environment = environments.find(|one| one.id == half.environment)?;
        match references.state(half, environment) {
            ReferenceState::Fresh(row) => Some(row.gap()),
            ReferenceState::Stale(_) | ReferenceState::Missing => None,
        }
    };
    let half = |id: &MalfunctionId| Half {
        id: id.to_string(),
        gap: gap(id),
    };
    malfunction.halves.iter().map(half).collect()
}
