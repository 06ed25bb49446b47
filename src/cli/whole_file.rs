//! Knows how a generated file of the repository is replaced: as a whole or not at all, while nobody else does.
//! Must not know what it holds.
//! Start at `replace`.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{Code, Failure};

/// Replaces a file by what a function makes of the present text, empty when there is no file; others who replace it wait.
pub(super) fn replace(
    path: &Path,
    change: impl FnOnce(&str) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(Code::Internal, format!("{}: {error}", path.display()))
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    // The folder is locked rather than the file, which is another one after each replacement.
    let lock = File::open(folder).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let present = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    let text = change(&present)?;
    if text == present {
        return Ok(());
    }
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .permissions(std::fs::Permissions::from_mode(0o644))
        .tempfile_in(folder)
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    lock.sync_all().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_changed_as_a_whole_and_a_refused_change_leaves_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        replace(&path, |text| Ok(format!("{text}one\n"))).unwrap();
        replace(&path, |text| Ok(format!("{text}two\n"))).unwrap();
        assert!(replace(&path, |_| Err(Failure::new(Code::Invalid, "no"))).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644);
    }
}
