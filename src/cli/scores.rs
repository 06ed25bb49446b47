//! Knows how a verb comes to scores: from a run directory, from a tidy table, or from standard input.
//! Must not know what is done with them.
//! Start at `load`.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args as ClapArgs;
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::score_table::{Roles, ScoreTable};

use crate::plan::{self, Plan};
use crate::report::{self, CsvError, Scores};
use crate::store::RunDirectory;
use crate::vocab::RootSeed;

use super::exit::{Code, Failure};
use super::root::invalid;
use super::{context, report as report_verb};

/// What goes with scores and is not in them.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(super) struct ScoreOptions {
    /// Takes [analysis] from this experiment file (or plan.json) instead of the run's frozen plan or the defaults
    #[arg(long, value_name = "EXPERIMENT")]
    plan: Option<PathBuf>,
    /// Root seed: a whole number or 64 hexadecimal digits [default: the run's; 0 for a table]
    #[arg(long, value_name = "N")]
    seed: Option<Seed>,
    /// For a table: which cells were planned, with how many sessions (CSV: malfunction, method, sessions, and coder,
    /// invocations where the table has them) [default: every malfunction with every method seen]
    #[arg(long, value_name = "FILE")]
    planned_cells: Option<PathBuf>,
    /// For a table: the most tool calls that a session could make [default: the largest seen]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    tool_call_budget: Option<u64>,
    #[command(flatten)]
    roles: RoleOptions,
}

/// The methods that play a reserved role.
#[derive(Debug, Clone, Default, ClapArgs)]
struct RoleOptions {
    /// The method that is the baseline of lift [default: no-method]
    #[arg(long, value_name = "ID")]
    no_method: Option<String>,
    /// The method that is told the fault [default: cheat-oracle]
    #[arg(long, value_name = "ID")]
    cheat_oracle: Option<String>,
    /// The method that reverts the fault and retrains [default: optimal-repair]
    #[arg(long, value_name = "ID")]
    optimal_repair: Option<String>,
    /// The method that has bulk without information [default: placebo]
    #[arg(long, value_name = "ID")]
    placebo: Option<String>,
}

/// A root seed as people write it.
#[derive(Debug, Clone)]
pub(super) struct Seed(pub(super) RootSeed);

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() < 64
            && let Ok(number) = text.parse()
        {
            return Ok(Self(RootSeed::weak(number)));
        }
        RootSeed::try_from(text.to_owned())
            .map(Self)
            .map_err(|_| "neither a whole number from 0 nor 64 hexadecimal digits".to_owned())
    }
}

impl RoleOptions {
    /// # Errors
    /// One method in two roles.
    fn roles(&self) -> Result<Roles, Failure> {
        let default = Roles::default();
        let or = |given: &Option<String>, default: String| given.clone().unwrap_or(default);
        let roles = Roles {
            no_method: or(&self.no_method, default.no_method),
            cheat_oracle: or(&self.cheat_oracle, default.cheat_oracle),
            optimal_repair: or(&self.optimal_repair, default.optimal_repair),
            placebo: or(&self.placebo, default.placebo),
        };
        let ids = [
            &roles.no_method,
            &roles.cheat_oracle,
            &roles.optimal_repair,
            &roles.placebo,
        ];
        for (index, id) in ids.iter().enumerate() {
            if ids[..index].contains(id) {
                return Err(
                    Failure::new(Code::Usage, format!("the method `{id}` has two roles"))
                        .remedy("give each role a method of its own"),
                );
            }
        }
        Ok(roles)
    }
}

impl RoleOptions {
    /// # Errors
    /// A role given to a method that the scores do not have.
    fn check(&self, table: &ScoreTable) -> Result<(), Failure> {
        for (given, flag) in [
            (&self.no_method, "--no-method"),
            (&self.cheat_oracle, "--cheat-oracle"),
            (&self.optimal_repair, "--optimal-repair"),
            (&self.placebo, "--placebo"),
        ] {
            let Some(id) = given else { continue };
            if !table.planned().iter().any(|cell| cell.method == *id) {
                let methods: BTreeSet<&str> = table
                    .planned()
                    .iter()
                    .map(|cell| cell.method.as_str())
                    .collect();
                let methods: Vec<&str> = methods.into_iter().collect();
                return Err(Failure::new(
                    Code::Usage,
                    format!("{flag}: no method is called `{id}`"),
                )
                .remedy(format!("name one of {}", methods.join(", "))));
            }
        }
        Ok(())
    }
}

