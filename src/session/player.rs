//! Knows one session from start to record: render, seal, repair, freeze, serve, score, record.
//! Must not know the order of sessions, nor how often one is tried.
//! Start at `SessionPlayer::play`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use evalxrl_analysis::repair_score::RepairScore;
use serde_json::json;
use tokio::time::Instant;

use crate::coder::{self, Brief, Ending, Scaffold, Stop};
use crate::harness::relay::Relay;
use crate::harness::scorer::{Scorer, Scores, Scoring};
use crate::harness::{Running, Sandbox};
use crate::store::{
    BudgetRecord, BundleRecord, Calls, Event, IsolationRecord, PerformanceRecord, ReferenceRecord,
    RepairScoreRecord, RunDirectory, Seconds, SessionRecord, Transcript, Usage,
};
use crate::vocab::{FaultKind, HarnessFault, Isolation, Outcome, Performance, Probe, SeedName};
use crate::workspace::Rendered;

use super::bench::SessionBench;
use super::block::{Block, BlockMaker};
use super::bundle::Bundle;
use super::changes::{changed, touches_fault};
use super::furnishing::{brief, fill, rendered};
use super::job::Job;
use super::live::Live;
use super::place::{agent_spec, run_label, scorer_spec, workspace_spec};
use super::rank::restoring_rank;
use super::rehearsal::Rehearsal;
use super::tools::place_tools;

/// Plays sessions of one run.
pub struct SessionPlayer {
    /// Where sandboxes come from.
    pub sandbox: Arc<dyn Sandbox>,
    /// Where everything is kept.
    pub run: RunDirectory,
    /// The clock: RFC 3339, UTC.
    pub now: fn() -> String,
    /// The version of this program.
    pub version: String,
    /// Processors of each worker; equal entries mean that workspace and scorer share them.
    pub cpusets: Vec<WorkerProcessors>,
}

/// The processors of one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProcessors {
    /// For workspace and agent.
    pub workspace: String,
    /// For the scorer.
    pub scorer: String,
}

/// The repair as it ended.
struct Repair {
    outcome: Result<Bundle, Outcome>,
    calls: Calls,
    strays: u32,
    note: Option<String>,
    remarks: BTreeMap<String, serde_json::Value>,
    probes: Vec<Probe>,
    versions: BTreeMap<String, String>,
}

/// What final scoring gave.
struct Final {
    outcome: Outcome,
    performance: Performance,
    measured: bool,
    invalid: u64,
    floored: u64,
    consistency: Option<f64>,
}

fn internal(message: impl std::fmt::Display) -> HarnessFault {
    HarnessFault::new(FaultKind::Internal, message.to_string())
}

impl SessionPlayer {
    /// Plays one attempt of a session to its record.
    ///
    /// # Errors
    /// The harness failed; nothing of the attempt is a score.
    pub async fn play(
        &self,
        job: &Job,
        attempt: u32,
        worker: usize,
    ) -> Result<SessionRecord, HarnessFault> {
        self.run.has_room()?;
        let (began, started) = (Instant::now(), (self.now)());
        let processors = &self.cpusets[worker % self.cpusets.len()];
        let maker = BlockMaker {
            sandbox: Arc::clone(&self.sandbox),
            run: &self.run,
            cpuset: Some(processors.workspace.clone()),
        };
        let block = maker.ensure(job).await?;
        let mut live = Live::new(Arc::clone(&self.sandbox));
        let mut seconds = Seconds::default();
        let result = self
            .play_in(job, &block, processors, &mut live, &mut seconds)
            .await;
        let clearing = Instant::now();
        let cleared = live.clear().await;
        let (repair, scored, handed_out) = result?;
        cleared?;
        seconds.sandboxes += clearing.elapsed().as_secs_f64();
        seconds.wall = began.elapsed().as_secs_f64();
        self.record(
            job,
            &block,
            &handed_out,
            attempt,
            started,
            seconds,
            repair,
            scored,
        )
    }

