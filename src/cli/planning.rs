//! Knows how an experiment file becomes the plan of a run: with sandboxes, prompts, and the seed of a frozen plan.
//! Must not know how a plan is laid out.
//! Start at `build`.

use std::path::Path;

use crate::catalog::Catalog;
use crate::coder;
use crate::harness::Role;
use crate::harness::images::{self, Recipe};
use crate::plan::{self, Experiment, Facts, Plan};
use crate::reference::{self, Cache};
use crate::vocab::EnvironmentId;
use crate::workspace::Tree;

use super::exit::{Code, Failure};
use super::interpreter::Interpreter;
use super::root::invalid;
use super::sandboxes::{self, Opened};
use super::{context, facts, out};

/// Reads an experiment file and checks it against the catalogue, before any sandbox is opened; all problems at once.
pub(super) fn read(path: &Path, catalog: &Catalog) -> Result<Experiment, Failure> {
    let place = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(Code::Usage, format!("{place}: {error}"))
            .remedy("check the path; examples lie in analysis/plans/")
    })?;
    let (experiment, mut problems) = Experiment::read(&place, &text);
    if let Some(experiment) = &experiment
        && let Err(more) = Plan::build(experiment, catalog, &facts(catalog)?)
    {
        problems.extend(more);
    }
    problems
        .into_result()
        .map_err(|problems| invalid(&problems))?;
    experiment
        .ok_or_else(|| Failure::new(Code::Invalid, format!("{place}: not an experiment file")))
}

/// Lays out the plan for opened sandboxes; a resumed run keeps its root seed.
pub(super) fn build(
    mut experiment: Experiment,
    catalog: &Catalog,
    opened: &Opened,
    frozen: Option<&Plan>,
) -> Result<Plan, Failure> {
    experiment.sandbox = opened.kind;
    let mut facts = facts(catalog)?;
    facts.images = opened.tags();
    if let Some(frozen) = frozen {
        facts.root_seed = frozen.root_seed.clone();
    }
    let plan = Plan::build(&experiment, catalog, &facts).map_err(|problems| invalid(&problems))?;
    for warning in plan::warnings(&plan) {
        out::talk(&format!("warning: {warning}"));
    }
    Ok(plan)
}

/// The facts of a plan made now, with the texts that scaffolds work by.
pub(super) fn facts(catalog: &Catalog) -> Result<Facts, Failure> {
    let mut facts = facts::gather(catalog.root())?;
    let prompts: String = coder::prompt_sources()
        .iter()
        .map(|(name, text)| format!("{name}\n{text}\n"))
        .collect();
    facts.scaffolds = coder::SCAFFOLDS
        .iter()
        .map(|name| ((*name).to_owned(), prompts.clone()))
        .collect();
    Ok(facts)
}

/// The clean reference agents of an environment by file name; trained now where the cache lacks them.
pub(super) async fn clean_agents(id: &EnvironmentId, catalog: &Catalog) -> Result<Tree, Failure> {
    let environment = catalog
        .environment(id)
        .map_err(|unknown| Failure::new(Code::Invalid, unknown.to_string()))?;
    let cache = context::cache()?;
    let recipe = Recipe::of(catalog.root(), &cache);
    let runtime = images::local(&recipe, &out::talk)
        .await
        .map_err(sandboxes::failure)?;
    let python = runtime.interpreter(Role::Workspace).to_owned();
    let paths = tokio::task::block_in_place(|| {
        let mut laboratory = Interpreter::new(python, cache.join("xla"));
        reference::clean_agents(&Cache::below(&cache), &mut laboratory, environment)
    })
    .map_err(|error| {
        Failure::new(
            Code::Internal,
            format!("clean reference agents of {id}: {error}"),
        )
    })?;
    paths
        .iter()
        .map(|path| {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let bytes = std::fs::read(path).map_err(|error| {
                Failure::new(Code::Internal, format!("{}: {error}", path.display()))
            })?;
            Ok((name.unwrap_or_default(), bytes))
        })
        .collect()
}