/// Scores, and what is to be said about how they were taken.
#[derive(Debug)]
pub(super) struct Loaded {
    /// The scores with seed, analysis plan and references.
    pub(super) scores: Scores,
    /// Lines of talk, such as the seed that stands in for one not given.
    pub(super) remarks: Vec<String>,
}

/// Takes the scores of a run directory, of a tidy table, or of one on standard input (`-`).
///
/// # Errors
/// Exit 2 for what cannot be opened or options that do not fit, 3 for every bad line of a table, for sessions that must
/// not be mixed, and for an analysis plan out of range.
pub(super) fn load(place: &Path, options: &ScoreOptions) -> Result<Loaded, Failure> {
    let roles = options.roles.roles()?;
    let mut loaded = if place.is_dir() {
        of_run(place, options, roles)?
    } else {
        of_table(place, options, roles)?
    };
    options.roles.check(&loaded.scores.table)?;
    if let Some(Seed(seed)) = &options.seed {
        loaded.scores.root_seed = seed.clone();
    }
    if let Some(path) = &options.plan {
        loaded.scores.analysis = analysis(path)?;
    }
    Ok(loaded)
}

fn of_run(place: &Path, options: &ScoreOptions, roles: Roles) -> Result<Loaded, Failure> {
    for (given, flag) in [
        (options.planned_cells.is_some(), "--planned-cells"),
        (options.tool_call_budget.is_some(), "--tool-call-budget"),
    ] {
        if given {
            return Err(Failure::new(
                Code::Usage,
                format!("{flag} belongs to a table; {} is a run", place.display()),
            )
            .remedy(format!("leave {flag} out: the run's frozen plan says it")));
        }
    }
    let directory = RunDirectory::open(place).map_err(context::store_failure)?;
    let run = report_verb::read(&directory)?;
    let scores = Scores::of_run(&run, roles).map_err(report_verb::failure)?;
    Ok(Loaded {
        scores,
        remarks: Vec::new(),
    })
}

fn of_table(place: &Path, options: &ScoreOptions, roles: Roles) -> Result<Loaded, Failure> {
    let (name, bytes) = read(place)?;
    let mut table = report::read_scores(&bytes, &name, roles).map_err(|error| bad_lines(&error))?;
    if let Some(path) = &options.planned_cells {
        table = planned(path, table)?;
    }
    if let Some(steps) = options.tool_call_budget {
        table = table.with_tool_call_budget(steps);
    }
    let mut remarks = Vec::new();
    if options.seed.is_none() {
        remarks.push("seed: 0, as none was given; --seed N takes another".to_owned());
    }
    Ok(Loaded {
        scores: Scores::bare(table, RootSeed::weak(0)),
        remarks,
    })
}

fn planned(path: &Path, table: ScoreTable) -> Result<ScoreTable, Failure> {
    let (name, bytes) = read(path)?;
    report::read_planned(&bytes, &name, table).map_err(|error| bad_lines(&error))
}

/// The bytes of a file, or of standard input, with its name in messages.
pub(super) fn read(place: &Path) -> Result<(String, Vec<u8>), Failure> {
    let mut bytes = Vec::new();
    let (name, outcome) = if place == Path::new("-") {
        let outcome = std::io::stdin().lock().read_to_end(&mut bytes);
        ("standard input".to_owned(), outcome.map(drop))
    } else {
        let outcome = std::fs::read(place).map(|read| bytes = read);
        (place.display().to_string(), outcome)
    };
    outcome.map_err(|error| {
        Failure::new(Code::Usage, format!("{name}: {error}"))
            .remedy("name a file that can be read, or - for standard input")
    })?;
    Ok((name, bytes))
}

/// What a table with bad lines means to a person.
pub(super) fn bad_lines(error: &CsvError) -> Failure {
    Failure {
        code: Code::Invalid,
        problems: error.messages(),
        remedy: Some(
            "mend the lines named; docs/formats.md says what each column holds".to_owned(),
        ),
    }
}

fn analysis(path: &Path) -> Result<AnalysisPlan, Failure> {
    let place = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(Code::Usage, format!("{place}: {error}"))
            .remedy("name an experiment file; examples lie in analysis/plans/")
    })?;
    if text.trim_start().starts_with('{') {
        let plan = Plan::from_json(&text)
            .map_err(|error| Failure::new(Code::Invalid, format!("{place}: {error}")))?;
        return Ok(plan.analysis);
    }
    plan::read_analysis(&place, &text).map_err(|problems| invalid(&problems))
}
