//! Knows how candidates are tried: apply, train, score, take back; and what is submitted in the end.
//! Must not know how candidates were found or ranked.
//! Start at `run`.

use std::collections::BTreeMap;

use serde_json::json;

use super::candidate::Candidate;
use super::order::is_config;
use super::progress::half_time_return;
use crate::coder::{Bench, Brief, Ending, Observation, Score, Stop};

const AGENT: &str = "agent/parameters.safetensors";
/// Copies of agents, outside everything that is submitted.
const KEPT: &str = ".search";
const HANDED_OUT: &str = ".search/handed-out.safetensors";
const BEST: &str = ".search/best.safetensors";
/// Share of the wall clock left for restoring and submitting.
const WALL_RESERVE: f64 = 0.1;
/// Steps left for restoring and submitting; one candidate takes at most six.
const STEP_RESERVE: u32 = 12;
/// Longest quotation of an edit in the note of a submission, characters.
const QUOTED: usize = 200;

/// The best agent so far.
struct Best<'a> {
    candidate: &'a Candidate,
    edited: String,
    score: Score,
}

struct Trials<'a> {
    brief: &'a Brief,
    files: &'a BTreeMap<String, String>,
    /// The half-time return of the unedited tree, once it has been trained.
    unedited: Option<Option<f64>>,
    best: Option<Best<'a>>,
}

/// Tries candidates in order until a budget or the list ends, then submits.
pub(super) async fn run(
    brief: &Brief,
    bench: &mut dyn Bench,
    files: &BTreeMap<String, String>,
    candidates: &[Candidate],
    whole_wall: f64,
) -> Result<Ending, Stop> {
    let allowed = brief
        .candidates
        .map_or(candidates.len(), |most| most as usize);
    let candidates = &candidates[..allowed.min(candidates.len())];
    if candidates.is_empty() || !may_go_on(bench, whole_wall, 0.0) {
        return submit_unedited(bench, "no candidate could be tried").await;
    }
    let kept = bench
        .run(&format!("mkdir -p {KEPT} && cp {AGENT} {HANDED_OUT}"))
        .await?;
    if kept.code != 0 {
        return submit_unedited(bench, "the agent could not be set aside").await;
    }
    let base = match bench.score().await? {
        Ok(score) => score,
        Err(_) => {
            return submit_unedited(bench, "the agent as handed out could not be scored").await;
        }
    };
    let mut trials = Trials {
        brief,
        files,
        unedited: None,
        best: None,
    };
    let mut longest = 0.0_f64;
    for (index, candidate) in candidates.iter().enumerate() {
        if !may_go_on(bench, whole_wall, longest) {
            break;
        }
        let before = bench.remaining().wall_seconds;
        trials.attempt(bench, index + 1, candidate).await?;
        longest = longest.max(before - bench.remaining().wall_seconds);
    }
    trials.submit(bench, &base).await
}

/// Whether another trial as long as the longest so far leaves enough to restore and submit.
fn may_go_on(bench: &dyn Bench, whole_wall: f64, longest: f64) -> bool {
    let left = bench.remaining();
    left.score_calls > 0
        && left.wall_seconds - longest > WALL_RESERVE * whole_wall
        && left.steps > STEP_RESERVE
}

impl<'a> Trials<'a> {
    /// Tries one candidate and leaves the source as it was.
    async fn attempt(
        &mut self,
        bench: &mut dyn Bench,
        rank: usize,
        candidate: &'a Candidate,
    ) -> Result<(), Stop> {
        let (Some(edited), Some(original)) =
            (candidate.apply(self.files), self.files.get(&candidate.path))
        else {
            return Ok(());
        };
        let bar = if changes_reward_or_environment(self.brief, candidate) {
            None
        } else {
            self.unedited_half_time(bench).await?
        };
        bench.write(&candidate.path, &edited).await?;
        let training = train(self.brief, bench).await?;
        let half = half_time_return(&training.output);
        let mut seen = json!({"event": "search_trial", "rank": rank, "half_time_return": half});
        if training.code != 0 {
            seen["result"] = "untrained".into();
            seen["code"] = training.code.into();
        } else if matches!((half, bar), (Some(half), Some(bar)) if half < bar) {
            seen["result"] = "dropped".into();
        } else {
            match bench.score().await? {
                Ok(score) => {
                    seen["result"] = "scored".into();
                    seen["mean_return"] = score.mean_return.into();
                    seen["standard_error"] = score.standard_error.into();
                    self.keep_if_best(bench, candidate, edited, score).await?;
                }
                Err(_) => seen["result"] = "refused".into(),
            }
        }
        bench.write(&candidate.path, original).await?;
        bench.note(seen).await
    }

