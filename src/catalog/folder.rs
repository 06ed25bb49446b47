//! Knows how folders become lists of files in memory and how their content is hashed.
//! Must not know what the files mean.
//! Start at `Files` and `Folder::read`.

use std::collections::BTreeMap;
use std::path::Path;

use walkdir::WalkDir;

use super::Problem;

/// File contents by path with `/` between parts, relative to a root the owner names.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Names never part of a folder: caches that tools leave behind.
const LEFT_BEHIND: [&str; 6] = [
    "__pycache__",
    ".pytest_cache",
    ".ruff_cache",
    ".mypy_cache",
    ".cache",
    ".DS_Store",
];

/// A folder as read from disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    /// Contents by path relative to the folder.
    pub files: Files,
    /// Paths of files that may be executed.
    pub executable: Vec<String>,
}

impl Folder {
    /// Reads everything below a folder except what tools leave behind; links and odd names are refused.
    ///
    /// # Errors
    /// The first thing that cannot be read or may not be there, told relative to `place`.
    pub fn read(path: &Path, place: &str) -> Result<Self, Problem> {
        let mut folder = Self::default();
        let unreadable = |wrong: String| Problem::new(place, "", wrong, "make it readable");
        let walk = WalkDir::new(path)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| {
                entry
                    .file_name()
                    .to_str()
                    .is_none_or(|name| !LEFT_BEHIND.contains(&name))
            });
        for entry in walk {
            let entry = entry.map_err(|error| unreadable(error.to_string()))?;
            if entry.file_type().is_dir() {
                continue;
            }
            let relative = entry
                .path()
                .strip_prefix(path)
                .expect("a walk stays below its root");
            let Some(name) = relative.to_str().map(|name| name.replace('\\', "/")) else {
                return Err(Problem::new(
                    place,
                    relative.display().to_string(),
                    "is not named in UTF-8",
                    "rename it",
                ));
            };
            if !entry.file_type().is_file() {
                return Err(Problem::new(
                    place,
                    name,
                    "is a link or a special file",
                    "put a regular file in its place",
                ));
            }
            let bytes = std::fs::read(entry.path())
                .map_err(|error| unreadable(format!("{name}: {error}")))?;
            if is_executable(&entry) {
                folder.executable.push(name.clone());
            }
            folder.files.insert(name, bytes);
        }
        Ok(folder)
    }

    /// The same folder without hidden files, compiled Python and what editors leave behind.
    #[must_use]
    pub fn travelling(mut self) -> Self {
        self.files.retain(|path, _| !is_residue(path));
        self.executable.retain(|path| !is_residue(path));
        self
    }

    /// BLAKE3 over (path, mode, bytes) in order of path, as hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        hash(&self.files, |path| {
            self.executable.iter().any(|name| name == path)
        })
    }
}

/// Whether a path is hidden, or of what tools and editors leave behind.
pub(super) fn is_residue(path: &str) -> bool {
    path.split('/')
        .any(|part| part.starts_with('.') || LEFT_BEHIND.contains(&part))
        || [".pyc", ".pyo", "~"].iter().any(|end| path.ends_with(end))
}

/// BLAKE3 of files that all have the plain mode, as hexadecimal digits.
#[must_use]
pub fn hash_files(files: &Files) -> String {
    hash(files, |_| false)
}

fn hash(files: &Files, executable: impl Fn(&str) -> bool) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, bytes) in files {
        for part in [path.as_bytes(), bytes.as_slice()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.update(if executable(path) { b"0755" } else { b"0644" });
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(unix)]
fn is_executable(entry: &walkdir::DirEntry) -> bool {
    use std::os::unix::fs::PermissionsExt;
    entry
        .metadata()
        .is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_entry: &walkdir::DirEntry) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_one_name_or_one_mode_changes_the_hash_of_a_folder() {
        let mut folder = Folder::default();
        folder.files.insert("a".into(), b"1".to_vec());
        let first = folder.hash();
        let mut renamed = folder.clone();
        renamed.files = Files::from([("b".into(), b"1".to_vec())]);
        let mut changed = folder.clone();
        changed.files.insert("a".into(), b"2".to_vec());
        let mut mode = folder.clone();
        mode.executable.push("a".into());
        for other in [renamed, changed, mode] {
            assert_ne!(first, other.hash());
        }
        assert_eq!(first, hash_files(&folder.files));
    }

    #[test]
    fn caches_are_not_part_of_a_folder_and_links_are_refused() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("__pycache__")).unwrap();
        std::fs::write(place.path().join("__pycache__/x.pyc"), b"x").unwrap();
        std::fs::write(place.path().join("a.py"), b"a").unwrap();
        let folder = Folder::read(place.path(), "somewhere").unwrap();
        assert_eq!(folder.files.keys().collect::<Vec<_>>(), ["a.py"]);
        std::os::unix::fs::symlink("a.py", place.path().join("b.py")).unwrap();
        let problem = Folder::read(place.path(), "somewhere").unwrap_err();
        assert_eq!(problem.field, "b.py");
    }
}
