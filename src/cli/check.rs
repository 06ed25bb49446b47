//! Knows the verb `check`: the rules of the catalogue, all defects at once.
//! Must not know the rules.
//! Start at `run`.

use std::path::Path;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::catalog::{Catalog, Dossier, PACKAGE, ReferenceState};

use super::root::{CatalogFolder, invalid};
use super::{Code, Failure, out, sandboxes, tool_check};

/// Checks manifests, diffs and dossiers.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// `malfunctions`, `dossiers`, `environments`, an id or a path [default: everything]
    #[arg(value_name = "WHAT")]
    what: Vec<String>,
    /// Reads files only: runs no dossier tool
    #[arg(long = "static")]
    reads_only: bool,
    /// Where dossier tools are run: containers, local processes, or what is there
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        conflicts_with = "reads_only"
    )]
    sandbox: sandboxes::Choice,
    /// Prints one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// Runs the verb.
///
/// # Errors
/// Exit 3 with every defect; exit 2 when what is named does not exist.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let root = args.folder.find()?;
    let (catalog, mut problems) = Catalog::survey(&root);
    problems.extend(catalog.stray_bounds());
    problems.extend(catalog.census());
    problems.extend(catalog.check_candidates());
    let mut places = Vec::new();
    for what in &args.what {
        places.push(place_of(&root, what)?);
    }
    let concerns = |place: &str| {
        places.is_empty()
            || places.iter().any(|named| {
                place == named
                    || place
                        .strip_prefix(named)
                        .is_some_and(|rest| rest.starts_with('/'))
            })
    };
    let mut problems = problems.about(concerns);
    if !args.reads_only {
        let dossiers: Vec<&Dossier> = catalog
            .dossiers()
            .filter(|dossier| concerns(&format!("dossiers/{}", dossier.id)))
            .collect();
        problems.extend(tool_check::run(&catalog, &dossiers, args.sandbox)?);
    }
    if args.json {
        let list: Vec<_> = problems
            .list()
            .iter()
            .map(|problem| {
                json!({
                    "place": problem.place,
                    "field": problem.field,
                    "wrong": problem.wrong,
                    "remedy": problem.remedy,
                })
            })
            .collect();
        let document = json!({ "format": "evalxrl.check/1", "problems": list });
        out::data(&format!("{document:#}\n"))?;
    }
    if !problems.is_empty() {
        return Err(invalid(&problems));
    }
    for malfunction in catalog.malfunctions() {
        let id = &malfunction.id;
        if !concerns(&format!("malfunctions/{id}")) {
            continue;
        }
        let state = match catalog.reference(malfunction) {
            ReferenceState::Fresh(_) => continue,
            ReferenceState::Stale(why) => format!("the references of {id} are stale: {why}"),
            ReferenceState::Missing => format!("{id} has no references"),
        };
        out::talk(&format!(
            "note: {state}; run `evalxrl reference --only {id}`"
        ));
    }
    if !args.json {
        let counts = [
            ("environments", catalog.environments().count()),
            ("malfunctions", catalog.malfunctions().count()),
            ("dossiers", catalog.dossiers().count()),
        ];
        let counts = counts
            .map(|(kind, count)| format!("{kind} {count}"))
            .join(", ");
        out::data(&format!("no defect ({counts} in the catalogue)\n"))?;
    }
    Ok(())
}

/// The place, relative to the root, of what a person names.
pub(super) fn place_of(root: &Path, what: &str) -> Result<String, Failure> {
    match what {
        "malfunctions" | "dossiers" => return Ok(what.to_owned()),
        "environments" | "envs" => return Ok("envs".to_owned()),
        _ => {}
    }
    for folder in [
        "malfunctions".to_owned(),
        "dossiers".to_owned(),
        format!("envs/{PACKAGE}"),
    ] {
        if !what.contains(['/', '.']) && root.join(&folder).join(what).is_dir() {
            return Ok(format!("{folder}/{what}"));
        }
    }
    let unknown = || {
        Failure::new(
            Code::Usage,
            format!("`{what}` is no id and no path below {}", root.display()),
        )
        .remedy("`evalxrl list` shows all ids")
    };
    let full = Path::new(what).canonicalize().map_err(|_| unknown())?;
    let base = root.canonicalize().map_err(|_| unknown())?;
    let relative = full.strip_prefix(&base).map_err(|_| unknown())?;
    Ok(relative.display().to_string())
}
