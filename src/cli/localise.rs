//! Knows the verb `localise`: what the texts of each dossier's tools say about the place of each fault, without a coder.
//! Must not know how lines are ranked, nor what a report makes of it.
//! Start at `run`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args as ClapArgs;
use futures_util::StreamExt as _;
use serde_json::json;

use crate::catalog::{
    Catalog, Dossier, Malfunction, Packaging, ReferenceState, UnknownId, hash_files,
};
use crate::coder::search::{is_searched, standing};
use crate::session::Visit;
use crate::store::{FaultyLine, LocalisationFolder, LocalisationRecord, RunDirectory, ToolText};
use crate::vocab::{Arm, DossierId, HarnessFault, MalfunctionId};

use super::exit::{Code, Failure};
use super::root::CatalogFolder;
use super::visits::{self, Doorway};
use super::{context, jobs, out, sandboxes, tool_check};

/// Measures how well the texts of dossiers point to faults by themselves
///
/// For each malfunction the tools of each dossier are called once in the broken workspace, as the coder `search` calls them,
/// and every line of the workspace source is ranked by BM25 against what they printed. Pairs already measured are kept.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The run whose malfunctions and dossiers are measured; results go to RUN/localisation and into its report
    #[arg(long, value_name = "RUN", required_unless_present = "out")]
    run: Option<PathBuf>,
    /// The folder of results [default: RUN/localisation]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only this malfunction; may be repeated [default: those of the run, else all with fresh references]
    #[arg(long = "malfunction", value_name = "ID")]
    malfunctions: Vec<MalfunctionId>,
    /// Only this dossier; may be repeated [default: those of the run, else all in default packaging]
    #[arg(long = "dossier", value_name = "ID")]
    dossiers: Vec<DossierId>,
    /// Workspaces at a time; by default as many as processors and memory allow
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// Containers, local processes, or what is there
    #[arg(long, value_enum, default_value = "auto")]
    sandbox: sandboxes::Choice,
    /// Prints one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// What is measured, and where it is kept.
struct Survey<'a> {
    catalog: &'a Catalog,
    malfunctions: Vec<&'a Malfunction>,
    dossiers: Vec<&'a Dossier>,
    folder: LocalisationFolder,
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for unknown ids or folders, 3 for a defect of the catalogue, 4 without a sandbox, 5 when some pairs could not be measured,
/// 130 or 143 when stopped.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let catalog = args.folder.load()?;
    let survey = Survey::of(args, &catalog)?;
    let failed = visits::wait(survey.measure(args))?;
    let records = survey.kept()?;
    if args.json {
        let document = json!({ "format": "evalxrl.localise/1", "records": records });
        out::data(&format!("{document:#}\n"))?;
    } else {
        out::data(&table(&records))?;
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure {
        code: Code::Missing,
        problems: failed,
        remedy: Some("run the same command again; what was measured is kept".to_owned()),
    })
}

impl<'a> Survey<'a> {
    fn of(args: &Args, catalog: &'a Catalog) -> Result<Self, Failure> {
        let run = args
            .run
            .as_ref()
            .map(|path| RunDirectory::open(path).map_err(context::store_failure))
            .transpose()?;
        let plan = run.as_ref().map(context::plan_of).transpose()?;
        let planned = plan.map(|plan| {
            let broken: Vec<MalfunctionId> =
                plan.malfunctions.iter().map(|one| one.id.clone()).collect();
            let arms = plan.arms.iter().map(|arm| Arm::of(&arm.method));
            let methods: BTreeSet<DossierId> = arms
                .filter_map(|arm| match arm {
                    Arm::Dossiers(ids) => Some(ids),
                    _ => None,
                })
                .flatten()
                .collect();
            (broken, methods.into_iter().collect::<Vec<_>>())
        });
        let (broken, methods) = planned.unzip();
        let folder = match (&args.out, &run) {
            (Some(folder), _) => LocalisationFolder::open(folder),
            (None, Some(run)) => run.localisation(),
            (None, None) => {
                return Err(Failure::new(Code::Usage, "no folder for the results")
                    .remedy("give --run or --out"));
            }
        };
        let unknown = |error: UnknownId| Failure::new(Code::Usage, error.to_string());
        let malfunctions = match chosen(&args.malfunctions, broken) {
            Some(ids) => ids
                .iter()
                .map(|id| catalog.malfunction(id))
                .collect::<Result<_, _>>()
                .map_err(unknown)?,
            None => catalog
                .malfunctions()
                .filter(|one| matches!(catalog.reference(one), ReferenceState::Fresh(_)))
                .collect(),
        };
        let dossiers = match chosen(&args.dossiers, methods) {
            Some(ids) => ids
                .iter()
                .map(|id| catalog.dossier(id))
                .collect::<Result<_, _>>()
                .map_err(unknown)?,
            None => catalog
                .dossiers()
                .filter(|one| one.packaging == Packaging::Default)
                .collect(),
        };
        Ok(Self {
            catalog,
            malfunctions,
            dossiers,
            folder,
        })
    }

