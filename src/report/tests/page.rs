//! Knows the promises about the page: numbers that are in the findings, inert texts, order, self-containment.
//! Must not know how the page is laid out beyond its marks.
//! Start at `every_number_on_the_page_is_in_the_findings`.

use serde_json::Value;

use super::synthetic::{Shape, folder, repeat_with, with_transcripts};
use crate::report::{Run, write};

pub(super) fn page(run: &Run, name: &str) -> (String, Value, String) {
    let (out, _held) = folder(name);
    let report = write(run, &out).unwrap();
    let html = std::fs::read_to_string(report.page).unwrap();
    let json = std::fs::read(out.join("findings.json")).unwrap();
    let markdown = std::fs::read_to_string(out.join("report/report.md")).unwrap();
    (html, serde_json::from_slice(&json).unwrap(), markdown)
}

/// Cuts everything between two marks, marks included.
fn without(mut text: String, open: &str, close: &str) -> String {
    while let Some(start) = text.find(open) {
        let end = text[start..].find(close).unwrap() + start + close.len();
        text.replace_range(start..end, " ");
    }
    text
}

fn visible(html: &str) -> String {
    let mut text = html.to_owned();
    for (open, close) in [
        ("<style>", "</style>"),
        ("<script", "</script>"),
        ("<svg", "</svg>"),
        ("<", ">"),
    ] {
        text = without(text, open, close);
    }
    text.replace('\u{2212}', "-")
}

/// Numbers that stand alone: not part of an id, a hash, a version, a time or a word.
fn numbers(text: &str) -> Vec<String> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')' | ',' | ';' | ':'))
        .map(|word| word.trim_end_matches('.').trim_start_matches('+'))
        .filter(|word| word.parse::<f64>().is_ok_and(f64::is_finite))
        .filter(|word| {
            word.bytes()
                .all(|b| b.is_ascii_digit() || b"+-.e".contains(&b))
        })
        .map(str::to_owned)
        .collect()
}

