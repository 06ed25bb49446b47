//! Knows that a plan and a run directory are read into the run that a report is made from.
//! Must not know the files of a run directory.
//! Start at `a_run_directory_is_reported_from_its_plan_and_records`.

use evalxrl_analysis::plan::AnalysisPlan;
use serde_json::{Value, json};

use super::synthetic::{HOSTILE, folder};
use crate::plan::Plan;
use crate::report::{ReportError, Run, analyse, write};
use crate::store::{Attempt, RunDirectory, SessionRecord};
use crate::vocab::{FaultKind, HarnessFault};

const MALFUNCTION: &str = "treasure-grid-x";

fn key(method: &str, replication: u32) -> Value {
    let coder = if method == "optimal-repair" {
        "optimal"
    } else {
        "search"
    };
    json!({
        "malfunction": MALFUNCTION, "method": method, "coder": coder, "invocations": "unlimited",
        "replication": replication,
    })
}

fn plan(methods: &[&str]) -> Plan {
    let budget = json!({
        "steps": 50, "wall_seconds": 600, "working_seconds": 600, "command_seconds": 120,
        "score": {"calls": 8, "episodes": 64},
    });
    let coder = |label: &str| {
        json!({
            "label": label, "scaffold": label, "budget": budget, "candidates": 5, "prompt_hash": "aa",
        })
    };
    let limits = json!({
        "memory": 1_073_741_824u64, "cpus": 2.0, "cpuset": null, "pids": 128, "home": 1, "temporary": 1,
    });
    let sessions: Vec<Value> = (0..2)
        .flat_map(|replication| methods.iter().map(move |method| (replication, *method)))
        .enumerate()
        .map(|(index, (replication, method))| {
            json!({"index": index, "key": key(method, replication), "session_hash": "bb"})
        })
        .collect();
    let arms: Vec<Value> = methods
        .iter()
        .map(|method| json!({"method": method, "dossiers": []}))
        .collect();
    let analysis = AnalysisPlan {
        resamples: 100,
        ..AnalysisPlan::default()
    };
    let reference = json!({
        "environment": "treasure_grid", "version": 1, "source": "s", "fault": "f", "seeds": [],
        "episode_seed": "e", "episodes": 256, "p_clean": 14.0, "se_clean": 0.25, "p_broken": 2.0,
        "se_broken": 0.5, "p_random": 0.0, "gap_over_span": 0.5, "clean_beats_broken": 1.0,
        "gap_over_error": 21.5, "repaired": 1.0, "above_random": 2.0, "floor": false, "episode_error": 0.2,
        "clean": [14.0], "broken": [2.0],
    });
    let malfunction = json!({
        "id": MALFUNCTION, "environment": "treasure_grid", "class": "reward-clipping", "version": 1,
        "held_out": false, "hash": "cc", "source_hash": "dd",
    });
    let mut plan = json!({
        "format": "evalxrl.plan/1", "name": "small", "created": "2026-11-30T15:00:00Z",
        "version": "0.1.0", "git": {"commit": null, "dirty": true},
        "root_seed": "0f".repeat(32), "weak_seed": false, "sandbox": "local", "access": "white",
        "bundle": "workspace", "attempts": 3, "replications": 2, "scoring": {"episodes": 256},
        "images": {}, "catalog_hash": "ee", "references_hash": "ff",
    });
    plan["coders"] = json!([coder("search"), coder("optimal")]);
    plan["arms"] = json!(arms);
    plan["malfunctions"] = json!([malfunction]);
    plan["limits"] = json!({"workspace": limits, "agent": limits, "scorer": limits});
    plan["analysis"] = json!(analysis);
    plan["references"] = json!({MALFUNCTION: reference});
    plan["sessions"] = json!(sessions);
    serde_json::from_value(plan).unwrap()
}

