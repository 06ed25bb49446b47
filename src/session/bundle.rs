//! Knows what a submission may look like: checks a tar stream from the workspace and rewrites it canonically.
//! Must not know what the files mean: contents are opaque bytes that nothing of ours opens.
//! Start at `Bundle::check`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use tar::{Archive, Builder, EntryType, Header};

/// Caps of a bundle.
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

/// The caps of `harness.md` §2.4.
pub const CAPS: Caps = Caps {
    bytes: 64 << 20,
    entries: 200,
    depth: 8,
    path: 200,
};

/// The parameter file every bundle must hold.
pub const PARAMETERS: &str = "agent/parameters.safetensors";

/// Why a bundle is refused; told to the coder word by word.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
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
    #[error("the bundle has more than {cap} {what}")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// The cap.
        cap: u64,
    },
    /// No parameter file.
    #[error("{PARAMETERS} is missing: train an agent before submitting")]
    NoParameters,
    /// The stream is not a plain tar.
    #[error("the bundle cannot be read: {0}")]
    Malformed(String),
}

/// An accepted submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Files by path.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Bundle {
    /// Checks a tar stream; nothing is unpacked to disk.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn check(stream: &[u8], caps: Caps) -> Result<Self, Rejection> {
        let mut files = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut folders = BTreeSet::new();
        let mut bytes = 0u64;
        let malformed = |error: std::io::Error| Rejection::Malformed(error.to_string());
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
                    folders.insert(path);
                }
                EntryType::Regular => {
                    bytes = bytes.saturating_add(size);
                    if bytes > caps.bytes {
                        return Err(Rejection::TooMuch {
                            what: "bytes",
                            cap: caps.bytes,
                        });
                    }
                    if !seen.insert(path.to_lowercase()) {
                        return Err(Rejection::Twice { path });
                    }
                    let mut content = Vec::new();
                    entry.read_to_end(&mut content).map_err(malformed)?;
                    if content.len() as u64 != size {
                        return Err(Rejection::Malformed(format!("{path} is cut short")));
                    }
                    files.insert(path, content);
                }
                other => {
                    return Err(Rejection::Kind {
                        path,
                        found: describe(other),
                    });
                }
            }
            if files.len() + folders.len() > caps.entries {
                return Err(Rejection::TooMuch {
                    what: "files and folders",
                    cap: caps.entries as u64,
                });
            }
        }
        if let Some(path) = folders
            .iter()
            .find(|path| seen.contains(&path.to_lowercase()))
        {
            return Err(Rejection::Twice { path: path.clone() });
        }
        files.retain(|path, _| !is_residue(path));
        if files.contains_key(PARAMETERS) {
            Ok(Self { files })
        } else {
            Err(Rejection::NoParameters)
        }
    }

    /// The canonical tar: sorted, uid 0, mode 0644, time 0.
    #[must_use]
    pub fn canonical_tar(&self) -> Vec<u8> {
        pack(
            self.files
                .iter()
                .map(|(path, bytes)| (path.as_str(), bytes.as_slice(), 0o644)),
        )
    }

    /// BLAKE3 of the canonical tar.
    #[must_use]
    pub fn hash(&self) -> String {
        blake3::hash(&self.canonical_tar()).to_hex().to_string()
    }
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

/// What Python leaves behind by running; never part of a submission.
fn is_residue(path: &str) -> bool {
    path.split('/').any(|part| part == "__pycache__")
}

