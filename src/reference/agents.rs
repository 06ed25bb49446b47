//! Knows where reference agents are kept, and trains those that are absent.
//! Must not know what they are measured for.
//! Start at `clean_agents`.

use std::path::{Path, PathBuf};

use crate::catalog::{Environment, Files};
use crate::vocab::SeedName;

use super::{FEWEST_SEEDS, Laboratory, ReferenceError, root, training};

/// The catalogue's cache of trained agents, `<cache>/references/<hash of the source>/<name of the source>/`.
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
        source: &str,
        kind: &str,
        names: &[SeedName],
    ) -> Result<Vec<PathBuf>, ReferenceError> {
        let folder = self.folder.join(source).join(kind);
        std::fs::create_dir_all(&folder).map_err(|error| ReferenceError::File {
            path: folder.clone(),
            error,
        })?;
        let seeds: Vec<u64> = names
            .iter()
            .map(|name| root().derive(name).integer())
            .collect();
        let paths: Vec<PathBuf> = seeds
            .iter()
            .map(|seed| folder.join(format!("{seed}.safetensors")))
            .collect();
        // All or none: agents trained beside others may differ in their last bits from agents trained alone.
        if !paths.iter().all(|path| path.is_file()) {
            laboratory.train(files, &seeds, &folder).map_err(|error| {
                ReferenceError::Laboratory {
                    what: format!("training {kind}"),
                    error,
                }
            })?;
        }
        match paths.iter().find(|path| !path.is_file()) {
            None => Ok(paths),
            Some(path) => Err(ReferenceError::File {
                path: path.clone(),
                error: std::io::Error::from(std::io::ErrorKind::NotFound),
            }),
        }
    }
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
    cache.agents(
        laboratory,
        &environment.source,
        &environment.training_hash,
        "clean",
        &names,
    )
}