    /// The training return of the unedited tree at half time: one training, made when first asked for.
    async fn unedited_half_time(&mut self, bench: &mut dyn Bench) -> Result<Option<f64>, Stop> {
        if let Some(known) = self.unedited {
            return Ok(known);
        }
        let training = train(self.brief, bench).await?;
        let half = half_time_return(&training.output).filter(|_| training.code == 0);
        bench
            .note(json!({"event": "search_unedited", "half_time_return": half}))
            .await?;
        self.unedited = Some(half);
        Ok(half)
    }

    async fn keep_if_best(
        &mut self,
        bench: &mut dyn Bench,
        candidate: &'a Candidate,
        edited: String,
        score: Score,
    ) -> Result<(), Stop> {
        let beaten = self
            .best
            .as_ref()
            .is_none_or(|best| score.mean_return > best.score.mean_return);
        if beaten && bench.run(&format!("cp {AGENT} {BEST}")).await?.code == 0 {
            self.best = Some(Best {
                candidate,
                edited,
                score,
            });
        }
        Ok(())
    }

    /// Submits the best bundle if it beats the unedited one by more than both standard errors, else the latter.
    async fn submit(self, bench: &mut dyn Bench, base: &Score) -> Result<Ending, Stop> {
        let bar =
            |score: &Score| base.mean_return + base.standard_error.hypot(score.standard_error);
        if let Some(best) = self
            .best
            .filter(|best| best.score.mean_return > bar(&best.score))
        {
            bench.write(&best.candidate.path, &best.edited).await?;
            let placed = bench.run(&format!("cp {BEST} {AGENT}")).await?;
            if placed.code == 0 && bench.submit(&note(&best)).await?.is_ok() {
                return Ok(Ending::Submitted);
            }
            if let Some(original) = self.files.get(&best.candidate.path) {
                bench.write(&best.candidate.path, original).await?;
            }
        }
        let restored = bench.run(&format!("cp {HANDED_OUT} {AGENT}")).await?;
        if restored.code != 0 {
            return Ok(Ending::GaveUp(
                "the agent as handed out could not be restored".into(),
            ));
        }
        submit_unedited(
            bench,
            "no candidate was better than the agent as handed out",
        )
        .await
    }
}

/// One training run; a tree that does not import, or fails within its first chunk, ends here with another code.
///
/// No byte code is written: an edit of equal length within one second would otherwise run as the file before it.
async fn train(brief: &Brief, bench: &mut dyn Bench) -> Result<Observation, Stop> {
    bench
        .run(&format!(
            "export PYTHONDONTWRITEBYTECODE=1; {}",
            brief.train
        ))
        .await
}

async fn submit_unedited(bench: &mut dyn Bench, why: &str) -> Result<Ending, Stop> {
    Ok(match bench.submit(why).await? {
        Ok(()) => Ending::Submitted,
        Err(reason) => Ending::GaveUp(format!("the bundle as handed out was refused: {reason}")),
    })
}

/// Whether training returns before and after an edit mean different things.
fn changes_reward_or_environment(brief: &Brief, candidate: &Candidate) -> bool {
    let folder = format!("{}/{}/", brief.source, brief.environment);
    candidate.path.starts_with(&folder)
        && (!is_config(&candidate.path)
            || matches!(
                candidate.scope.split('.').next(),
                Some("reward_weights" | "params")
            ))
}

fn note(best: &Best<'_>) -> String {
    let short = |text: &str| text.trim().chars().take(QUOTED).collect::<String>();
    let Candidate {
        path,
        line,
        before,
        after,
        ..
    } = best.candidate;
    format!(
        "{path} line {line}: `{}` became `{}`; mean return {} over {} episodes",
        short(before),
        short(after),
        best.score.mean_return,
        best.score.episodes
    )
}

#[cfg(test)]
mod tests;
