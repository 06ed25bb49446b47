//! Knows the verb `pack`: a sound dossier of the catalogue becomes one file that can be handed on.
//! Must not know the rules, nor what the file looks like inside.
//! Start at `run`.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde_json::json;

use crate::catalog::{Catalog, DossierArchive, Folder};
use crate::store;
use crate::vocab::DossierId;

use super::check::place_of;
use super::root::{CatalogFolder, invalid};
use super::{Code, Failure, out};

/// The first bytes of a zstd frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Packs a dossier into one archive.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// An id, or the path of a dossier in the catalogue
    #[arg(value_name = "DOSSIER")]
    what: String,
    /// The archive [default: ID-VERSION.tar.zst, here]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Prints one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// Runs the verb.
///
/// # Errors
/// Exit 3 with every defect of the dossier; exit 2 when there is none of this name or the archive cannot be written.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let root = args.folder.find()?;
    let place = place_of(&root, &args.what)?;
    let id = place
        .strip_prefix("dossiers/")
        .and_then(|name| DossierId::new(name).ok())
        .ok_or_else(|| {
            Failure::new(Code::Usage, format!("`{}` is no dossier", args.what))
                .remedy("name one; `evalxrl list dossiers` shows them")
        })?;
    let folder = Folder::read(&root.join(&place), &place)
        .map_err(|problem| invalid(&problem.into()))?
        .travelling();
    let (catalog, problems) = Catalog::survey_with(&root, &id, &folder);
    let problems = problems.about(|at| at == place || at.starts_with(&format!("{place}/")));
    if !problems.is_empty() {
        return Err(invalid(&problems));
    }
    let version = match catalog.dossier(&id) {
        Ok(dossier) => &dossier.version,
        Err(unknown) => return Err(Failure::new(Code::Invalid, unknown.to_string())),
    };
    let name = format!("{id}-{version}.tar.zst");
    let archive = DossierArchive {
        id: id.clone(),
        folder,
    };
    let bytes = archive
        .write(&place)
        .map_err(|problem| invalid(&problem.into()))?;
    let path = args.out.clone().unwrap_or_else(|| PathBuf::from(name));
    check_target(&root, &path)?;
    store::publish(&path, &bytes).map_err(|error| {
        Failure::new(Code::Usage, format!("{}: {error}", path.display()))
            .remedy("name a file that can be written after --out")
    })?;
    let hash = blake3::hash(&bytes).to_hex().to_string();
    let shown = path.display().to_string();
    if args.json {
        let document = json!({
            "format": "evalxrl.pack/1",
            "id": id,
            "version": version,
            "archive": shown,
            "hash": hash,
            "bytes": bytes.len(),
            "files": archive.folder.files.len(),
        });
        return out::data(&format!("{document:#}\n"));
    }
    out::talk(&format!(
        "next: hand it on with its hash; `evalxrl add {shown} --hash {hash}` takes it into a catalogue"
    ));
    out::data(&format!("{hash}  {shown}\n"))
}

/// Refuses places at which an archive would destroy something else.
fn check_target(root: &Path, path: &Path) -> Result<(), Failure> {
    let refused = |what: &str| {
        let told = format!("{}: {what}", path.display());
        Err(Failure::new(Code::Usage, told).remedy("name another file after --out"))
    };
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    let shelf = root.join("dossiers").canonicalize();
    if let (Ok(parent), Ok(shelf)) = (parent, shelf)
        && parent.starts_with(shelf)
    {
        return refused("lies among the dossiers");
    }
    match std::fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(found) if found.is_dir() => refused("is a folder"),
        Ok(found) if !found.is_file() => refused("is no regular file"),
        Ok(_) => {
            let mut first = [0; MAGIC.len()];
            match std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut first)) {
                Ok(()) if first == MAGIC => Ok(()),
                _ => refused("is there already and is no archive"),
            }
        }
    }
}
