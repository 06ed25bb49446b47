//! Knows how the agent of a block comes to be: trained from the broken files, measured, and kept.
//! Must not know arms or coders: every arm of a malfunction shares the block.
//! Start at `BlockMaker::ensure`.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::harness::scorer::{Scorer, Scoring};
use crate::harness::{Command, Exit, Place, Running, Sandbox, Spec, User};
use crate::store::{BlockRecord, Lease, RunDirectory};
use crate::vocab::{FaultKind, HarnessFault, Performance, SeedName};
use crate::workspace::{self, PARAMETERS, Tree};

use super::bundle::{Bundle, pack};
use super::job::Job;
use super::live::Live;
use super::place::{agent_spec, run_label, scorer_spec, untar, workspace_spec};
use super::rehearsal::Rehearsal;
use super::training::train;

/// Training seeds tried before a block is given up.
const SEEDS: u32 = 20;

/// A block once made.
#[derive(Debug, Clone)]
pub struct Block {
    /// Its record.
    pub record: BlockRecord,
    /// The parameter file handed out.
    pub agent: Vec<u8>,
    /// What training compiled, to be placed into workspaces.
    pub compiled: Tree,
}

/// Clean performance on one set of final episodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CleanRecord {
    format: String,
    episodes: String,
    agents: String,
    means: Vec<f64>,
}

/// One agent's part of what `evaluate --json` prints.
#[derive(Debug, Deserialize)]
struct Evaluated {
    returns: Vec<f64>,
}

/// What `evaluate --json` prints.
#[derive(Debug, Deserialize)]
struct Evaluation {
    agents: Vec<Evaluated>,
}

/// Makes blocks.
pub struct BlockMaker<'a> {
    /// Where sandboxes come from.
    pub sandbox: Arc<dyn Sandbox>,
    /// Where blocks are kept.
    pub run: &'a RunDirectory,
    /// The processors of the worker at work.
    pub cpuset: Option<String>,
}

fn internal(message: impl std::fmt::Display) -> HarnessFault {
    HarnessFault::new(FaultKind::Internal, message.to_string())
}

