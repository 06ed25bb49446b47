//! The pool on scripted players: nothing is lost, nothing is played twice, faults are never scores.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use evalxrl::runner::{Observer, Player, Progress, Stop, Summary, run};
use evalxrl::store::{Lease, RunDirectory, SessionRecord};
use evalxrl::vocab::{
    CoderLabel, FaultKind, HarnessFault, Invocations, MalfunctionId, MethodId, SessionKey,
};
use proptest::prelude::*;
use tokio::sync::watch;

/// Keys of so many sessions in plan order.
fn keys(count: u32) -> Vec<SessionKey> {
    (0..count)
        .map(|number| SessionKey {
            malfunction: MalfunctionId::new(format!("treasure-grid-m{}", number % 3)).unwrap(),
            method: MethodId::new("no-method").unwrap(),
            coder: CoderLabel::new("scripted").unwrap(),
            invocations: Invocations::Unlimited,
            replication: number / 3,
        })
        .collect()
}

fn record(key: &SessionKey, attempt: u32) -> SessionRecord {
    serde_json::from_value(serde_json::json!({
        "format": "evalxrl.session/1", "key": key, "session_hash": "00", "attempt": attempt,
        "started": "2026-01-01T00:00:00Z",
        "seconds": {"wall": 1.0, "working": 1.0, "provider": 0.0, "tools": 0.0, "training": 0.0, "scoring": 0.0, "sandboxes": 0.0},
        "outcome": {"kind": "submitted"},
        "performance": {"mean": 1.0, "standard_error": 0.0, "episodes": 1, "returns": [1.0], "measured": true},
        "reference": {"p_clean": 2.0, "p_broken": 0.0, "hash": "00"},
        "repair_score": {"raw": 0.5, "clipped": 0.5},
        "calls": {"steps": 1, "actions": 0, "commands": 0, "score": 0, "tools": {}, "refused": 0},
        "strays": 0, "invalid_actions": 0, "floored": 0,
        "usage": {"tokens": 0, "cost": 0.0, "cost_all_attempts": 0.0},
        "scaffold": "scripted",
        "isolation": {"kind": "none", "probes": [], "cpuset_shared": true},
        "budget": {"invocations": "unlimited", "enforced": "none", "source_readable": true},
        "versions": {}, "images": {}, "sources": {}, "seeds": [], "bundle_mode": "workspace"
    }))
    .unwrap()
}

/// Fails as scripted, by session and number of the call; otherwise finishes.
#[derive(Default)]
struct Scripted {
    faults: BTreeMap<String, Vec<FaultKind>>,
    calls: Mutex<Vec<String>>,
    stop_after: Option<(usize, watch::Sender<Stop>)>,
}

#[async_trait]
impl Player for Scripted {
    async fn play(
        &self,
        key: &SessionKey,
        attempt: u32,
        _: usize,
    ) -> Result<SessionRecord, HarnessFault> {
        let nth = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(key.to_string());
            if let Some((after, stop)) = &self.stop_after
                && calls.len() >= *after
            {
                stop.send_replace(Stop::Drain);
            }
            calls
                .iter()
                .filter(|call| **call == key.to_string())
                .count()
        };
        tokio::task::yield_now().await;
        match self
            .faults
            .get(&key.to_string())
            .and_then(|faults| faults.get(nth - 1))
        {
            Some(kind) => Err(HarnessFault::new(*kind, "scripted")),
            None => Ok(record(key, attempt)),
        }
    }

    async fn clear(&self) -> Result<(), HarnessFault> {
        Ok(())
    }
}

struct Silent;

impl Observer for Silent {
    fn tell(&self, _: &Progress) {}
}

fn play(
    player: Scripted,
    sessions: &[SessionKey],
    folder: &RunDirectory,
    workers: usize,
) -> (Summary, Vec<String>) {
    play_until(
        player,
        sessions,
        folder,
        workers,
        watch::channel(Stop::No).1,
    )
}

fn play_until(
    player: Scripted,
    sessions: &[SessionKey],
    folder: &RunDirectory,
    workers: usize,
    stop: watch::Receiver<Stop>,
) -> (Summary, Vec<String>) {
    let player = Arc::new(player);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let summary = runtime
        .unwrap()
        .block_on(run(
            sessions,
            folder,
            Arc::clone(&player) as Arc<dyn Player>,
            workers,
            3,
            Arc::new(Silent),
            stop,
        ))
        .unwrap();
    let calls = player.calls.lock().unwrap().clone();
    (summary, calls)
}

