//! Knows the verb `try`: a dossier in a workspace as a coder meets it, each tool called once, and what that cost.
//! Must not know what a good tool prints; `check` and the catalogue do.
//! Start at `run`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde::Serialize;
use serde_json::json;
use tempfile::TempDir;

use crate::catalog::{Catalog, Dossier, Environment, Malfunction, UnknownId};
use crate::report::{inert, inert_line};
use crate::session::Visit;
use crate::store::publish;
use crate::vocab::{DossierId, EnvironmentId, MalfunctionId};

use super::exit::{Code, Failure};
use super::root::CatalogFolder;
use super::visits::{self, Doorway};
use super::{jobs, out, sandboxes, tool_check};

/// Columns beyond which a table of a tool is too wide.
const COLUMNS: usize = 100;

/// Shows a dossier as a coder meets it: places it in a workspace and calls each tool once
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The dossier
    #[arg(value_name = "DOSSIER")]
    dossier: DossierId,
    /// The environment; with --malfunction it may be left out
    #[arg(long, value_name = "ID", required_unless_present = "malfunction")]
    environment: Option<EnvironmentId>,
    /// What is broken [default: nothing]
    #[arg(long, value_name = "ID")]
    malfunction: Option<MalfunctionId>,
    /// Keeps the workspace and what each tool printed in this folder, which must not hold anything yet
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Containers, local processes, or what is there
    #[arg(long, value_enum, default_value = "auto")]
    sandbox: sandboxes::Choice,
    /// Prints one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// What one call of one tool did.
#[derive(Debug, Serialize)]
struct Called {
    name: String,
    /// `null` when it was killed at its limit.
    code: Option<i32>,
    seconds: f64,
    timeout_s: u64,
    bytes: usize,
    lines: usize,
    columns: usize,
    stdout: String,
    stderr: String,
}

/// What is tried where.
struct Trial<'a> {
    catalog: &'a Catalog,
    dossier: &'a Dossier,
    environment: &'a Environment,
    malfunction: Option<&'a Malfunction>,
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for unknown ids, 3 when a tool fails, is killed or prints beyond 100 columns, 4 without a sandbox, 130 or 143 when stopped.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let catalog = args.folder.load()?;
    let trial = Trial::of(args, &catalog)?;
    if let Some(folder) = &args.out {
        check_empty(folder)?;
    }
    let aside = args.out.as_deref().map(aside).transpose()?;
    let called = visits::wait(trial.play(args, aside.as_ref().map(TempDir::path)))?;
    if let (Some(aside), Some(folder)) = (aside, &args.out) {
        settle(aside, folder)?;
    }
    if args.json {
        let document = json!({
            "format": "evalxrl.try/1",
            "dossier": trial.dossier.id,
            "version": trial.dossier.version,
            "environment": trial.environment.id,
            "malfunction": trial.malfunction.map(|one| &one.id),
            "tools": called,
        });
        out::data(&format!("{document:#}\n"))?;
    } else {
        out::data(&summary(&called))?;
    }
    let problems = problems(&called);
    if problems.is_empty() {
        return Ok(());
    }
    Err(Failure {
        code: Code::Invalid,
        problems,
        remedy: Some(format!(
            "mend the tool, then `evalxrl check {}` tells all that is left",
            trial.dossier.id
        )),
    })
}

