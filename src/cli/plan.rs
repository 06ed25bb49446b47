//! Knows the verb `plan`: what an experiment file asks for, checked against the catalogue.
//! Must not know how a plan is made.
//! Start at `run`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::plan::{self, Plan};

use super::root::{CatalogFolder, invalid};
use super::{Code, Failure, out, planning};

/// Shows the sessions of an experiment, or every reason why it cannot be run.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The experiment file
    experiment: PathBuf,
    /// Prints the plan as it would be frozen, but for the image tags, which `run` adds
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// Runs the verb.
///
/// # Errors
/// Exit 3 with every defect of the file and of the catalogue.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let catalog = args.folder.load()?;
    let place = args.experiment.display().to_string();
    let text = std::fs::read_to_string(&args.experiment)
        .map_err(|error| Failure::new(Code::Usage, format!("{place}: {error}")))?;
    let facts = planning::facts(&catalog)?;
    let plan =
        plan::build(&place, &text, &catalog, &facts).map_err(|problems| invalid(&problems))?;
    for warning in plan::warnings(&plan) {
        out::talk(&format!("warning: {warning}"));
    }
    if args.json {
        return out::data(&plan.to_json());
    }
    out::data(&summary(&plan))
}

fn summary(plan: &Plan) -> String {
    let names = |list: Vec<&str>| list.join(", ");
    let rows = [
        ("name", plan.name.clone()),
        ("sessions", plan.sessions.len().to_string()),
        ("replications", plan.replications.to_string()),
        (
            "malfunctions",
            names(
                plan.malfunctions
                    .iter()
                    .map(|one| one.id.as_str())
                    .collect(),
            ),
        ),
        (
            "arms",
            names(plan.arms.iter().map(|arm| arm.method.as_str()).collect()),
        ),
        (
            "coders",
            names(
                plan.coders
                    .iter()
                    .map(|coder| coder.label.as_str())
                    .collect(),
            ),
        ),
        ("sandbox", format!("{:?}", plan.sandbox).to_lowercase()),
        (
            "root seed",
            if plan.weak_seed { "weak" } else { "strong" }.to_owned(),
        ),
    ];
    let mut text = out::table(&rows.map(|(name, value)| vec![name.to_owned(), value]));
    text.push_str(&reach(plan));
    let mut table = vec![["index", "session"].map(str::to_owned).to_vec()];
    for session in &plan.sessions {
        table.push(vec![session.index.to_string(), session.key.to_string()]);
    }
    text.push('\n');
    text.push_str(&out::table(&table));
    text
}

/// What the planned sessions can find of harm, one row per test; nothing where there is nothing to test.
fn reach(plan: &Plan) -> String {
    let reach = plan::reach(plan);
    if reach.is_empty() {
        return String::new();
    }
    let head = [
        "test of harm",
        "N",
        "N of no-method",
        "cells",
        "smallest p",
        "cells needed together",
        "N that one cell needs",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(reach.iter().map(|each| {
        vec![
            each.test.name().to_owned(),
            each.sessions.to_string(),
            each.baseline_sessions.to_string(),
            each.cells.to_string(),
            each.arrangements.map_or_else(
                || format!("{:.1e}", each.p_min),
                |count| format!("1/{count}"),
            ),
            each.cells_needed.to_string(),
            each.sessions_for_one_cell.to_string(),
        ]
    }));
    format!("\n{}", out::table(&rows))
}
