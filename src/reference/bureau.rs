//! Knows the course of a measurement: clean, repaired, random, broken, and what comes of them.
//! Must not know where the references file lies.
//! Start at `Bureau::measure`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::catalog::{Catalog, Environment, Files, Malfunction, Reference};
use crate::vocab::{EnvironmentId, SeedName};

use super::agents::Cache;
use super::{
    FEWEST_SEEDS, Figures, Laboratory, Players, ReferenceError, episodes, repair, root, training,
};

/// Scored episodes of every agent.
pub const EPISODES: u32 = 256;

/// Measures malfunctions one after the other, clean agents once per environment.
pub struct Bureau<'a> {
    catalog: &'a Catalog,
    laboratory: &'a mut dyn Laboratory,
    cache: Cache,
    seeds: usize,
    clean: BTreeMap<EnvironmentId, CleanFigures>,
}

#[derive(Clone)]
struct CleanFigures {
    clean: Vec<f64>,
    repaired: Vec<f64>,
    p_random: f64,
}

/// What a measurement came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The figures.
    pub figures: Figures,
    /// Rules not met, and `n` when there are too few seeds.
    pub refusals: Vec<String>,
    /// The row for the references file, when admitted.
    pub reference: Option<Reference>,
}

impl<'a> Bureau<'a> {
    /// A bureau that uses `seeds` training seeds.
    pub fn new(
        catalog: &'a Catalog,
        laboratory: &'a mut dyn Laboratory,
        cache: Cache,
        seeds: usize,
    ) -> Self {
        Self {
            catalog,
            laboratory,
            cache,
            seeds,
            clean: BTreeMap::new(),
        }
    }

    /// Measures one malfunction.
    ///
    /// # Errors
    /// Training or playing failed; a fault that cannot be measured.
    pub fn measure(&mut self, malfunction: &Malfunction) -> Result<Measured, ReferenceError> {
        let catalog = self.catalog;
        let id = &malfunction.id;
        let environment = catalog.environment(&malfunction.environment)?;
        if malfunction.touches_serving() {
            return Err(ReferenceError::Served(id.clone()));
        }
        let faulty =
            malfunction
                .apply(&environment.source)
                .map_err(|error| ReferenceError::Diff {
                    malfunction: id.clone(),
                    error,
                })?;
        let clean = self.clean_figures(environment)?;
        let names = self.training_names();
        let kind = &malfunction.fault_hash[..16];
        let agents = self.cache.agents(
            self.laboratory,
            &faulty,
            &environment.training_hash,
            kind,
            &names,
        )?;
        let played = served_by(&faulty, environment);
        let broken = self.means(environment, &played, Players::Agents(&agents), id.as_str())?;
        let figures = Figures::of(&clean.clean, &broken, clean.p_random, &clean.repaired).map_err(
            |error| ReferenceError::Figures {
                malfunction: id.clone(),
                error,
            },
        )?;
        let mut refusals = figures.refusals();
        if self.seeds < FEWEST_SEEDS {
            refusals.push(format!(
                "n: {} training seeds are below {FEWEST_SEEDS}",
                self.seeds
            ));
        }
        let reference = refusals.is_empty().then(|| Reference {
            environment: environment.id.clone(),
            version: malfunction.version,
            source: environment.training_hash.clone(),
            fault: malfunction.fault_hash.clone(),
            seeds: names.iter().map(|name| name.as_str().to_owned()).collect(),
            episode_seed: episodes(&environment.id).as_str().to_owned(),
            episodes: EPISODES,
            p_clean: figures.clean.mean,
            se_clean: figures.clean.standard_error,
            p_broken: figures.broken.mean,
            se_broken: figures.broken.standard_error,
            p_random: figures.p_random,
            gap_over_span: figures.gap_over_span,
            clean_beats_broken: figures.clean_beats_broken,
            gap_over_error: figures.gap_over_error,
            repaired: figures.repaired,
            above_random: figures.above_random,
            floor: figures.is_floor(),
            clean: clean.clean.clone(),
            broken,
        });
        Ok(Measured {
            figures,
            refusals,
            reference,
        })
    }

    fn training_names(&self) -> Vec<SeedName> {
        (0..self.seeds).map(training).collect()
    }

    fn clean_figures(&mut self, environment: &Environment) -> Result<CleanFigures, ReferenceError> {
        if let Some(known) = self.clean.get(&environment.id) {
            return Ok(known.clone());
        }
        let repair_names: Vec<SeedName> = (0..self.seeds).map(repair).collect();
        let mut of = |names: &[SeedName]| -> Result<Vec<PathBuf>, ReferenceError> {
            let source = &environment.source;
            self.cache.agents(
                self.laboratory,
                source,
                &environment.training_hash,
                "clean",
                names,
            )
        };
        let first: Vec<SeedName> = (0..self.seeds).map(training).collect();
        let (clean, repaired) = (of(&first)?, of(&repair_names)?);
        let source = &environment.source;
        let mut means = |players, what| self.means(environment, source, players, what);
        let figures = CleanFigures {
            clean: means(Players::Agents(&clean), "clean agents")?,
            repaired: means(Players::Agents(&repaired), "repaired agents")?,
            p_random: means(Players::Random, "random play")?[0],
        };
        self.clean.insert(environment.id.clone(), figures.clone());
        Ok(figures)
    }

    /// Mean return of each player over the environment's reference episodes.
    fn means(
        &mut self,
        environment: &Environment,
        files: &Files,
        players: Players<'_>,
        what: &str,
    ) -> Result<Vec<f64>, ReferenceError> {
        let key = root().derive(&episodes(&environment.id)).hex();
        let returns = self
            .laboratory
            .evaluate(files, players, &key, EPISODES)
            .map_err(|error| ReferenceError::Laboratory {
                what: format!("playing {what}"),
                error,
            })?;
        Ok(returns
            .iter()
            .map(|list| list.iter().sum::<f64>() / list.len() as f64)
            .collect())
    }
}

/// The files to measure a broken agent with: its own agent code in the clean environment, as serving and scoring are apart.
fn served_by(faulty: &Files, environment: &Environment) -> Files {
    let mut files = environment.source.clone();
    for (path, bytes) in faulty {
        if path.starts_with("evalxrl_envs/agents/") {
            files.insert(path.clone(), bytes.clone());
        }
    }
    files
}
