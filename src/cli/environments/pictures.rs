//! Knows `env pictures`: what a clean and a broken agent of each environment do, for people to look at.
//! Must not know how anything is drawn.
//! Start at `run`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::catalog::{Catalog, Class, Environment, Files, Malfunction, ReferenceState};
use crate::reference::{
    Cache, Laboratory, LaboratoryError, Players, Subject, broken_agents, clean_agents,
};
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
    /// Seed of the episode [default: the first, up to 16, whose two returns lie apart by half of what the fault costs]
    #[arg(long, value_name = "N")]
    episode_seed: Option<u64>,
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
        .map_err(|error| {
            Failure::new(
                Code::Usage,
                format!("--out {}: {error}", args.out.display()),
            )
            .remedy("name a folder that can be made and written")
        })?;
    for environment in environments {
        let id = &environment.id;
        let clean = clean_agents(&cache, &mut laboratory, environment)
            .map_err(|error| internal(format!("{id}: {error}")))?;
        let name = format!("{id}-clean");
        let mut drawn: Vec<Drawn> = vec![(name, environment.source.clone(), clean[0].clone())];
        let mut costs = None;
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
            if let (None, ReferenceState::Fresh(row)) = (costs, catalog.reference(malfunction)) {
                costs = Some(row.gap());
            }
            let broken = broken_agents(&cache, &mut laboratory, &subject)
                .map_err(|error| failed(error.to_string()))?;
            drawn.push((
                malfunction.id.to_string(),
                subject.played(),
                broken[0].clone(),
            ));
        }
        let seed = match args.episode_seed {
            Some(seed) => seed,
            None => telling(&mut laboratory, &drawn, costs)
                .map_err(|error| internal(format!("{id}: {error}")))?,
        };
        for (name, files, agent) in &drawn {
            for ending in ["gif", "png"] {
                let path = into.join(format!("{name}.{ending}"));
                laboratory
                    .render(files, agent, &path, seed)
                    .map_err(|error| internal(format!("{name}: {error}")))?;
                out::data(&format!("{}\n", path.display()))?;
            }
        }
    }
    Ok(())
}

/// A name, the files that play, and the agent.
type Drawn = (String, Files, PathBuf);

/// The first episode on which the first broken agent loses at least half of what its fault costs in the mean; 1 where
/// nothing tells, so that clean and broken never merely look the same by chance.
fn telling(
    laboratory: &mut Interpreter,
    drawn: &[Drawn],
    costs: Option<f64>,
) -> Result<u64, LaboratoryError> {
    let (Some(costs), [clean, broken, ..]) = (costs, drawn) else {
        return Ok(1);
    };
    for seed in 1..=16 {
        let mut earns = |(_, files, agent): &Drawn| -> Result<f64, LaboratoryError> {
            let players = Players::Agents(std::slice::from_ref(agent));
            let returns = laboratory.evaluate(files, players, &episode_key(seed), 1)?;
            Ok(returns[0][0])
        };
        if earns(clean)? - earns(broken)? >= 0.5 * costs {
            return Ok(seed);
        }
    }
    Ok(1)
}

/// The 32-byte key whose first episode is that of `render --episode-seed`: the seed, little-endian, then zeros.
fn episode_key(seed: u64) -> String {
    let digits = seed.to_le_bytes().map(|byte| format!("{byte:02x}"));
    format!("{:0<64}", digits.concat())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_seed_is_the_seed_itself_low_byte_first() {
        for seed in [0, 1, 258, u64::MAX] {
            let key = episode_key(seed);
            assert_eq!(key.len(), 64);
            let bytes: Vec<u8> = (0..32)
                .map(|at| u8::from_str_radix(&key[2 * at..2 * at + 2], 16).unwrap())
                .collect();
            assert_eq!(bytes[..8], seed.to_le_bytes());
            assert!(bytes[8..].iter().all(|&byte| byte == 0));
        }
    }
}
