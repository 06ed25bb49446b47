//! Knows what is measured, be it a malfunction or a rung of a candidate: broken source, and how its agents play.
//! Must not know how agents are trained.
//! Start at `Subject`.

use crate::catalog::{
    Candidate, Catalog, Edit, Environment, FaultDiff, Files, Malfunction, SERVING, Tunable,
    edit_hash, training_hash,
};

use super::ReferenceError;

/// Broken source of one environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject<'a> {
    /// Its name in messages.
    pub name: String,
    /// The environment.
    pub environment: &'a Environment,
    /// The broken source.
    pub broken: Files,
    /// Whether its agents are played as the agent server computes their actions.
    pub served: bool,
    /// What tuning leaves alone because the fault sets it.
    pub skip: Vec<Tunable>,
}

impl<'a> Subject<'a> {
    /// The subject that a malfunction is.
    ///
    /// # Errors
    /// Its environment is unknown or its diff does not fit.
    pub fn of_malfunction(
        catalog: &'a Catalog,
        malfunction: &Malfunction,
    ) -> Result<Self, ReferenceError> {
        let environment = catalog.environment(&malfunction.environment)?;
        let broken =
            malfunction
                .apply(&environment.source)
                .map_err(|error| ReferenceError::Diff {
                    malfunction: malfunction.id.clone(),
                    error,
                })?;
        let mut skip = configured(&malfunction.diff);
        if let Some(candidate) = candidate_of(catalog, environment, &broken) {
            skip.extend(&candidate.skip);
        }
        skip.sort();
        skip.dedup();
        Ok(Self {
            name: malfunction.id.to_string(),
            environment,
            broken,
            served: malfunction.touches_serving(),
            skip,
        })
    }

    /// The subject that a rung of a candidate is.
    ///
    /// # Errors
    /// The edit does not fit.
    pub fn of_rung(
        environment: &'a Environment,
        candidate: &Candidate,
        strength: &str,
    ) -> Result<Self, ReferenceError> {
        let name = format!("{} {strength}", candidate.entry)
            .trim_end()
            .to_owned();
        let broken = candidate
            .apply(strength, &environment.source)
            .map_err(|error| ReferenceError::Edit {
                rung: name.clone(),
                error,
            })?;
        let diff = FaultDiff::between(&environment.source, &broken);
        let mut skip = diff.as_ref().map(configured).unwrap_or_default();
        skip.extend(&candidate.skip);
        skip.sort();
        skip.dedup();
        Ok(Self {
            name,
            environment,
            served: changes(&environment.source, &broken, SERVING),
            broken,
            skip,
        })
    }

    /// The files to play its agents with: their own agent code, and their server if it matters, in the clean environment.
    #[must_use]
    pub fn played(&self) -> Files {
        let mut files = self.environment.source.clone();
        for (path, bytes) in &self.broken {
            let own = path.starts_with("evalxrl_envs/agents/")
                || self.served && path.starts_with(SERVING);
            if own {
                files.insert(path.clone(), bytes.clone());
            }
        }
        files
    }

    /// Whether its agents are trained otherwise than clean ones; a fault of the server alone trains nothing.
    #[must_use]
    pub fn trains(&self) -> bool {
        training_hash(&self.broken) != self.environment.training_hash
    }

    /// Hash of the clean source on which a measurement of it depends.
    #[must_use]
    pub fn source(&self) -> &'a str {
        if self.served {
            &self.environment.served_hash
        } else {
            &self.environment.training_hash
        }
    }

    /// Hash of its edit.
    #[must_use]
    pub fn edit(&self) -> String {
        edit_hash(&self.environment.source, &self.broken)
    }
}

/// The candidate one of whose rungs is this broken source.
fn candidate_of<'a>(
    catalog: &'a Catalog,
    environment: &Environment,
    broken: &Files,
) -> Option<&'a Candidate> {
    let list = catalog
        .candidates()
        .find(|one| one.environment == environment.id)?;
    list.list.iter().find(|candidate| {
        candidate.ladder.iter().any(|strength| {
            candidate
                .apply(strength, &environment.source)
                .is_ok_and(|tree| tree == *broken)
        })
    })
}

/// The quantities whose line of `config.toml` a diff edits.
fn configured(diff: &FaultDiff) -> Vec<Tunable> {
    let edited = |tunable: &Tunable| {
        [Edit::Add, Edit::Remove].into_iter().any(|edit| {
            diff.lines(edit).any(|(path, line)| {
                let key = line.split('=').next().unwrap_or_default().trim();
                path.ends_with("/config.toml") && key == tunable.key()
            })
        })
    };
    Tunable::ALL.into_iter().filter(edited).collect()
}

fn changes(clean: &Files, broken: &Files, below: &str) -> bool {
    broken
        .iter()
        .any(|(path, bytes)| path.starts_with(below) && clean.get(path) != Some(bytes))
}