    /// Measures what is missing or stale; what could not be measured, in words.
    async fn measure(&self, args: &Args) -> Result<Vec<String>, Failure> {
        self.folder.make().map_err(|error| {
            Failure::new(Code::Usage, error.to_string())
                .remedy("give --out a folder that can be written")
        })?;
        let missing = self.missing()?;
        let pairs: usize = missing.iter().map(|(_, dossiers)| dossiers.len()).sum();
        out::talk(&format!(
            "{} malfunctions × {} dossiers; {pairs} pairs to measure",
            self.malfunctions.len(),
            self.dossiers.len()
        ));
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let doorway = Doorway::open(args.sandbox, self.catalog).await?.warm();
        let workers = args.workers.map_or_else(context::workers, usize::from);
        let measuring = async {
            let mut failed = Vec::new();
            let mut ends = futures_util::stream::iter(missing)
                .map(|(malfunction, dossiers)| {
                    let doorway = &doorway;
                    async move {
                        let count = dossiers.len();
                        let end = self.malfunction(doorway, malfunction, dossiers).await;
                        (malfunction, count, end)
                    }
                })
                .buffer_unordered(workers);
            let mut done = 0;
            while let Some((malfunction, count, end)) = ends.next().await {
                done += count;
                match end {
                    Ok(()) => out::talk(&format!("measured {} ({done}/{pairs})", malfunction.id)),
                    Err(failure) => failed.extend(
                        failure
                            .problems
                            .into_iter()
                            .map(|problem| format!("{}: {problem}", malfunction.id)),
                    ),
                }
            }
            Ok(failed)
        };
        doorway.until_stopped(measuring).await
    }

    /// Every malfunction with those dossiers of its environment that have no fresh record.
    fn missing(&self) -> Result<Vec<(&'a Malfunction, Vec<&'a Dossier>)>, Failure> {
        let mut missing = Vec::new();
        for malfunction in &self.malfunctions {
            let mut dossiers = Vec::new();
            for dossier in &self.dossiers {
                let kept = self
                    .folder
                    .read(&malfunction.id, &dossier.id)
                    .map_err(context::store_failure)?;
                let fresh =
                    kept.is_some_and(|kept| kept.inputs == self.inputs(malfunction, dossier));
                if !fresh && dossier.environments.contains(&malfunction.environment) {
                    dossiers.push(*dossier);
                }
            }
            if !dossiers.is_empty() {
                missing.push((*malfunction, dossiers));
            }
        }
        Ok(missing)
    }

    /// Hash of all that decides a record.
    fn inputs(&self, malfunction: &Malfunction, dossier: &Dossier) -> String {
        let environment = self.catalog.environment(&malfunction.environment);
        let parts = [
            "evalxrl.localisation/1",
            &malfunction.fault_hash,
            environment.map_or("", |environment| environment.hash.as_str()),
            &dossier.hash,
            &hash_files(self.catalog.shared()),
        ];
        blake3::hash(parts.join(" ").as_bytes())
            .to_hex()
            .to_string()
    }

    async fn malfunction(
        &self,
        doorway: &Doorway,
        malfunction: &Malfunction,
        dossiers: Vec<&Dossier>,
    ) -> Result<(), Failure> {
        let environment = self
            .catalog
            .environment(&malfunction.environment)
            .map_err(|unknown| Failure::new(Code::Invalid, unknown.to_string()))?;
        for group in groups(dossiers) {
            let job = jobs::look(self.catalog, environment, Some(malfunction), &group)?;
            let visit = doorway
                .visitor
                .enter(&job)
                .await
                .map_err(sandboxes::failure)?;
            let files: BTreeMap<String, String> = job
                .block
                .broken
                .iter()
                .filter(|(path, _)| is_searched(path))
                .map(|(path, bytes)| (path.clone(), String::from_utf8_lossy(bytes).into_owned()))
                .collect();
            let mut ended = Ok(());
            for dossier in group {
                ended = async {
                    let (text, tools) =
                        listen(&visit, dossier).await.map_err(sandboxes::failure)?;
                    let record = self.record(malfunction, dossier, &files, &text, tools);
                    self.folder.write(&record).map_err(context::store_failure)
                }
                .await;
                if ended.is_err() {
                    break;
                }
            }
            visit.leave().await.map_err(sandboxes::failure)?;
            ended?;
        }
        Ok(())
    }

    fn record(
        &self,
        malfunction: &Malfunction,
        dossier: &Dossier,
        files: &BTreeMap<String, String>,
        text: &str,
        tools: Vec<ToolText>,
    ) -> LocalisationRecord {
        let standing = standing(files, text);
        let faulty: Vec<FaultyLine> = malfunction
            .diff
            .faulty_lines()
            .into_iter()
            .filter_map(|(path, line)| {
                let percentile = *standing.percentiles.get(&(path.to_owned(), line))?;
                Some(FaultyLine {
                    path: path.to_owned(),
                    line: line as u64,
                    percentile,
                })
            })
            .collect();
        let sum: f64 = faulty.iter().map(|each| each.percentile).sum();
        LocalisationRecord {
            format: "evalxrl.localisation/1".to_owned(),
            malfunction: malfunction.id.clone(),
            dossier: dossier.id.clone(),
            inputs: self.inputs(malfunction, dossier),
            tools,
            query_tokens: standing.tokens as u64,
            lines: standing.percentiles.len() as u64,
            percentile: if faulty.is_empty() {
                0.5
            } else {
                sum / faulty.len() as f64
            },
            faulty,
        }
    }

