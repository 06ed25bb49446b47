//! Knows how a dossier's folder appears or is swapped as a whole, so that a kill at any moment loses nothing.
//! Must not know what a dossier is.
//! Start at `Shelf::put`.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::Result;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::catalog::Folder;

/// How the folders in which dossiers are drafted begin; the catalogue does not see them.
const DRAFT: &str = ".add-";

/// Where, inside a draft, the old folder waits on file systems that cannot exchange two names.
const ASIDE: &str = "aside";

/// The folder `dossiers/`, held while nobody else adds.
pub(super) struct Shelf {
    folder: PathBuf,
    lock: File,
}

impl Shelf {
    /// Waits until no other `add` is at it.
    pub(super) fn open(root: &Path) -> Result<Self> {
        let folder = root.join("dossiers");
        fs::create_dir_all(&folder)?;
        let lock = File::open(&folder)?;
        lock.lock()?;
        Ok(Self { folder, lock })
    }

    /// Whether something bears this name.
    pub(super) fn holds(&self, name: &str) -> bool {
        fs::symlink_metadata(self.folder.join(name)).is_ok()
    }

    /// Clears away what killed ones left; gives the names of folders that were put aside and are back.
    pub(super) fn mend(&self) -> Result<Vec<String>> {
        let mut back = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let is_draft = entry.file_name().to_string_lossy().starts_with(DRAFT);
            if !is_draft || !entry.file_type()?.is_dir() {
                continue;
            }
            let aside = entry.path().join(ASIDE);
            if aside.is_dir() {
                for old in fs::read_dir(&aside)? {
                    let old = old?;
                    let name = old.file_name().to_string_lossy().into_owned();
                    if !self.holds(&name) {
                        fs::rename(old.path(), self.folder.join(&name))?;
                        back.push(name);
                    }
                }
                self.lock.sync_all()?;
            }
            fs::remove_dir_all(entry.path())?;
        }
        Ok(back)
    }

    /// Writes a folder beside its place and moves it there; what had the name is exchanged for it and then removed.
    pub(super) fn put(&self, name: &str, folder: &Folder) -> Result<()> {
        let draft = tempfile::Builder::new()
            .prefix(DRAFT)
            .tempdir_in(&self.folder)?;
        let (fresh, target) = (draft.path().join(name), self.folder.join(name));
        write(&fresh, folder)?;
        if !self.holds(name) {
            fs::rename(&fresh, &target)?;
        } else if !exchange(&fresh, &target)? {
            // From here on the draft holds the only copy of the old folder: an early end leaves it to `mend`.
            let draft = draft.keep();
            put_aside(&draft, &fresh, &target)?;
            self.lock.sync_all()?;
            return fs::remove_dir_all(draft);
        }
        self.lock.sync_all()?;
        draft.close()
    }
}

/// Moves the old folder into the draft and the fresh one into its place.
fn put_aside(draft: &Path, fresh: &Path, target: &Path) -> Result<()> {
    let name = target.file_name().unwrap_or_default();
    let aside = draft.join(ASIDE);
    fs::create_dir(&aside)?;
    fs::rename(target, aside.join(name))?;
    fs::rename(fresh, target).or_else(|error| {
        fs::rename(aside.join(name), target)?;
        Err(error)
    })
}

/// Exchanges two names in one step; false where the file system cannot.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn exchange(one: &Path, other: &Path) -> Result<bool> {
    use nix::errno::Errno;
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
    match renameat2(AT_FDCWD, one, AT_FDCWD, other, RenameFlags::RENAME_EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::EINVAL | Errno::ENOSYS | Errno::EOPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn exchange(_one: &Path, _other: &Path) -> Result<bool> {
    Ok(false)
}

/// Writes files with plain modes, each of them and each folder down to the disk.
fn write(place: &Path, folder: &Folder) -> Result<()> {
    fs::create_dir(place)?;
    let mut folders = BTreeSet::from([place.to_owned()]);
    for (path, bytes) in &folder.files {
        let file = place.join(path);
        let above = file.ancestors().skip(1);
        folders.extend(above.take_while(|path| *path != place).map(Path::to_owned));
        fs::create_dir_all(file.parent().unwrap_or(place))?;
        fs::write(&file, bytes)?;
        let executable = folder.executable.contains(path);
        let mode = if executable { 0o755 } else { 0o644 };
        fs::set_permissions(&file, Permissions::from_mode(mode))?;
        File::open(&file)?.sync_all()?;
    }
    folders
        .iter()
        .try_for_each(|folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(text: &str) -> Folder {
        let mut folder = Folder::default();
        folder.files.insert("src/a.py".into(), text.into());
        folder
    }

    fn names(root: &Path) -> Vec<String> {
        let entries = fs::read_dir(root.join("dossiers")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_folder_is_put_and_replaced_as_a_whole() {
        let root = tempfile::tempdir().unwrap();
        let shelf = Shelf::open(root.path()).unwrap();
        for text in ["one", "two"] {
            shelf.put("a", &folder(text)).unwrap();
            let found = Folder::read(&root.path().join("dossiers/a"), "a").unwrap();
            assert_eq!(found, folder(text));
            assert_eq!(names(root.path()), ["a"]);
        }
    }

    #[test]
    fn what_a_killed_one_had_put_aside_comes_back_and_its_draft_goes() {
        let root = tempfile::tempdir().unwrap();
        let shelf = Shelf::open(root.path()).unwrap();
        let draft = root.path().join("dossiers/.add-killed");
        // As it is after each step of a replacement without exchange.
        for step in 0..4 {
            shelf.put("a", &folder("old")).unwrap();
            let (fresh, target) = (draft.join("a"), root.path().join("dossiers/a"));
            fs::create_dir(&draft).unwrap();
            write(&fresh, &folder("new")).unwrap();
            match step {
                0 => {}
                1 => fs::create_dir(draft.join(ASIDE)).unwrap(),
                2 => {
                    fs::create_dir(draft.join(ASIDE)).unwrap();
                    fs::rename(&target, draft.join(ASIDE).join("a")).unwrap();
                }
                _ => put_aside(&draft, &fresh, &target).unwrap(),
            }
            let back = shelf.mend().unwrap();
            assert_eq!(back.is_empty(), step != 2);
            let found = Folder::read(&target, "a").unwrap();
            assert_eq!(found, folder(if step == 3 { "new" } else { "old" }));
            assert_eq!(names(root.path()), ["a"]);
        }
    }
}
