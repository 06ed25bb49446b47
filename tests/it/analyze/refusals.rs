//! What cannot be analysed, and how that is said.

use super::kit::{Desk, table};

const HEAD: &str = "malfunction,method,replication,raw,clipped,outcome\n";

/// One bad line gives exactly one message, which begins so.
fn refused(line: &str, start: &str) {
    let errors = Desk::new().refused(&format!("{HEAD}{line}\n"));
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(errors[0].starts_with(start), "{}", errors[0]);
}

#[test]
fn an_empty_raw_score_is_refused() {
    refused("a,m,0,,0.5,submitted", "scores.csv:2: raw \"\": empty");
}

#[test]
fn a_raw_score_that_is_no_number_is_refused() {
    refused("a,m,0,NaN,0,submitted", "scores.csv:2: raw NaN: not finite");
    refused("a,m,0,inf,1,submitted", "scores.csv:2: raw inf: not finite");
    refused(
        "a,m,0,half,1,submitted",
        "scores.csv:2: raw half: not a number",
    );
}

#[test]
fn a_clipped_score_that_contradicts_the_raw_one_is_refused() {
    let start = "scores.csv:2: clipped 0.4: contradicts raw 0.5";
    refused("a,m,0,0.5,0.4,submitted", start);
}

#[test]
fn a_score_of_a_session_that_submitted_nothing_is_refused() {
    let start = "scores.csv:2: raw 0.5: must be 0, because the outcome is budget_spent";
    refused("a,m,0,0.5,0.5,budget_spent", start);
}

#[test]
fn an_unknown_outcome_is_refused() {
    refused(
        "a,m,0,0,0,crashed",
        "scores.csv:2: outcome crashed: not one of submitted",
    );
}

#[test]
fn a_session_that_stands_twice_is_refused() {
    let line = "a,m,0,0.5,0.5,submitted\na,m,0,0.25,0.25,submitted";
    refused(
        line,
        "scores.csv:3: replication 0: a second session of m on a, after line 2",
    );
}

#[test]
fn an_unknown_column_is_refused() {
    let errors = Desk::new().refused("malfunction,method,replication,raw,score\na,m,0,0.5,1\n");
    assert_eq!(errors.len(), 1);
    assert!(errors[0].starts_with("scores.csv:1: header score: an unknown column"));
}

#[test]
fn every_bad_line_is_told_at_once() {
    let errors = Desk::new().refused(&format!(
        "{HEAD}a,m,0,,0.5,submitted\na,m,1,0.5,0.9,submitted\na,m,x,0.5,0.5,submitted\na,m\n"
    ));
    let lines: Vec<&str> = errors
        .iter()
        .map(|error| error.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "scores.csv:2:",
            "scores.csv:3:",
            "scores.csv:4:",
            "scores.csv:5:"
        ]
    );
}

#[test]
fn text_of_a_table_reaches_the_terminal_inert() {
    let errors = Desk::new().refused("malfunction,method,replication,raw\na,m,0,\u{1b}[31mred\n");
    assert!(errors[0].contains("␛[31mred"), "{errors:?}");
}

#[test]
fn what_is_no_table_and_no_run_is_a_usage_error() {
    let desk = Desk::new();
    let absent = desk.call(&["analyze", "nowhere.csv"]);
    assert_eq!((absent.code, absent.stdout.as_str()), (2, ""));
    assert!(absent.errors()[0].starts_with("nowhere.csv: "));
    std::fs::create_dir(desk.path("empty")).unwrap();
    assert_eq!(desk.call(&["analyze", "empty"]).code, 2);
    desk.write("scores.csv", table(1, 1, 1));
    assert_eq!(
        desk.call(&["analyze", "scores.csv", "--seed", "-1"]).code,
        2
    );
    let args = ["analyze", "scores.csv", "--seed", "abc"];
    assert!(desk.call(&args).stderr.contains("64 hexadecimal digits"));
    assert_eq!(
        desk.call(&["analyze", "scores.csv", "--tool-call-budget", "0"])
            .code,
        2
    );
    let args = ["analyze", "scores.csv", "--no-method", "cheat-oracle"];
    assert!(desk.call(&args).errors()[0].contains("`cheat-oracle` has two roles"));
}

