//! Knows the verb `run`: freezes an experiment, plays its sessions, resumes what a stopped call left.
//! Must not know how a session is played.
//! Start at `run`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args as Arguments;
use tokio::sync::watch;

use crate::catalog::Catalog;
use crate::harness::Sandbox;
use crate::plan::Plan;
use crate::runner::{self, JobPlayer, Stop, Summary};
use crate::session::{SessionPlayer, WorkerProcessors, run_label};
use crate::store::{RunDirectory, StoreError};
use crate::vocab::{EnvironmentId, FaultKind, SessionKey};
use crate::workspace::Tree;

use super::exit::{Code, Failure};
use super::progress::Screen;
use super::root::CatalogFolder;
use super::{context, jobs, out, planning, sandboxes, visits};

/// Runs or resumes an experiment.
#[derive(Debug, Arguments)]
pub struct Args {
    /// The experiment file.
    experiment: PathBuf,
    /// The run directory; made when absent.
    #[arg(long)]
    out: PathBuf,
    /// Sessions at a time; by default as many as processors and memory allow.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// Overrides the experiment's sandbox; `auto` takes containers where an engine answers.
    #[arg(long, value_enum)]
    sandbox: Option<sandboxes::Choice>,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// Runs the verb.
///
/// # Errors
/// Exit 3 for a plan or catalogue that is not valid, 4 without a harness, 5 with missing sessions, 6 for another plan's folder, 8 for a
/// sandbox that is not sealed, 130 or 143 when stopped.
pub fn run(args: &Args) -> Result<(), Failure> {
    visits::wait(experiment(args))
}

async fn experiment(args: &Args) -> Result<(), Failure> {
    let catalog = args.folder.load()?;
    let experiment = planning::read(&args.experiment, &catalog)?;
    let frozen = frozen(&args.out)?;
    let choice = args.sandbox.unwrap_or_else(|| experiment.sandbox.into());
    let kept = frozen.as_ref().map(|plan| plan.sandbox);
    let opened = sandboxes::open(choice, kept, catalog.root()).await?;
    let plan = planning::build(experiment, &catalog, &opened, frozen.as_ref())?;
    let run = freeze(&args.out, &plan, frozen)?;
    sandboxes::tell_isolation(opened.sandbox.isolation());
    sweep(opened.sandbox.as_ref(), &run).await?;
    run.has_room().map_err(sandboxes::failure)?;
    let clean = clean_agents(&plan, &catalog).await?;
    let jobs = jobs::jobs(&plan, &catalog, &clean)?;
    let sessions: Vec<SessionKey> = plan
        .sessions
        .iter()
        .map(|session| session.key.clone())
        .collect();
    let workers = args.workers.map_or_else(context::workers, usize::from);
    let before = sessions.iter().filter(|key| run.is_finished(key)).count();
    let screen = Arc::new(Screen::new(sessions.len(), before));
    let player = Arc::new(JobPlayer {
        player: SessionPlayer {
            sandbox: Arc::clone(&opened.sandbox),
            run: run.clone(),
            now: context::now,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cpusets: processors(workers),
        },
        jobs,
    });
    let (stop, stopped) = watch::channel(Stop::No);
    let signals = tokio::spawn(listen(stop, Arc::clone(&screen)));
    let summary = runner::run(
        &sessions,
        &run,
        player,
        workers,
        plan.attempts,
        Arc::clone(&screen) as Arc<dyn runner::Observer>,
        stopped,
    )
    .await
    .map_err(context::store_failure)?;
    screen.end();
    opened
        .sandbox
        .sweep_owned(Some(&run_label(&run)))
        .await
        .map_err(sandboxes::failure)?;
    let ended = if signals.is_finished() {
        signals.await.ok().flatten()
    } else {
        None
    };
    conclude(&summary, &args.out, ended)
}

/// The plan that a run directory holds already.
fn frozen(out: &Path) -> Result<Option<Plan>, Failure> {
    match RunDirectory::open(out) {
        Ok(run) => context::plan_of(&run).map(Some),
        Err(StoreError::NotARun { .. }) => Ok(None),
        Err(error) => Err(context::store_failure(error)),
    }
}

fn freeze(out: &Path, plan: &Plan, frozen: Option<Plan>) -> Result<RunDirectory, Failure> {
    match frozen {
        Some(kept) if kept.same_sessions(plan) => RunDirectory::open(out),
        Some(_) => {
            return Err(Failure::new(
                Code::OtherPlan,
                format!("{} holds another plan", out.join("plan.json").display()),
            )
            .remedy("give --out another folder, or restore the experiment and catalogue it was frozen from"));
        }
        None => RunDirectory::create(out, plan.to_json().as_bytes()),
    }
    .map_err(context::store_failure)
}

async fn sweep(sandbox: &dyn Sandbox, run: &RunDirectory) -> Result<(), Failure> {
    let swept = sandbox
        .sweep_owned(None)
        .await
        .map_err(sandboxes::failure)?;
    let partial = run.clear_partial().map_err(context::store_failure)?;
    if swept.sandboxes + swept.networks + partial > 0 {
        out::talk(&format!(
            "removed what dead runs left: {} sandboxes, {} networks, {partial} half-written files",
            swept.sandboxes, swept.networks
        ));
    }
    Ok(())
}

async fn clean_agents(
    plan: &Plan,
    catalog: &Catalog,
) -> Result<BTreeMap<EnvironmentId, Tree>, Failure> {
    let mut environments: Vec<EnvironmentId> = plan
        .malfunctions
        .iter()
        .map(|planned| planned.environment.clone())
        .collect();
    environments.sort();
    environments.dedup();
    let mut clean = BTreeMap::new();
    for id in environments {
        let agents = planning::clean_agents(&id, catalog).await?;
        clean.insert(id, agents);
    }
    Ok(clean)
}

/// Gives each worker its own processors; workspace and scorer share them where there are too few.
fn processors(workers: usize) -> Vec<WorkerProcessors> {
    let cores = context::cores();
    let each = (cores / workers).max(1);
    (0..workers)
        .map(|worker| {
            let own: Vec<String> = (0..each)
                .map(|place| ((worker * each + place) % cores).to_string())
                .collect();
            let half = own.len() / 2;
            let (workspace, scorer) = if cores >= 4 && half >= 1 {
                own.split_at(own.len() - half)
            } else {
                (&own[..], &own[..])
            };
            WorkerProcessors {
                workspace: workspace.join(","),
                scorer: scorer.join(","),
            }
        })
        .collect()
}

/// First Ctrl-C finishes what is in flight; the second, or SIGTERM, drops it. Tells which signal ended the run.
async fn listen(stop: watch::Sender<Stop>, screen: Arc<Screen>) -> Option<Code> {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupts), Ok(mut terms)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        screen.say("signals cannot be watched; Ctrl-C will end the run at once");
        return None;
    };
    tokio::select! {
        _ = interrupts.recv() => {
            screen.say("finishing the sessions in flight; Ctrl-C again drops them");
            stop.send_replace(Stop::Drain);
        }
        _ = terms.recv() => {
            stop.send_replace(Stop::Halt);
            return Some(Code::Terminated);
        }
    }
    tokio::select! {
        _ = interrupts.recv() => { stop.send_replace(Stop::Halt); Some(Code::Interrupted) }
        _ = terms.recv() => { stop.send_replace(Stop::Halt); Some(Code::Terminated) }
        () = stop.closed() => Some(Code::Interrupted),
    }
}

