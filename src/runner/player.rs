//! Knows how the pool plays sessions: it looks up the job of a key and hands it to the session room.
//! Must not know how jobs are made.
//! Start at `JobPlayer`.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::session::{Job, SessionPlayer};
use crate::store::SessionRecord;
use crate::vocab::{FaultKind, HarnessFault, SessionKey};

use super::Player;

/// Plays the jobs of a plan.
pub struct JobPlayer {
    /// Plays one job.
    pub player: SessionPlayer,
    /// Jobs by session.
    pub jobs: BTreeMap<SessionKey, Job>,
}

#[async_trait]
impl Player for JobPlayer {
    async fn play(
        &self,
        key: &SessionKey,
        attempt: u32,
        worker: usize,
    ) -> Result<SessionRecord, HarnessFault> {
        let job = self.jobs.get(key).ok_or_else(|| {
            HarnessFault::new(
                FaultKind::Internal,
                format!("the plan has no job for {key}"),
            )
        })?;
        self.player.play(job, attempt, worker).await
    }

    async fn clear(&self) -> Result<(), HarnessFault> {
        self.player.clear().await
    }
}