impl<'a> Trial<'a> {
    fn of(args: &Args, catalog: &'a Catalog) -> Result<Self, Failure> {
        let unknown = |error: UnknownId| Failure::new(Code::Usage, error.to_string());
        let dossier = catalog.dossier(&args.dossier).map_err(unknown)?;
        let malfunction = args
            .malfunction
            .as_ref()
            .map(|id| catalog.malfunction(id))
            .transpose()
            .map_err(unknown)?;
        let id = match (&args.environment, malfunction) {
            (Some(id), None) => id,
            (None, Some(malfunction)) => &malfunction.environment,
            (Some(id), Some(malfunction)) if *id == malfunction.environment => id,
            (Some(id), Some(malfunction)) => {
                let (broken, own) = (&malfunction.id, &malfunction.environment);
                return Err(usage(
                    format!("{broken} breaks {own}, not {id}"),
                    "leave out --environment, or name another malfunction",
                ));
            }
            (None, None) => return Err(usage("nothing to try it on".into(), "give --environment")),
        };
        let environment = catalog.environment(id).map_err(unknown)?;
        if !dossier.environments.contains(&environment.id) {
            let listed: Vec<&str> = dossier
                .environments
                .iter()
                .map(|one| one.as_str())
                .collect();
            return Err(usage(
                format!("{} does not list {id} among its environments", dossier.id),
                &format!("take {}", listed.join(", ")),
            ));
        }
        Ok(Self {
            catalog,
            dossier,
            environment,
            malfunction,
        })
    }

    async fn play(&self, args: &Args, kept: Option<&Path>) -> Result<Vec<Called>, Failure> {
        let job = jobs::look(
            self.catalog,
            self.environment,
            self.malfunction,
            &[self.dossier],
        )?;
        let doorway = Doorway::open(args.sandbox, self.catalog).await?;
        let looking = async {
            out::talk("furnishing the workspace; the agent is trained now unless it is kept");
            let visit = doorway
                .visitor
                .enter(&job)
                .await
                .map_err(sandboxes::failure)?;
            if !args.json {
                out::data(&opening(self, &visit))?;
            }
            if let Some(folder) = kept {
                keep_workspace(folder, &visit)?;
            }
            let called = self.call_tools(args, kept, &visit).await;
            visit.leave().await.map_err(sandboxes::failure)?;
            called
        };
        doorway.until_stopped(looking).await
    }

    async fn call_tools(
        &self,
        args: &Args,
        kept: Option<&Path>,
        visit: &Visit,
    ) -> Result<Vec<Called>, Failure> {
        let mut all = Vec::new();
        for tool in &self.dossier.tools {
            let ran = visit
                .call(&tool.name, &[])
                .await
                .map_err(sandboxes::failure)?;
            let stdout = String::from_utf8_lossy(&ran.stdout).into_owned();
            let called = Called {
                name: tool.name.clone(),
                code: tool_check::exit_code(&ran),
                seconds: ran.seconds,
                timeout_s: tool.timeout_s,
                bytes: ran.stdout.len(),
                lines: stdout.lines().count(),
                columns: widest(&stdout),
                stdout,
                stderr: String::from_utf8_lossy(&ran.stderr).into_owned(),
            };
            if !args.json {
                out::data(&told(&called, &tool.help))?;
            }
            if let Some(folder) = kept {
                let path = folder.join("outputs").join(format!("{}.txt", tool.name));
                publish(&path, &ran.stdout).map_err(|error| unwritten(&path, &error))?;
            }
            all.push(called);
        }
        Ok(all)
    }
}

/// What a reader sees before the first tool.
fn opening(trial: &Trial<'_>, visit: &Visit) -> String {
    let broken = trial
        .malfunction
        .map_or("nothing broken".to_owned(), |one| {
            format!("{} applied", one.id)
        });
    let mut text = format!(
        "{} {} on {}, {broken}\nthe workspace, but for the source of the agent:\n",
        trial.dossier.id, trial.dossier.version, trial.environment.id
    );
    let hidden = |path: &str| path.starts_with("evalxrl_envs/") || path.starts_with(".cache/");
    for file in &visit.rendered().home {
        if !hidden(&file.path) {
            let _ = writeln!(text, "  {} ({} bytes)", file.path, file.bytes.len());
        }
    }
    text
}

fn told(called: &Called, help: &str) -> String {
    let mut text = format!(
        "\n== {}: {}\n{}",
        called.name,
        inert_line(help),
        inert(&called.stdout)
    );
    if !text.ends_with('\n') {
        text.push('\n');
    }
    for line in called.stderr.lines() {
        let _ = writeln!(text, "stderr: {}", inert(line));
    }
    text
}