fn conclude(summary: &Summary, out: &Path, signal: Option<Code>) -> Result<(), Failure> {
    out::data(&format!(
        "{} sessions finished ({} by this call), {} missing, {} held by other workers\n",
        summary.finished, summary.played, summary.missing, summary.held
    ))?;
    let resume = "run the same command again; finished sessions are kept";
    if let Some(fault) = &summary.ended_by {
        let code = match fault.kind {
            FaultKind::IsolationBroken => Code::Isolation,
            FaultKind::DockerUnavailable | FaultKind::ImageMissing => Code::Harness,
            _ => Code::Missing,
        };
        return Err(Failure::new(code, fault.to_string()).remedy(resume));
    }
    if summary.stopped {
        let code = signal.unwrap_or(Code::Interrupted);
        return Err(Failure::new(code, "the run was stopped").remedy(resume));
    }
    if summary.missing + summary.held > 0 {
        let text = format!("{} sessions have no record", summary.missing + summary.held);
        let faults = out.join("sessions/…/attempts").display().to_string();
        return Err(
            Failure::new(Code::Missing, text).remedy(format!("see {faults}, then {resume}"))
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_worker_has_processors_that_exist() {
        let cores = context::cores();
        for workers in 1..6 {
            let sets = processors(workers);
            assert_eq!(sets.len(), workers);
            for set in sets {
                for core in set.workspace.split(',').chain(set.scorer.split(',')) {
                    assert!(core.parse::<usize>().unwrap() < cores);
                }
            }
        }
    }
}
