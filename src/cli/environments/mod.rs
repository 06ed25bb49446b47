//! Knows the verb `env`: environments from the shell, by way of their own command line.
//! Must not know what that command line takes; it is handed on as it is.
//! Start at `run`.

mod pictures;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use serde_json::json;

use super::root::CatalogFolder;
use super::{Code, Failure, context, interpreter, list, out, reference};

/// Lists, trains, evaluates and renders environments.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    folder: CatalogFolder,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Lists the environments
    List {
        /// Prints one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Trains an agent; what follows goes to `python -m evalxrl_envs train`, e.g. --environment ID --seed N
    Train(Passed),
    /// Plays greedy episodes; what follows goes to `python -m evalxrl_envs evaluate`
    Evaluate(Passed),
    /// Writes one episode as .gif, .png or .txt; what follows goes to `python -m evalxrl_envs render`
    Render(Passed),
    /// Draws an episode of a clean and of a broken agent of each environment, as animation and as strip
    Pictures(pictures::Args),
}

#[derive(Debug, ClapArgs)]
#[command(disable_help_flag = true)]
struct Passed {
    /// A Python with the packages of envs/requirements.lock; given first
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Arguments of the Python command line
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<String>,
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for wrong arguments, 3 for an agent file that is not valid, 10 for training that diverged.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match &args.what {
        What::List { json } => list_all(&args.folder, *json),
        What::Train(passed) => pass(&args.folder, "train", passed),
        What::Evaluate(passed) => pass(&args.folder, "evaluate", passed),
        What::Render(passed) => pass(&args.folder, "render", passed),
        What::Pictures(named) => pictures::run(&args.folder, named),
    }
}

fn list_all(folder: &CatalogFolder, as_json: bool) -> Result<(), Failure> {
    let catalog = folder.load()?;
    let environments = list::environments(&catalog);
    if as_json {
        let document = json!({ "format": "evalxrl.list/1", "environments": environments });
        out::data(&format!("{document:#}\n"))
    } else {
        out::data(&list::columns("environments", &environments))
    }
}

/// Runs a verb of the Python command line here, with its streams; paths are relative to the current folder.
fn pass(folder: &CatalogFolder, verb: &'static str, passed: &Passed) -> Result<(), Failure> {
    let root = folder.find()?;
    let cache = context::cache()?;
    let python = match &passed.python {
        Some(python) => python.clone(),
        None => reference::workspace_python(&root, &cache)?,
    };
    let failed = |error: std::io::Error, path: &std::path::Path| {
        Failure::new(Code::Usage, format!("{}: {error}", path.display()))
    };
    let package = root.join("envs");
    let package = package
        .canonicalize()
        .map_err(|error| failed(error, &package))?;
    // The package is the repository's, never one that happens to lie in the current folder.
    let mut command = interpreter::module(&python, &["-P"]);
    command
        .arg(verb)
        .args(&passed.arguments)
        .env("PYTHONPATH", package)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    if std::env::var_os("EVALXRL_XLA_CACHE").is_none() {
        command.env("EVALXRL_XLA_CACHE", cache.join("xla"));
    }
    let status = command.status().map_err(|error| failed(error, &python))?;
    let code = match status.code() {
        Some(0) => return Ok(()),
        Some(2) => Code::Usage,
        Some(3) => Code::Invalid,
        Some(4) => Code::CheckFailed,
        Some(130) => Code::Interrupted,
        _ => Code::Internal,
    };
    let failure = Failure::new(code, format!("python -m evalxrl_envs {verb}: {status}"));
    Err(match code {
        Code::Usage => failure.remedy(format!("`evalxrl env {verb} --help` shows its arguments")),
        _ => failure,
    })
}
