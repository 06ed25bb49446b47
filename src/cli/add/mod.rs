//! Knows the verb `add`: an archive from elsewhere is checked and becomes a dossier of the catalogue; nothing of it runs.
//! Must not know the rules, nor what an archive looks like inside.
//! Start at `run`.

mod shelf;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde_json::json;

use crate::catalog::{Catalog, Dossier, DossierArchive, Folder};

use super::root::{CatalogFolder, invalid};
use super::{Code, Failure, out};

use shelf::Shelf;

/// Takes a packed dossier into the catalogue.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// What `evalxrl pack` wrote
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,
    /// The BLAKE3 hash it must have
    #[arg(long, value_name = "HEX")]
    hash: Option<String>,
    /// Takes the place of the dossier that has its id
    #[arg(long)]
    replace: bool,
    /// Prints one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// Runs the verb.
///
/// # Errors
/// Exit 3 with what is wrong with the archive or every defect of the dossier; exit 2 when it cannot be read, or the id
/// is taken.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let root = args.folder.find()?;
    let place = args.archive.display().to_string();
    let bytes = read(&args.archive)?;
    let hash = blake3::hash(&bytes).to_hex().to_string();
    if let Some(expected) = &args.hash {
        compare(&place, &hash, expected)?;
    }
    let archive =
        DossierArchive::read(&place, &bytes).map_err(|problem| invalid(&problem.into()))?;
    let shelf = Shelf::open(&root).map_err(|error| unwritten(&root, &error))?;
    for name in shelf.mend().map_err(|error| unwritten(&root, &error))? {
        out::talk(&format!(
            "note: dossiers/{name} is back, which a killed `add` had put aside"
        ));
    }
    let dossier = sound(&root, &archive)?;
    let state = place_it(&root, &shelf, &archive, args.replace)?;
    let (id, version) = (&dossier.id, &dossier.version);
    if args.json {
        let document = json!({
            "format": "evalxrl.add/1",
            "id": id,
            "version": version,
            "hash": hash,
            "folder": format!("dossiers/{id}"),
            "state": state,
        });
        return out::data(&format!("{document:#}\n"));
    }
    out::talk(&match state {
        "unchanged" => format!("dossiers/{id} is there already, unchanged"),
        state => format!("dossiers/{id} {state}"),
    });
    let environments = dossier.environments.iter();
    let environment = environments.map(|id| id.as_str()).next().unwrap_or("E");
    out::talk(&format!(
        "next: `evalxrl check {id}` runs its tools in a sandbox; `evalxrl try {id} --environment {environment}`"
    ));
    out::data(&format!("{id}  {version}  {hash}\n"))
}

/// The bytes of the archive, of which no more than the cap are taken.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(Code::Usage, format!("{}: {error}", path.display()))
            .remedy("name a file that `evalxrl pack` wrote")
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(DossierArchive::CAP + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(bytes)
}

fn compare(place: &str, found: &str, expected: &str) -> Result<(), Failure> {
    if expected.len() != 64 || !expected.chars().all(|c| c.is_ascii_hexdigit()) {
        let told = format!("--hash `{expected}`: is no BLAKE3 hash");
        return Err(Failure::new(Code::Usage, told).remedy("write its 64 hexadecimal digits"));
    }
    if found.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    let told = format!("{place}: has the hash {found}, not {expected}");
    Err(Failure::new(Code::Invalid, told).remedy("fetch it again, or ask its author for the hash"))
}

/// The dossier as it would stand in the catalogue: without a defect, and without one that it brings to others.
fn sound(root: &Path, archive: &DossierArchive) -> Result<Dossier, Failure> {
    let own = format!("dossiers/{}", archive.id);
    let is_own = |place: &str| place == own || place.starts_with(&format!("{own}/"));
    let (catalog, problems) = Catalog::survey_with(root, &archive.id, &archive.folder);
    let mut told = problems.list().to_vec();
    if told.iter().any(|problem| !is_own(&problem.place)) {
        let (_, before) = Catalog::survey(root);
        told.retain(|problem| is_own(&problem.place) || !before.list().contains(problem));
    }
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    match catalog.dossier(&archive.id) {
        Ok(dossier) if told.is_empty() => Ok(dossier.clone()),
        Ok(_) => Err(told),
        Err(unknown) if told.is_empty() => Err(vec![unknown.to_string()]),
        Err(_) => Err(told),
    }
    .map_err(|problems| Failure {
        code: Code::Invalid,
        problems,
        remedy: Some("mend the dossier where it was written, and pack it again".to_owned()),
    })
}

/// Puts the dossier into its place, and tells what became of it.
fn place_it(
    root: &Path,
    shelf: &Shelf,
    archive: &DossierArchive,
    replace: bool,
) -> Result<&'static str, Failure> {
    let id = archive.id.as_str();
    let state = if shelf.holds(id) {
        let place = format!("dossiers/{id}");
        let present = Folder::read(&root.join(&place), &place).map(Folder::travelling);
        if present.as_ref() == Ok(&archive.folder) {
            return Ok("unchanged");
        }
        if !replace {
            let told = format!("{place}: is there already, and holds something else");
            return Err(Failure::new(Code::Usage, told).remedy("add --replace to take its place"));
        }
        "replaced"
    } else {
        "added"
    };
    shelf
        .put(id, &archive.folder)
        .map_err(|error| unwritten(root, &error))?;
    Ok(state)
}

fn unwritten(root: &Path, error: &std::io::Error) -> Failure {
    let told = format!("{}: {error}", root.join("dossiers").display());
    Failure::new(Code::Usage, told).remedy("make the folder writable")
}