    async fn play_in(
        &self,
        job: &Job,
        block: &Block,
        processors: &WorkerProcessors,
        live: &mut Live,
        seconds: &mut Seconds,
    ) -> Result<(Repair, Final, Rendered), HarnessFault> {
        let sealing = Instant::now();
        let brief = brief(job)?;
        let rendered = rendered(
            job,
            &block.agent,
            &block.compiled,
            &block.record.seed,
            &brief,
        );
        let label = run_label(&self.run);
        let scorer_set = Some(processors.scorer.clone());
        let workspace_set = Some(processors.workspace.clone());
        let network = self
            .sandbox
            .network(&workspace_spec(job, &label, None).owner)
            .await?;
        live.joins(network.clone());
        let (workspace, scorer) = tokio::join!(
            self.sandbox
                .create(workspace_spec(job, &label, workspace_set.clone())),
            self.sandbox
                .create(scorer_spec(job, &label, Some(network.clone()), scorer_set)),
        );
        let workspace = workspace.map(|workspace| live.holds(workspace));
        let scorer = scorer.map(|scorer| live.holds(scorer));
        let (workspace, scorer) = (workspace?, scorer?);
        let (client, filled, probes) = tokio::join!(
            Scorer::start(scorer.as_ref()),
            fill(workspace.as_ref(), &rendered),
            self.sandbox.probe(workspace.as_ref(), scorer.as_ref()),
        );
        let (client, probes) = (client?, probes?);
        filled?;
        let versions = client.versions().clone();
        let rehearsal = Rehearsal {
            sandbox: Arc::clone(&self.sandbox),
            agent: agent_spec(job, &label, network, workspace_set),
            scorer: client,
            environment: job.block.environment.clone(),
            development: job.seed(&job.block.development_seed()),
            permutation: job.seed(&SeedName::permutation("development", &job.key)),
            handed_out: rendered.handed_out.clone(),
            bundle_mode: job.bundle_mode,
        };
        seconds.sandboxes += sealing.elapsed().as_secs_f64();
        let mut bench = self
            .bench(job, &rendered, Arc::clone(&workspace), rehearsal)
            .await?;
        bench.write_line(
            Event::Prompt,
            json!({ "text": brief.text, "dossiers": brief.dossiers, "train": brief.train }),
        )?;
        let scaffold = coder::scaffold(&job.scaffold)
            .ok_or_else(|| internal(format!("no scaffold is called {}", job.scaffold)))?;
        let outcome = repair(scaffold.as_ref(), &brief, &mut bench).await?;
        let SessionBench {
            mut rehearsal,
            calls,
            strays,
            note,
            remarks,
            seconds: spent,
            ..
        } = bench;
        seconds.training = spent.training;
        seconds.tools = spent.tools;
        seconds.scoring = spent.scoring;
        seconds.working = spent.working;
        let removing = Instant::now();
        live.remove(&workspace).await?;
        seconds.sandboxes += removing.elapsed().as_secs_f64();
        let scoring = Instant::now();
        let scored = self.score(job, block, &mut rehearsal, &outcome).await?;
        seconds.scoring += scoring.elapsed().as_secs_f64();
        let repair = Repair {
            outcome,
            calls,
            strays,
            note,
            remarks,
            probes,
            versions,
        };
        Ok((repair, scored, rendered))
    }

    async fn bench(
        &self,
        job: &Job,
        rendered: &Rendered,
        workspace: Arc<dyn Running>,
        rehearsal: Rehearsal,
    ) -> Result<SessionBench, HarnessFault> {
        let tools = place_tools(rendered, workspace.as_ref()).await?;
        let relay = Relay::start(Arc::clone(&workspace), self.sandbox.isolation()).await?;
        let header = json!({
            "format": "evalxrl.transcript/1", "session_hash": job.session_hash, "scaffold": job.scaffold,
        });
        let transcript =
            Transcript::create(&self.run.transcript(&job.key), &header).map_err(internal)?;
        Ok(SessionBench {
            workspace,
            relay,
            rehearsal,
            transcript,
            budget: job.budget,
            tools,
            environment: BTreeMap::new(),
            started: Instant::now(),
            calls: Calls::default(),
            strays: 0,
            seconds: Seconds::default(),
            rejections: 0,
            last_rejection: String::new(),
            submission: None,
            note: None,
            remarks: BTreeMap::new(),
        })
    }

