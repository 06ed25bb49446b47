//! Knows how a workspace is furnished: the brief, the files under opaque names, and their placing.
//! Must not know who works in it, nor what it is scored by.
//! Start at `rendered`.

use crate::coder::{self, Brief, BriefFacts, DossierLine, ToolLine};
use crate::harness::{Place, Running, User};
use crate::vocab::{Arm, FaultKind, HarnessFault, SeedName};
use crate::workspace::{self, Rendered, SERVE, TRAIN, Tree};

use super::block::pack_files;
use super::job::Job;

/// What the coder of a job is told.
pub(super) fn brief(job: &Job) -> Result<Brief, HarnessFault> {
    let dossiers = job
        .dossiers
        .iter()
        .enumerate()
        .map(|(position, dossier)| DossierLine {
            title: dossier.title.clone(),
            folder: job.folder(position).to_string(),
            tools: dossier
                .tools
                .iter()
                .map(|tool| ToolLine {
                    name: tool.name.clone(),
                    help: tool.help.clone(),
                    has_budget: !dossier.code.is_empty(),
                })
                .collect(),
        })
        .collect();
    let mut brief = Brief {
        text: String::new(),
        environment: job.block.environment.to_string(),
        source: "evalxrl_envs".to_owned(),
        train: TRAIN.to_owned(),
        dossiers,
        reverse_diff: (job.arm() == Arm::OptimalRepair).then(|| job.reverse_diff.clone()),
        seed: job.seed(&SeedName::coder(&job.key)),
        score_calls: job.budget.score.calls,
        candidates: job.candidates,
    };
    brief.text = coder::brief_text(&BriefFacts {
        title: job.title.clone(),
        summary: job.summary.clone(),
        environment: brief.environment.clone(),
        source: brief.source.clone(),
        train: brief.train.clone(),
        serve: SERVE.to_owned(),
        budget: job.budget,
        bundle: job.bundle_mode,
        dossiers: brief.dossiers.clone(),
    })
    .map_err(|error| HarnessFault::new(FaultKind::Internal, error.to_string()))?;
    Ok(brief)
}

/// The files of the workspace of a job, with an agent trained under `seed` and what its training compiled.
pub(super) fn rendered(
    job: &Job,
    agent: &[u8],
    compiled: &Tree,
    seed: &SeedName,
    brief: &Brief,
) -> Rendered {
    let folders: Vec<_> = job
        .dossiers
        .iter()
        .enumerate()
        .map(|(position, dossier)| (job.folder(position), dossier.clone()))
        .collect();
    workspace::render(&workspace::Request {
        source: &job.block.broken,
        agent: Some(agent),
        train_seed: job.seed(seed).integer(),
        brief: Some(&brief.text),
        dossiers: &folders,
        shared_code: &job.shared_code,
        compiled,
    })
}

/// Places the coder's files and the method's.
pub(super) async fn fill(workspace: &dyn Running, rendered: &Rendered) -> Result<(), HarnessFault> {
    workspace
        .put(User::Coder, Place::Home, &pack_files(&rendered.home))
        .await?;
    if !rendered.method.is_empty() {
        workspace
            .put(User::Method, Place::Method, &pack_files(&rendered.method))
            .await?;
    }
    Ok(())
}
