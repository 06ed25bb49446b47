//! Knows the promises about texts beside lifts: what is shown with records, without them, and beyond the run.
//! Must not know how a correlation is computed.
//! Start at `percentiles_stand_beside_the_lifts_of_their_cells`.

use serde_json::Value;

use super::page::{all_in_findings, page};
use super::synthetic::{Shape, folder, repeat_with};
use crate::report::{Run, write};
use crate::store::{FaultyLine, LocalisationRecord, ToolText};

fn record(malfunction: &str, dossier: &str, percentile: f64) -> LocalisationRecord {
    LocalisationRecord {
        format: "evalxrl.localisation/1".to_owned(),
        malfunction: malfunction.parse().unwrap(),
        dossier: dossier.parse().unwrap(),
        inputs: "5e".repeat(32),
        tools: vec![ToolText {
            name: "explain".to_owned(),
            code: Some(0),
            seconds: 2.5,
            bytes: 4096,
        }],
        query_tokens: 321,
        lines: 1234,
        faulty: vec![FaultyLine {
            path: "training/loop.py".to_owned(),
            line: 77,
            percentile,
        }],
        percentile,
    }
}

/// A record for every explanation method of a run on every malfunction.
fn with_records(run: &mut Run) {
    let cells: std::collections::BTreeSet<(String, String)> = run
        .planned
        .iter()
        .map(|key| (key.malfunction.to_string(), key.method.to_string()))
        .filter(|(_, method)| {
            !["no-method", "cheat-oracle", "optimal-repair"].contains(&method.as_str())
        })
        .collect();
    run.localisation = cells
        .iter()
        .enumerate()
        .map(|(index, (malfunction, method))| {
            let percentile = (index as f64 * 0.618_034 + 0.37).fract();
            record(malfunction, method, percentile)
        })
        .collect();
}

fn raw_correlation(findings: &Value) -> Value {
    let all = findings["localisation"]["correlations"].as_array().unwrap();
    let of = |each: &&Value| each["scale"] == "raw" && each["within_malfunctions"] == false;
    all.iter().find(of).unwrap()["correlation"].clone()
}

#[test]
fn percentiles_stand_beside_the_lifts_of_their_cells() {
    let mut run = Shape::of(3, 4, 4).run();
    with_records(&mut run);
    let (html, findings, markdown) = page(&run, "localisation");
    let cells = findings["localisation"]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 12);
    for cell in cells {
        let lifts = findings["strata"][0]["lifts"]["methods"]
            .as_array()
            .unwrap();
        let own = lifts
            .iter()
            .find(|lift| lift["scale"] == "raw" && lift["method"] == cell["method"]);
        let of = own.unwrap()["malfunctions"].as_array().unwrap();
        let same = of
            .iter()
            .find(|each| each["malfunction"] == cell["malfunction"]);
        assert_eq!(cell["raw"], same.unwrap()["lift"]);
    }
    let correlation = raw_correlation(&findings);
    assert_eq!(
        (&correlation["pairs"], &correlation["clusters"]),
        (&12.into(), &4.into())
    );
    assert!(correlation["interval"]["low"].is_number());
    for table in ["matrix", "methods", "correlation", "cells"] {
        assert!(
            html.contains(&format!("<table id=\"localisation_{table}\">")),
            "{table}"
        );
    }
    assert!(html.contains("over 12 cells of 4 malfunctions: "));
    assert!(html.contains("Fewer than ten malfunctions"));
    let place = |mark: &str| html.find(mark).unwrap();
    assert!(place("id=\"predictions-stratum\"") < place("<h2 id=\"localisation\">"));
    assert!(place("<h2 id=\"localisation\">") < place("id=\"aggregates-stratum\""));
    assert!(markdown.contains("\n## Standalone against in use\n"));
    assert!(
        markdown
            .contains("| treasure-grid-stale-mask: percentile | treasure-grid-stale-mask: lift |")
    );
    all_in_findings(&html, &findings, &markdown, 300);
}

