//! Knows the verb `report`: findings, tables, figures and the page of a run.
//! Must not know how they are made.
//! Start at `run`.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use crate::report::{self, Run};
use crate::store::{LocalisationFolder, LocalisationRecord, RunDirectory, StoreError};

use super::exit::{Code, Failure};
use super::{context, out};

/// Writes findings, tables, figures and the page of a run, and prints a summary.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// The run directory
    run: PathBuf,
    /// Folder of localisation records; the run's own, where it has one, when not named
    #[arg(long, value_name = "FOLDER")]
    localisation: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for a folder that is no run or holds no localisation record, 3 for a record that cannot be read and for sessions
/// that must not be reported together.
pub fn run(args: &Args) -> Result<(), Failure> {
    let directory = RunDirectory::open(&args.run).map_err(context::store_failure)?;
    let mut run = read(&directory)?;
    run.localisation = localisation(&directory, args.localisation.as_deref())?;
    let written = report::write(&run, directory.root()).map_err(failure)?;
    out::data(&format!("{}\n", written.summary.trim_end()))
}

/// What a report or an export is made from.
pub(super) fn read(directory: &RunDirectory) -> Result<Run, Failure> {
    let plan = context::plan_of(directory)?;
    Run::read(&plan, directory).map_err(context::store_failure)
}

/// What texts say without a coder: the records of the named folder, else of the run, which need not have any.
fn localisation(
    directory: &RunDirectory,
    named: Option<&Path>,
) -> Result<Vec<LocalisationRecord>, Failure> {
    let folder = named.map_or_else(|| directory.localisation(), LocalisationFolder::open);
    let records = folder.all().map_err(|error| match error {
        StoreError::Malformed { .. } => Failure::new(Code::Invalid, error.to_string())
            .remedy("move the file aside; `evalxrl localise --run RUN` then makes it anew"),
        other => context::store_failure(other),
    })?;
    match named {
        Some(path) if records.is_empty() => Err(Failure::new(
            Code::Usage,
            format!(
                "--localisation {}: no localisation record there",
                path.display()
            ),
        )
        .remedy("name a folder that `evalxrl localise` made, or leave the option out")),
        _ => Ok(records),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_folder_must_hold_records_and_the_run_need_not() {
        let place = tempfile::tempdir().unwrap();
        let directory = RunDirectory::create(&place.path().join("run"), b"{}").unwrap();
        assert_eq!(localisation(&directory, None).unwrap(), []);
        for name in ["absent", "run"] {
            let named = place.path().join(name);
            let failure = localisation(&directory, Some(&named)).unwrap_err();
            let text = format!("{failure:?}");
            assert!(
                text.contains("Usage") && text.contains("evalxrl localise"),
                "{text}"
            );
        }
        let path = place
            .path()
            .join("run/localisation/treasure-grid-x/saliency.json");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, b"{\"format\": \"evalxrl.localisation/1\"}").unwrap();
        let text = format!("{:?}", localisation(&directory, None).unwrap_err());
        for part in [
            "Invalid",
            "saliency.json",
            "malfunction",
            "move the file aside",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
