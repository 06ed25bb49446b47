//! Knows folders that last no longer than the process that made them.
//! Must not know what lies in them.
//! Start at `Passing::below`.

use std::fs::File;
use std::io::{ErrorKind, Result};
use std::path::Path;

use tempfile::TempDir;

const PREFIX: &str = ".evalxrl-passing-";

/// A folder that is removed with this value, or by whoever makes the next one beside it when its process was killed.
#[derive(Debug)]
pub struct Passing {
    folder: TempDir,
    /// The kernel gives up the lock when the process ends, however it does.
    _lock: File,
}

impl Passing {
    /// Makes one, and removes those that killed processes left there.
    ///
    /// # Errors
    /// The parent folder cannot be written.
    pub fn below(parent: &Path) -> Result<Self> {
        sweep(parent)?;
        loop {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
            // Between making and locking somebody may have swept it.
            let lock = match File::open(folder.path()) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => opened?,
            };
            lock.lock()?;
            if folder.path().is_dir() {
                return Ok(Self {
                    folder,
                    _lock: lock,
                });
            }
        }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes what nobody holds; what belongs to others or vanishes meanwhile is left alone.
fn sweep(parent: &Path) -> Result<()> {
    for entry in std::fs::read_dir(parent)?.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if let Ok(lock) = File::open(entry.path())
            && lock.try_lock().is_ok()
            && let Err(error) = std::fs::remove_dir_all(entry.path())
            && !matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::PermissionDenied
            )
        {
            return Err(error);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_dead_process_is_swept_and_one_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        let dead = parent.path().join(format!("{PREFIX}dead"));
        std::fs::create_dir_all(dead.join("below")).unwrap();
        std::fs::write(dead.join("below/file"), "x").unwrap();
        std::fs::create_dir(parent.path().join("other")).unwrap();
        let one = Passing::below(parent.path()).unwrap();
        std::fs::write(one.path().join("file"), "x").unwrap();
        let two = Passing::below(parent.path()).unwrap();
        assert!(!dead.exists());
        assert!(one.path().join("file").is_file() && two.path().is_dir());
        drop((one, two));
        let left = std::fs::read_dir(parent.path()).unwrap();
        assert_eq!(left.count(), 1, "what has another name");
    }
}