fn plain(raw: &[u8], caps: Caps) -> Result<String, Rejection> {
    let refused = || Rejection::Path {
        path: raw.escape_ascii().to_string(),
    };
    let text = std::str::from_utf8(raw).map_err(|_| refused())?;
    let text = text.strip_suffix('/').unwrap_or(text);
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    let parts: Vec<&str> = text.split('/').collect();
    if text.len() > caps.path || parts.len() > caps.depth {
        return Err(Rejection::TooMuch {
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
    use proptest::prelude::*;

    fn tar_of(path: &str, kind: EntryType, bytes: &[u8]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        append(&mut builder, PARAMETERS, EntryType::Regular, 0o644, b"x");
        let mut header = Header::new_ustar();
        // Written by hand, because the library refuses to write what we must refuse to read.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(kind);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        builder.append(&header, bytes).unwrap();
        builder.into_inner().unwrap()
    }

    #[test]
    fn every_kind_of_entry_that_is_no_plain_file_is_refused() {
        for kind in [
            EntryType::Symlink,
            EntryType::Link,
            EntryType::Char,
            EntryType::Block,
            EntryType::Fifo,
            EntryType::GNUSparse,
            EntryType::XHeader,
            EntryType::XGlobalHeader,
            EntryType::GNULongName,
            EntryType::Continuous,
        ] {
            let refused = Bundle::check(&tar_of("evalxrl_envs/x", kind, b""), CAPS);
            let named = matches!(refused, Err(Rejection::Kind { .. }));
            // The library itself refuses a sparse entry whose header is not a GNU one.
            let unread =
                kind == EntryType::GNUSparse && matches!(refused, Err(Rejection::Malformed(_)));
            assert!(named || unread, "{kind:?} {refused:?}");
        }
    }

    #[test]
    fn every_path_that_could_leave_the_bundle_is_refused() {
        for path in [
            "../x",
            "/etc/passwd",
            "a/../b",
            "a//b",
            "./a",
            "a b",
            "a\n",
            "a\x1b[0m",
            "~x",
        ] {
            let refused = Bundle::check(&tar_of(path, EntryType::Regular, b""), CAPS);
            assert!(
                matches!(refused, Err(Rejection::Path { .. })),
                "{path:?} {refused:?}"
            );
        }
        let deep = "a/".repeat(9) + "b";
        assert!(matches!(
            Bundle::check(&tar_of(&deep, EntryType::Regular, b""), CAPS),
            Err(Rejection::TooMuch { .. })
        ));
    }

    #[test]
    fn names_that_differ_only_in_case_are_refused() {
        let refused = Bundle::check(
            &tar_of("Agent/Parameters.safetensors", EntryType::Regular, b""),
            CAPS,
        );
        assert!(matches!(refused, Err(Rejection::Twice { .. })));
    }

    #[test]
    fn caps_are_counted_before_anything_is_kept() {
        let mut header = Header::new_ustar();
        header.set_path("agent/big").unwrap();
        header.set_entry_type(EntryType::Regular);
        header.set_size(1 << 40);
        header.set_cksum();
        let refused = Bundle::check(header.as_bytes(), CAPS);
        assert_eq!(
            refused,
            Err(Rejection::TooMuch {
                what: "bytes",
                cap: CAPS.bytes
            })
        );
        let many: Vec<String> = (0..300).map(|number| format!("agent/{number}")).collect();
        let tar = pack(many.iter().map(|path| (path.as_str(), &b""[..], 0o644)));
        assert!(matches!(
            Bundle::check(&tar, CAPS),
            Err(Rejection::TooMuch { cap: 200, .. })
        ));
    }

    #[test]
    fn a_bundle_without_parameters_or_with_a_cut_stream_is_refused() {
        let tar = pack([("evalxrl_envs/a.py", &b"1"[..], 0o644)].into_iter());
        assert_eq!(Bundle::check(&tar, CAPS), Err(Rejection::NoParameters));
        let tar = pack([(PARAMETERS, &[7u8; 4000][..], 0o644)].into_iter());
        assert!(matches!(
            Bundle::check(&tar[..1500], CAPS),
            Err(Rejection::Malformed(_))
        ));
    }

    proptest! {
        #[test]
        fn the_canonical_tar_depends_on_files_alone(
            files in proptest::collection::btree_map("[a-z]{1,8}(/[a-z]{1,8}){0,3}\\.py", proptest::collection::vec(any::<u8>(), 0..600), 0..12),
            mode in 0u32..0o7777,
        ) {
            let mut files = files;
            files.insert(PARAMETERS.to_owned(), vec![1, 2, 3]);
            let loose = pack(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice(), mode)));
            let bundle = Bundle::check(&loose, CAPS).unwrap();
            prop_assert_eq!(&bundle.files, &files);
            let again = Bundle::check(&bundle.canonical_tar(), CAPS).unwrap();
            prop_assert_eq!(again.hash(), bundle.hash());
        }

        #[test]
        fn no_stream_of_bytes_makes_the_check_panic(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
            prop_assert!(Bundle::check(&bytes, CAPS).is_err());
        }
    }
}