impl BlockMaker<'_> {
    /// The block of a job, made now if nobody has made it.
    ///
    /// # Errors
    /// The harness failed, or no training seed gives a gap that is large enough.
    pub async fn ensure(&self, job: &Job) -> Result<Block, HarnessFault> {
        let block = &job.block;
        let folder = self.run.block_folder(&block.malfunction, block.replication);
        loop {
            if let Some(found) = self.find(job)? {
                return Ok(found);
            }
            if let Some(_lease) = Lease::claim(&folder).map_err(internal)? {
                if let Some(found) = self.find(job)? {
                    return Ok(found);
                }
                return self.make(job).await;
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }

    fn find(&self, job: &Job) -> Result<Option<Block>, HarnessFault> {
        let (malfunction, replication) = (&job.block.malfunction, job.block.replication);
        let Some(record) = self.run.block(malfunction, replication).map_err(internal)? else {
            return Ok(None);
        };
        let file = |name| {
            self.run
                .block_file(malfunction, replication, name)
                .map_err(internal)
        };
        let agent = file("parameters.safetensors")?;
        if blake3::hash(&agent).to_hex().as_str() != record.agent {
            return Err(internal(format!(
                "the agent of block {malfunction} r{replication:02} is not the one its record names"
            )));
        }
        let compiled = untar(&file("compiled.tar")?).map_err(internal)?;
        Ok(Some(Block {
            record,
            agent,
            compiled,
        }))
    }

    async fn make(&self, job: &Job) -> Result<Block, HarnessFault> {
        let began = Instant::now();
        let clean = self.clean_means(job).await?;
        let p_clean = mean(&clean);
        let mut warm = self.compiled_before(job)?;
        for passed_over in 0..SEEDS {
            let seed =
                SeedName::training(&job.block.malfunction, job.block.replication, passed_over);
            let spec = workspace_spec(job, &run_label(self.run), self.cpuset.clone());
            let trained = train(&self.sandbox, spec, job, &seed, &warm).await?;
            let broken = self.measure(job, &trained.agent).await?;
            if p_clean - broken.mean() < job.block.min_gap {
                warm = trained.compiled;
                continue;
            }
            let record = BlockRecord {
                format: "evalxrl.block/1".to_owned(),
                malfunction: job.block.malfunction.clone(),
                replication: job.block.replication,
                seed,
                passed_over,
                agent: blake3::hash(&trained.agent).to_hex().to_string(),
                episodes: episodes_hash(job),
                p_clean,
                p_clean_standard_error: standard_error(&clean),
                p_broken: broken,
                source: hash_tree(&job.block.broken),
                seconds: began.elapsed().as_secs_f64(),
            };
            let compiled = pack_tree(&trained.compiled);
            let files: [(&str, &[u8]); 3] = [
                ("parameters.safetensors", &trained.agent),
                ("compiled.tar", &compiled),
                ("training.log", &trained.log),
            ];
            self.run.finish_block(&record, &files).map_err(internal)?;
            return Ok(Block {
                record,
                agent: trained.agent,
                compiled: trained.compiled,
            });
        }
        Err(internal(format!(
            "no training seed of {} gives a gap of {} on the episodes of replication {}",
            job.block.malfunction, job.block.min_gap, job.block.replication
        )))
    }

    /// What an earlier replication of the same malfunction compiled: the same program, hence a warm start.
    fn compiled_before(&self, job: &Job) -> Result<Tree, HarnessFault> {
        for replication in 0..job.block.replication {
            let folder = self.run.block_folder(&job.block.malfunction, replication);
            match std::fs::read(folder.join("compiled.tar")) {
                Ok(bytes) => return untar(&bytes).map_err(internal),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(internal(error)),
            }
        }
        Ok(Tree::new())
    }

    /// Serves the agent and drives it on the block's final episodes, as a submission is.
    async fn measure(&self, job: &Job, agent: &[u8]) -> Result<Performance, HarnessFault> {
        let mut live = Live::new(Arc::clone(&self.sandbox));
        let result = self.measure_in(job, agent, &mut live).await;
        let cleared = live.clear().await;
        let performance = result?;
        cleared?;
        Ok(performance)
    }

    async fn measure_in(
        &self,
        job: &Job,
        agent: &[u8],
        live: &mut Live,
    ) -> Result<Performance, HarnessFault> {
        let spec = scorer_spec(job, &run_label(self.run), None, self.cpuset.clone());
        let network = self.sandbox.network(&spec.owner).await?;
        live.joins(network.clone());
        let running = live.holds(
            self.sandbox
                .create(Spec {
                    network: Some(network.clone()),
                    ..spec
                })
                .await?,
        );
        let scorer = Scorer::start(running.as_ref()).await?;
        let mut files = job.block.broken.clone();
        files.insert(PARAMETERS.to_owned(), agent.to_vec());
        let permutation = format!("block/{}/{}", job.block.malfunction, job.block.replication);
        let mut rehearsal = Rehearsal {
            sandbox: Arc::clone(&self.sandbox),
            agent: agent_spec(job, &run_label(self.run), network, self.cpuset.clone()),
            scorer,
            environment: job.block.environment.clone(),
            development: job.seed(&job.block.development_seed()),
            permutation: job.seed(&SeedName::new(format!("permutation/{permutation}"))),
            handed_out: files.clone(),
            bundle_mode: job.bundle_mode,
        };
        let (seed, shuffle) = (
            job.seed(&job.block.final_seed()),
            rehearsal.permutation.clone(),
        );
        match rehearsal
            .drive(&Bundle { files }, job.block.episodes, &seed, &shuffle)
            .await?
        {
            Scoring::Scored(scores) => Ok(scores.performance),
            Scoring::AgentUnserved { reason } => Err(internal(format!(
                "the broken agent of {} does not serve: {reason}",
                job.block.malfunction
            ))),
        }
    }

    /// Mean return of each clean reference agent on the block's episodes; made once per replication.
    async fn clean_means(&self, job: &Job) -> Result<Vec<f64>, HarnessFault> {
        let name = format!("{}/r{:02}", job.block.environment, job.block.replication);
        let folder = self.run.cache().join("clean").join(name);
        let path = folder.join("clean.json");
        loop {
            match std::fs::read(&path) {
                Ok(bytes) => {
                    let record: CleanRecord = serde_json::from_slice(&bytes).map_err(internal)?;
                    if record.episodes == episodes_hash(job)
                        && record.agents == hash_tree(&job.block.clean_agents)
                    {
                        return Ok(record.means);
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(internal(format!("{}: {error}", path.display()))),
            }
            if let Some(_lease) = Lease::claim(&folder).map_err(internal)? {
                let means = self.evaluate_clean(job).await?;
                let record = CleanRecord {
                    format: "evalxrl.clean/1".to_owned(),
                    episodes: episodes_hash(job),
                    agents: hash_tree(&job.block.clean_agents),
                    means,
                };
                let bytes = serde_json::to_vec_pretty(&record).map_err(internal)?;
                crate::store::publish(&path, &bytes).map_err(internal)?;
                return Ok(record.means);
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }

    async fn evaluate_clean(&self, job: &Job) -> Result<Vec<f64>, HarnessFault> {
        let mut live = Live::new(Arc::clone(&self.sandbox));
        let spec = scorer_spec(job, &run_label(self.run), None, self.cpuset.clone());
        let result = async {
            let sandbox = live.holds(self.sandbox.create(spec).await?);
            evaluate(sandbox.as_ref(), job).await
        }
        .await;
        let cleared = live.clear().await;
        let means = result?;
        cleared?;
        Ok(means)
    }
}

async fn evaluate(sandbox: &dyn Running, job: &Job) -> Result<Vec<f64>, HarnessFault> {
    let mut files = job.block.clean.clone();
    for (name, bytes) in &job.block.clean_agents {
        files.insert(format!("clean/{name}"), bytes.clone());
    }
    sandbox
        .put(User::Coder, Place::Home, &pack_tree(&files))
        .await?;
    let episodes = job.block.episodes.to_string();
    let key = job.seed(&job.block.final_seed()).hex();
    let mut command = Command::new(
        User::Coder,
        &[
            "python3",
            "-m",
            "evalxrl_envs",
            "evaluate",
            "--json",
            "--episodes",
            &episodes,
            "--key",
            &key,
        ],
    );
    for name in job.block.clean_agents.keys() {
        command
            .argv
            .extend(["--agent".to_owned(), format!("clean/{name}")]);
    }
    let execution = sandbox.exec(command).await?;
    if execution.exit != Exit::Code(0) {
        return Err(internal(format!(
            "measuring the clean agents failed ({:?}): {}",
            execution.exit,
            String::from_utf8_lossy(&execution.stderr)
        )));
    }
    let evaluation: Evaluation = serde_json::from_slice(&execution.stdout).map_err(internal)?;
    if evaluation.agents.len() != job.block.clean_agents.len() {
        return Err(internal(
            "measuring the clean agents gave another number of agents",
        ));
    }
    evaluation
        .agents
        .into_iter()
        .map(|agent| {
            Performance::new(agent.returns)
                .map(|returns| returns.mean())
                .map_err(internal)
        })
        .collect()
}

fn episodes_hash(job: &Job) -> String {
    let seed = job.seed(&job.block.final_seed());
    blake3::hash(format!("{} {}", seed.hex(), job.block.episodes).as_bytes())
        .to_hex()
        .to_string()
}

/// BLAKE3 over sorted (path, bytes).
pub(super) fn hash_tree(tree: &Tree) -> String {
    blake3::hash(&pack_tree(tree)).to_hex().to_string()
}

pub(super) fn pack_tree(tree: &Tree) -> Vec<u8> {
    pack(
        tree.iter()
            .map(|(path, bytes)| (path.as_str(), bytes.as_slice(), 0o644)),
    )
}

pub(super) fn pack_files(files: &[workspace::File]) -> Vec<u8> {
    pack(
        files
            .iter()
            .map(|file| (file.path.as_str(), file.bytes.as_slice(), file.mode)),
    )
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard error over training seeds (n − 1 denominator).
fn standard_error(values: &[f64]) -> f64 {
    let (count, mean) = (values.len() as f64, mean(values));
    if values.len() < 2 {
        return 0.0;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}
