//! Knows what sandboxes run on: container images, and their like for local processes. Built only when missing.
//! Must not know what is run on them.
//! Start at `Recipe`, then `docker` and `local`.

mod build;
mod context;
mod debian;
mod runtime;
mod wheelhouse;

use std::path::{Path, PathBuf};

use crate::vocab::{FaultKind, HarnessFault};

pub use build::docker;
pub use runtime::{Runtime, local};

/// Told what is being built, one line at a time.
pub type Progress<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// Where the base of the images comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Base {
    /// A ready-made Python image from a registry.
    Slim,
    /// Debian packages by `mmdebstrap`; needs root.
    Debian,
    /// What is there already, else the registry, else Debian packages.
    #[default]
    Either,
}

/// What images are made from.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// The folder `docker/`.
    pub docker: PathBuf,
    /// The lock file of the third-party Python packages.
    pub lock: PathBuf,
    /// The clean environment package.
    pub package: PathBuf,
    /// Where wheels and local runtimes are kept between runs.
    pub cache: PathBuf,
}

impl Recipe {
    /// The recipe of a checkout of the repository.
    #[must_use]
    pub fn of(repository_root: &Path, cache: &Path) -> Self {
        Self {
            docker: repository_root.join("docker"),
            lock: repository_root.join("envs/requirements.lock"),
            package: repository_root.join("envs/evalxrl_envs"),
            cache: cache.to_owned(),
        }
    }
}

/// A script whose first line names this interpreter.
pub(super) fn with_interpreter(text: &str, python: &Path) -> String {
    match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("#!") => {
            format!("#!{} -IS\n{rest}", python.display())
        }
        _ => text.to_owned(),
    }
}

fn failed(doing: &str, error: impl std::fmt::Display) -> HarnessFault {
    let text = error.to_string();
    let kind = if text.contains("No space left on device") {
        FaultKind::DiskFull
    } else {
        FaultKind::ImageMissing
    };
    HarnessFault::new(kind, format!("{doing}: {text}"))
}

/// Runs a program of the host to its end; its last words are the fault.
async fn host(doing: &str, program: &Path, arguments: &[&str]) -> Result<String, HarnessFault> {
    let run = tokio::process::Command::new(program)
        .args(arguments)
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output();
    let limit = std::time::Duration::from_secs(1800);
    let output = match tokio::time::timeout(limit, run).await {
        Ok(output) => output.map_err(|error| failed(doing, error))?,
        Err(_) => {
            return Err(HarnessFault::new(
                FaultKind::Deadline,
                format!("{doing} outlasted {} s", limit.as_secs()),
            ));
        }
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = errors.trim().lines().rev().take(4).collect();
    let last: Vec<&str> = lines.into_iter().rev().collect();
    Err(failed(doing, last.join("; ")))
}

/// The Python 3.11 of this machine, and its exact version.
async fn python() -> Result<(PathBuf, String), HarnessFault> {
    let ask = "import sys; print(sys.executable); print('.'.join(map(str, sys.version_info[:3])))";
    for name in ["python3.11", "python3"] {
        let Ok(told) = host("asking for Python", Path::new(name), &["-I", "-c", ask]).await else {
            continue;
        };
        let mut lines = told.lines();
        if let (Some(path), Some(version)) = (lines.next(), lines.next())
            && version.starts_with("3.11.")
        {
            return Ok((PathBuf::from(path), version.to_owned()));
        }
    }
    Err(HarnessFault::new(
        FaultKind::ImageMissing,
        "no Python 3.11 on PATH; install it and try again",
    ))
}