#[test]
fn tables_of_texts_have_typed_columns_for_other_programs() {
    let mut run = Shape::of(2, 2, 3).run();
    with_records(&mut run);
    let (out, _held) = folder("localisation-tables");
    write(&run, &out).unwrap();
    let read = |name: &str| std::fs::read_to_string(out.join("report/tables").join(name)).unwrap();
    let matrix = read("localisation_matrix.csv");
    let mut lines = matrix.lines();
    assert_eq!(
        lines.next().unwrap(),
        "method,treasure-grid-sign-flip_percentile,treasure-grid-sign-flip_lift,\
         treasure-grid-stale-mask_percentile,treasure-grid-stale-mask_lift"
    );
    for line in lines {
        let numbers: Vec<&str> = line.split(',').skip(1).collect();
        assert!(
            numbers.iter().all(|number| number.parse::<f64>().is_ok()),
            "{line}"
        );
    }
    assert!(
        read("localisation_methods.csv")
            .starts_with("method,malfunctions,percentile,percentile_low,")
    );
    assert!(
        read("localisation_correlation.csv")
            .starts_with("scale,over,cells,malfunctions,correlation,")
    );
    assert!(read("localisation_cells.csv").starts_with("malfunction,method,percentile,lift_raw,"));
    assert!(read("localisation_matrix.tex").contains("\\begin{tabular}{lrrrr}"));
}

#[test]
fn without_records_one_line_says_what_makes_them() {
    let run = Shape::of(2, 2, 2).run();
    let (html, findings, markdown) = page(&run, "no-localisation");
    let reason = findings["localisation"]["not_computed"].as_str().unwrap();
    assert!(reason.contains("evalxrl localise --run RUN"), "{reason}");
    for text in [&html, &markdown] {
        let line = format!("Not computed: {reason}.");
        assert_eq!(text.matches(&line).count(), 1);
    }
    assert!(!html.contains("<table id=\"localisation"));
}

#[test]
fn texts_beyond_the_run_are_shown_with_their_percentile_alone() {
    let mut run = Shape::of(1, 1, 2).run();
    run.localisation = vec![
        record("cartpole-frozen-gain", "decision-tree", 0.875),
        record("treasure-grid-sign-flip", "reward-decomposition", 0.5),
    ];
    let (html, findings, markdown) = page(&run, "localisation-beyond");
    let cells = &findings["localisation"]["cells"];
    let reason = "decision-tree was not run on cartpole-frozen-gain";
    assert_eq!(cells[0]["raw"]["not_computed"], reason);
    assert!(cells[1]["raw"]["estimate"].is_number());
    assert_eq!(
        raw_correlation(&findings)["not_computed"],
        "fewer than three pairs"
    );
    assert!(html.contains("not computed: fewer than three pairs."));
    assert!(html.contains(&format!(
        "<td class=\"number\">0.88</td><td class=\"number\" title=\"{reason}\">–</td>"
    )));
    all_in_findings(&html, &findings, &markdown, 60);
}

#[test]
fn texts_are_shown_before_any_session_has_ended() {
    let mut run = Shape::of(2, 3, 2).run();
    with_records(&mut run);
    run.sessions.clear();
    let (html, findings, markdown) = page(&run, "localisation-empty");
    let cells = findings["localisation"]["cells"].as_array().unwrap();
    assert!(
        cells
            .iter()
            .all(|cell| cell["raw"]["not_computed"].is_string())
    );
    for mark in [
        "<h2 id=\"localisation\">",
        "<table id=\"localisation_matrix\">",
    ] {
        assert_eq!(html.matches(mark).count(), 1, "{mark}");
    }
    assert_eq!(markdown.matches("## Standalone against in use").count(), 1);
}

#[test]
fn one_percentile_for_all_has_no_correlation() {
    let mut run = Shape::of(2, 3, 2).run();
    with_records(&mut run);
    for each in &mut run.localisation {
        each.percentile = 0.5;
    }
    let (html, findings, _) = page(&run, "localisation-constant");
    let reason = "one of the two is the same in every pair";
    assert_eq!(raw_correlation(&findings)["not_computed"], reason);
    assert!(html.contains(reason));
}

#[test]
fn texts_stand_beside_the_leading_coder_alone_and_in_any_order() {
    let mut run = Shape::of(2, 3, 2).run();
    with_records(&mut run);
    repeat_with(&mut run, "second");
    let (html, _, markdown) = page(&run, "localisation-coders");
    assert_eq!(html.matches("Standalone against in use</h").count(), 1);
    assert_eq!(markdown.matches("## Standalone against in use").count(), 1);
    let mut turned = run.clone();
    turned.localisation.reverse();
    assert!(page(&turned, "localisation-turned").0 == html);
}
