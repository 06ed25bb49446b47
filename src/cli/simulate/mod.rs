//! Knows the verb `simulate`: the error rates and the power of a planned design, before it is run.
//! Must not know how data sets are made or tested.
//! Start at `run`.

mod size;
mod tables;

use std::path::PathBuf;

use clap::Args as ClapArgs;
use evalxrl_analysis::plan::AnalysisPlan;
use evalxrl_analysis::simulate::{Effect, HarmPlan, Scenario, SimulationPlan, simulate};
use serde_json::json;

use crate::vocab::{RootSeed, SeedName};

use super::exit::Failure;
use super::out;
use super::pilot::{self, NoiseKind, Pilot};
use super::power::refusal;
use super::root::CatalogFolder;
use super::scores::{self, ScoreOptions, Seed};

/// Simulates a planned design: error rates of every procedure, power, verdicts, and coverage of intervals.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// The experiment file that gives methods, malfunctions, sessions and [analysis]; flags override it
    experiment: Option<PathBuf>,
    /// A pilot whose scatter is used: a run directory or a table of scores
    #[arg(long, value_name = "SCORES")]
    pilot: Option<PathBuf>,
    /// Explanation methods in default packaging
    #[arg(long, value_name = "M")]
    methods: Option<u64>,
    /// Malfunctions
    #[arg(long, value_name = "K")]
    malfunctions: Option<u64>,
    /// Sessions per cell, of no-method too
    #[arg(long, value_name = "N")]
    sessions: Option<u64>,
    /// Data sets per scenario of H1; harm takes at most 300 of them, coverage at most 250
    #[arg(long, default_value_t = 1_000)]
    datasets: u64,
    /// Draws per test of H1
    #[arg(long, default_value_t = 199)]
    permutations: u64,
    /// How sessions scatter in every scenario [default: pilot where there is one, else each scenario's own]
    #[arg(long, value_enum)]
    noise: Option<NoiseKind>,
    /// Standard deviation of the noise [default: the upper bound of the pilot's, else 0.25]
    #[arg(long)]
    sd: Option<f64>,
    /// How many cells are harmed
    #[arg(long, default_value_t = 1)]
    harmed: u64,
    /// How far a harmed cell lies below no-method: in standard deviations (2sd) or as a score difference (0.4)
    #[arg(long, default_value = "2sd")]
    effect: Effect,
    /// A scenario of H1; several may be named [default: all]
    #[arg(long, value_name = "NAME", num_args = 1..)]
    scenario: Vec<String>,
    /// Root seed: a whole number or 64 hexadecimal digits
    #[arg(long, value_name = "N", default_value = "0")]
    seed: Seed,
    /// Prints JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for a missing or impossible size, unknown scenarios and numbers out of range, 3 for a defective experiment file
/// or pilot.
pub fn run(args: &Args) -> Result<(), Failure> {
    let sized = size::of(args)?;
    let pilot = args
        .pilot
        .as_ref()
        .map(|place| {
            let loaded = scores::load(place, &ScoreOptions::default())?;
            let floor = sized.analysis.winsor_floor;
            Pilot::of_table(&loaded.scores.table, floor, &place.display().to_string())
        })
        .transpose()?;
    let plan = plan(args, &sized, pilot.as_ref())?;
    let Seed(seed) = &args.seed;
    let key = |name: &str| seed.derive(&SeedName::new(name)).bytes();
    let simulation = simulate(&plan, &key, out::talk).map_err(|error| refusal(&error))?;
    if args.json {
        let document = json!({
            "format": "evalxrl.simulation/1",
            "root_seed": String::from(RootSeed::clone(seed)),
            "pilot": pilot.map(|pilot| pilot.variance),
            "noise": plan.noise.as_ref().map(|noise| json!({ "kind": noise.name(), "sd": noise.sd() })),
            "simulation": simulation,
        });
        return out::data(&format!("{document:#}\n"));
    }
    out::data(&tables::text(&plan, &simulation, pilot.as_ref()))
}

/// A design and how its scores would be analysed.
struct Sized {
    design: evalxrl_analysis::simulate::Design,
    analysis: AnalysisPlan,
}

fn plan(args: &Args, sized: &Sized, pilot: Option<&Pilot>) -> Result<SimulationPlan, Failure> {
    let published = SimulationPlan::new(sized.design);
    let kind = args.noise.or(match (pilot, args.sd) {
        (Some(_), _) => Some(NoiseKind::Pilot),
        (None, Some(_)) => Some(NoiseKind::Normal),
        (None, None) => None,
    });
    let scenarios: Result<Vec<Scenario>, _> = match args.scenario.as_slice() {
        [] => Ok(Scenario::all()),
        names => names.iter().map(|name| Scenario::named(name)).collect(),
    };
    Ok(SimulationPlan {
        scenarios: scenarios.map_err(|error| refusal(&error))?,
        noise: kind
            .map(|kind| pilot::noise(kind, args.sd, pilot))
            .transpose()?,
        datasets: args.datasets,
        permutations: args.permutations,
        alpha: sized.analysis.alpha,
        q: sized.analysis.q,
        harm: Some(HarmPlan {
            harmed: args.harmed,
            effect: args.effect,
            datasets: args.datasets.min(300),
        }),
        coverage: published.coverage.map(|mut coverage| {
            coverage.datasets = coverage.datasets.min(args.datasets);
            coverage.confidence = sized.analysis.confidence;
            coverage
        }),
        ..published
    })
}
