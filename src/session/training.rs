//! Knows how the broken agent of a job is trained: in a workspace of its own, by the command that coders use.
//! Must not know where the agent is kept, nor how well it does.
//! Start at `train`.

use std::sync::Arc;

use crate::harness::{Command, Exit, Place, Sandbox, Spec, User};
use crate::vocab::{FaultKind, HarnessFault, SeedName};
use crate::workspace::{self, PARAMETERS, TRAIN, Tree};

use super::block::pack_files;
use super::job::Job;
use super::live::Live;
use super::place::untar;

/// Bytes of what a training leaves, agent and compiled programs.
const MOST: u64 = 512 << 20;

/// What a training leaves.
pub(super) struct Trained {
    /// The parameter file.
    pub(super) agent: Vec<u8>,
    /// Compiled programs, paths below the workspace root.
    pub(super) compiled: Tree,
    /// Both streams of the training.
    pub(super) log: Vec<u8>,
}

/// Trains the agent of a job under a seed; `warm` holds programs compiled before.
pub(super) async fn train(
    sandbox: &Arc<dyn Sandbox>,
    spec: Spec,
    job: &Job,
    seed: &SeedName,
    warm: &Tree,
) -> Result<Trained, HarnessFault> {
    let rendered = workspace::render(&workspace::Request {
        source: &job.block.broken,
        agent: None,
        train_seed: job.seed(seed).integer(),
        brief: None,
        dossiers: &[],
        shared_code: &Tree::new(),
        compiled: warm,
    });
    let mut live = Live::new(Arc::clone(sandbox));
    let result = train_in(spec, job, &rendered, &mut live).await;
    let cleared = live.clear().await;
    let trained = result?;
    cleared?;
    Ok(trained)
}

async fn train_in(
    spec: Spec,
    job: &Job,
    rendered: &workspace::Rendered,
    live: &mut Live,
) -> Result<Trained, HarnessFault> {
    let internal = |message: String| HarnessFault::new(FaultKind::Internal, message);
    let sandbox = live.create(spec).await?;
    sandbox
        .put(User::Coder, Place::Home, &pack_files(&rendered.home))
        .await?;
    let command = Command::new(User::Coder, &["/bin/bash", "-c", TRAIN]);
    let execution = sandbox.exec(command).await?;
    if execution.exit != Exit::Code(0) {
        return Err(internal(format!(
            "training the agent of {} failed ({:?}): {}",
            job.block.malfunction,
            execution.exit,
            String::from_utf8_lossy(&execution.merged)
        )));
    }
    let taken = sandbox.take(&["agent", ".cache"], MOST).await?;
    let mut files = untar(&taken).map_err(|error| internal(error.to_string()))?;
    let agent = files
        .remove(PARAMETERS)
        .ok_or_else(|| internal("training wrote no agent/parameters.safetensors".to_owned()))?;
    files.retain(|path, _| path.starts_with(".cache/"));
    Ok(Trained {
        agent,
        compiled: files,
        log: execution.merged,
    })
}