    /// The records of what was asked for, as far as there are.
    fn kept(&self) -> Result<Vec<LocalisationRecord>, Failure> {
        let mut records = Vec::new();
        for malfunction in &self.malfunctions {
            for dossier in &self.dossiers {
                let kept = self
                    .folder
                    .read(&malfunction.id, &dossier.id)
                    .map_err(context::store_failure)?;
                records.extend(kept);
            }
        }
        Ok(records)
    }
}

/// Ids that are named, else those of a run.
fn chosen<T: Clone>(named: &[T], planned: Option<Vec<T>>) -> Option<Vec<T>> {
    if named.is_empty() {
        planned
    } else {
        Some(named.to_vec())
    }
}

/// Dossiers that may share a workspace: no two of a group have a tool of the same name.
fn groups(dossiers: Vec<&Dossier>) -> Vec<Vec<&Dossier>> {
    let mut groups: Vec<Vec<&Dossier>> = Vec::new();
    for dossier in dossiers {
        let clashes = |group: &Vec<&Dossier>| {
            group.iter().any(|other| {
                let names = |one: &Dossier| -> BTreeSet<String> {
                    one.tools.iter().map(|tool| tool.name.clone()).collect()
                };
                !names(other).is_disjoint(&names(dossier))
            })
        };
        match groups.iter_mut().find(|group| !clashes(group)) {
            Some(group) => group.push(dossier),
            None => groups.push(vec![dossier]),
        }
    }
    groups
}

/// What the tools of a dossier print in a workspace, called as `search` calls them; a tool that fails adds nothing.
async fn listen(visit: &Visit, dossier: &Dossier) -> Result<(String, Vec<ToolText>), HarnessFault> {
    let (mut text, mut tools) = (String::new(), Vec::new());
    for tool in &dossier.tools {
        let small = ["--budget".to_owned(), "small".to_owned()];
        let ran = visit.call(&tool.name, &small).await?;
        let code = tool_check::exit_code(&ran);
        if code == Some(0) {
            text.push_str(&String::from_utf8_lossy(&ran.stdout));
            text.push('\n');
        }
        if code != Some(0) {
            let how = code.map_or("was killed at its limit".to_owned(), |code| {
                format!("ended with exit {code}")
            });
            out::talk(&format!(
                "note: {} of {} {how}; what it printed is left out",
                tool.name, dossier.id
            ));
        }
        tools.push(ToolText {
            name: tool.name.clone(),
            code,
            seconds: ran.seconds,
            bytes: ran.stdout.len() as u64,
        });
    }
    Ok((text, tools))
}

/// Percentiles, a row per malfunction and a lettered column per dossier, with the mean below.
fn table(records: &[LocalisationRecord]) -> String {
    let dossiers: BTreeSet<&str> = records.iter().map(|one| one.dossier.as_str()).collect();
    let letters: BTreeMap<&str, String> = dossiers
        .iter()
        .enumerate()
        .map(|(at, id)| (*id, letter(at)))
        .collect();
    let mut text = String::from(
        "Mean percentile of the faulty lines among all lines of the source; 1 is first, .5 is chance.\n",
    );
    for (id, letter) in &letters {
        text.push_str(&format!("{letter}  {id}\n"));
    }
    text.push('\n');
    let mut rows = vec![
        std::iter::once("malfunction".to_owned())
            .chain(letters.values().cloned())
            .collect::<Vec<_>>(),
    ];
    let mut malfunctions: Vec<&str> = Vec::new();
    for record in records {
        if malfunctions.last() != Some(&record.malfunction.as_str()) {
            malfunctions.push(record.malfunction.as_str());
        }
    }
    let cell = |malfunction: &str, dossier: &str| {
        records
            .iter()
            .find(|one| one.malfunction.as_str() == malfunction && one.dossier.as_str() == dossier)
            .map_or("-".to_owned(), |one| format!("{:.2}", one.percentile))
    };
    for malfunction in malfunctions {
        rows.push(
            std::iter::once(malfunction.to_owned())
                .chain(letters.keys().map(|dossier| cell(malfunction, dossier)))
                .collect(),
        );
    }
    let mean = |dossier: &str| {
        let of: Vec<f64> = records
            .iter()
            .filter(|one| one.dossier.as_str() == dossier)
            .map(|one| one.percentile)
            .collect();
        format!("{:.2}", of.iter().sum::<f64>() / of.len() as f64)
    };
    rows.push(
        std::iter::once("mean".to_owned())
            .chain(letters.keys().map(|dossier| mean(dossier)))
            .collect(),
    );
    text + &out::table(&rows)
}

/// A, B, … Z, then A1, B1, …
fn letter(at: usize) -> String {
    let first = char::from(b'A' + u8::try_from(at % 26).unwrap_or(0));
    match at / 26 {
        0 => first.to_string(),
        round => format!("{first}{round}"),
    }
}
