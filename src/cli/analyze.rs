//! Knows the verb `analyze`: the statistics of a run or of a bare table of scores.
//! Must not know how they are computed or laid out.
//! Start at `run`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::report::{Account, Detail};

use super::exit::Failure;
use super::scores::{self, ScoreOptions};
use super::{out, report};

/// Analyses the scores of a run or of a table, and prints tables or findings.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// A run directory, a table of scores (scores.csv of docs/formats.md), or - for a table on standard input
    scores: PathBuf,
    #[command(flatten)]
    options: ScoreOptions,
    /// Prints the findings as JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Prints every table, those of single cells and of curves too
    #[arg(long, conflicts_with = "json")]
    all: bool,
    /// Also writes findings.json, scores.csv and every table as CSV and LaTeX into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for what cannot be opened, 3 for bad lines, records that contradict the plan or must not be mixed, and an
/// analysis plan out of range. An analysis that the scores do not support is no failure.
pub fn run(args: &Args) -> Result<(), Failure> {
    let loaded = scores::load(&args.scores, &args.options)?;
    for remark in &loaded.remarks {
        out::talk(remark);
    }
    let findings = loaded.scores.findings().map_err(report::failure)?;
    let account = Account::of(&loaded.scores, &findings);
    if let Some(folder) = &args.out {
        account.write(folder).map_err(report::failure)?;
    }
    if args.json {
        out::data(&account.json().map_err(report::failure)?)
    } else {
        let detail = if args.all { Detail::All } else { Detail::Main };
        out::data(&account.text(&args.scores.display().to_string(), detail))
    }
}
