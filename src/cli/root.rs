//! Knows how the repository is found: from a flag, from the environment, or from the current folder upwards.
//! Must not know what lies in it.
//! Start at `CatalogFolder`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::catalog::{Catalog, Problems};

use super::{Code, Failure};

/// Where the catalogue lies.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct CatalogFolder {
    /// Repository root [default: EVALXRL_ROOT, else the nearest folder upwards that holds envs/ and malfunctions/]
    #[arg(long, value_name = "DIR", global = true)]
    catalog: Option<PathBuf>,
}

impl CatalogFolder {
    /// The repository root.
    ///
    /// # Errors
    /// There is none at the named place or upwards of here.
    pub(super) fn find(&self) -> Result<PathBuf, Failure> {
        let named = self
            .catalog
            .clone()
            .or_else(|| std::env::var_os("EVALXRL_ROOT").map(PathBuf::from));
        if let Some(folder) = named {
            return if is_root(&folder) {
                Ok(folder)
            } else {
                Err(Failure::new(
                    Code::Usage,
                    format!("{}: holds no envs/evalxrl_envs", folder.display()),
                )
                .remedy("name the repository root"))
            };
        }
        let here = std::env::current_dir().map_err(|error| {
            Failure::new(
                Code::Usage,
                format!("the current folder cannot be read: {error}"),
            )
        })?;
        let found = here
            .ancestors()
            .find(|folder| is_root(folder) && folder.join("malfunctions").is_dir());
        found.map(Path::to_path_buf).ok_or_else(|| {
            Failure::new(
                Code::Usage,
                format!(
                    "{}: neither here nor upwards is a repository",
                    here.display()
                ),
            )
            .remedy("run inside the repository, name it with --catalog DIR, or set EVALXRL_ROOT")
        })
    }

    /// Reads the whole catalogue.
    ///
    /// # Errors
    /// There is no repository, or it has defects.
    pub(super) fn load(&self) -> Result<Catalog, Failure> {
        Catalog::load(&self.find()?).map_err(|problems| invalid(&problems))
    }
}

fn is_root(folder: &Path) -> bool {
    folder.join("envs/evalxrl_envs").is_dir()
}

/// Turns defects into a failure of exit code 3.
pub(super) fn invalid(problems: &Problems) -> Failure {
    Failure {
        code: Code::Invalid,
        problems: problems.list().iter().map(ToString::to_string).collect(),
        remedy: None,
    }
}
