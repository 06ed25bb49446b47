//! Knows the verb `images`: builds what sandboxes run on, ahead of the first run.
//! Must not know how an image is made.
//! Start at `run`.

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use crate::harness::blocking::Front;
use crate::harness::images::{self, Base, Recipe};
use crate::harness::{Engine, ImageFacts, Role};

use super::exit::Failure;
use super::root::CatalogFolder;
use super::sandboxes::{self, Choice};
use super::{context, out};

/// Builds the software of sandboxes.
#[derive(Debug, ClapArgs)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Builds what is missing and prints what there is
    Build(Build),
}

#[derive(Debug, ClapArgs)]
struct Build {
    /// For containers, local processes, or both where an engine answers
    #[arg(long, value_enum, default_value_t = Choice::Auto)]
    sandbox: Choice,
    /// Where the base of container images comes from
    #[arg(long, value_enum, default_value_t = Origin::Either)]
    base: Origin,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// Where the base of container images comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Origin {
    /// A ready-made Python image
    Slim,
    /// Debian packages by mmdebstrap; needs root
    Debian,
    /// What is there already, else the former, else the latter
    Either,
}

impl From<Origin> for Base {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Slim => Self::Slim,
            Origin::Debian => Self::Debian,
            Origin::Either => Self::Either,
        }
    }
}

/// Runs the verb.
///
/// # Errors
/// Exit 4 when an image cannot be built, or when containers are asked for and no engine answers.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Action::Build(build) = &args.action;
    let recipe = Recipe::of(&build.folder.find()?, &context::cache()?);
    let front = Front::new().map_err(sandboxes::failure)?;
    let mut rows = vec![["kind", "role", "tag", "id"].map(str::to_owned).to_vec()];
    let mut list = |kind: &str, facts: std::collections::BTreeMap<Role, ImageFacts>| {
        for (role, facts) in facts {
            let role = format!("{role:?}").to_lowercase();
            rows.push(vec![kind.to_owned(), role, facts.tag, facts.id]);
        }
    };
    if build.sandbox != Choice::Docker {
        let runtime = front
            .wait(images::local(&recipe, &out::talk))
            .map_err(sandboxes::failure)?;
        list("local", runtime.facts());
    }
    if build.sandbox != Choice::Local {
        match (front.wait(Engine::connect(None)), build.sandbox) {
            (Ok(engine), _) => {
                let made = images::docker(&engine, &recipe, build.base.into(), &out::talk);
                list("docker", front.wait(made).map_err(sandboxes::failure)?);
            }
            (Err(fault), Choice::Docker) => return Err(sandboxes::failure(fault)),
            (Err(fault), _) => {
                out::talk(&format!("no container engine is used: {}", fault.message));
            }
        }
    }
    out::data(&out::table(&rows))
}
