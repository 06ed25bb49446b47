//! Knows the promises about an analysis without a page: the same findings as the report's, text that fits a terminal.
//! Must not know the verb that prints it.
//! Start at `what_follows_from_scores_is_the_same_byte_for_byte_as_in_the_report`.

use evalxrl_analysis::score_table::Roles;
use serde_json::Value;

use super::synthetic::{Shape, folder};
use crate::report::{Account, Detail, Run, Scores, read_scores, write, write_scores};

fn account(run: &Run) -> (Scores, evalxrl_analysis::findings::Findings) {
    let scores = Scores::of_run(run, Roles::default()).unwrap();
    let findings = scores.findings().unwrap();
    (scores, findings)
}

/// The text of each top-level entry of a pretty JSON object, by its key.
fn entries(json: &str) -> Vec<(&str, &str)> {
    let inner = json.trim_end().strip_prefix("{\n").unwrap();
    let inner = inner.strip_suffix("\n}").unwrap();
    let mut starts: Vec<usize> = inner
        .match_indices("\n  \"")
        .map(|(at, _)| at + 1)
        .collect();
    starts.insert(0, 0);
    let ends = starts.iter().skip(1).copied().chain([inner.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| {
            let entry = inner[start..end].trim_end().trim_end_matches(',');
            let (key, value) = entry.split_once(": ").unwrap();
            (key.trim().trim_matches('"'), value)
        })
        .collect()
}

#[test]
fn what_follows_from_scores_is_the_same_byte_for_byte_as_in_the_report() {
    let mut shape = Shape::of(3, 3, 3);
    shape.missing_every = 9;
    let run = shape.run();
    let (out, _held) = folder("shared");
    write(&run, &out).unwrap();
    let report = std::fs::read_to_string(out.join("findings.json")).unwrap();
    let (scores, findings) = account(&run);
    let own = Account::of(&scores, &findings).json().unwrap();
    let of_report = entries(&report);
    let of_scores = entries(&own);
    let keys: Vec<&str> = of_scores.iter().map(|(key, _)| *key).collect();
    assert_eq!(
        keys,
        [
            "format",
            "admission",
            "analysis",
            "table",
            "budget_curves",
            "strata"
        ]
    );
    for (key, text) in &of_scores {
        let other = of_report.iter().find(|(known, _)| known == key);
        assert!(
            other.is_some_and(|(_, other)| other == text),
            "{key} differs"
        );
    }
}

#[test]
fn an_exported_table_gives_the_numbers_of_its_run_under_the_same_seed() {
    let run = Shape::of(2, 3, 3).run();
    let (scores, findings) = account(&run);
    let bytes = write_scores(&scores.table).unwrap();
    let table = read_scores(&bytes, "scores.csv", Roles::default()).unwrap();
    let mut bare = Scores::bare(table, run.root_seed.clone());
    bare.analysis = run.analysis;
    let again = bare.findings().unwrap();
    assert_eq!(findings.strata[0].lifts, again.strata[0].lifts);
    assert_eq!(findings.strata[0].h1, again.strata[0].h1);
    assert_eq!(findings.strata[0].h3, again.strata[0].h3);
}

#[test]
fn the_text_of_any_run_fits_a_hundred_columns() {
    for (methods, malfunctions, missing_every) in [(1, 1, 0), (3, 4, 5), (8, 10, 7)] {
        let mut shape = Shape::of(methods, malfunctions, 2);
        shape.missing_every = missing_every;
        shape.resamples = 20;
        let (scores, findings) = account(&shape.run());
        let account = Account::of(&scores, &findings);
        let text = account.text("runs/pilot", Detail::All);
        let main = account.text("runs/pilot", Detail::Main);
        for line in text.lines().chain(main.lines()) {
            assert!(line.chars().count() <= 100, "{line}");
        }
        assert!(main.len() < text.len() && main.contains("more tables: --all prints them"));
        for part in ["H1 (structure): ", "H2 (oracle gap): ", "H3 (harm): "] {
            assert!(text.contains(part), "{part}");
        }
        assert!(
            text.contains(
                "DEVIATION from the frozen plan: analysis.resamples is 20, but 50000 there"
            )
        );
    }
}

#[test]
fn an_analysis_without_references_says_so() {
    let run = Shape::of(1, 1, 2).run();
    let (scores, _) = account(&run);
    let mut bare = Scores::bare(scores.table, run.root_seed.clone());
    bare.analysis = run.analysis;
    let findings = bare.findings().unwrap();
    let json: Value = serde_json::from_str(&Account::of(&bare, &findings).json().unwrap()).unwrap();
    assert_eq!(
        json["admission"]["not_computed"],
        "a table holds no references"
    );
    assert_eq!(json["analysis"]["deviations"], serde_json::json!([]));
}
