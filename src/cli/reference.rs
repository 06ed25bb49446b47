//! Knows the verb `reference`: measures malfunctions and writes their references.
//! Must not know how figures are computed.
//! Start at `run`.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use crate::catalog::{Catalog, Malfunction, REFERENCES, ReferenceState, References};
use crate::harness::Role;
use crate::harness::blocking::Front;
use crate::harness::images::{self, Recipe};
use crate::reference::{Bureau, Cache, FEWEST_SEEDS, Measured, ReferenceError};
use crate::vocab::MalfunctionId;

use super::interpreter::Interpreter;
use super::root::CatalogFolder;
use super::{Code, Failure, context, out, sandboxes};

/// Trains clean and broken agents, and admits or rejects malfunctions.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Measures this malfunction only [default: all without fresh references]; may be repeated
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Training seeds; fewer than 10 screen and write nothing
    #[arg(long, value_name = "N", default_value_t = FEWEST_SEEDS)]
    seeds: usize,
    /// Measures all malfunctions, fresh references or not
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
    let catalog = args.folder.load()?;
    let chosen = choose(&catalog, args)?;
    let mut references = catalog.references().clone();
    references.keep(|id| catalog.malfunction(id).is_ok());
    let cache = context::cache()?;
    let python = match &args.python {
        Some(python) => python.clone(),
        None => workspace_python(catalog.root(), &cache)?,
    };
    let mut laboratory = Interpreter::new(python, cache.join("xla"));
    let mut bureau = Bureau::new(&catalog, &mut laboratory, Cache::below(&cache), args.seeds);
    let mut rejected = Vec::new();
    for malfunction in chosen {
        let id = &malfunction.id;
        out::talk(&format!("measuring {id} with {} seeds", args.seeds));
        let measured = bureau.measure(malfunction).map_err(|error| {
            let code = match &error {
                ReferenceError::Served(_) | ReferenceError::Diff { .. } => Code::Invalid,
                _ => Code::Internal,
            };
            Failure::new(code, format!("{id}: {error}"))
        })?;
        out::data(&told(malfunction, &measured))?;
        match &measured.reference {
            Some(reference) => references.insert(id.clone(), reference.clone()),
            None => {
                rejected.push(id.to_string());
                if args.seeds >= FEWEST_SEEDS {
                    references.remove(id);
                }
            }
        }
        // Written after each, so that a stopped sweep keeps what it has.
        if args.seeds >= FEWEST_SEEDS {
            write(catalog.root(), &references)?;
        }
    }
    if args.seeds < FEWEST_SEEDS || rejected.is_empty() {
        return Ok(());
    }
    let list = rejected.join(", ");
    Err(Failure::new(Code::CheckFailed, format!("not admitted: {list}")).remedy(
        "make the fault stronger, or remove its folder and keep its row in malfunctions/README.md",
    ))
}

/// The Python of local sandboxes.
fn workspace_python(root: &Path, cache: &Path) -> Result<PathBuf, Failure> {
    let front = Front::new().map_err(sandboxes::failure)?;
    let recipe = Recipe::of(root, cache);
    let runtime = front
        .wait(images::local(&recipe, &out::talk))
        .map_err(sandboxes::failure)?;
    Ok(runtime.interpreter(Role::Workspace).to_owned())
}

fn choose<'a>(catalog: &'a Catalog, args: &Args) -> Result<Vec<&'a Malfunction>, Failure> {
    if args.only.is_empty() {
        let stale = |one: &&Malfunction| {
            args.all || !matches!(catalog.reference(one), ReferenceState::Fresh(_))
        };
        return Ok(catalog.malfunctions().filter(stale).collect());
    }
    let usage = |problem: String| Failure::new(Code::Usage, problem);
    args.only
        .iter()
        .map(|text| {
            let id = MalfunctionId::new(text.as_str()).map_err(|error| usage(error.to_string()))?;
            catalog
                .malfunction(&id)
                .map_err(|unknown| usage(unknown.to_string()))
        })
        .collect()
}

/// The three figures, the verdict, and the row for the table of candidates.
fn told(malfunction: &Malfunction, measured: &Measured) -> String {
    let id = &malfunction.id;
    let figures = &measured.figures;
    let mut text = format!(
        "{id}\n  P_clean {:.3} ({:.3})  P_broken {:.3} ({:.3})  P_random {:.3}  repaired {:.3}{}\n  \
         A1 gap/span {:.3}   A2 clean beats broken {:.3}   A3 gap/SE {:.1}\n",
        figures.clean.mean,
        figures.clean.standard_error,
        figures.broken.mean,
        figures.broken.standard_error,
        figures.p_random,
        figures.repaired,
        if figures.is_floor() { "  floor" } else { "" },
        figures.gap_over_span,
        figures.clean_beats_broken,
        figures.gap_over_error,
    );
    for refusal in &measured.refusals {
        text.push_str(&format!("  {refusal}\n"));
    }
    match &measured.reference {
        Some(reference) if (reference.min_gap() - malfunction.min_gap).abs() > 1e-9 => {
            text.push_str(&format!(
                "  admitted; write min_gap = {:?} in its manifest\n",
                reference.min_gap()
            ));
        }
        Some(_) => text.push_str("  admitted\n"),
        None => text.push_str("  not admitted\n"),
    }
    text
}

fn write(root: &Path, references: &References) -> Result<(), Failure> {
    let path = root.join(REFERENCES);
    let failed =
        |error: String| Failure::new(Code::Internal, format!("{}: {error}", path.display()));
    let text = references
        .to_text()
        .map_err(|error| failed(error.to_string()))?;
    let folder = path.parent().unwrap_or(root);
    let mut file =
        tempfile::NamedTempFile::new_in(folder).map_err(|error| failed(error.to_string()))?;
    std::io::Write::write_all(&mut file, text.as_bytes())
        .map_err(|error| failed(error.to_string()))?;
    file.as_file()
        .sync_all()
        .map_err(|error| failed(error.to_string()))?;
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(file.path(), permissions)
        .map_err(|error| failed(error.to_string()))?;
    file.persist(&path)
        .map_err(|error| failed(error.to_string()))?;
    Ok(())
}
