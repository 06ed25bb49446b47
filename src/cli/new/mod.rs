//! Knows the verb `new`: a malfunction from an edited copy, a dossier from the template.
//! Must not know the rules; `check` tells what is left to write.
//! Start at `run`.

mod rung;

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand};

use crate::catalog::{Catalog, Dossier, Environment, FaultDiff, Files, Folder};
use crate::vocab::{DossierId, MalfunctionId};

use rung::Rung;

use super::root::CatalogFolder;
use super::{Code, Failure, out};

/// Makes the folder of a new malfunction or dossier.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    folder: CatalogFolder,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Makes malfunctions/NAME; NAME begins with its environment, e.g. treasure-grid-slippery
    Malfunction {
        /// The id
        name: String,
        /// An edited copy of envs/: the diff to it becomes fault.diff
        #[arg(long, value_name = "DIR", conflicts_with = "candidate")]
        from: Option<PathBuf>,
        /// A rung of malfunctions/candidates/: its edit becomes fault.diff, e.g. treasure_grid/RC1/1.0
        #[arg(long, value_name = "ENVIRONMENT/ENTRY/STRENGTH")]
        candidate: Option<String>,
    },
    /// Makes dossiers/NAME, a copy of the template
    Dossier {
        /// The id
        name: String,
    },
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for a name that is taken or wrong.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let root = args.folder.find()?;
    match &args.what {
        What::Malfunction {
            name,
            from,
            candidate,
        } => malfunction(&root, name, from.as_deref(), candidate.as_deref()),
        What::Dossier { name } => dossier(&root, name),
    }
}

fn malfunction(
    root: &Path,
    name: &str,
    from: Option<&Path>,
    candidate: Option<&str>,
) -> Result<(), Failure> {
    let id = MalfunctionId::new(name).map_err(|error| usage(error.to_string()))?;
    let (catalog, _) = Catalog::survey(root);
    let environment = catalog
        .environments()
        .find(|one| {
            let own = one.id.as_str().replace('_', "-");
            let rest = name.strip_prefix(own.as_str());
            rest.is_some_and(|rest| rest.starts_with('-') && rest.len() > 1)
        })
        .ok_or_else(|| {
            let known: Vec<String> = catalog
                .environments()
                .map(|one| format!("{}-…", one.id.as_str().replace('_', "-")))
                .collect();
            usage(format!("`{name}` is no environment with a name after it"))
                .remedy(format!("name it {}", known.join(" or ")))
        })?;
    let rung = candidate
        .map(|named| rung::of(&catalog, environment, named))
        .transpose()?;
    let mut files = Files::from([
        (
            "malfunction.toml".to_owned(),
            manifest(&id, environment, rung.as_ref()).into_bytes(),
        ),
        (
            "README.md".to_owned(),
            readme(&id, rung.as_ref()).into_bytes(),
        ),
    ]);
    let mut next = format!("write malfunctions/{name}/malfunction.toml and README.md");
    if let Some(rung) = rung {
        files.insert("fault.diff".to_owned(), rung.diff.into_bytes());
    } else if let Some(edited) = from {
        let diff = difference(environment, edited)?;
        files.insert("fault.diff".to_owned(), diff.into_bytes());
    } else {
        next.push_str(
            ", and fault.diff: `diff -u` against envs/ with the headers --- a/PATH and +++ b/PATH",
        );
    }
    let folder = root.join("malfunctions").join(name);
    create(&folder, &files)?;
    out::talk(&format!(
        "next: {next}; `evalxrl check {name}` tells what is missing"
    ));
    out::data(&format!("malfunctions/{name}\n"))
}

/// The text of the diff from an environment's source to an edited copy of `envs/`.
fn difference(environment: &Environment, edited: &Path) -> Result<String, Failure> {
    let mut broken = Files::new();
    for path in environment.source.keys() {
        let file = edited.join(path);
        let bytes =
            std::fs::read(&file).map_err(|error| usage(format!("{}: {error}", file.display())))?;
        broken.insert(path.clone(), bytes);
    }
    let diff = FaultDiff::between(&environment.source, &broken).ok_or_else(|| {
        usage(format!(
            "{}: differs nowhere from envs/, or not in plain text",
            edited.display()
        ))
    })?;
    Ok(diff.to_string())
}

fn manifest(id: &MalfunctionId, environment: &Environment, rung: Option<&Rung>) -> String {
    let (class, target, summary) = rung.map_or(("", "training", String::new()), |rung| {
        (rung.class, rung.target, rung.summary())
    });
    let summary = toml::Value::String(summary);
    format!(
        "id = \"{id}\"\n\
         environment = \"{}\"\n\
         version = 1\n\
         class = \"{class}\"\n\
         held_out = false\n\
         target = \"{target}\"\n\
         taxonomy = \"none\"\n\
         summary = {summary}\n\
         oracle = \"\"\n\
         causal = []\n\
         not_causal = []\n\
         min_gap = 0.0\n\
         expected_to_reveal = []\n\
         expected_to_mislead = []\n",
        environment.id
    )
}

fn readme(id: &MalfunctionId, rung: Option<&Rung>) -> String {
    let origin = rung.map_or(String::new(), Rung::origin);
    format!(
        "# {id}\n\n\
         ## What is broken\n\n{origin}\
         ## What one sees\n\n\
         ## What it may be taken for\n\n\
         ## Predictions\n\n\
         ## Measured\n\n"
    )
}

fn dossier(root: &Path, name: &str) -> Result<(), Failure> {
    DossierId::new(name).map_err(|error| usage(error.to_string()))?;
    if Dossier::RESERVED.contains(&name) {
        let told = format!("`{name}` is an arm that every experiment has");
        return Err(usage(told).remedy("choose another name"));
    }
    let template = root.join("dossiers/_template");
    let read = Folder::read(&template, "dossiers/_template")
        .map_err(|problem| Failure::new(Code::Invalid, problem.to_string()))?;
    let files: Files = read
        .files
        .into_iter()
        .map(|(path, bytes)| match String::from_utf8(bytes) {
            Ok(text) => (path, text.replace("template", name).into_bytes()),
            Err(binary) => (path, binary.into_bytes()),
        })
        .collect();
    create(&root.join("dossiers").join(name), &files)?;
    out::talk(&format!(
        "next: write dossiers/{name}/dossier.toml, README.md, papers/ and tools/; \
         `evalxrl check {name}` tells what is missing"
    ));
    out::data(&format!("dossiers/{name}\n"))
}

/// Writes a folder that must not exist yet; all of it or nothing.
fn create(folder: &Path, files: &Files) -> Result<(), Failure> {
    let failed = |path: &Path, error: std::io::Error| {
        Failure::new(Code::Usage, format!("{}: {error}", path.display()))
    };
    if folder.exists() {
        return Err(usage(format!("{}: is there already", folder.display()))
            .remedy("choose another name, or remove the folder"));
    }
    let parent = folder.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
    let draft = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(parent)
        .map_err(|error| failed(parent, error))?;
    for (path, bytes) in files {
        let file = draft.path().join(path);
        let below = file.parent().unwrap_or(draft.path());
        std::fs::create_dir_all(below).map_err(|error| failed(below, error))?;
        std::fs::write(&file, bytes).map_err(|error| failed(&file, error))?;
    }
    let draft = draft.keep();
    readable(&draft).map_err(|error| failed(&draft, error))?;
    std::fs::rename(&draft, folder).map_err(|error| failed(folder, error))
}

/// Gives a folder that was made for its owner alone the usual mode.
fn readable(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
}

fn usage(problem: impl Into<String>) -> Failure {
    Failure::new(Code::Usage, problem)
}
