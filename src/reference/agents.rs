//! Knows where reference agents are kept, trains those that are absent, and keeps what was played and how long training took.
//! Must not know what they are measured for.
//! Start at `Cache` and `clean_agents`.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Serialize, de::DeserializeOwned};

use crate::catalog::{Environment, Files, served_hash, training_hash};
use crate::vocab::SeedName;

use super::{
    FEWEST_SEEDS, Laboratory, LaboratoryError, Passing, Players, ReferenceError, Subject, root,
    training,
};

/// The catalogue's cache of trained agents, `<cache>/references/<hash of the files that train>/<number and hash of the seeds>/`.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// A cache below a folder such as `$XDG_CACHE_HOME/evalxrl`.
    #[must_use]
    pub fn below(folder: &Path) -> Self {
        Self {
            folder: folder.join("references"),
        }
    }

    /// Agents of named seeds from these files, in order; those that are absent are trained.
    ///
    /// # Errors
    /// Training failed, or a folder cannot be made.
    pub fn agents(
        &self,
        laboratory: &mut dyn Laboratory,
        files: &Files,
        names: &[SeedName],
    ) -> Result<Vec<PathBuf>, Lost> {
        let folder = self.folder_of(files, names);
        std::fs::create_dir_all(&folder).map_err(|error| lost(&folder, error))?;
        let seeds = integers(names);
        let paths: Vec<PathBuf> = seeds
            .iter()
            .map(|seed| folder.join(format!("{seed}.safetensors")))
            .collect();
        // All or none: agents trained beside others may differ in their last bits from agents trained alone.
        let hashes = folder.join("hashes.json");
        if !are_whole(&paths, kept(&hashes)) {
            let seconds = laboratory.train(files, &seeds, &folder)?;
            keep(&folder.join("processor.json"), &seconds)?;
            let found = paths.iter().map(|path| hash_of(path));
            let found: Vec<String> = found.collect::<Result<_, _>>()?;
            keep(&hashes, &found)?;
        }
        match paths.iter().find(|path| !path.is_file()) {
            None => Ok(paths),
            Some(path) => Err(lost(path, std::io::ErrorKind::NotFound.into())),
        }
    }

    /// Trains one agent from these files and plays it, and keeps nothing of it.
    ///
    /// # Errors
    /// Training or playing failed, or a folder cannot be made.
    pub fn control(
        &self,
        laboratory: &mut dyn Laboratory,
        files: &Files,
        key: &str,
        episodes: u32,
    ) -> Result<(), Lost> {
        let aside = Passing::below(&self.folder).map_err(|error| lost(&self.folder, error))?;
        let seeds = integers(&[training(0)]);
        laboratory.train(files, &seeds, aside.path())?;
        let agents = [aside.path().join(format!("{}.safetensors", seeds[0]))];
        laboratory.evaluate(files, Players::Agents(&agents), key, episodes)?;
        Ok(())
    }

    /// Processor seconds that training of named seeds from these files took, if it is known.
    #[must_use]
    pub fn processor(&self, files: &Files, names: &[SeedName]) -> Option<f64> {
        kept(&self.folder_of(files, names).join("processor.json"))
    }

    /// Processor seconds of at least this many trainings of one agent from these files; trained again as often as is lacking.
    ///
    /// # Errors
    /// Training failed, or a folder cannot be made.
    pub fn times(
        &self,
        laboratory: &mut dyn Laboratory,
        files: &Files,
        fewest: usize,
    ) -> Result<Vec<f64>, Lost> {
        let folder = self.folder.join(training_hash(files));
        std::fs::create_dir_all(&folder).map_err(|error| lost(&folder, error))?;
        let path = folder.join("times.json");
        let mut times: Vec<f64> = kept(&path).unwrap_or_default();
        while times.len() < fewest {
            let aside = Passing::below(&folder).map_err(|error| lost(&folder, error))?;
            times.push(laboratory.train(files, &integers(&[training(0)]), aside.path())?);
            keep(&path, &times)?;
        }
        Ok(times)
    }

    /// Returns by player and episode; what was played before is not played again.
    ///
    /// # Errors
    /// Playing failed, or a folder cannot be made.
    pub fn returns(
        &self,
        laboratory: &mut dyn Laboratory,
        files: &Files,
        players: Players<'_>,
        key: &str,
        episodes: u32,
    ) -> Result<Vec<Vec<f64>>, Lost> {
        let mut asked = format!("{} {key} {episodes}", served_hash(files));
        match players {
            Players::Random => asked.push_str(" random"),
            Players::Agents(paths) | Players::Served(paths) => {
                let manner = matches!(players, Players::Served(_));
                asked.push_str(if manner { " served" } else { " in process" });
                for path in paths {
                    asked.push_str(&format!(" {}", hash_of(path)?));
                }
            }
        }
        let folder = self.folder.join("played");
        std::fs::create_dir_all(&folder).map_err(|error| lost(&folder, error))?;
        let name = blake3::hash(asked.as_bytes()).to_hex();
        let path = folder.join(format!("{name}.json"));
        if let Some(returns) = kept(&path) {
            return Ok(returns);
        }
        let returns = laboratory.evaluate(files, players, key, episodes)?;
        keep(&path, &returns)?;
        Ok(returns)
    }

    fn folder_of(&self, files: &Files, names: &[SeedName]) -> PathBuf {
        let list: Vec<&str> = names.iter().map(SeedName::as_str).collect();
        let hash = blake3::hash(list.join(" ").as_bytes()).to_hex();
        let below = format!("{}-{}", names.len(), &hash[..16]);
        self.folder.join(training_hash(files)).join(below)
    }
}