fn collect(value: &Value, numbers: &mut Vec<f64>, strings: &mut Vec<String>) {
    match value {
        Value::Number(number) => numbers.push(number.as_f64().unwrap()),
        Value::String(text) => strings.push(text.replace('\u{2212}', "-")),
        Value::Array(items) => {
            numbers.push(items.len() as f64);
            items
                .iter()
                .for_each(|item| collect(item, numbers, strings));
        }
        Value::Object(map) => map
            .values()
            .for_each(|item| collect(item, numbers, strings)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn is_in_findings(shown: &str, values: &[f64], strings: &[String]) -> bool {
    if matches!(shown, "0" | "1") || strings.iter().any(|text| text.contains(shown)) {
        return true;
    }
    let number: f64 = shown.parse().unwrap();
    let half_step = match shown.split_once('e') {
        Some((digits, power)) => {
            let power: i32 = power.parse().unwrap();
            let places = digits.split_once('.').map_or(0, |(_, tail)| tail.len());
            0.5 * 10f64.powi(power - places as i32)
        }
        None => {
            let places = shown.split_once('.').map_or(0, |(_, tail)| tail.len());
            0.5 * 10f64.powi(-(places as i32))
        }
    };
    let tolerance = half_step * (1.0 + 1e-9) + 1e-12;
    values
        .iter()
        .any(|value| (value - number).abs() <= tolerance)
}

#[test]
fn every_number_on_the_page_is_in_the_findings() {
    let mut shape = Shape::of(3, 4, 4);
    shape.missing_every = 11;
    let (html, findings, markdown) = page(&shape.run(), "three-by-four");
    all_in_findings(&html, &findings, &markdown, 300);
}

pub(super) fn all_in_findings(html: &str, findings: &Value, markdown: &str, least: usize) {
    let (mut values, mut strings) = (Vec::new(), Vec::new());
    collect(findings, &mut values, &mut strings);
    let markdown = markdown
        .replace('\u{2212}', "-")
        .replace(['|', '*', '\\'], " ");
    for text in [visible(html), markdown] {
        let shown = numbers(&text);
        assert!(shown.len() > least, "only {} numbers", shown.len());
        let foreign: Vec<&String> = shown
            .iter()
            .filter(|number| !is_in_findings(number, &values, &strings))
            .collect();
        assert!(foreign.is_empty(), "not in findings.json: {foreign:?}");
    }
}

#[test]
fn a_number_that_is_not_in_the_findings_would_be_noticed() {
    assert!(!is_in_findings("0.37", &[0.38, 0.36], &[]));
    assert!(is_in_findings("0.37", &[0.3651], &[]));
    assert!(!is_in_findings("1.0e-5", &[2.0e-5], &[]));
}

#[test]
fn texts_of_sessions_are_inert_on_every_page() {
    let (source, _held) = folder("hostile-source");
    let mut run = Shape::of(2, 2, 3).run();
    with_transcripts(&mut run, &source);
    let (out, _kept) = folder("hostile");
    write(&run, &out).unwrap();
    let mut seen = 0;
    for entry in walkdir::WalkDir::new(&out).into_iter().map(Result::unwrap) {
        let name = entry
            .path()
            .extension()
            .unwrap_or_default()
            .to_string_lossy();
        if !entry.file_type().is_file() || !["html", "md", "svg", "tex", "csv"].contains(&&*name) {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let path = entry.path().display();
        for control in ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}'] {
            let data = name == "csv";
            assert!(data || !text.contains(control), "{path} holds {control:?}");
        }
        if name == "html" || name == "md" {
            assert!(!text.contains("<script>alert"), "{path}");
            assert!(!text.contains("<img"), "{path}");
            seen += usize::from(text.contains("&lt;script&gt;alert(1)"));
        }
    }
    assert!(
        seen > run.sessions.len(),
        "the hostile text is shown as text"
    );
}

#[test]
fn the_page_needs_no_network_and_runs_only_its_own_script() {
    let (html, _, _) = page(&Shape::of(2, 2, 2).run(), "alone");
    for mark in [
        "src=\"http",
        "href=\"http",
        "url(",
        "@import",
        "<link",
        "<iframe",
    ] {
        assert!(!html.contains(mark), "{mark}");
    }
    assert_eq!(html.matches("<script").count(), 1);
    let nonce = html
        .split("'nonce-")
        .nth(1)
        .unwrap()
        .split('\'')
        .next()
        .unwrap();
    assert!(html.contains(&format!("<script nonce=\"{nonce}\">")));
}

#[test]
fn every_figure_has_a_title_a_description_and_a_table_with_its_values() {
    let (html, _, _) = page(&Shape::of(2, 2, 2).run(), "figures");
    for (figure, table) in [
        ("heatmap", "cell_lifts"),
        ("forest", "lifts"),
        ("distributions", "cells"),
        ("profiles", "profiles"),
        ("truncation", "truncation"),
    ] {
        assert!(html.contains(&format!(
            "aria-labelledby=\"{figure}-title {figure}-description\""
        )));
        assert!(html.contains(&format!("<desc id=\"{figure}-description\">")));
        assert!(html.contains(&format!("<table id=\"{table}\">")));
    }
}

#[test]
fn what_is_missing_stands_before_the_answer_and_the_answer_before_all_else() {
    let mut shape = Shape::of(2, 2, 3);
    shape.missing_every = 5;
    let (html, findings, _) = page(&shape.run(), "missing");
    let place = |mark: &str| html.find(mark).unwrap_or_else(|| panic!("{mark}"));
    let order = [
        "<strong>Incomplete.</strong>",
        "id=\"answer\"",
        "id=\"heatmap-title\"",
        "id=\"forest-title\"",
        "id=\"distributions-title\"",
        "H1: does the method",
        "H3: does some method harm?",
        "id=\"predictions-stratum\"",
        "id=\"aggregates-stratum\"",
        "id=\"tool-calls-stratum\"",
        "id=\"truncation-stratum\"",
        "id=\"sessions\"",
        "What this does not show",
        "<h2>Provenance</h2>",
    ];
    let places: Vec<usize> = order.into_iter().map(place).collect();
    assert!(places.is_sorted(), "{places:?}");
    let missing = findings["progress"]["missing"].as_array().unwrap().len();
    assert!(html.contains(&format!("{missing} of 30 planned sessions are missing")));
}

#[test]
fn a_difference_from_the_frozen_plan_is_marked() {
    let (html, _, _) = page(&Shape::of(1, 2, 2).run(), "deviation");
    assert!(html.contains("<li class=\"deviation\">analysis.resamples is 200, but 50000"));
}

#[test]
fn the_rows_that_decide_are_strong() {
    let (html, _, _) = page(&Shape::of(3, 4, 4).run(), "strong");
    for start in [
        "<tr class=\"strong\"><td>clipped</td><td>wild</td>",
        "<tr class=\"strong\"><td>clipped</td><td>mean over malfunctions</td>",
        "<tr class=\"strong\"><td>permutation of means</td>",
    ] {
        assert!(html.contains(start), "{start}");
    }
}

#[test]
fn predictions_are_held_against_what_was_found() {
    let run = Shape::of(2, 4, 4).run();
    let (html, findings, markdown) = page(&run, "predictions");
    let list = findings["predictions"].as_array().unwrap();
    assert_eq!(list.len(), run.predictions.len());
    let not_run = list.iter().filter(|each| each["found"] == "not_run");
    assert_eq!(not_run.count(), 4, "decision-tree is no arm of this run");
    for each in list {
        let (malfunction, method) = (
            each["prediction"]["malfunction"].as_str().unwrap(),
            each["prediction"]["method"].as_str().unwrap(),
        );
        assert!(html.contains(&format!("<td>{malfunction}</td><td>{method}</td>")));
    }
    assert!(html.contains("<table id=\"predictions\">"));
    assert!(markdown.contains("\n## Predictions\n"));
    let mut without = run;
    without.predictions.clear();
    let (html, _, markdown) = page(&without, "no-predictions");
    assert!(!html.contains("id=\"predictions"));
    assert!(!markdown.contains("## Predictions"));
}

#[test]
fn a_cell_above_the_cheat_oracle_is_marked_where_the_interval_excludes_zero() {
    let mut run = Shape::of(1, 2, 5).run();
    let malfunction = run.malfunctions[0].id.clone();
    for session in &mut run.sessions {
        if session.key.malfunction == malfunction
            && session.key.method.as_str() == "reward-decomposition"
        {
            session.outcome = crate::vocab::OutcomeKind::Submitted;
            session.raw = 1.5 + 0.01 * f64::from(session.key.replication);
            session.clipped = 1.0;
        }
    }
    let (html, _, _) = page(&run, "above-oracle");
    let table = html.split("<table id=\"cell_lifts\">").nth(1).unwrap();
    let table = table.split("</table>").next().unwrap();
    assert_eq!(table.matches("<td>above</td>").count(), 1, "{table}");
    let row = table
        .split("<tr")
        .find(|row| row.contains("<td>above</td>"))
        .unwrap();
    assert!(row.contains(malfunction.as_str()) && row.contains("reward-decomposition"));
}

#[test]
fn parts_that_the_data_lack_have_no_heading() {
    let (html, findings, _) = page(&Shape::of(1, 2, 2).run(), "lacking");
    let stratum = &findings["strata"][0];
    for (key, title) in [
        ("ablation", "Rich against minimal dossiers"),
        ("shapley", "What each method adds to a joint dossier"),
    ] {
        assert!(stratum[key]["not_computed"].is_string(), "{key}");
        assert!(!html.contains(title), "{title}");
    }
}

#[test]
fn coalitions_and_dossier_pairs_get_their_parts() {
    let mut run = Shape::of(0, 2, 3).run();
    let base: Vec<_> = run
        .sessions
        .iter()
        .filter(|session| session.key.method.as_str() == "cheat-oracle")
        .cloned()
        .collect();
    for (index, method) in [
        "saliency",
        "tree",
        "saliency+tree",
        "maps-rich",
        "maps-minimal",
    ]
    .into_iter()
    .enumerate()
    {
        for session in &base {
            let mut session = session.clone();
            session.key.method = crate::vocab::MethodId::new(method).unwrap();
            session.raw *= 0.2 * (index as f64 + 1.0);
            session.clipped = session.raw.clamp(0.0, 1.0);
            run.planned.push(session.key.clone());
            run.sessions.push(session);
        }
    }
    run.analysis.ablation_pairs = vec![("maps-rich".to_owned(), "maps-minimal".to_owned())];
    let (html, findings, markdown) = page(&run, "coalitions");
    for part in [
        "id=\"shapley-title\"",
        "<table id=\"shapley\">",
        "<table id=\"coalitions\">",
        "id=\"ablation-stratum\"",
        "<table id=\"ablation_tests\">",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(markdown.contains("## What each method adds to a joint dossier"));
    assert!(findings["strata"][0]["shapley"]["raw"]["values"].is_array());
    all_in_findings(&html, &findings, &markdown, 200);
}

#[test]
fn several_invocation_budgets_of_one_coder_get_a_curve() {
    let mut run = Shape::of(2, 2, 3).run();
    let mut more = run.sessions.clone();
    more.retain(|session| {
        !["no-method", "cheat-oracle", "optimal-repair"].contains(&session.key.method.as_str())
    });
    for session in &mut more {
        session.key.invocations = crate::vocab::Invocations::AtMost(3);
        session.raw *= 0.5;
        session.clipped = session.raw.clamp(0.0, 1.0);
        run.planned.push(session.key.clone());
    }
    run.sessions.extend(more);
    let (html, findings, markdown) = page(&run, "budgets");
    assert!(findings["budget_curves"]["planned"].is_array());
    assert!(html.contains("<table id=\"planned_budgets\">"));
    all_in_findings(&html, &findings, &markdown, 200);
}

#[test]
fn the_text_report_is_markdown_with_headings_lists_and_tables() {
    let (_, _, markdown) = page(&Shape::of(2, 2, 3).run(), "markdown");
    let lines: Vec<&str> = markdown.lines().collect();
    for line in [
        "## Lift of every cell",
        "### H3: does some method harm?",
        "**Lift of every method**",
        "| method | scale | malfunctions | lift, bootstrap interval | Welch interval |",
        "|---|---|---:|---:|---:|",
        "- Isolation: docker",
        "## Provenance",
    ] {
        assert!(lines.contains(&line), "{line}");
    }
    let table = lines
        .iter()
        .position(|line| line.starts_with("|---|---|---:"))
        .unwrap();
    assert!(lines[table - 1].starts_with("| ") && lines[table + 1].starts_with("| "));
    assert!(!markdown.contains("\\*\\*"));
    assert!(markdown.contains("![Rows are malfunctions"));
}

#[test]
fn another_coder_gets_a_part_of_its_own_and_is_not_pooled() {
    let mut run = Shape::of(1, 2, 2).run();
    repeat_with(&mut run, "second");
    let (html, findings, _) = page(&run, "two-coders");
    assert_eq!(findings["strata"].as_array().unwrap().len(), 2);
    let headline = findings["headline"].as_u64().unwrap() as usize;
    assert_eq!(findings["strata"][headline]["coder"], "search");
    assert!(html.contains("Apart: coder second, invocations unlimited"));
    assert!(html.contains("id=\"heatmap-second-unlimited-title\""));
    assert!(html.contains("<table id=\"lifts-second-unlimited\">"));
    let ids: Vec<&str> = html
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let unique: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(ids.len(), unique.len(), "an id stands twice");
}