    async fn score(
        &self,
        job: &Job,
        block: &Block,
        rehearsal: &mut Rehearsal,
        outcome: &Result<Bundle, Outcome>,
    ) -> Result<Final, HarnessFault> {
        let unmeasured = |outcome: Outcome| Final {
            outcome,
            performance: block.record.p_broken.clone(),
            measured: false,
            invalid: 0,
            floored: 0,
            consistency: None,
        };
        let bundle = match outcome {
            Ok(bundle) => bundle,
            Err(outcome) => return Ok(unmeasured(outcome.clone())),
        };
        self.run
            .keep(
                &job.key,
                "bundle.tar.zst",
                &compress(&bundle.canonical_tar()).map_err(internal)?,
            )
            .map_err(internal)?;
        let seed = job.seed(&job.block.final_seed());
        let permutation = job.seed(&SeedName::permutation("final", &job.key));
        match rehearsal
            .drive(bundle, job.block.episodes, &seed, &permutation)
            .await?
        {
            Scoring::AgentUnserved { reason } => Ok(unmeasured(Outcome::AgentUnserved { reason })),
            Scoring::Scored(scores) => {
                let details = serde_json::to_vec_pretty(&details(&scores)).map_err(internal)?;
                self.run
                    .keep(&job.key, "scoring.json", &details)
                    .map_err(internal)?;
                Ok(Final {
                    outcome: Outcome::Submitted,
                    measured: true,
                    invalid: scores.invalid,
                    floored: scores.floored,
                    consistency: Some(scores.consistency),
                    performance: scores.performance,
                })
            }
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a record is made of everything a session learnt"
    )]
    fn record(
        &self,
        job: &Job,
        block: &Block,
        rendered: &Rendered,
        attempt: u32,
        started: String,
        seconds: Seconds,
        repair: Repair,
        scored: Final,
    ) -> Result<SessionRecord, HarnessFault> {
        let p_broken = block.record.p_broken.mean();
        let score = if scored.measured {
            RepairScore::of(scored.performance.mean(), block.record.p_clean, p_broken)
                .map_err(internal)?
        } else {
            RepairScore::unrepaired()
        };
        let bundle = repair.outcome.as_ref().ok().map(|bundle| BundleRecord {
            hash: bundle.hash(),
            bytes: bundle.canonical_tar().len() as u64,
            changed: changed(
                &rendered.handed_out,
                &bundle.files,
                job.block.environment.as_str(),
            ),
            fault_touched: touches_fault(&job.block.clean, &job.block.broken, &bundle.files),
        });
        let sealed = self.sandbox.isolation() == Isolation::Docker;
        let mut versions = repair.versions;
        versions.insert("evalxrl".to_owned(), self.version.clone());
        let shared = self.cpusets.iter().any(|set| set.workspace == set.scorer);
        let mut seeds = vec![
            block.record.seed.clone(),
            job.block.final_seed(),
            job.block.development_seed(),
            SeedName::permutation("final", &job.key),
            SeedName::permutation("development", &job.key),
            SeedName::coder(&job.key),
        ];
        seeds.sort();
        Ok(SessionRecord {
            format: "evalxrl.session/1".to_owned(),
            key: job.key.clone(),
            session_hash: job.session_hash.clone(),
            attempt,
            started,
            seconds,
            outcome: scored.outcome,
            performance: PerformanceRecord::of(&scored.performance, scored.measured),
            reference: ReferenceRecord {
                p_clean: block.record.p_clean,
                p_broken,
                hash: block.record.agent.clone(),
            },
            repair_score: RepairScoreRecord {
                raw: score.raw(),
                clipped: score.clipped(),
            },
            calls: repair.calls,
            strays: repair.strays,
            bundle,
            consistency: scored.consistency,
            invalid_actions: scored.invalid,
            floored: scored.floored,
            usage: Usage::default(),
            scaffold: job.scaffold.clone(),
            isolation: IsolationRecord {
                kind: self.sandbox.isolation(),
                probes: repair.probes,
                cpuset_shared: shared,
            },
            budget: BudgetRecord {
                invocations: job.key.invocations,
                enforced: if sealed { "best-effort" } else { "none" }.to_owned(),
                source_readable: true,
            },
            versions,
            images: self
                .sandbox
                .images()
                .into_iter()
                .map(|(role, facts)| (format!("{role:?}").to_lowercase(), facts))
                .collect(),
            sources: job.sources.clone(),
            seeds,
            bundle_mode: job.bundle_mode,
            restoring_rank: restoring_rank(
                &self.run.transcript(&job.key),
                &repair.remarks,
                &job.block.clean,
                &job.block.broken,
                &job.seed(&SeedName::coder(&job.key)),
            )
            .map_err(internal)?,
            note: repair.note,
        })
    }

