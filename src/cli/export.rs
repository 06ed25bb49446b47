//! Knows the verb `export`: a run's scores as one tidy table.
//! Must not know how scores come to be.
//! Start at `run`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use crate::report;
use crate::store::{RunDirectory, publish};

use super::exit::{Code, Failure};
use super::report::{failure, read};
use super::{context, out};

/// Writes a run's scores for other programs.
#[derive(Debug, ClapArgs)]
pub struct Args {
    #[command(subcommand)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum Format {
    /// One row per finished session (`scores.csv` of docs/formats.md)
    Csv(Csv),
}

#[derive(Debug, ClapArgs)]
struct Csv {
    /// The run directory
    run: PathBuf,
    /// Writes to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for a folder that is no run, 3 for records that contradict the plan.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Format::Csv(csv) = &args.format;
    let directory = RunDirectory::open(&csv.run).map_err(context::store_failure)?;
    let table = report::score_table(&read(&directory)?).map_err(failure)?;
    let bytes = report::write_scores(&table)
        .map_err(|error| Failure::new(Code::Internal, format!("scores: {error}")))?;
    match &csv.out {
        Some(path) => publish(path, &bytes).map_err(|error| {
            Failure::new(Code::Usage, format!("{}: {error}", path.display()))
                .remedy("name a file in a folder that can be written")
        }),
        None => out::data(&String::from_utf8_lossy(&bytes)),
    }
}
