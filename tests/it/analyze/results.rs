//! What an analysis of a table gives.

use serde_json::Value;

use super::kit::{Desk, table};

/// Every number in a document, and every key that holds null where a number might.
fn finite(value: &Value) {
    match value {
        Value::Number(number) => assert!(number.as_f64().unwrap().is_finite()),
        Value::Array(items) => items.iter().for_each(finite),
        Value::Object(map) => map.values().for_each(finite),
        Value::String(text) => {
            for word in ["NaN", "inf"] {
                assert!(
                    !text
                        .split(|c: char| !c.is_alphanumeric())
                        .any(|part| part == word)
                );
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

#[test]
fn findings_have_every_key_of_the_specification() {
    let found = Desk::new().findings(&table(2, 3, 3));
    for key in [
        "format",
        "analysis",
        "table",
        "admission",
        "budget_curves",
        "strata",
    ] {
        assert!(found.get(key).is_some(), "{key}");
    }
    assert_eq!(found["format"], "evalxrl.findings/1");
    let stratum = &found["strata"][0];
    for key in [
        "coder",
        "invocations",
        "cells",
        "lifts",
        "aggregates",
        "h1",
        "h2",
        "h3",
        "attainability",
        "ablation",
        "tool_calls",
        "shapley",
        "cost",
    ] {
        assert!(stratum.get(key).is_some(), "{key}");
    }
    assert!(stratum["h1"]["verdict"]["word"].is_string());
    assert!(stratum["tool_calls"]["methods"].is_array());
    finite(&found);
}

#[test]
fn one_method_on_one_malfunction_is_analysed_and_h1_says_why_it_is_not() {
    let found = Desk::new().findings("malfunction,method,replication,raw\na,m,0,0.5\n");
    let h1 = &found["strata"][0]["h1"];
    for result in [&h1["verdict"], &h1["clipped"], &h1["raw"]] {
        assert!(result["not_computed"].is_string(), "{result}");
    }
    finite(&found);
}

#[test]
fn equal_scores_leave_no_number_that_is_none() {
    let mut text = "malfunction,method,replication,raw\n".to_owned();
    for malfunction in ["a", "b", "c"] {
        for method in ["no-method", "cheat-oracle", "optimal-repair", "m", "n", "o"] {
            for replication in 0..4 {
                text.push_str(&format!("{malfunction},{method},{replication},0.5\n"));
            }
        }
    }
    let found = Desk::new().findings(&text);
    finite(&found);
    let tests = found["strata"][0]["h1"]["clipped"]["tests"].as_array();
    for test in tests.into_iter().flatten() {
        let p = &test["p"];
        assert!(p["not_computed"].is_string() || p["value"] == 1.0, "{test}");
    }
}

#[test]
fn methods_that_share_no_malfunction_are_named() {
    let mut text = "malfunction,method,replication,raw\n".to_owned();
    for (malfunction, methods) in [
        ("a", ["m", "n"]),
        ("b", ["m", "n"]),
        ("c", ["o", "p"]),
        ("d", ["o", "p"]),
    ] {
        for method in methods {
            for replication in 0..3 {
                let raw = 0.1 * f64::from(replication) + 0.2;
                text.push_str(&format!("{malfunction},{method},{replication},{raw}\n"));
            }
        }
    }
    let found = Desk::new().findings(&text);
    let reason = &found["strata"][0]["h1"]["clipped"]["not_computed"];
    let reason = reason.as_str().unwrap();
    assert!(reason.contains("share no malfunction"), "{reason}");
    for method in ["m", "n", "o", "p"] {
        assert!(reason.contains(method), "{reason}");
    }
}

#[test]
fn without_a_baseline_there_is_neither_lift_nor_harm_but_all_else() {
    let text: String = table(2, 3, 3)
        .lines()
        .filter(|line| !line.contains("no-method"))
        .map(|line| format!("{line}\n"))
        .collect();
    let found = Desk::new().findings(&text);
    let stratum = &found["strata"][0];
    assert!(
        stratum["h3"]["not_computed"]
            .as_str()
            .unwrap()
            .contains("no-method")
    );
    let lifts = stratum["lifts"]["methods"].as_array().unwrap();
    assert!(
        lifts
            .iter()
            .all(|lift| lift["mean"]["not_computed"].is_string())
    );
    assert!(stratum["h1"]["verdict"]["word"].is_string());
}

#[test]
fn one_session_per_cell_is_analysed_as_far_as_it_goes() {
    let found = Desk::new().findings(&table(2, 3, 1));
    let cell = &found["strata"][0]["cells"][0];
    assert!(cell["raw"]["mean"].is_number());
    assert!(cell["raw"]["percentile"]["not_computed"].is_string());
    finite(&found);
}

#[test]
fn line_ends_marks_quotes_and_column_order_make_no_difference() {
    let desk = Desk::new();
    let plain = desk.findings("malfunction,method,replication,raw\na,m,0,0.5\na,m,1,0.25\n");
    let other = desk.findings(
        "\u{feff}raw,\"replication\",method,malfunction\r\n\"0.5\",0,m,\"a\"\r\n0.25,1,\"m\",a\r\n",
    );
    assert_eq!(plain, other);
}

#[test]
fn a_table_on_standard_input_is_read_like_a_file() {
    let desk = Desk::new();
    let text = table(1, 2, 2);
    desk.write("scores.csv", &text);
    let from_file = desk.call(&["analyze", "scores.csv", "--plan", "quick.toml", "--json"]);
    let args = ["analyze", "-", "--plan", "quick.toml", "--json"];
    let from_pipe = desk.call_with(&args, text.as_bytes(), 2);
    assert_eq!(from_file.json(), from_pipe.json());
    let broken = desk.call_with(&["analyze", "-"], b"malfunction\n", 2);
    assert_eq!(broken.code, 3);
    assert!(broken.errors()[0].starts_with("standard input:1: header method"));
}

#[test]
fn the_same_seed_gives_the_same_bytes_at_any_number_of_threads_and_another_seed_others() {
    let desk = Desk::new();
    desk.write("scores.csv", table(3, 4, 4));
    let with = |threads, seed: &str| {
        let args = [
            "analyze",
            "scores.csv",
            "--plan",
            "quick.toml",
            "--json",
            "--seed",
            seed,
        ];
        desk.call_with(&args, b"", threads).stdout
    };
    let first = with(1, "5");
    assert!(!first.is_empty());
    for threads in [2, 4, 16] {
        assert!(first == with(threads, "5"), "{threads} threads");
    }
    let interval = |text: &str| {
        let found: Value = serde_json::from_str(text).unwrap();
        found["strata"][0]["lifts"]["methods"][0]["mean"]["percentile"].clone()
    };
    assert_ne!(interval(&first), interval(&with(2, "6")));
}

#[test]
fn the_default_seed_of_a_table_is_zero_and_said() {
    let desk = Desk::new();
    desk.write("scores.csv", table(1, 1, 2));
    let default = desk.call(&["analyze", "scores.csv", "--plan", "quick.toml", "--json"]);
    assert!(default.stderr.contains("seed: 0"), "{}", default.stderr);
    let args = [
        "analyze",
        "scores.csv",
        "--plan",
        "quick.toml",
        "--json",
        "--seed",
        "0",
    ];
    assert_eq!(default.stdout, desk.call(&args).stdout);
    let root = default.json()["analysis"]["root_seed"].clone();
    let root = root.as_str().unwrap();
    assert_eq!(root.len(), 64);
    let args = [
        "analyze",
        "scores.csv",
        "--plan",
        "quick.toml",
        "--json",
        "--seed",
        root,
    ];
    assert_eq!(default.stdout, desk.call(&args).stdout);
}

#[test]
fn the_text_fits_a_terminal_marks_what_decides_and_says_what_each_test_assumes() {
    let desk = Desk::new();
    desk.write("scores.csv", table(3, 4, 4));
    let called = desk.call(&["analyze", "scores.csv", "--plan", "quick.toml"]);
    assert_eq!(called.code, 0, "{}", called.stderr);
    for line in called.stdout.lines() {
        assert!(line.chars().count() <= 100, "{line}");
        assert!(!line.contains('\u{1b}'));
    }
    let has = |part: &str| assert!(called.stdout.contains(part), "{part}\n{}", called.stdout);
    has("* clipped  wild");
    has("  wild: Residuals are symmetric");
    has("* permutation of means");
    has("  Welch: Means are near normal");
    has("  literal: Its null is");
    has("  sign flip of means: Differences within blocks");
    has("Aggregates of every method");
    has("Tool calls of every method");
    has("root seed: ");
}

#[test]
fn planned_cells_count_what_is_missing() {
    let desk = Desk::new();
    desk.write(
        "scores.csv",
        "malfunction,method,replication,raw\na,m,0,0.5\na,no-method,0,0.25\n",
    );
    desk.write(
        "planned.csv",
        "sessions,method,malfunction\n2,m,a\n1,no-method,a\n2,m,b\n",
    );
    let args = [
        "analyze",
        "scores.csv",
        "--plan",
        "quick.toml",
        "--planned-cells",
        "planned.csv",
        "--json",
    ];
    let found = desk.call(&args).json();
    let table = &found["table"];
    assert_eq!(
        (&table["planned"], &table["sessions"], &table["missing"]),
        (&5.into(), &2.into(), &3.into())
    );
    assert_eq!(found["strata"][0]["h3"]["planned_cells"], 2);
}

#[test]
fn roles_can_be_given_to_other_methods() {
    let desk = Desk::new();
    let text = table(1, 2, 3)
        .replace("no-method", "nothing")
        .replace("cheat-oracle", "told");
    desk.write("scores.csv", text);
    let args = [
        "analyze",
        "scores.csv",
        "--plan",
        "quick.toml",
        "--json",
        "--no-method",
        "nothing",
        "--cheat-oracle",
        "told",
    ];
    let found = desk.call(&args).json();
    let stratum = &found["strata"][0];
    assert!(stratum["h3"]["verdict"].is_string());
    assert!(stratum["h2"]["clipped"]["verdict"].is_string());
    let cells = stratum["cells"].as_array().unwrap();
    assert!(
        cells
            .iter()
            .any(|cell| cell["method"] == "told" && cell["role"] == "cheat-oracle")
    );
}

#[test]
fn a_tool_call_budget_is_taken_or_its_absence_flagged() {
    let desk = Desk::new();
    let observed = desk.findings(&table(1, 2, 3));
    let source = |found: &Value| found["strata"][0]["tool_calls"]["budget"]["source"].clone();
    assert_eq!(source(&observed), "largest_observed");
    let args = [
        "analyze",
        "scores.csv",
        "--plan",
        "quick.toml",
        "--json",
        "--tool-call-budget",
        "60",
    ];
    let given = desk.call(&args).json();
    assert_eq!(source(&given), "given");
    assert_eq!(given["strata"][0]["tool_calls"]["budget"]["steps"], 60);
}

#[test]
fn a_folder_gets_findings_scores_and_every_table_twice() {
    let desk = Desk::new();
    desk.write("scores.csv", table(2, 3, 3));
    let args = [
        "analyze",
        "scores.csv",
        "--plan",
        "quick.toml",
        "--json",
        "--out",
        "made/here",
    ];
    let called = desk.call(&args);
    let read = |name: &str| std::fs::read_to_string(desk.path("made/here").join(name)).unwrap();
    assert_eq!(read("findings.json"), called.stdout);
    assert!(read("scores.csv").starts_with("malfunction,method,replication,block,raw,clipped,"));
    for name in [
        "arms",
        "lifts",
        "h1_tests",
        "h3_cells",
        "aggregates",
        "tool_calls",
        "attainability",
    ] {
        assert!(
            read(&format!("tables/{name}.tex")).contains("\\toprule"),
            "{name}"
        );
        let rows = fields(&read(&format!("tables/{name}.csv")));
        assert!(
            rows.len() > 1 && rows.iter().all(|row| *row == rows[0]),
            "{name}"
        );
    }
    let leftovers = walkdir::WalkDir::new(desk.path("made"));
    for entry in leftovers.into_iter().map(Result::unwrap) {
        assert!(!entry.file_name().to_string_lossy().starts_with(".partial-"));
    }
    let again = desk.call(&[
        "analyze",
        "made/here/scores.csv",
        "--plan",
        "quick.toml",
        "--json",
    ]);
    assert_eq!(again.stdout, called.stdout);
}

/// The number of fields of each line.
fn fields(text: &str) -> Vec<usize> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes())
        .records()
        .map(|record| record.unwrap().len())
        .collect()
}
