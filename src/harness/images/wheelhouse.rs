//! Knows the folder of wheels that a lock file names, fetched once and kept by the hash of the lock.
//! Must not know who installs them.
//! Start at `ensure`.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Progress, Recipe, failed, host, python};
use crate::vocab::HarnessFault;

/// Whether a lock file names any package at all.
pub(super) fn is_empty(lock: &str) -> bool {
    lock.lines()
        .map(str::trim)
        .all(|line| line.is_empty() || line.starts_with('#'))
}

/// Reads the lock file of a recipe.
pub(super) fn read_lock(recipe: &Recipe) -> Result<String, HarnessFault> {
    fs::read_to_string(&recipe.lock)
        .map_err(|error| failed(&format!("reading {}", recipe.lock.display()), error))
}

/// The folder of wheels of a recipe; fetched when it is not there.
pub(super) async fn ensure(
    recipe: &Recipe,
    progress: Progress<'_>,
) -> Result<PathBuf, HarnessFault> {
    let lock = read_lock(recipe)?;
    let hash = &blake3::hash(lock.as_bytes()).to_hex()[..16];
    let parent = recipe.cache.join("wheels");
    let folder = parent.join(hash);
    if folder.is_dir() {
        return Ok(folder);
    }
    let staged = stage(&parent)?;
    if !is_empty(&lock) {
        progress("fetching Python packages");
        let (interpreter, _) = python().await?;
        let (lock, target) = (
            recipe.lock.display().to_string(),
            staged.path().display().to_string(),
        );
        host(
            "fetching Python packages",
            &interpreter,
            &[
                "-m",
                "pip",
                "download",
                "--quiet",
                "--disable-pip-version-check",
                "--only-binary=:all:",
                "--require-hashes",
                "-r",
                &lock,
                "-d",
                &target,
            ],
        )
        .await?;
    }
    publish(staged, &folder)?;
    Ok(folder)
}

/// A temporary folder beside where its content will lie.
pub(super) fn stage(parent: &Path) -> Result<tempfile::TempDir, HarnessFault> {
    let doing = || format!("making a folder in {}", parent.display());
    fs::create_dir_all(parent).map_err(|error| failed(&doing(), error))?;
    let staged = tempfile::Builder::new().prefix("new-").tempdir_in(parent);
    staged.map_err(|error| failed(&doing(), error))
}

/// Gives a staged folder its name; when another process was faster, its folder stays.
pub(super) fn publish(staged: tempfile::TempDir, folder: &Path) -> Result<(), HarnessFault> {
    let path = staged.keep();
    let opened = fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755));
    opened.map_err(|error| failed(&format!("opening {}", path.display()), error))?;
    match fs::rename(&path, folder) {
        Ok(()) => Ok(()),
        Err(_) if folder.is_dir() => fs::remove_dir_all(&path)
            .map_err(|error| failed(&format!("removing {}", path.display()), error)),
        Err(error) => Err(failed(&format!("naming {}", folder.display()), error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_another_process_published_first_stays() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("hash");
        for text in ["first", "second"] {
            let staged = stage(parent.path()).unwrap();
            fs::write(staged.path().join("wheel"), text).unwrap();
            publish(staged, &folder).unwrap();
        }
        assert_eq!(fs::read_to_string(folder.join("wheel")).unwrap(), "first");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_lock_of_comments_names_no_package() {
        assert!(is_empty("# nothing\n\n"));
        assert!(!is_empty("# one\nnumpy==1 \\\n"));
    }
}