/// Why the cache has no agents, times or returns.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// Training or playing failed.
    #[error(transparent)]
    Laboratory(#[from] LaboratoryError),
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

fn lost(path: &Path, error: std::io::Error) -> Lost {
    Lost::File {
        path: path.to_owned(),
        error,
    }
}

fn integers(names: &[SeedName]) -> Vec<u64> {
    names
        .iter()
        .map(|name| root().derive(name).integer())
        .collect()
}

/// Whether the files are there as they were written; of agents without hashes only the former is known.
fn are_whole(paths: &[PathBuf], hashes: Option<Vec<String>>) -> bool {
    match hashes {
        None => paths.iter().all(|path| path.is_file()),
        Some(hashes) => {
            let same =
                |(path, hash): (&PathBuf, &String)| hash_of(path).is_ok_and(|found| found == *hash);
            hashes.len() == paths.len() && paths.iter().zip(&hashes).all(same)
        }
    }
}

fn hash_of(path: &Path) -> Result<String, Lost> {
    let bytes = std::fs::read(path).map_err(|error| lost(path, error))?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

/// What a file of the cache holds; a file that is absent or cannot be read is made anew by whoever asked.
fn kept<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let Ok(bytes) = std::fs::read(path) else {
        return None;
    };
    serde_json::from_slice::<Option<T>>(&bytes).unwrap_or_default()
}

/// Writes a file of the cache as a whole.
fn keep(path: &Path, value: &impl Serialize) -> Result<(), Lost> {
    let failed = |error: std::io::Error| lost(path, error);
    let folder = path.parent().unwrap_or(Path::new("."));
    let bytes = serde_json::to_vec(value).map_err(|error| failed(error.into()))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(&bytes).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// The clean reference agents of an environment, from which P_clean of a block is computed.
///
/// # Errors
/// They are absent and cannot be trained.
pub fn clean_agents(
    cache: &Cache,
    laboratory: &mut dyn Laboratory,
    environment: &Environment,
) -> Result<Vec<PathBuf>, ReferenceError> {
    let names: Vec<SeedName> = (0..FEWEST_SEEDS).map(training).collect();
    cache
        .agents(laboratory, &environment.source, &names)
        .map_err(|error| ReferenceError::of("training clean agents", error))
}

/// The broken agents of a subject that an admission measures.
///
/// # Errors
/// They are absent and cannot be trained.
pub fn broken_agents(
    cache: &Cache,
    laboratory: &mut dyn Laboratory,
    subject: &Subject<'_>,
) -> Result<Vec<PathBuf>, ReferenceError> {
    let names: Vec<SeedName> = (0..FEWEST_SEEDS).map(training).collect();
    cache
        .agents(laboratory, &subject.broken, &names)
        .map_err(|error| ReferenceError::of_broken(&subject.name, error))
}
