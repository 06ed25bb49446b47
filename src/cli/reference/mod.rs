//! Knows the verb `reference`: measures malfunctions and candidates, and writes what was measured.
//! Must not know how figures are computed.
//! Start at `run`.

mod screen;
mod told;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args as ClapArgs;

use crate::catalog::{
    Catalog, Class, Malfunction, OVERVIEW, Problems, REFERENCES, ReferenceState, References,
};
use crate::harness::Role;
use crate::harness::blocking::Front;
use crate::harness::images::{self, Recipe};
use crate::reference::{Bureau, Cache, FEWEST_SEEDS, ReferenceError};
use crate::vocab::{EnvironmentId, MalfunctionId};

use super::interpreter::Interpreter;
use super::root::{CatalogFolder, invalid};
use super::{Code, Failure, context, out, sandboxes, whole_file};

/// Trains clean and broken agents, and admits or rejects malfunctions.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Measures this malfunction only [default: all without fresh references]; may be repeated
    #[arg(long, value_name = "ID", conflicts_with_all = ["environment", "screen"])]
    only: Vec<String>,
    /// Measures malfunctions of this environment only
    #[arg(long, value_name = "ID", conflicts_with = "screen")]
    environment: Option<String>,
    /// Screens the candidates of this environment instead, each from its weakest strength upwards
    #[arg(long, value_name = "ENVIRONMENT", conflicts_with = "seeds")]
    screen: Option<String>,
    /// Screens this candidate only; may be repeated
    #[arg(long, value_name = "ID", requires = "screen", conflicts_with_all = ["only", "environment", "tables"])]
    entry: Vec<String>,
    /// Makes the tables of malfunctions/README.md anew and measures nothing
    #[arg(long, conflicts_with_all = ["only", "environment", "screen", "seeds", "all", "python"])]
    tables: bool,
    /// Training seeds; fewer than 10 screen and write nothing
    #[arg(long, value_name = "N", default_value_t = FEWEST_SEEDS)]
    seeds: usize,
    /// Measures everything named, fresh or not
    #[arg(long)]
    all: bool,
    /// A Python with the packages of envs/requirements.lock [default: that of local sandboxes, made now if absent]
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// Runs the verb.
///
/// # Errors
/// Exit 10 when a malfunction is rejected; its figures are printed.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    if args.seeds < 2 {
        return Err(Failure::new(
            Code::Usage,
            "--seeds: at least 2, and 10 to admit",
        ));
    }
    if args.tables {
        return tables(&args.folder);
    }
    match &args.screen {
        Some(environment) => screen::run(args, environment),
        None => measure(args),
    }
}

fn measure(args: &Args) -> Result<(), Failure> {
    let catalog = args.folder.load()?;
    let chosen = choose(&catalog, args)?;
    let mut references = catalog.references().clone();
    let left_over = |id: &MalfunctionId| !catalog.has_folder(id);
    if references.ids().any(left_over) {
        references = change(catalog.root(), |rows| rows.keep(|id| !left_over(id)))?;
        out::talk("dropped the rows of malfunctions whose folders are gone");
    }
    if chosen.is_empty() {
        out::talk("every reference is fresh");
        return Ok(());
    }
    let (mut laboratory, cache) = laboratory(args, catalog.root())?;
    let begun = Instant::now();
    let say = move |what: &str| out::talk(&format!("{:>6} s  {what}", begun.elapsed().as_secs()));
    let mut bureau = Bureau::new(&catalog, &mut laboratory, Cache::below(&cache), &say);
    let mut rejected = Vec::new();
    let count = chosen.len();
    for (index, malfunction) in chosen.into_iter().enumerate() {
        let id = &malfunction.id;
        out::talk(&format!(
            "{} of {count}: {id}, {} seeds",
            index + 1,
            args.seeds
        ));
        let measured = match bureau.measure(malfunction, args.seeds, &references) {
            Ok(measured) => {
                out::data(&told::measured(malfunction, &measured))?;
                if measured.reference.is_none() {
                    rejected.push(id.to_string());
                }
                measured.reference
            }
            // A fault that does more than it may is rejected; what else goes wrong stops the sweep.
            Err(error @ ReferenceError::Crash { .. }) => {
                out::data(&format!("{id}\n  {error}\n  not admitted\n"))?;
                rejected.push(id.to_string());
                None
            }
            Err(error) => return Err(failure(id.as_str(), &error)),
        };
        // Written after each, so that a stopped sweep keeps what it has.
        if args.seeds >= FEWEST_SEEDS {
            references = change(catalog.root(), |rows| match measured {
                Some(reference) => rows.insert(id.clone(), reference),
                None => rows.remove(id),
            })?;
        }
    }
    if args.seeds < FEWEST_SEEDS || rejected.is_empty() {
        return Ok(());
    }
    let list = rejected.join(", ");
    Err(Failure::new(Code::CheckFailed, format!("not admitted: {list}")).remedy(
        "make the fault stronger, or remove its folder and keep its rung in malfunctions/candidates/",
    ))
}

