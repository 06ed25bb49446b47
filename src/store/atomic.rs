//! Knows how a file appears whole or not at all: temporary file, fsync, rename or hard link.
//! Must not know what the bytes mean.
//! Start at `publish`.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The folder of a file; that of a bare name is the current one.
fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

fn staged(path: &Path, bytes: &[u8]) -> std::io::Result<tempfile::NamedTempFile> {
    let folder = folder_of(path);
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".partial-")
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    // Temporary files are closed to others; a record or a page is there to be read.
    file.as_file()
        .set_permissions(Permissions::from_mode(0o644))?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn sync_folder(path: &Path) -> std::io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

/// Replaces a file by these bytes; a crash leaves the old or the new one, never a mixture.
///
/// # Errors
/// The folder cannot be made or written.
pub fn publish(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    staged(path, bytes)?
        .persist(path)
        .map_err(|error| error.error)?;
    sync_folder(path)
}

/// Publishes a file that must not exist yet; false when somebody else was first.
///
/// # Errors
/// The folder cannot be made or written.
pub fn publish_once(path: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    let file = staged(path, bytes)?;
    match std::fs::hard_link(file.path(), path) {
        Ok(()) => sync_folder(path).map(|()| true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file.json");
        publish(&path, b"one").unwrap();
        publish(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o644
        );
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1
        );
    }

    #[test]
    fn only_the_first_of_two_publishers_wins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.json");
        assert!(publish_once(&path, b"first").unwrap());
        assert!(!publish_once(&path, b"second").unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