fn record(method: &str, replication: u32, raw: f64) -> SessionRecord {
    let mut record = json!({
        "format": "evalxrl.session/1", "session_hash": "bb", "attempt": 1,
        "started": "2026-11-30T15:01:00Z", "strays": 0, "invalid_actions": 0, "floored": 0,
        "scaffold": "search", "versions": {"jax": "0.9.0"}, "images": {},
        "sources": {"environment": "dd"}, "seeds": [], "bundle_mode": "workspace", "note": HOSTILE,
        "outcome": {"kind": "gave_up", "reason": HOSTILE},
        "reference": {"p_clean": 14.0, "p_broken": 2.0, "hash": "77"},
        "repair_score": {"raw": raw, "clipped": raw},
        "usage": {"tokens": 0, "cost": 0.0, "cost_all_attempts": 0.25},
        "isolation": {"kind": "none", "probes": [], "cpuset_shared": true},
        "budget": {"invocations": "unlimited", "enforced": "none", "source_readable": true},
        "restoring_rank": {"rank": 7, "candidates": 300},
    });
    record["key"] = key(method, replication);
    record["seconds"] = json!({
        "wall": 90.0, "working": 80.0, "provider": 0.0, "tools": 2.0, "training": 60.0, "scoring": 15.0,
        "sandboxes": 5.0,
    });
    record["performance"] = json!({
        "mean": 2.0, "standard_error": 0.0, "episodes": 1, "returns": [2.0], "measured": false,
    });
    record["calls"] = json!({
        "steps": 4, "actions": 3, "commands": 3, "score": 1, "tools": {}, "refused": 0,
    });
    serde_json::from_value(record).unwrap()
}

#[test]
fn a_run_directory_is_reported_from_its_plan_and_records() {
    let methods = ["no-method", "cheat-oracle", "optimal-repair"];
    let plan = plan(&methods);
    let (out, _held) = folder("store");
    let root = out.join("run");
    drop(std::fs::remove_dir_all(&root));
    let directory = RunDirectory::create(&root, b"{}").unwrap();
    for (method, replication) in [("no-method", 0), ("cheat-oracle", 0), ("no-method", 1)] {
        assert!(directory.finish(&record(method, replication, 0.0)).unwrap());
    }
    let failed = plan
        .sessions
        .iter()
        .find(|each| each.key.method.as_str() == "optimal-repair");
    let attempt = Attempt {
        format: "evalxrl.attempt/1".to_owned(),
        attempt: 1,
        fault: HarnessFault::new(FaultKind::ContainerLost, HOSTILE),
        seconds: 3.0,
        cost: 0.0,
    };
    directory.failed(&failed.unwrap().key, &attempt).unwrap();

    let run = Run::read(&plan, &directory).unwrap();
    assert_eq!(run.planned.len(), 6);
    assert_eq!(run.sessions.len(), 3);
    assert_eq!(run.failures.len(), 1);
    assert!(!run.failures[0].last.contains('\u{1b}'));
    assert_eq!(run.facts.settings["coder.search.budget.steps"], "50");
    let session = &run.sessions[0];
    assert_eq!(session.cost_usd, 0.25);
    assert!(!session.note.as_ref().unwrap().contains('\u{1b}'));

    let report = write(&run, &root).unwrap();
    let page = std::fs::read_to_string(&report.page).unwrap();
    assert!(page.contains("3 of 6 planned sessions are missing"));
    assert!(page.contains("<strong>Not isolated.</strong>"));
    assert!(page.contains("container_lost: "));
    assert!(page.contains("reward-clipping"));
    assert!(page.contains("uncommitted changes"));
    assert!(report.summary.contains("isolation: none"));
}

#[test]
fn records_of_one_block_with_another_broken_agent_are_refused() {
    let plan = plan(&["no-method", "cheat-oracle"]);
    let folder = tempfile::tempdir().unwrap();
    let directory = RunDirectory::create(folder.path(), b"{}").unwrap();
    directory.finish(&record("no-method", 0, 0.0)).unwrap();
    let mut other = record("cheat-oracle", 0, 0.0);
    other.reference.hash = "78".to_owned();
    directory.finish(&other).unwrap();
    let error = analyse(&Run::read(&plan, &directory).unwrap()).unwrap_err();
    assert!(matches!(error, ReportError::Mixed(_)));
    assert!(error.to_string().contains("reference.hash"), "{error}");
}