fn tables(folder: &CatalogFolder) -> Result<(), Failure> {
    let catalog = folder.load()?;
    whole_file::replace(&catalog.root().join(OVERVIEW), |text| {
        catalog
            .readme(text)
            .map_err(|problem| invalid(&problem.into()))
    })?;
    out::data(&format!("{OVERVIEW}\n"))
}

fn failure(name: &str, error: &ReferenceError) -> Failure {
    let code = match error {
        ReferenceError::Laboratory { .. } => Code::Internal,
        _ => Code::Invalid,
    };
    Failure::new(code, format!("{name}: {error}"))
}

/// A Python to train and play with, and the cache it works in.
fn laboratory(args: &Args, root: &Path) -> Result<(Interpreter, PathBuf), Failure> {
    let cache = context::cache()?;
    let python = match &args.python {
        Some(python) => python.clone(),
        None => workspace_python(root, &cache)?,
    };
    Ok((Interpreter::new(python, cache.join("xla")), cache))
}

/// The Python of local sandboxes.
pub(super) fn workspace_python(root: &Path, cache: &Path) -> Result<PathBuf, Failure> {
    let front = Front::new().map_err(sandboxes::failure)?;
    let recipe = Recipe::of(root, cache);
    let runtime = front
        .wait(images::local(&recipe, &out::talk))
        .map_err(sandboxes::failure)?;
    Ok(runtime.interpreter(Role::Workspace).to_owned())
}

/// What is to be measured, halves before the composites that they make.
fn choose<'a>(catalog: &'a Catalog, args: &Args) -> Result<Vec<&'a Malfunction>, Failure> {
    let usage = |problem: String| Failure::new(Code::Usage, problem);
    let stale = |one: &Malfunction| !matches!(catalog.reference(one), ReferenceState::Fresh(_));
    let mut chosen: Vec<&Malfunction> = if args.only.is_empty() {
        let named = match &args.environment {
            None => None,
            Some(text) => {
                let id =
                    EnvironmentId::new(text.as_str()).map_err(|error| usage(error.to_string()))?;
                let known = catalog.environment(&id);
                Some(&known.map_err(|unknown| usage(unknown.to_string()))?.id)
            }
        };
        catalog
            .malfunctions()
            .filter(|one| named.is_none_or(|id| one.environment == *id))
            .filter(|one| args.all || stale(one))
            .collect()
    } else {
        let mut list = Vec::new();
        for text in &args.only {
            let id = MalfunctionId::new(text.as_str()).map_err(|error| usage(error.to_string()))?;
            let known = catalog.malfunction(&id);
            list.push(known.map_err(|unknown| usage(unknown.to_string()))?);
        }
        list
    };
    if args.only.is_empty() {
        let measured = |half: &MalfunctionId| chosen.iter().any(|one| one.id == *half);
        let composites: Vec<&Malfunction> = catalog
            .malfunctions()
            .filter(|one| one.halves.iter().any(measured))
            .collect();
        chosen.extend(composites);
    }
    let halves: Vec<&Malfunction> = chosen
        .iter()
        .flat_map(|one| &one.halves)
        .filter_map(|half| catalog.malfunctions().find(|one| one.id == *half))
        .filter(|half| stale(half))
        .collect();
    chosen.extend(halves);
    chosen.sort_by_key(|one| (one.class == Class::Composite, &one.id));
    chosen.dedup_by_key(|one| &one.id);
    Ok(chosen)
}

/// Changes the file of references, into which another sweep may have written meanwhile, and gives all of its rows.
fn change(root: &Path, edit: impl FnOnce(&mut References)) -> Result<References, Failure> {
    let path = root.join(REFERENCES);
    let mut rows = References::default();
    whole_file::replace(&path, |text| {
        let mut problems = Problems::none();
        if !text.is_empty() {
            rows = References::read(text, &mut problems);
        }
        if !problems.is_empty() {
            return Err(invalid(&problems));
        }
        edit(&mut rows);
        rows.to_text()
            .map_err(|error| Failure::new(Code::Internal, format!("{}: {error}", path.display())))
    })?;
    Ok(rows)
}
