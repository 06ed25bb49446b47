//! Knows the local counterparts of the images: two Python environments, kept by the hash of their content.
//! Must not know containers.
//! Start at `local`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::context::Context;
use super::wheelhouse::{is_empty, publish, read_lock, stage};
use super::{Progress, Recipe, failed, host, python, wheelhouse};
use crate::harness::{ImageFacts, Role};
use crate::vocab::HarnessFault;

const PACKAGES: &str = "lib/python3.11/site-packages";

/// What local sandboxes run on.
#[derive(Debug, Clone)]
pub struct Runtime {
    workspace: Environment,
    scorer: Environment,
}

#[derive(Debug, Clone)]
struct Environment {
    interpreter: PathBuf,
    facts: ImageFacts,
}

impl Environment {
    fn of(folder: &Path, name: &str, hash: String) -> Self {
        Self {
            interpreter: folder.join("bin/python3"),
            facts: ImageFacts {
                tag: format!("evalxrl/{name}:{hash}"),
                id: hash,
            },
        }
    }
}

impl Runtime {
    /// The Python of a role.
    #[must_use]
    pub fn interpreter(&self, role: Role) -> &Path {
        match role {
            Role::Workspace | Role::Agent => &self.workspace.interpreter,
            Role::Scorer => &self.scorer.interpreter,
        }
    }

    /// What records say of it.
    #[must_use]
    pub fn facts(&self) -> BTreeMap<Role, ImageFacts> {
        BTreeMap::from([
            (Role::Workspace, self.workspace.facts.clone()),
            (Role::Agent, self.workspace.facts.clone()),
            (Role::Scorer, self.scorer.facts.clone()),
        ])
    }
}

/// Makes sure of both environments.
///
/// # Errors
/// `image_missing`, with the last words of what failed.
pub async fn local(recipe: &Recipe, progress: Progress<'_>) -> Result<Runtime, HarnessFault> {
    let parent = recipe.cache.join("runtime");
    let (interpreter, version) = python().await?;
    let lock = read_lock(recipe)?;
    let mut locked = Context::default();
    locked.add_file(&recipe.lock, "requirements.lock")?;
    let below = locked.hash(&[&version, &interpreter.display().to_string()]);
    let workspace = parent.join(&below);
    if !workspace.is_dir() {
        progress("installing the Python packages of local sandboxes");
        let wheels = wheelhouse::ensure(recipe, progress).await?;
        let wheels = (!is_empty(&lock)).then_some(wheels);
        let staged = stage(&parent)?;
        install(&interpreter, staged.path(), recipe, wheels.as_deref()).await?;
        publish(staged, &workspace)?;
    }
    let mut package = Context::default();
    package.add_folder(&recipe.package, "evalxrl_envs/", &["agents"])?;
    let above = package.hash(&[&below]);
    let scorer = parent.join(&above);
    if !scorer.is_dir() {
        progress("installing the clean environment for local scorers");
        let staged = stage(&parent)?;
        place(&interpreter, staged.path(), &package, &workspace).await?;
        publish(staged, &scorer)?;
    }
    Ok(Runtime {
        workspace: Environment::of(&workspace, "workspace", below),
        scorer: Environment::of(&scorer, "scorer", above),
    })
}

/// A virtual environment with the locked packages and nothing to install more with.
async fn install(
    interpreter: &Path,
    folder: &Path,
    recipe: &Recipe,
    wheels: Option<&Path>,
) -> Result<(), HarnessFault> {
    let path = folder.display().to_string();
    host(
        "making a virtual environment",
        interpreter,
        &["-m", "venv", &path],
    )
    .await?;
    let own = folder.join("bin/python3");
    if let Some(wheels) = wheels {
        let (links, lock) = (
            wheels.display().to_string(),
            recipe.lock.display().to_string(),
        );
        let arguments = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-index",
            "--find-links",
            &links,
            "--require-hashes",
            "-r",
            &lock,
        ];
        host("installing Python packages", &own, &arguments).await?;
    }
    let arguments = [
        "-m",
        "pip",
        "uninstall",
        "--quiet",
        "--disable-pip-version-check",
        "-y",
        "setuptools",
        "pip",
    ];
    host("removing the installer", &own, &arguments).await?;
    strip_scripts(folder)
}

/// Scripts name the folder they were installed in, which gets another name; nothing here needs them.
fn strip_scripts(folder: &Path) -> Result<(), HarnessFault> {
    let bin = folder.join("bin");
    let entries = fs::read_dir(&bin).map_err(|error| failed("reading bin", error))?;
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with("python") {
            fs::remove_file(entry.path()).map_err(|error| failed("removing a script", error))?;
        }
    }
    Ok(())
}

/// A virtual environment that sees the packages of another one, and the clean environment package.
async fn place(
    interpreter: &Path,
    folder: &Path,
    package: &Context,
    workspace: &Path,
) -> Result<(), HarnessFault> {
    let path = folder.display().to_string();
    let arguments = ["-m", "venv", "--without-pip", &path];
    host("making a virtual environment", interpreter, &arguments).await?;
    let packages = folder.join(PACKAGES);
    package.unpack(&packages)?;
    let link = format!("{}\n", workspace.join(PACKAGES).display());
    fs::write(packages.join("workspace.pth"), link)
        .map_err(|error| failed("writing workspace.pth", error))?;
    let own = folder.join("bin/python3");
    let target = packages.display().to_string();
    host(
        "compiling the package",
        &own,
        &["-I", "-m", "compileall", "-q", &target],
    )
    .await?;
    strip_scripts(folder)
}
