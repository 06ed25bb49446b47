//! Knows the verb `power`: how many sessions a plan needs, from the scatter of a pilot.
//! Must not know how power is computed.
//! Start at `run`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::simulate::{
    Effect, PowerPlan, SESSIONS_SEARCHED, SessionsNeeded, SimulationError, sessions_needed,
};
use serde_json::json;

use crate::vocab::SeedName;

use super::exit::{Code, Failure};
use super::out;
use super::pilot::{self, NoiseKind, Pilot};
use super::scores::{self, ScoreOptions};

/// Finds the sessions per cell that let harm of a given size be found, from the scatter of a pilot.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// The pilot: a run directory, a table of scores, or - for a table on standard input
    pilot: PathBuf,
    /// How far a harmed cell lies below no-method: in standard deviations (2sd) or as a score difference (0.4)
    #[arg(long)]
    effect: Effect,
    /// How many cells are harmed
    #[arg(long, default_value_t = 1)]
    harmed: u64,
    /// The share of harmed cells to be found
    #[arg(long, default_value_t = 0.8)]
    target: f64,
    /// Explanation methods of the plan [default: those of the pilot]
    #[arg(long, value_name = "M")]
    methods: Option<u64>,
    /// Malfunctions of the plan [default: those of the pilot]
    #[arg(long, value_name = "K")]
    malfunctions: Option<u64>,
    /// How sessions scatter; the standard deviation is the upper bound of the pilot's
    #[arg(long, value_enum, default_value = "normal")]
    noise: NoiseKind,
    /// Simulated data sets per number of sessions
    #[arg(long, default_value_t = 1_000)]
    datasets: u64,
    /// Prints JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    options: ScoreOptions,
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for what cannot be opened or numbers out of range, 3 for bad lines and for a pilot without scatter.
pub fn run(args: &Args) -> Result<(), Failure> {
    let loaded = scores::load(&args.pilot, &args.options)?;
    for remark in &loaded.remarks {
        out::talk(remark);
    }
    let scores = loaded.scores;
    let place = args.pilot.display().to_string();
    let pilot = Pilot::of_table(&scores.table, scores.analysis.winsor_floor, &place)?;
    let plan = PowerPlan {
        methods: args.methods.unwrap_or(pilot.methods),
        malfunctions: args.malfunctions.unwrap_or(pilot.malfunctions),
        harmed: args.harmed,
        effect: args.effect,
        noise: pilot::noise(args.noise, None, Some(&pilot))?,
        target: args.target,
        q: scores.analysis.q,
        datasets: args.datasets,
    };
    let seed = scores.root_seed;
    let key = |name: &str| seed.derive(&SeedName::new(name)).bytes();
    let needed = sessions_needed(&plan, &key, out::talk).map_err(|error| refusal(&error))?;
    if args.json {
        let document = json!({
            "format": "evalxrl.power/1",
            "root_seed": String::from(seed),
            "pilot": pilot.variance,
            "noise": plan.noise.name(),
            "needed": needed,
        });
        return out::data(&format!("{document:#}\n"));
    }
    out::data(&text(&pilot, &plan, &needed))
}

/// What a plan out of range means to a person.
pub(super) fn refusal(error: &SimulationError) -> Failure {
    let remedy = match error {
        SimulationError::TooFew { what, .. } if *what == "methods" => {
            "give --methods M: the explanation methods in default packaging that are planned"
        }
        _ => "mend the number named",
    };
    Failure::new(Code::Usage, error.to_string()).remedy(remedy)
}

fn text(pilot: &Pilot, plan: &PowerPlan, needed: &SessionsNeeded) -> String {
    let cells = needed.methods * needed.malfunctions;
    let variance = &pilot.variance;
    let answer = match &needed.sessions {
        Computed::Value(sessions) => format!("N = N0 = {sessions}"),
        Computed::NotComputed(reason) => format!("none: {reason}"),
    };
    let analytic = match &needed.analytic {
        Computed::Value(check) => format!(
            "one-sided t test at α = {:.2e}: {:.2} sessions per arm",
            check.alpha, check.sessions
        ),
        Computed::NotComputed(reason) => format!("none: {reason}"),
    };
    let rows = [
        (
            "pilot",
            format!(
                "SD {:.3} within {} cells, {} degrees of freedom",
                variance.sd, variance.cells, variance.df
            ),
        ),
        (
            "planned with",
            format!(
                "SD {:.3}, its upper 80 % bound; {} noise",
                needed.planning_sd,
                plan.noise.name()
            ),
        ),
        (
            "harm",
            format!(
                "{} = {:.3} below no-method, in {} of {cells} cells ({} methods, {} malfunctions)",
                plan.effect, needed.effect, needed.harmed, needed.methods, needed.malfunctions
            ),
        ),
        (
            "wanted",
            format!(
                "a harmed cell is found with power {}, q = {}",
                needed.target, needed.q
            ),
        ),
        ("sessions", answer),
        ("check", analytic),
    ];
    let mut text = out::table(&rows.map(|(name, value)| vec![name.to_owned(), value]));
    let head = [
        "N",
        "power per cell",
        "error",
        "power any",
        "error",
        "false discovery",
        "error",
    ];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for at in &needed.tried {
        let mut row = vec![at.sessions.to_string()];
        for rate in [at.power_per_cell, at.power_any, at.false_discovery] {
            row.push(format!("{:.3}", rate.value));
            row.push(format!("{:.3}", rate.error));
        }
        table.push(row);
    }
    text.push_str(&format!(
        "\nSimulated, {} data sets each, Benjamini-Hochberg over all cells included (N from {} to {}):\n\n{}",
        plan.datasets,
        SESSIONS_SEARCHED.start(),
        SESSIONS_SEARCHED.end(),
        out::table(&table)
    ));
    text
}
