//! Knows how a bundle is taken, checked, served in a fresh sandbox and driven by the session's scorer.
//! Must not know the coder, nor whether a value is good.
//! Start at `Rehearsal::score`.

use std::sync::Arc;

use crate::harness::agent_server::{AgentServer, Serving};
use crate::harness::scorer::{Deadlines, Question, Scorer, Scores, Scoring};
use crate::harness::{Running, Sandbox, Spec};
use crate::vocab::{BundleMode, EnvironmentId, HarnessFault, Seed};
use crate::workspace::Tree;

use super::bundle::{Bundle, CAPS, PARAMETERS, Rejection};

/// The scorer of one session and what it needs to serve a bundle.
pub struct Rehearsal {
    pub(super) sandbox: Arc<dyn Sandbox>,
    pub(super) agent: Spec,
    pub(super) scorer: Scorer,
    pub(super) environment: EnvironmentId,
    pub(super) development: Seed,
    pub(super) permutation: Seed,
    pub(super) handed_out: Tree,
    pub(super) bundle_mode: BundleMode,
}

impl Rehearsal {
    /// Takes the declared paths out of a workspace and checks them.
    ///
    /// # Errors
    /// The harness failed; a refused bundle is the inner error.
    pub async fn take(
        &mut self,
        workspace: &dyn Running,
    ) -> Result<Result<Bundle, Rejection>, HarnessFault> {
        let stream = workspace
            .take(&["agent", "evalxrl_envs"], CAPS.bytes + (1 << 20))
            .await?;
        Ok(
            Bundle::check(&stream, CAPS).map(|bundle| match self.bundle_mode {
                BundleMode::Workspace => bundle,
                BundleMode::Parameters => {
                    let mut files = self.handed_out.clone();
                    files.extend(
                        bundle
                            .files
                            .into_iter()
                            .filter(|(path, _)| path == PARAMETERS),
                    );
                    Bundle { files }
                }
            }),
        )
    }

    /// Serves a bundle in a fresh sandbox and drives it on the development episodes.
    ///
    /// # Errors
    /// The harness failed; an unserved agent is the inner error, told to the coder.
    pub async fn score(
        &mut self,
        bundle: &Bundle,
        episodes: u32,
    ) -> Result<Result<Scores, String>, HarnessFault> {
        let (seed, permutation) = (self.development.clone(), self.permutation.clone());
        match self.drive(bundle, episodes, &seed, &permutation).await? {
            Scoring::Scored(scores) => Ok(Ok(*scores)),
            Scoring::AgentUnserved { reason } => Ok(Err(reason)),
        }
    }

    /// Serves a bundle in a fresh sandbox and drives it on the episodes of a seed.
    ///
    /// # Errors
    /// The harness failed.
    pub async fn drive(
        &mut self,
        bundle: &Bundle,
        episodes: u32,
        seed: &Seed,
        permutation: &Seed,
    ) -> Result<Scoring, HarnessFault> {
        let tar = bundle.canonical_tar();
        let serving = AgentServer::start(self.sandbox.as_ref(), self.agent.clone(), &tar).await?;
        let server = match serving {
            Serving::Ready(server) => server,
            Serving::Unserved { reason, errors } => {
                return Ok(Scoring::AgentUnserved {
                    reason: with_tail(&reason, &errors),
                });
            }
        };
        let question = Question {
            environment: self.environment.clone(),
            seed: seed.clone(),
            permutation_seed: permutation.clone(),
            episodes,
            address: server.address().to_owned(),
            deadlines: Deadlines::default(),
        };
        let scoring = self.scorer.score(&question).await;
        let errors = server.errors();
        server.stop().await?;
        Ok(match scoring? {
            Scoring::AgentUnserved { reason } => Scoring::AgentUnserved {
                reason: with_tail(&reason, &errors),
            },
            scored @ Scoring::Scored(_) => scored,
        })
    }
}

/// The reason and the last 2000 characters of the agent's own stderr.
fn with_tail(reason: &str, stderr: &str) -> String {
    let stderr = stderr.trim();
    if stderr.is_empty() {
        return reason.to_owned();
    }
    let skip = stderr.chars().count().saturating_sub(2000);
    format!(
        "{reason}\n{}",
        stderr.chars().skip(skip).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unserved_agent_shows_the_end_of_its_own_stderr() {
        let long = "x".repeat(5000) + "end";
        let text = with_tail("no ready within 60 s", &long);
        assert!(text.starts_with("no ready within 60 s\n") && text.ends_with("xend"));
        assert_eq!(text.chars().count(), "no ready within 60 s\n".len() + 2000);
        assert_eq!(with_tail("closed", "  \n"), "closed");
    }
}
