//! Knows the local pool: workers that take the first unfinished, unleased session in plan order.
//! Must not know sandboxes or coders.
//! Start at `run`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::sync::watch;

use crate::store::{Attempt, Lease, RunDirectory, SessionRecord, StoreError};
use crate::vocab::{FaultKind, HarnessFault, OutcomeKind, SessionKey};

/// How long a run waits for an engine or a disk to come back.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// How often a waiting run looks again.
const LOOK_AGAIN: Duration = Duration::from_secs(20);

/// Plays one session to its record.
#[async_trait]
pub trait Player: Send + Sync {
    /// Plays an attempt; `worker` tells which processors are its own.
    async fn play(
        &self,
        key: &SessionKey,
        attempt: u32,
        worker: usize,
    ) -> Result<SessionRecord, HarnessFault>;

    /// Clears what dropped attempts of this process left behind.
    async fn clear(&self) -> Result<(), HarnessFault>;
}

/// What an onlooker is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// A session began.
    Started(SessionKey),
    /// A session became a record.
    Finished {
        /// Which one.
        key: SessionKey,
        /// How it ended.
        outcome: OutcomeKind,
        /// Un-clipped repair score.
        raw: f64,
        /// Wall clock, seconds.
        seconds: f64,
    },
    /// An attempt failed.
    Failed {
        /// Which one.
        key: SessionKey,
        /// Why.
        fault: HarnessFault,
    },
    /// The run waits for the machine to recover.
    Waiting(HarnessFault),
}

/// Is told what happens while it happens.
pub trait Observer: Send + Sync {
    /// Takes notice.
    fn tell(&self, progress: &Progress);
}

/// How a run is told to end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Go on.
    No,
    /// Finish what is in flight, begin nothing.
    Drain,
    /// Drop what is in flight.
    Halt,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Sessions that are records now.
    pub finished: usize,
    /// Sessions played by this call.
    pub played: usize,
    /// Sessions without a record.
    pub missing: usize,
    /// Sessions that another worker holds.
    pub held: usize,
    /// The fault that ended the run, if one did.
    pub ended_by: Option<HarnessFault>,
    /// Whether the run was told to stop.
    pub stopped: bool,
}

struct Shared<'a> {
    sessions: &'a [SessionKey],
    run: &'a RunDirectory,
    attempts: u32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    in_flight: BTreeMap<SessionKey, ()>,
    failures: BTreeMap<SessionKey, u32>,
    played: usize,
    ended_by: Option<HarnessFault>,
    waiting_since: Option<Instant>,
}

/// A session claimed by a worker of this pool.
struct Claim {
    key: SessionKey,
    lease: Lease,
}

impl Shared<'_> {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Result<Option<Claim>, StoreError> {
        for key in self.sessions {
            {
                let state = self.state();
                if state.ended_by.is_some() {
                    return Ok(None);
                }
                let failed = state.failures.get(key).copied().unwrap_or(0);
                if state.in_flight.contains_key(key) || failed >= self.attempts {
                    continue;
                }
            }
            if self.run.is_finished(key) {
                continue;
            }
            let folder = self.run.session(key);
            let claimed = Lease::claim(&folder).map_err(|error| StoreError::Io {
                path: folder.clone(),
                error,
            })?;
            let Some(lease) = claimed else { continue };
            // Another worker may have finished it between the look and the claim.
            if self.run.is_finished(key) {
                continue;
            }
            if self.state().in_flight.insert(key.clone(), ()).is_none() {
                return Ok(Some(Claim {
                    key: key.clone(),
                    lease,
                }));
            }
        }
        Ok(None)
    }
}