    /// Removes whatever dropped attempts of this process left behind.
    ///
    /// # Errors
    /// The engine does not answer.
    pub async fn clear(&self) -> Result<(), HarnessFault> {
        self.sandbox
            .sweep_owned(Some(&run_label(&self.run)))
            .await
            .map(|_| ())
    }
}

/// `scoring.json`: what is equal whenever the same agent is scored, and how long it took.
fn details(scores: &Scores) -> serde_json::Value {
    json!({
        "format": "evalxrl.scoring/1",
        "returns": scores.performance,
        "unfloored_returns": scores.unfloored_returns,
        "lengths": scores.lengths,
        "terminated": scores.terminated,
        "components": scores.components,
        "invalid": scores.invalid,
        "clipped": scores.clipped,
        "floored": scores.floored,
        "consistency": scores.consistency,
        "seconds": scores.seconds,
        "cpu_seconds": scores.cpu_seconds,
        "source_hash": scores.source_hash,
        "versions": scores.versions,
    })
}

/// Lets the coder work until it ends; a submission, or the outcome that stands in for one.
async fn repair(
    scaffold: &dyn Scaffold,
    brief: &Brief,
    bench: &mut SessionBench,
) -> Result<Result<Bundle, Outcome>, HarnessFault> {
    let wall = Duration::from_secs(bench.budget.wall_seconds);
    let started = bench.started;
    let ending = match tokio::time::timeout_at(started + wall, scaffold.repair(brief, bench)).await
    {
        Ok(ending) => ending,
        Err(_) => Err(Stop::Budget(crate::vocab::Limit::Wall)),
    };
    bench.seconds.working = started.elapsed().as_secs_f64();
    let outcome = match (bench.submission.take(), ending) {
        (Some(bundle), Ok(_) | Err(Stop::Ended | Stop::Budget(_))) => Ok(bundle),
        (_, Err(Stop::Harness(fault))) => return Err(fault),
        (None, Err(Stop::Budget(limit))) => Err(Outcome::BudgetSpent { limit }),
        (None, Ok(Ending::GaveUp(reason))) => Err(Outcome::GaveUp { reason }),
        (None, Ok(Ending::Submitted) | Err(Stop::Ended)) if bench.last_rejection.is_empty() => {
            Err(Outcome::GaveUp {
                reason: "ended without a submission".to_owned(),
            })
        }
        (None, Ok(Ending::Submitted) | Err(Stop::Ended)) => Err(Outcome::ScoringRejected {
            reason: bench.last_rejection.clone(),
        }),
    };
    let end = match &outcome {
        Ok(bundle) => json!({ "outcome": "submitted", "bundle": bundle.hash() }),
        Err(outcome) => json!({ "outcome": outcome }),
    };
    bench.write_line(Event::End, end)?;
    Ok(outcome)
}

fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::encode_all(bytes, 3)
}
