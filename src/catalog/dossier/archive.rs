//! Knows the one file in which a dossier travels: a canonical tar below one folder, compressed.
//! Must not know the rules of a dossier, nor write anything to disk.
//! Start at `DossierArchive`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};

use tar::Header;

use crate::vocab::DossierId;

use super::super::Problem;
use super::super::archive::{Caps, Entries, EntryFlaw, entries, pack};
use super::super::folder::{Files, Folder, is_residue};

/// What an archive may hold, unpacked; paths begin with the id.
const CAPS: Caps = Caps {
    bytes: 32 << 20,
    entries: 1000,
    depth: 9,
    path: 200,
};

/// Bytes of the tar itself: its files, and for each entry a header and what fills a block.
const TAR_CAP: u64 = CAPS.bytes + (CAPS.entries as u64 + 20) * 1024;

/// Zeros that end a tar.
const END: [u8; 1024] = [0; 1024];

/// A frame that wants a window of more than two to this power bytes is refused: nothing here is so large.
const WINDOW_LOG: u32 = 25;

/// Fixed, since another level makes other bytes.
const LEVEL: i32 = 19;

const REPACK: &str = "pack the dossier with `evalxrl pack`";

/// A dossier on its way: what its archive holds, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DossierArchive {
    /// The name of its one top folder.
    pub id: DossierId,
    /// Its files, relative to that folder.
    pub folder: Folder,
}

impl DossierArchive {
    /// Bytes of an archive beyond which it is not read at all.
    pub const CAP: u64 = 16 << 20;

    /// The bytes of the archive; they depend on the files alone.
    ///
    /// # Errors
    /// What `read` would refuse in the folder `place`.
    pub fn write(&self, place: &str) -> Result<Vec<u8>, Problem> {
        let mut files = Vec::new();
        for (path, bytes) in &self.folder.files {
            let executable = self.folder.executable.contains(path);
            let full = format!("{}/{path}", self.id);
            if let Err(error) = Header::new_ustar().set_path(&full) {
                let wrong = format!("does not fit into an archive: {error}");
                return Err(Problem::new(place, path, wrong, "give it a shorter name"));
            }
            files.push((full, bytes, if executable { 0o755 } else { 0o644 }));
        }
        let files = files.iter();
        let tar = pack(files.map(|(path, bytes, mode)| (path.as_str(), bytes.as_slice(), *mode)));
        let failed = |wrong: String| Problem::new(place, "", wrong, "try again");
        let bytes = compress(&tar).map_err(|error| failed(format!("is not packed: {error}")))?;
        if Self::read(place, &bytes)? == *self {
            Ok(bytes)
        } else {
            Err(failed("does not come back from its archive".to_owned()))
        }
    }

    /// Checks an archive and reads it into memory; `place` names it in what is told.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn read(place: &str, bytes: &[u8]) -> Result<Self, Problem> {
        if bytes.len() as u64 > Self::CAP {
            return Err(too_much(place, Self::CAP));
        }
        let tar = expand(place, bytes)?;
        let found = entries(&tar, CAPS).map_err(|flaw| told(place, &flaw))?;
        if !tar.ends_with(&END) {
            let flaw = EntryFlaw::Malformed("the tar is cut short".to_owned());
            return Err(told(place, &flaw));
        }
        if let Some(path) = clash(&found) {
            return Err(told(place, &EntryFlaw::Twice { path }));
        }
        let id = top(place, &found)?;
        let below = |path: &String| path[id.as_str().len() + 1..].to_owned();
        let executable = found.folder.executable.iter().map(below).collect();
        let files = found.folder.files.iter();
        let files: Files = files
            .map(|(path, bytes)| (below(path), bytes.clone()))
            .collect();
        let folder = Folder { files, executable };
        Ok(Self { id, folder })
    }
}

/// The one top folder, below which everything plain lies.
fn top(place: &str, found: &Entries) -> Result<DossierId, Problem> {
    let files = || found.folder.files.keys();
    if let Some(path) = files().find(|path| !path.contains('/')) {
        let wrong = "lies beside the folder of the dossier";
        return Err(Problem::new(place, path, wrong, REPACK));
    }
    if let Some(path) = files().chain(&found.folders).find(|path| is_residue(path)) {
        let wrong = "is hidden, or was left behind by a tool";
        return Err(Problem::new(place, path, wrong, REPACK));
    }
    let all = files().chain(&found.folders);
    let tops: BTreeSet<&str> = all.filter_map(|path| path.split('/').next()).collect();
    let tops: Vec<&str> = tops.into_iter().collect();
    match tops[..] {
        [one] => DossierId::new(one).map_err(|error| {
            let remedy = "name the top folder by the id of the dossier";
            Problem::new(place, one, error.to_string(), remedy)
        }),
        [] => Err(Problem::new(place, "", "holds nothing", REPACK)),
        _ => {
            let wrong = format!("has {} top folders", tops.len());
            Err(Problem::new(place, tops.join(", "), wrong, REPACK))
        }
    }
}

