//! Knows the promises about files: determinism, size, completeness, and what is refused.
//! Must not know markup.
//! Start at the tests.

use std::collections::BTreeMap;
use std::path::Path;

use super::synthetic::{Shape, condition, folder, with_transcripts};
use crate::report::{ReportError, analyse, write, write_findings};

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).unwrap();
            (
                path.display().to_string(),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

#[test]
fn the_same_run_gives_the_same_bytes_in_every_file() {
    let (source, _held) = folder("transcripts-source");
    let mut run = Shape::of(2, 3, 3).run();
    with_transcripts(&mut run, &source);
    let [first, second] = [0, 1].map(|_| {
        let folder = tempfile::tempdir().unwrap();
        write(&run, folder.path()).unwrap();
        files(folder.path())
    });
    assert!(first == second);
    for name in [
        "findings.json",
        "scores.csv",
        "report/report.html",
        "report/report.md",
        "report/figures/heatmap.svg",
        "report/figures/heatmap.png",
        "report/figures/forest.png",
        "report/figures/distributions.svg",
        "report/tables/lifts.csv",
        "report/tables/lifts.tex",
        "report/tables/h1_tests.csv",
        "report/tables/h2_gaps.csv",
        "report/tables/h3_cells.tex",
        "report/tables/restoring_ranks.csv",
        "report/tables/time.csv",
        "report/transcripts/treasure-grid-sign-flip.no-method.search.iunlimited.r00.html",
    ] {
        assert!(first.contains_key(name), "{name} is missing");
    }
    let cells = first.keys().filter(|name| name.contains("transcripts/"));
    assert_eq!(cells.count(), run.sessions.len());
}

#[test]
fn the_order_of_records_does_not_change_a_byte() {
    let run = Shape::of(2, 3, 2).run();
    let mut reversed = run.clone();
    reversed.sessions.reverse();
    let [a, b] = [&run, &reversed].map(|run| {
        let folder = tempfile::tempdir().unwrap();
        write(run, folder.path()).unwrap();
        files(folder.path())
    });
    assert!(a == b);
}

#[test]
fn a_page_of_a_thousand_sessions_stays_below_five_megabytes() {
    let mut shape = Shape::of(5, 25, 5);
    shape.resamples = 20;
    let run = shape.run();
    assert_eq!(run.sessions.len(), 1000);
    let (out, _held) = folder("thousand");
    let report = write(&run, &out).unwrap();
    let bytes = std::fs::metadata(&report.page).unwrap().len();
    assert!(bytes < 5_000_000, "{bytes} bytes");
}

#[test]
fn sessions_made_under_different_conditions_are_refused_by_the_name_of_the_field() {
    for (field, scope) in [
        ("isolation.kind", "run"),
        ("versions.jax", "run"),
        ("sources.environment", "treasure_grid"),
        ("reference.hash", "treasure-grid-sign-flip r00"),
    ] {
        let mut run = Shape::of(1, 2, 2).run();
        let conditions = &mut run.sessions[1].conditions;
        conditions.retain(|condition| condition.field != field);
        conditions.push(condition(field, scope, "other"));
        let error = analyse(&run).unwrap_err();
        assert!(matches!(error, ReportError::Mixed(_)));
        assert!(error.to_string().contains(field), "{error}");
    }
}

#[test]
fn every_mixed_field_is_named_at_once_and_each_only_once() {
    let mut run = Shape::of(2, 2, 2).run();
    for session in &mut run.sessions[3..] {
        for condition in &mut session.conditions {
            if condition.scope == "run" {
                condition.value.push_str("-other");
            }
        }
    }
    let ReportError::Mixed(mixed) = analyse(&run).unwrap_err() else {
        unreachable!("mixed runs are refused as such")
    };
    let fields: Vec<&str> = mixed.iter().map(|each| each.field.as_str()).collect();
    assert_eq!(
        fields,
        ["isolation.kind", "versions.jax", "versions.evalxrl"]
    );
}

#[test]
fn a_record_that_the_plan_does_not_hold_is_a_contradiction() {
    let mut run = Shape::of(1, 2, 2).run();
    let key = run.sessions[0].key.clone();
    run.planned.retain(|planned| planned.cell() != key.cell());
    let error = analyse(&run).unwrap_err();
    assert!(matches!(error, ReportError::Contradiction(_)));
    assert!(error.to_string().contains(key.method.as_str()), "{error}");
}

#[test]
fn a_run_without_any_session_is_reported_as_incomplete() {
    let mut run = Shape::of(1, 2, 2).run();
    run.sessions.clear();
    let (out, _held) = folder("empty");
    let report = write(&run, &out).unwrap();
    let page = std::fs::read_to_string(&report.page).unwrap();
    assert!(page.contains("16 of 16 planned sessions are missing"));
    assert!(report.summary.contains("INCOMPLETE"));
}

#[test]
fn one_method_and_one_replication_are_enough_for_a_page() {
    let mut shape = Shape::of(1, 1, 1);
    shape.reference_arms = false;
    let (out, _held) = folder("least");
    let run = shape.run();
    let findings = analyse(&run).unwrap();
    let report = write_findings(&run, &findings, &out).unwrap();
    let text = std::fs::read_to_string(out.join("findings.json")).unwrap();
    assert!(!text.contains("NaN"));
    let page = std::fs::read_to_string(&report.page).unwrap();
    assert!(page.contains("H1 (structure): not computed: "));
}
