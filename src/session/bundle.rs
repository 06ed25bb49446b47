//! Knows what a submission may look like: checks a tar stream from the workspace and rewrites it canonically.
//! Must not know what the files mean: contents are opaque bytes that nothing of ours opens.
//! Start at `Bundle::check`.

use std::collections::BTreeMap;

pub use crate::catalog::{Caps, pack};
use crate::catalog::{EntryFlaw, entries};

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

impl From<EntryFlaw> for Rejection {
    fn from(flaw: EntryFlaw) -> Self {
        match flaw {
            EntryFlaw::Kind { path, found } => Self::Kind { path, found },
            EntryFlaw::Path { path } => Self::Path { path },
            EntryFlaw::Twice { path } => Self::Twice { path },
            EntryFlaw::TooMuch { what, cap } => Self::TooMuch { what, cap },
            EntryFlaw::Malformed(why) => Self::Malformed(why),
        }
    }
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
        let mut files = entries(stream, caps)?.folder.files;
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

/// What Python leaves behind by running; never part of a submission.
fn is_residue(path: &str) -> bool {
    path.split('/').any(|part| part == "__pycache__")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tar::{Builder, EntryType, Header};

    fn tar_of(path: &str, kind: EntryType, bytes: &[u8]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        let mut header = Header::new_ustar();
        header.set_size(1);
        builder
            .append_data(&mut header, PARAMETERS, &b"x"[..])
            .unwrap();
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