/// A path that is also written otherwise in letter case, or that is both a file and a folder.
fn clash(found: &Entries) -> Option<String> {
    let mut seen: BTreeMap<String, (&str, bool)> = BTreeMap::new();
    let files = found.folder.files.keys().map(|path| (path, true));
    let folders = found.folders.iter().map(|path| (path, false));
    for (path, is_file) in files.chain(folders) {
        let above = path
            .match_indices('/')
            .map(|(end, _)| (&path[..end], false));
        for (part, is_file) in above.chain([(path.as_str(), is_file)]) {
            let known = seen.entry(part.to_lowercase()).or_insert((part, is_file));
            if *known != (part, is_file) {
                return Some(part.to_owned());
            }
        }
    }
    None
}

fn told(place: &str, flaw: &EntryFlaw) -> Problem {
    Problem::new(place, "", flaw.to_string(), REPACK)
}

fn too_much(place: &str, cap: u64) -> Problem {
    let wrong = format!("holds more than {cap} bytes");
    Problem::new(place, "", wrong, "leave out what a dossier does not need")
}

/// One frame with its size and a checksum.
fn compress(tar: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.set_pledged_src_size(Some(tar.len() as u64))?;
    encoder.write_all(tar)?;
    encoder.finish()
}

/// The tar of an archive that is one whole frame and nothing after it; never more than the cap is held.
fn expand(place: &str, bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let broken = |error: std::io::Error| {
        let wrong = format!("is no whole zstd archive: {error}");
        Problem::new(
            place,
            "",
            wrong,
            "fetch it again, or pack it again with `evalxrl pack`",
        )
    };
    let mut decoder = zstd::Decoder::with_buffer(bytes)
        .map_err(broken)?
        .single_frame();
    decoder.window_log_max(WINDOW_LOG).map_err(broken)?;
    let mut tar = Vec::new();
    let mut limited = decoder.by_ref().take(TAR_CAP + 1);
    limited.read_to_end(&mut tar).map_err(broken)?;
    if tar.len() as u64 > TAR_CAP {
        return Err(too_much(place, CAPS.bytes));
    }
    if decoder.finish().is_empty() {
        Ok(tar)
    } else {
        let wrong = "holds something after its end";
        Err(Problem::new(
            place,
            "",
            wrong,
            "fetch it again, or pack it again with `evalxrl pack`",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn archive(files: &[(&str, &str)]) -> DossierArchive {
        let files = files.iter();
        let files = files.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        DossierArchive {
            id: "method".parse().unwrap(),
            folder: Folder {
                files: files.collect(),
                executable: vec!["tools/run.sh".to_owned()],
            },
        }
    }

    #[test]
    fn a_dossier_comes_back_as_it_was_and_is_packed_alike_twice() {
        let archive = archive(&[("README.md", "one"), ("tools/run.sh", "two")]);
        let bytes = archive.write("dossiers/method").unwrap();
        assert_eq!(bytes, archive.write("dossiers/method").unwrap());
        assert_eq!(DossierArchive::read("a", &bytes), Ok(archive));
    }

    #[test]
    fn what_would_not_be_accepted_is_not_packed() {
        for path in ["src/a b.py", "src/.hidden", "src/A.py", &"n".repeat(150)] {
            let files = [("tools/run.sh", ""), ("src/a.py", ""), (path, "")];
            let problem = archive(&files).write("dossiers/method").unwrap_err();
            assert_eq!(problem.place, "dossiers/method", "{problem}");
        }
    }

    proptest! {
        #[test]
        fn a_cut_or_changed_archive_is_never_read(at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let archive = archive(&[("README.md", "one"), ("tools/run.sh", "two")]);
            let whole = archive.write("a").unwrap();
            let at = at.index(whole.len());
            prop_assert!(DossierArchive::read("a", &whole[..at]).is_err());
            let mut changed = whole;
            changed[at] ^= 1 << bit;
            // The format has a bit or two that nobody reads; a change elsewhere is seen.
            let read = DossierArchive::read("a", &changed);
            prop_assert!(read.is_err() || read == Ok(archive));
        }
    }
}
