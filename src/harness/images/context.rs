//! Knows a build context: the files of a folder, their hash, and the tar stream made of them.
//! Must not know what is built from it.
//! Start at `Context`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::failed;
use crate::vocab::HarnessFault;

/// Files by name below the context, with whether they are executable.
#[derive(Debug, Clone, Default)]
pub(super) struct Context {
    files: BTreeMap<String, (bool, Vec<u8>)>,
}

impl Context {
    /// Adds every file below a folder under `prefix`, leaving out caches and folders named in `without`.
    pub(super) fn add_folder(
        &mut self,
        folder: &Path,
        prefix: &str,
        without: &[&str],
    ) -> Result<(), HarnessFault> {
        let doing = || format!("reading {}", folder.display());
        let walk = walkdir::WalkDir::new(folder)
            .into_iter()
            .filter_entry(|entry| {
                let name = entry.file_name().to_string_lossy();
                let left_out = name == "__pycache__" || name.starts_with('.');
                entry.depth() == 0
                    || !(left_out || (entry.depth() == 1 && without.contains(&name.as_ref())))
            });
        for entry in walk {
            let entry = entry.map_err(|error| failed(&doing(), error))?;
            if !entry.file_type().is_file() {
                continue;
            }
            let relative = entry
                .path()
                .strip_prefix(folder)
                .map_err(|error| failed(&doing(), error))?;
            self.add_file(entry.path(), &format!("{prefix}{}", relative.display()))?;
        }
        Ok(())
    }

    /// Adds one file under a name.
    pub(super) fn add_file(&mut self, path: &Path, name: &str) -> Result<(), HarnessFault> {
        let doing = || format!("reading {}", path.display());
        let bytes = fs::read(path).map_err(|error| failed(&doing(), error))?;
        let mode = fs::metadata(path).map_err(|error| failed(&doing(), error))?;
        let executable = mode.permissions().mode() & 0o100 != 0;
        self.files.insert(name.to_owned(), (executable, bytes));
        Ok(())
    }

    /// Sixteen hexadecimal digits of the content, what it stands on, and the arguments of its making.
    pub(super) fn hash(&self, parts: &[&str]) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for (name, (executable, bytes)) in &self.files {
            part(name.as_bytes());
            part(if *executable { b"0755" } else { b"0644" });
            part(bytes);
        }
        for text in parts {
            part(text.as_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// Writes the files, and those of `folder` below `prefix` as they lie, as a tar stream.
    pub(super) fn pack(
        &self,
        target: impl std::io::Write,
        folder: Option<(&Path, &str)>,
    ) -> Result<(), HarnessFault> {
        let doing = "packing a build context";
        let mut archive = tar::Builder::new(target);
        archive.mode(tar::HeaderMode::Deterministic);
        for (name, (executable, bytes)) in &self.files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(if *executable { 0o755 } else { 0o644 });
            header.set_mtime(0);
            archive
                .append_data(&mut header, name, bytes.as_slice())
                .map_err(|error| failed(doing, error))?;
        }
        if let Some((folder, prefix)) = folder {
            archive
                .append_dir_all(prefix, folder)
                .map_err(|error| failed(doing, error))?;
        }
        archive.finish().map_err(|error| failed(doing, error))
    }

    /// Writes the files below a folder.
    pub(super) fn unpack(&self, folder: &Path) -> Result<(), HarnessFault> {
        for (name, (executable, bytes)) in &self.files {
            let path = folder.join(name);
            let mode = if *executable { 0o755 } else { 0o644 };
            let made = path.parent().map_or(Ok(()), fs::create_dir_all);
            made.and_then(|()| fs::write(&path, bytes))
                .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(mode)))
                .map_err(|error| failed(&format!("writing {}", path.display()), error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(files: &[(&str, bool, &str)]) -> Context {
        Context {
            files: files
                .iter()
                .map(|(name, executable, text)| {
                    ((*name).to_owned(), (*executable, text.as_bytes().to_vec()))
                })
                .collect(),
        }
    }

    #[test]
    fn the_hash_tells_name_mode_bytes_and_parent_apart() {
        let one = context(&[("a", false, "x"), ("b", false, "y")]);
        let hash = one.hash(&["parent"]);
        assert_eq!(hash.len(), 16);
        assert_eq!(hash, one.hash(&["parent"]));
        for (other, parent) in [
            (context(&[("a", false, "x"), ("b", false, "z")]), "parent"),
            (context(&[("a", true, "x"), ("b", false, "y")]), "parent"),
            (context(&[("a", false, "x"), ("c", false, "y")]), "parent"),
            (context(&[("a", false, "xb"), ("", false, "y")]), "parent"),
            (one, "other"),
        ] {
            assert_ne!(hash, other.hash(&[parent]));
        }
    }

    #[test]
    fn caches_and_left_out_folders_are_no_part_of_the_context() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "core/a.py",
            "agents/b.py",
            "core/__pycache__/a.pyc",
            "core/agents/c.py",
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let mut found = Context::default();
        found.add_folder(folder.path(), "p/", &["agents"]).unwrap();
        let names: Vec<_> = found.files.keys().map(String::as_str).collect();
        assert_eq!(names, ["p/core/a.py", "p/core/agents/c.py"]);
    }
}