/// The cost of every tool, one line each.
fn summary(called: &[Called]) -> String {
    let head = ["tool", "exit", "seconds", "of", "bytes", "lines", "columns"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for one in called {
        rows.push(vec![
            one.name.clone(),
            one.code
                .map_or("killed".to_owned(), |code| code.to_string()),
            format!("{:.1}", one.seconds),
            one.timeout_s.to_string(),
            one.bytes.to_string(),
            one.lines.to_string(),
            one.columns.to_string(),
        ]);
    }
    format!("\n{}", out::table(&rows))
}

fn problems(called: &[Called]) -> Vec<String> {
    let mut problems = Vec::new();
    for one in called {
        match one.code {
            Some(0) => {}
            Some(code) => problems.push(format!(
                "{}: its default invocation ends with exit {code}",
                one.name
            )),
            None => problems.push(format!("{}: killed after {} s", one.name, one.timeout_s)),
        }
        if one.columns > COLUMNS {
            problems.push(format!(
                "{}: prints a line of {} columns; {COLUMNS} are the most",
                one.name, one.columns
            ));
        }
    }
    problems
}

/// Characters of the longest line.
fn widest(text: &str) -> usize {
    text.lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0)
}

fn check_empty(folder: &Path) -> Result<(), Failure> {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(usage(
                format!("{}: holds something already", folder.display()),
                "give --out another folder",
            )),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(usage(
            format!("{}: {error}", folder.display()),
            "give --out a folder that can be made",
        )),
    }
}

/// A folder beside the one that is asked for, so that a call that is stopped leaves nothing in the way of the next.
fn aside(folder: &Path) -> Result<TempDir, Failure> {
    let parent = folder
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent)
        .and_then(|()| tempfile::Builder::new().prefix(".try-").tempdir_in(parent))
        .map_err(|error| unwritten(parent, &error))
}

/// Puts what was kept into its place.
fn settle(aside: TempDir, folder: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let made = aside.keep();
    std::fs::set_permissions(&made, std::fs::Permissions::from_mode(0o755))
        .and_then(|()| std::fs::rename(&made, folder))
        .map_err(|error| unwritten(folder, &error))
}

fn keep_workspace(folder: &Path, visit: &Visit) -> Result<(), Failure> {
    for file in &visit.rendered().home {
        if !file.path.starts_with(".cache/") {
            let path = folder.join("workspace").join(&file.path);
            publish(&path, &file.bytes).map_err(|error| unwritten(&path, &error))?;
        }
    }
    Ok(())
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    usage(
        format!("{}: {error}", path.display()),
        "check the folder's permissions and the disk",
    )
}

fn usage(problem: String, remedy: &str) -> Failure {
    Failure::new(Code::Usage, problem).remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(code: Option<i32>, stdout: &str) -> Called {
        Called {
            name: "one".into(),
            code,
            seconds: 1.25,
            timeout_s: 60,
            bytes: stdout.len(),
            lines: stdout.lines().count(),
            columns: widest(stdout),
            stdout: stdout.to_owned(),
            stderr: String::new(),
        }
    }

    #[test]
    fn a_failed_a_killed_and_a_wide_call_are_all_told() {
        let wide = "x".repeat(101);
        let all = [
            called(Some(0), "fine\n"),
            called(Some(3), ""),
            called(None, ""),
            called(Some(0), &wide),
        ];
        let told = problems(&all);
        assert_eq!(told.len(), 3);
        assert!(told[0].contains("exit 3"));
        assert!(told[1].contains("killed after 60 s"));
        assert!(told[2].contains("101 columns"));
    }

    #[test]
    fn width_is_counted_in_characters() {
        assert_eq!(widest("ab\n±±±\n"), 3);
        assert_eq!(widest(""), 0);
    }
}
