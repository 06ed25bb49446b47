//! Knows the verb `report`: findings, tables, figures and the page of a run.
//! Must not know how they are made.
//! Start at `run`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::report::{self, Run};
use crate::store::RunDirectory;

use super::exit::{Code, Failure};
use super::{context, out};

/// Writes findings, tables, figures and the page of a run, and prints a summary.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// The run directory
    run: PathBuf,
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for a folder that is no run, 3 for sessions that must not be reported together.
pub fn run(args: &Args) -> Result<(), Failure> {
    let directory = RunDirectory::open(&args.run).map_err(context::store_failure)?;
    let run = read(&directory)?;
    let written = report::write(&run, directory.root()).map_err(failure)?;
    out::data(&format!("{}\n", written.summary.trim_end()))
}

/// What a report or an export is made from.
pub(super) fn read(directory: &RunDirectory) -> Result<Run, Failure> {
    let plan = context::plan_of(directory)?;
    Run::read(&plan, directory).map_err(context::store_failure)
}

/// What a refused report means to a person.
pub(super) fn failure(error: report::ReportError) -> Failure {
    use report::ReportError as Error;
    let code = match &error {
        Error::Mixed(_) | Error::Contradiction(_) | Error::Analysis(_) => Code::Invalid,
        Error::File { .. } => Code::Usage,
        _ => Code::Internal,
    };
    let remedy = match &error {
        Error::Mixed(_) => {
            "report runs of one kind of sandbox, one version and one set of references"
        }
        Error::Contradiction(_) => {
            "the named records were changed or come from another run; move them aside and run again"
        }
        Error::Analysis(_) => "mend [analysis] of the experiment",
        Error::File { .. } => "check the folder's permissions and the disk",
        _ => "this is a defect of ours; the run directory is untouched",
    };
    Failure::new(code, error.to_string()).remedy(remedy)
}
