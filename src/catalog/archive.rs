//! Knows how files become a tar that depends on nothing else, and how a tar from elsewhere is checked entry by entry.
//! Must not know what the files mean, nor unpack anything to disk.
//! Start at `entries` and `pack`.

use std::collections::BTreeSet;
use std::io::Read;

use tar::{Archive, Builder, EntryType, Header};

use super::folder::Folder;

/// Caps of a tar from elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    /// Bytes of all files together.
    pub bytes: u64,
    /// Files and folders.
    pub entries: usize,
    /// Components of a path.
    pub depth: usize,
    /// Bytes of a path.
    pub path: usize,
}

/// Why a tar is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryFlaw {
    /// Not a regular file or folder.
    #[error("{path}: only regular files and folders are accepted, this is a {found}")]
    Kind {
        /// Which entry.
        path: String,
        /// What it is.
        found: &'static str,
    },
    /// A path that is not plain.
    #[error("{path}: paths are relative, of letters, digits and . _ - only, without ..")]
    Path {
        /// As it was given, escaped.
        path: String,
    },
    /// Two paths that are equal, or equal up to case.
    #[error("{path}: the name occurs twice (letter case does not count)")]
    Twice {
        /// The second one.
        path: String,
    },
    /// Too much of something.
    #[error("more than {cap} {what}")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// The cap.
        cap: u64,
    },
    /// The stream is not a plain tar.
    #[error("cannot be read: {0}")]
    Malformed(String),
}

/// What a tar holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entries {
    /// Its files.
    pub folder: Folder,
    /// Its folders, as far as they have entries of their own.
    pub folders: BTreeSet<String>,
}

/// Reads a tar stream and checks every entry of it; nothing is unpacked to disk.
///
/// # Errors
/// The first rule it breaks.
pub fn entries(stream: &[u8], caps: Caps) -> Result<Entries, EntryFlaw> {
    let mut found = Entries::default();
    let mut seen = BTreeSet::new();
    let mut bytes = 0u64;
    let malformed = |error: std::io::Error| EntryFlaw::Malformed(error.to_string());
    let mut archive = Archive::new(stream);
    // Raw entries: extended headers then show up as what they are instead of being obeyed.
    for entry in archive.entries().map_err(malformed)?.raw(true) {
        let mut entry = entry.map_err(malformed)?;
        let raw = entry.path_bytes().into_owned();
        let path = plain(&raw, caps)?;
        let kind = entry.header().entry_type();
        let size = entry.header().size().map_err(malformed)?;
        match kind {
            EntryType::Directory => {
                found.folders.insert(path);
            }
            EntryType::Regular => {
                bytes = bytes.saturating_add(size);
                if bytes > caps.bytes {
                    return Err(EntryFlaw::TooMuch {
                        what: "bytes",
                        cap: caps.bytes,
                    });
                }
                if !seen.insert(path.to_lowercase()) {
                    return Err(EntryFlaw::Twice { path });
                }
                let mut content = Vec::new();
                entry.read_to_end(&mut content).map_err(malformed)?;
                if content.len() as u64 != size {
                    return Err(EntryFlaw::Malformed(format!("{path} is cut short")));
                }
                if entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0) {
                    found.folder.executable.push(path.clone());
                }
                found.folder.files.insert(path, content);
            }
            other => {
                return Err(EntryFlaw::Kind {
                    path,
                    found: describe(other),
                });
            }
        }
        if found.folder.files.len() + found.folders.len() > caps.entries {
            return Err(EntryFlaw::TooMuch {
                what: "files and folders",
                cap: caps.entries as u64,
            });
        }
    }
    let mut folders = found.folders.iter();
    if let Some(path) = folders.find(|path| seen.contains(&path.to_lowercase())) {
        return Err(EntryFlaw::Twice { path: path.clone() });
    }
    found.folder.executable.sort();
    Ok(found)
}

/// Packs files (path, bytes, mode) with their parent folders into a tar that depends on nothing else.
#[must_use]
pub fn pack<'a>(files: impl Iterator<Item = (&'a str, &'a [u8], u32)>) -> Vec<u8> {
    let mut sorted: Vec<_> = files.collect();
    sorted.sort_by_key(|(path, ..)| *path);
    let mut builder = Builder::new(Vec::new());
    let mut made = BTreeSet::new();
    for (path, bytes, mode) in sorted {
        for (end, _) in path.match_indices('/') {
            if made.insert(path[..end].to_owned()) {
                append(
                    &mut builder,
                    &format!("{}/", &path[..end]),
                    EntryType::Directory,
                    0o755,
                    &[],
                );
            }
        }
        append(&mut builder, path, EntryType::Regular, mode, bytes);
    }
    builder.into_inner().expect("a vector takes every byte")
}

fn append(builder: &mut Builder<Vec<u8>>, path: &str, kind: EntryType, mode: u32, bytes: &[u8]) {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(bytes.len() as u64);
    builder
        .append_data(&mut header, path, bytes)
        .expect("paths are short and a vector takes every byte");
}

fn plain(raw: &[u8], caps: Caps) -> Result<String, EntryFlaw> {
    let refused = || EntryFlaw::Path {
        path: raw.escape_ascii().to_string(),
    };
    let text = std::str::from_utf8(raw).map_err(|_| refused())?;
    let text = text.strip_suffix('/').unwrap_or(text);
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    let parts: Vec<&str> = text.split('/').collect();
    if text.len() > caps.path || parts.len() > caps.depth {
        return Err(EntryFlaw::TooMuch {
            what: "bytes or levels in a path",
            cap: caps.path as u64,
        });
    }
    if !text.chars().all(allowed) || parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
        return Err(refused());
    }
    Ok(text.to_owned())
}

fn describe(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink => "symbolic link",
        EntryType::Link => "hard link",
        EntryType::Char | EntryType::Block => "device",
        EntryType::Fifo => "named pipe",
        EntryType::GNUSparse => "sparse file",
        EntryType::GNULongName
        | EntryType::GNULongLink
        | EntryType::XHeader
        | EntryType::XGlobalHeader => "extended header",
        _ => "special entry",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: Caps = Caps {
        bytes: 1000,
        entries: 10,
        depth: 4,
        path: 100,
    };

    #[test]
    fn files_folders_and_modes_come_back_as_they_were_packed() {
        let files = [("a/run.sh", &b"x"[..], 0o755), ("a/b/c.py", b"y", 0o644)];
        let found = entries(&pack(files.into_iter()), CAPS).unwrap();
        assert_eq!(found.folder.executable, ["a/run.sh"]);
        assert_eq!(found.folder.files["a/b/c.py"], b"y");
        assert!(found.folders.iter().eq(["a", "a/b"]));
    }

    #[test]
    fn the_order_of_packing_leaves_no_trace() {
        let files = [("b", &b"1"[..], 0o644), ("a/c", b"2", 0o644)];
        let there = pack(files.into_iter());
        assert_eq!(there, pack(files.into_iter().rev()));
    }
}
