//! Knows `reference --screen`: goes through the ladders of candidates and writes the figures of each rung as it is measured.
//! Must not know when a rung is good enough.
//! Start at `run`.

use std::time::Instant;

use crate::catalog::{CANDIDATES, Candidate, CandidateFigures, Candidates, Catalog, Problems};
use crate::reference::{Bureau, Cache, ReferenceError, Step};
use crate::vocab::EnvironmentId;

use super::super::root::invalid;
use super::super::{Code, Failure, out, whole_file};
use super::{Args, told};

/// Screens candidates of one environment.
pub(super) fn run(args: &Args, environment: &str) -> Result<(), Failure> {
    let usage = |problem: String| Failure::new(Code::Usage, problem);
    let id = EnvironmentId::new(environment).map_err(|error| usage(error.to_string()))?;
    // Folders that are being written do not stand in the way of candidates.
    let (catalog, mut problems) = Catalog::survey(&args.folder.find()?);
    problems.extend(catalog.check_candidates());
    let place = format!("{CANDIDATES}/{id}.");
    let problems = problems.about(|one| one.starts_with("envs/") || one.starts_with(&place));
    if !problems.is_empty() {
        return Err(invalid(&problems));
    }
    let environment = catalog
        .environment(&id)
        .map_err(|unknown| usage(unknown.to_string()))?;
    let candidates = catalog
        .candidates()
        .find(|one| one.environment == id)
        .ok_or_else(|| {
            usage(format!("{place}toml: is not there"))
                .remedy("write the candidates of this environment there")
        })?;
    let chosen = choose(candidates, &args.entry)?;
    let (mut laboratory, cache) = super::laboratory(args, catalog.root())?;
    let begun = Instant::now();
    let say = move |what: &str| out::talk(&format!("{:>6} s  {what}", begun.elapsed().as_secs()));
    let mut bureau = Bureau::new(&catalog, &mut laboratory, Cache::below(&cache), &say);
    let mut known = catalog.candidate_figures(&id);
    let path = catalog.root().join(CandidateFigures::place(&id));
    let count = chosen.len();
    for (index, candidate) in chosen.into_iter().enumerate() {
        let (entry, of) = (&candidate.entry, candidate.ladder.len());
        out::talk(&format!(
            "{} of {count}: {entry}, {}",
            index + 1,
            candidate.what
        ));
        if args.all {
            known.rungs.retain(|rung| rung.entry != *entry);
        }
        let mut each = |step: Step| -> Result<(), Stopped> {
            if let Some(crash) = &step.crash {
                out::talk(&format!("{entry} {}: {crash}", step.rung.strength));
            }
            if step.new {
                record(&path, &id, candidates, &step)?;
            }
            let mut line = told::rung(&step.rung, step.at, of, step.new);
            if step.rung.reason.is_empty() && step.at < of {
                line.push_str(&format!("{entry}: the ladder ends here\n"));
            }
            Ok(out::data(&line)?)
        };
        bureau
            .climb(environment, candidate, &known, &mut each)
            .map_err(|stopped| match stopped {
                Stopped::Told(failure) => failure,
                Stopped::Measuring(error) => super::failure(entry, &error),
            })?;
    }
    Ok(())
}

/// Why a ladder was left.
enum Stopped {
    Told(Failure),
    Measuring(ReferenceError),
}

impl From<ReferenceError> for Stopped {
    fn from(error: ReferenceError) -> Self {
        Self::Measuring(error)
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Told(failure)
    }
}

fn choose<'a>(
    candidates: &'a Candidates,
    entries: &[String],
) -> Result<Vec<&'a Candidate>, Failure> {
    if entries.is_empty() {
        return Ok(candidates.list.iter().collect());
    }
    entries
        .iter()
        .map(|entry| {
            candidates.entry(entry).ok_or_else(|| {
                let known: Vec<&str> = candidates
                    .list
                    .iter()
                    .map(|one| one.entry.as_str())
                    .collect();
                Failure::new(Code::Usage, format!("no candidate is called `{entry}`"))
                    .remedy(format!("name one of {}", known.join(", ")))
            })
        })
        .collect()
}

/// Puts a rung into the file of figures, which another screening may have changed meanwhile.
fn record(
    path: &std::path::Path,
    id: &EnvironmentId,
    candidates: &Candidates,
    step: &Step,
) -> Result<(), Failure> {
    whole_file::replace(path, |text| {
        let mut problems = Problems::none();
        let mut figures = if text.is_empty() {
            CandidateFigures::none(id.clone())
        } else {
            CandidateFigures::read(&CandidateFigures::place(id), text, &mut problems)
                .ok_or_else(|| invalid(&problems))?
        };
        figures.insert(step.rung.clone(), candidates);
        figures
            .to_text()
            .map_err(|error| Failure::new(Code::Internal, format!("{}: {error}", path.display())))
    })
}
