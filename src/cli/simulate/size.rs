//! Knows how the size of a simulated design is found: from an experiment file, from flags, or from both.
//! Must not know what is simulated.
//! Start at `of`.

use std::path::Path;

use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::score_table::Roles;
use evalxrl_analysis::simulate::Design;

use crate::cli::exit::{Code, Failure};
use crate::cli::root::invalid;
use crate::plan::{Experiment, Selection};

use super::{Args, Sized};

/// Takes methods, malfunctions, sessions and the analysis from the experiment file, where there is one; flags override.
///
/// # Errors
/// Exit 2 for a size that neither says, 3 for a defective experiment file.
pub(super) fn of(args: &Args) -> Result<Sized, Failure> {
    let experiment = args.experiment.as_deref().map(read).transpose()?;
    let mut missing = Vec::new();
    let mut size = |flag: &'static str, given: Option<u64>, planned: Option<u64>| {
        given.or(planned).unwrap_or_else(|| {
            missing.push(flag);
            0
        })
    };
    let from = experiment.as_ref();
    let malfunctions = match (args.malfunctions, from) {
        (None, Some(experiment)) => Some(malfunctions(experiment, args)?),
        (given, _) => given,
    };
    let design = Design {
        methods: size("--methods M", args.methods, from.map(methods)),
        malfunctions: size("--malfunctions K", malfunctions, None),
        sessions: size(
            "--sessions N",
            args.sessions,
            from.map(|experiment| u64::from(experiment.replications)),
        ),
    };
    if !missing.is_empty() {
        let flags = missing.join(" ");
        return Err(Failure::new(
            Code::Usage,
            format!("the size of the design is not known: {flags}"),
        )
        .remedy("name an experiment file, or give the flags named"));
    }
    Ok(Sized {
        design,
        analysis: experiment.map_or_else(AnalysisPlan::default, |experiment| experiment.analysis),
    })
}

fn read(path: &Path) -> Result<Experiment, Failure> {
    let place = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(Code::Usage, format!("{place}: {error}"))
            .remedy("check the path; examples lie in analysis/plans/")
    })?;
    let (experiment, problems) = Experiment::read(&place, &text);
    problems
        .into_result()
        .map_err(|problems| invalid(&problems))?;
    experiment
        .ok_or_else(|| Failure::new(Code::Invalid, format!("{place}: not an experiment file")))
}

/// Arms that enter the hypotheses: explanation methods in default packaging.
fn methods(experiment: &Experiment) -> u64 {
    let roles = Roles::default();
    let arms = experiment.arms.iter();
    arms.filter(|arm| roles.enters_hypotheses(arm.as_str()))
        .count() as u64
}

/// Malfunctions by name, and all of an environment that are not held out; only those ask for the catalogue.
fn malfunctions(experiment: &Experiment, args: &Args) -> Result<u64, Failure> {
    let mut count = 0;
    for selection in &experiment.malfunctions {
        count += match selection {
            Selection::One(_) => 1,
            Selection::All(environment) => {
                let catalog = args.folder.load()?;
                let all = catalog.malfunctions();
                all.filter(|one| one.environment == *environment && !one.held_out)
                    .count() as u64
            }
        };
    }
    Ok(count)
}