fn fresh() -> (tempfile::TempDir, RunDirectory) {
    let folder = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(&folder.path().join("run"), b"{}").unwrap();
    (folder, run)
}

#[test]
fn a_fault_is_retried_and_after_three_attempts_the_session_is_missing_not_zero() {
    let (_folder, run) = fresh();
    let sessions = keys(4);
    let faults = [
        (sessions[1].to_string(), vec![FaultKind::ContainerLost]),
        (sessions[2].to_string(), vec![FaultKind::ScorerFailed; 9]),
    ];
    let player = Scripted {
        faults: faults.into(),
        ..Scripted::default()
    };
    let (summary, calls) = play(player, &sessions, &run, 2);
    assert_eq!((summary.finished, summary.missing), (3, 1));
    assert_eq!(
        calls
            .iter()
            .filter(|call| **call == sessions[2].to_string())
            .count(),
        3
    );
    assert!(run.record(&sessions[2]).unwrap().is_none());
    assert_eq!(run.attempts(&sessions[2]).unwrap().len(), 3);
    assert_eq!(run.record(&sessions[1]).unwrap().unwrap().attempt, 2);
}

#[test]
fn the_same_call_again_plays_only_what_is_missing() {
    let (_folder, run) = fresh();
    let sessions = keys(7);
    let faults = [(sessions[3].to_string(), vec![FaultKind::RelayLost; 3])];
    play(
        Scripted {
            faults: faults.into(),
            ..Scripted::default()
        },
        &sessions,
        &run,
        2,
    );
    let (summary, calls) = play(Scripted::default(), &sessions, &run, 2);
    assert_eq!((summary.finished, summary.played), (7, 1));
    assert_eq!(calls, [sessions[3].to_string()]);
    assert_eq!(run.record(&sessions[3]).unwrap().unwrap().attempt, 4);
}

#[test]
fn a_broken_isolation_ends_the_run_without_using_an_attempt() {
    let (_folder, run) = fresh();
    let sessions = keys(9);
    let faults = [(sessions[2].to_string(), vec![FaultKind::IsolationBroken])];
    let player = Scripted {
        faults: faults.into(),
        ..Scripted::default()
    };
    let (summary, _) = play(player, &sessions, &run, 1);
    assert_eq!(summary.ended_by.unwrap().kind, FaultKind::IsolationBroken);
    assert_eq!(summary.finished, 2);
}

#[test]
fn a_session_that_another_worker_holds_is_left_to_it() {
    let (_folder, run) = fresh();
    let sessions = keys(3);
    let _held = Lease::claim(&run.session(&sessions[1])).unwrap().unwrap();
    let (summary, calls) = play(Scripted::default(), &sessions, &run, 2);
    assert_eq!((summary.finished, summary.held, summary.missing), (2, 1, 0));
    assert!(!calls.contains(&sessions[1].to_string()));
}

#[test]
fn told_to_drain_it_finishes_what_is_in_flight_and_begins_nothing() {
    let (_folder, run) = fresh();
    let sessions = keys(12);
    let (send, stop) = watch::channel(Stop::No);
    let player = Scripted {
        stop_after: Some((3, send)),
        ..Scripted::default()
    };
    let (summary, calls) = play_until(player, &sessions, &run, 2, stop);
    assert!(summary.stopped && calls.len() <= 4);
    assert_eq!(summary.finished, calls.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_session_is_recorded_once_whatever_fails_and_however_many_work(
        count in 1u32..20, workers in 1usize..5,
        faults in proptest::collection::btree_map(0u32..20, 1usize..3, 0..6),
    ) {
        let (_folder, run) = fresh();
        let sessions = keys(count);
        let scripted = faults.iter().filter(|(number, _)| **number < count)
            .map(|(number, times)| (sessions[*number as usize].to_string(), vec![FaultKind::Deadline; *times]))
            .collect::<BTreeMap<_, _>>();
        let needed: usize = sessions.len() + scripted.values().map(Vec::len).sum::<usize>();
        let (summary, calls) = play(Scripted { faults: scripted, ..Scripted::default() }, &sessions, &run, workers);
        prop_assert_eq!(summary.finished, sessions.len());
        prop_assert_eq!(calls.len(), needed);
        for key in &sessions {
            prop_assert!(run.record(key).unwrap().is_some());
        }
    }
}
