//! Knows `env pictures`: what a clean and a broken agent of each environment do, for people to look at.
//! Must not know how anything is drawn.
//! Start at `run`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::catalog::{Catalog, Class, Environment, Files, Malfunction, ReferenceState};
use crate::reference::{Cache, Subject, broken_agents, clean_agents};
use crate::vocab::{EnvironmentId, MalfunctionId};

use super::super::interpreter::Interpreter;
use super::super::root::CatalogFolder;
use super::super::{Code, Failure, context, out, reference};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The folder for the pictures
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Draws this environment only; may be repeated
    #[arg(long, value_name = "ID")]
    environment: Vec<String>,
    /// Takes the broken agent of this malfunction [default: the first admitted one]; may be repeated
    #[arg(long, value_name = "ID")]
    malfunction: Vec<String>,
    /// Seed of the episode
    #[arg(long, value_name = "N", default_value_t = 1)]
    episode_seed: u64,
    /// A Python with the packages of envs/requirements.lock [default: that of local sandboxes, made now if absent]
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
}

/// Draws one episode of the clean and of a broken agent of each environment.
pub(super) fn run(folder: &CatalogFolder, args: &Args) -> Result<(), Failure> {
    let catalog = folder.load()?;
    let environments = environments(&catalog, &args.environment)?;
    let named = malfunctions(&catalog, &args.malfunction)?;
    let store = context::cache()?;
    let python = match &args.python {
        Some(python) => python.clone(),
        None => reference::workspace_python(catalog.root(), &store)?,
    };
    let mut laboratory = Interpreter::new(python, store.join("xla"));
    let cache = Cache::below(&store);
    let into = std::fs::create_dir_all(&args.out)
        .and_then(|()| args.out.canonicalize())
        .map_err(|error| internal(format!("{}: {error}", args.out.display())))?;
    for environment in environments {
        let id = &environment.id;
        let clean = clean_agents(&cache, &mut laboratory, environment)
            .map_err(|error| internal(format!("{id}: {error}")))?;
        let name = format!("{id}-clean");
        let mut drawn: Vec<(String, Files, PathBuf)> =
            vec![(name, environment.source.clone(), clean[0].clone())];
        let own: Vec<&Malfunction> = if named.is_empty() {
            typical(&catalog, environment).into_iter().collect()
        } else {
            let list = named.iter().copied();
            list.filter(|one| one.environment == *id).collect()
        };
        if own.is_empty() {
            out::talk(&format!("{id}: no malfunction to draw"));
        }
        for malfunction in own {
            let failed = |error| internal(format!("{}: {error}", malfunction.id));
            let subject = Subject::of_malfunction(&catalog, malfunction)
                .map_err(|error| failed(error.to_string()))?;
            let broken = broken_agents(&cache, &mut laboratory, &subject)
                .map_err(|error| failed(error.to_string()))?;
            drawn.push((
                malfunction.id.to_string(),
                subject.played(),
                broken[0].clone(),
            ));
        }
        for (name, files, agent) in &drawn {
            for ending in ["gif", "png"] {
                let path = into.join(format!("{name}.{ending}"));
                laboratory
                    .render(files, agent, &path, args.episode_seed)
                    .map_err(|error| internal(format!("{name}: {error}")))?;
                out::data(&format!("{}\n", path.display()))?;
            }
        }
    }
    Ok(())
}

fn internal(error: String) -> Failure {
    Failure::new(Code::Internal, error)
}

fn environments<'a>(
    catalog: &'a Catalog,
    named: &[String],
) -> Result<Vec<&'a Environment>, Failure> {
    if named.is_empty() {
        return Ok(catalog.environments().collect());
    }
    let usage = |problem: String| Failure::new(Code::Usage, problem);
    named
        .iter()
        .map(|text| {
            let id = EnvironmentId::new(text.as_str()).map_err(|error| usage(error.to_string()))?;
            let known = catalog.environment(&id);
            known.map_err(|unknown| usage(unknown.to_string()))
        })
        .collect()
}

fn malfunctions<'a>(
    catalog: &'a Catalog,
    named: &[String],
) -> Result<Vec<&'a Malfunction>, Failure> {
    let usage = |problem: String| Failure::new(Code::Usage, problem);
    named
        .iter()
        .map(|text| {
            let id = MalfunctionId::new(text.as_str()).map_err(|error| usage(error.to_string()))?;
            let known = catalog.malfunction(&id);
            let malfunction = known.map_err(|unknown| usage(unknown.to_string()))?;
            if malfunction.touches_serving() {
                let wrong = format!("{id} breaks the agent server, which draws no pictures");
                return Err(usage(wrong).remedy("name a malfunction of training or environment"));
            }
            Ok(malfunction)
        })
        .collect()
}

/// The malfunction whose agent is drawn when none is named: admitted, single, not of the server.
fn typical<'a>(catalog: &'a Catalog, environment: &Environment) -> Option<&'a Malfunction> {
    catalog.malfunctions().find(|one| {
        one.environment == environment.id
            && one.class != Class::Composite
            && !one.held_out
            && !one.touches_serving()
            && matches!(catalog.reference(one), ReferenceState::Fresh(_))
    })
}