#[test]
fn an_analysis_plan_is_checked_whole() {
    let desk = Desk::new();
    desk.write("scores.csv", table(1, 1, 1));
    let with = |text: &str| {
        desk.write("bad.toml", text);
        let called = desk.call(&["analyze", "scores.csv", "--plan", "bad.toml"]);
        (called.code, called.errors())
    };
    let format = "format = \"evalxrl.experiment/1\"\n";
    let (code, errors) = with(&format!("{format}[analysis]\nalpha = 2.0\nresamples = 0\n"));
    assert_eq!((code, errors.len()), (3, 2), "{errors:?}");
    assert!(
        errors
            .iter()
            .all(|error| error.starts_with("bad.toml: analysis.")),
        "{errors:?}"
    );
    let (code, errors) = with(&format!("{format}[analysis]\nalfa = 0.05\n"));
    assert_eq!(code, 3);
    assert!(errors[0].contains("alfa"), "{errors:?}");
    assert_eq!(with("[analysis]\n").0, 3);
    assert_eq!(with("not toml").0, 3);
    assert_eq!(
        desk.call(&["analyze", "scores.csv", "--plan", "none.toml"])
            .code,
        2
    );
}

#[test]
fn planned_cells_that_do_not_fit_are_told_line_by_line() {
    let desk = Desk::new();
    desk.write(
        "scores.csv",
        "malfunction,method,replication,raw,coder\na,m,0,0.5,c\n",
    );
    let with = |text: &str| {
        desk.write("planned.csv", text);
        let args = ["analyze", "scores.csv", "--planned-cells", "planned.csv"];
        let called = desk.call(&args);
        assert_eq!(called.code, 3, "{}", called.stderr);
        called.errors()
    };
    let errors = with("malfunction,method,sessions,coder\na,m,two,c\na,n,1,c\na,n,1,c\n");
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].starts_with("planned.csv:2: sessions two: not a whole number"));
    assert!(errors[1].starts_with("planned.csv:4: method n: n on a is planned on line 3"));
    let errors = with("malfunction,method,sessions\na,m,1\n");
    assert!(
        errors[0].contains("header coder: the scores have this column"),
        "{errors:?}"
    );
    let errors = with("malfunction,method,sessions,coder\na,n,1,c\n");
    assert!(errors[0].contains("m on a (coder c"), "{errors:?}");
    let errors = with("malfunction,method,sessions,coder\n");
    assert!(errors[0].contains("no cell is planned"), "{errors:?}");
    let errors = with("malfunction,method,sessions,coder\na,m,99999999999,c\n");
    assert!(errors[0].starts_with("planned.csv:2: sessions 99999999999: a cell plans at most"));
    let errors = with("malfunction,method,sessions,coder\na,m,0,c\n");
    let wrong = "planned.csv:2: sessions 0: m on a has 1 sessions in the table, more than planned";
    assert_eq!(errors, [wrong]);
}

#[test]
fn numbers_that_no_machine_could_hold_are_refused_before_anything_is_computed() {
    let desk = Desk::new();
    desk.write("scores.csv", table(2, 2, 2));
    for key in [
        "resamples",
        "permutations",
        "permutations_two_sample",
        "exact_limit_h1",
        "exact_limit_two_sample",
    ] {
        let format = "format = \"evalxrl.experiment/1\"\n[analysis]\n";
        desk.write("huge.toml", format!("{format}{key} = 99999999999999\n"));
        let called = desk.call(&["analyze", "scores.csv", "--plan", "huge.toml"]);
        assert_eq!((called.code, called.stdout.as_str()), (3, ""), "{key}");
        let start = format!("huge.toml: analysis.{key}: 99999999999999 is out of range");
        assert!(called.errors()[0].starts_with(&start), "{}", called.stderr);
    }
    let simulate = |sessions| {
        let design = [
            "simulate",
            "--methods",
            "2",
            "--malfunctions",
            "2",
            "--sessions",
        ];
        desk.call(&[&design[..], &[sessions]].concat()).code
    };
    assert_ne!(simulate("1000000"), 0);
}

#[test]
fn a_role_of_a_method_that_is_not_there_is_a_usage_error() {
    let desk = Desk::new();
    desk.write("scores.csv", table(1, 1, 2));
    let called = desk.call(&["analyze", "scores.csv", "--no-method", "nope"]);
    assert_eq!(called.code, 2);
    assert_eq!(called.errors(), ["--no-method: no method is called `nope`"]);
    assert!(
        called
            .stderr
            .contains("name one of cheat-oracle, m0, no-method")
    );
}

#[test]
fn a_table_without_a_session_and_a_folder_that_cannot_be_written_are_told() {
    let errors = Desk::new().refused("malfunction,method,replication,raw\n");
    assert_eq!(
        errors,
        ["scores.csv:1: header alone: no session follows it"]
    );
    let desk = Desk::new();
    desk.write("scores.csv", table(1, 1, 2));
    let args = [
        "analyze",
        "scores.csv",
        "--plan",
        "quick.toml",
        "--out",
        "scores.csv/x",
    ];
    assert_eq!(desk.call(&args).code, 2);
}