/// Plays every unfinished session of a plan with `workers` at a time; the same call resumes.
///
/// # Errors
/// The run directory cannot be read or written.
pub async fn run(
    sessions: &[SessionKey],
    run: &RunDirectory,
    player: Arc<dyn Player>,
    workers: usize,
    attempts: u32,
    observer: Arc<dyn Observer>,
    stop: watch::Receiver<Stop>,
) -> Result<Summary, StoreError> {
    let shared = Shared {
        sessions,
        run,
        attempts,
        state: Mutex::default(),
    };
    let pool = (0..workers).map(|worker| {
        work(
            &shared,
            player.as_ref(),
            worker,
            observer.as_ref(),
            stop.clone(),
        )
    });
    let ends = futures_util::future::join_all(pool).await;
    let stopped = *stop.borrow() != Stop::No;
    if *stop.borrow() == Stop::Halt
        && let Err(fault) = player.clear().await
    {
        observer.tell(&Progress::Waiting(fault));
    }
    for end in ends {
        end?;
    }
    let finished = sessions.iter().filter(|key| run.is_finished(key)).count();
    let state = shared.state();
    let unfinished = sessions.len() - finished;
    let ours = sessions
        .iter()
        .filter(|key| !run.is_finished(key))
        .filter(|key| stopped || state.ended_by.is_some() || state.failures.contains_key(*key))
        .count();
    Ok(Summary {
        finished,
        played: state.played,
        missing: ours.min(unfinished),
        held: unfinished - ours.min(unfinished),
        ended_by: state.ended_by.clone(),
        stopped,
    })
}

async fn work(
    shared: &Shared<'_>,
    player: &dyn Player,
    worker: usize,
    observer: &dyn Observer,
    mut stop: watch::Receiver<Stop>,
) -> Result<(), StoreError> {
    while *stop.borrow() == Stop::No {
        let Some(claim) = shared.next()? else {
            return Ok(());
        };
        let attempt = u32::try_from(shared.run.attempts(&claim.key)?.len()).unwrap_or(u32::MAX) + 1;
        observer.tell(&Progress::Started(claim.key.clone()));
        let began = Instant::now();
        let played = tokio::select! {
            played = player.play(&claim.key, attempt, worker) => played,
            _ = stop.wait_for(|stop| *stop == Stop::Halt) => {
                shared.state().in_flight.remove(&claim.key);
                return Ok(());
            }
        };
        let pause = settle(shared, observer, &claim, attempt, began, played)?;
        shared.state().in_flight.remove(&claim.key);
        drop(claim);
        if let Some(pause) = pause {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = stop.wait_for(|stop| *stop != Stop::No) => {}
            }
        }
    }
    Ok(())
}

/// Turns the end of an attempt into a record or a kept failure; how long to wait before the next try.
fn settle(
    shared: &Shared<'_>,
    observer: &dyn Observer,
    claim: &Claim,
    attempt: u32,
    began: Instant,
    played: Result<SessionRecord, HarnessFault>,
) -> Result<Option<Duration>, StoreError> {
    let key = &claim.key;
    let fault = match played {
        Ok(record) => {
            if claim.lease.still_held() && shared.run.finish(&record)? {
                let mut state = shared.state();
                state.played += 1;
                state.waiting_since = None;
                drop(state);
                observer.tell(&Progress::Finished {
                    key: key.clone(),
                    outcome: record.outcome.kind(),
                    raw: record.repair_score.raw,
                    seconds: record.seconds.wall,
                });
            }
            return Ok(None);
        }
        Err(fault) => fault,
    };
    let kept = Attempt {
        format: "evalxrl.attempt/1".to_owned(),
        attempt,
        fault: fault.clone(),
        seconds: began.elapsed().as_secs_f64(),
        cost: 0.0,
    };
    shared.run.failed(key, &kept)?;
    observer.tell(&Progress::Failed {
        key: key.clone(),
        fault: fault.clone(),
    });
    let mut state = shared.state();
    if fault.kind.uses_attempt() {
        *state.failures.entry(key.clone()).or_default() += 1;
        return Ok(None);
    }
    if fault.kind == FaultKind::IsolationBroken {
        state.ended_by = Some(fault);
        return Ok(None);
    }
    let since = *state.waiting_since.get_or_insert_with(Instant::now);
    if since.elapsed() >= PATIENCE {
        state.ended_by = Some(fault);
        return Ok(None);
    }
    drop(state);
    observer.tell(&Progress::Waiting(fault));
    Ok(Some(LOOK_AGAIN))
}
