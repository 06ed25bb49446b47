//! Knows what a user sees of `power` and `simulate`.

use super::kit::Desk;

const SMALL: [&str; 14] = [
    "simulate",
    "--methods",
    "3",
    "--malfunctions",
    "4",
    "--sessions",
    "5",
    "--datasets",
    "10",
    "--permutations",
    "19",
    "--harmed",
    "2",
    "--json",
];

/// A pilot of two methods and the baseline on two malfunctions, three sessions each.
fn pilot() -> String {
    let mut text = "malfunction,environment,method,replication,raw\n".to_owned();
    for (m, method) in ["no-method", "saliency", "lime"].iter().enumerate() {
        for malfunction in ["clip", "short"] {
            for r in 0..3 {
                let raw = 0.3 + 0.2 * ((r * 7 + m * 3) % 5) as f64 / 4.0;
                text.push_str(&format!("{malfunction},grid,{method},{r},{raw}\n"));
            }
        }
    }
    text
}

#[test]
fn power_names_the_sessions_with_the_upper_bound_of_the_pilot() {
    let desk = Desk::new();
    desk.write("scores.csv", pilot());
    let args = [
        "power",
        "scores.csv",
        "--effect",
        "2sd",
        "--datasets",
        "60",
        "--methods",
        "5",
        "--malfunctions",
        "12",
    ];
    let found = desk
        .call_with(&[&args[..], &["--json"]].concat(), b"", 2)
        .json();
    assert_eq!(found["format"], "evalxrl.power/1");
    assert_eq!(found["pilot"]["df"], 12);
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!(number(&found["pilot"]["upper_sd"]) > number(&found["pilot"]["sd"]));
    assert_eq!(found["needed"]["planning_sd"], found["pilot"]["upper_sd"]);
    assert!((9..=13).contains(&found["needed"]["sessions"].as_u64().unwrap()));
    assert!((number(&found["needed"]["analytic"]["sessions"]) - 10.517).abs() < 1e-3);
    let text = desk.call_with(&args, b"", 1);
    assert_eq!(text.code, 0, "{}", text.stderr);
    assert!(
        text.stdout.contains("sessions      N = N0 = "),
        "{}",
        text.stdout
    );
    assert!(
        text.stdout
            .contains("one-sided t test at α = 8.33e-4: 10.52 sessions per arm")
    );
    assert!(text.stderr.contains("power at "), "{}", text.stderr);
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn a_pilot_without_scatter_or_methods_says_what_is_missing() {
    let desk = Desk::new();
    desk.write(
        "one.csv",
        "malfunction,environment,method,replication,raw\nclip,grid,saliency,0,0.5\n",
    );
    let called = desk.call_with(&["power", "one.csv", "--effect", "2sd"], b"", 1);
    assert_eq!(
        (called.code, called.errors()),
        (
            3,
            vec!["one.csv: no cell of the pilot has two sessions".to_owned()]
        )
    );
    desk.write(
        "base.csv",
        "malfunction,environment,method,replication,raw\nclip,grid,no-method,0,0.5\nclip,grid,no-method,1,0.6\n",
    );
    let called = desk.call_with(&["power", "base.csv", "--effect", "2sd"], b"", 1);
    assert_eq!(called.code, 2);
    assert_eq!(
        called.errors(),
        ["methods are 0, and at least 1 are needed"]
    );
    assert!(
        called.stderr.contains("give --methods M"),
        "{}",
        called.stderr
    );
    let called = desk.call_with(&["power", "base.csv", "--effect", "two"], b"", 1);
    assert_eq!(called.code, 2);
    assert!(called.stderr.contains("such as 2sd"), "{}", called.stderr);
}

#[test]
fn simulate_gives_the_same_bytes_at_any_number_of_threads() {
    let desk = Desk::new();
    let one = desk.call_with(&SMALL, b"", 1);
    assert_eq!(one.json()["format"], "evalxrl.simulation/1");
    assert_eq!(
        one.json()["simulation"]["scenarios"]
            .as_array()
            .unwrap()
            .len(),
        9
    );
    for threads in [2, 4] {
        assert_eq!(desk.call_with(&SMALL, b"", threads).stdout, one.stdout);
    }
    let other = desk.call_with(&[&SMALL[..], &["--seed", "1"]].concat(), b"", 2);
    assert_ne!(other.stdout, one.stdout);
}

#[test]
fn simulate_takes_its_size_from_an_experiment_and_flags_override_it() {
    let desk = Desk::new();
    desk.write(
        "plan.toml",
        "format = \"evalxrl.experiment/1\"\nname = \"plan\"\nreplications = 6\nmalfunctions = [\"a-one\", \"b-two\"]\n\
         arms = [\"no-method\", \"saliency\", \"lime\", \"lime-rich\", \"cheat-oracle\"]\n[[coder]]\nlabel = \"search\"\n\
         scaffold = \"search\"\n[analysis]\nalpha = 0.1\n",
    );
    let args = [
        "simulate",
        "plan.toml",
        "--malfunctions",
        "3",
        "--datasets",
        "5",
        "--permutations",
        "19",
        "--scenario",
        "additive",
    ];
    let found = desk
        .call_with(&[&args[..], &["--json"]].concat(), b"", 2)
        .json();
    let simulation = &found["simulation"];
    assert_eq!(
        simulation["design"],
        serde_json::json!({ "methods": 2, "malfunctions": 3, "sessions": 6 })
    );
    assert_eq!(simulation["alpha"], 0.1);
    let called = desk.call_with(&args, b"", 2);
    assert_eq!(called.code, 0, "{}", called.stderr);
    for heading in [
        "Attainable among 6 cells",
        "H1: share of data sets rejected at α = 0.1",
        "H3 at q",
        "true ω²_p",
    ] {
        assert!(
            called.stdout.contains(heading),
            "{heading}: {}",
            called.stdout
        );
    }
    assert!(
        called
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 100),
        "{}",
        called.stdout
    );
    assert!(called.stderr.contains("H1 additive"));
}

#[test]
fn simulate_draws_from_the_residuals_of_a_pilot() {
    let desk = Desk::new();
    desk.write("scores.csv", pilot());
    let args = [
        &SMALL[..],
        &[
            "--pilot",
            "scores.csv",
            "--scenario",
            "additive",
            "global_null",
        ],
    ]
    .concat();
    let found = desk.call_with(&args, b"", 2).json();
    assert_eq!(found["noise"]["kind"], "pilot");
    assert_eq!(found["noise"]["sd"], found["pilot"]["upper_sd"]);
    assert_eq!(
        found["simulation"]["scenarios"][1]["scenario"],
        "global_null"
    );
}

#[test]
fn what_simulate_lacks_is_named() {
    let desk = Desk::new();
    let refused = |args: &[&str]| {
        let called = desk.call_with(&[&["simulate"], args].concat(), b"", 1);
        (called.code, called.errors().join("\n"))
    };
    assert_eq!(
        refused(&["--methods", "3"]),
        (
            2,
            "the size of the design is not known: --malfunctions K --sessions N".to_owned()
        )
    );
    let size = ["--methods", "3", "--malfunctions", "4", "--sessions", "5"];
    let with = |more: &[&'static str]| refused(&[&size[..], more].concat());
    assert_eq!(
        with(&["--noise", "pilot"]).1,
        "--noise pilot without a pilot"
    );
    assert!(
        with(&["--scenario", "twelve"])
            .1
            .starts_with("twelve is no scenario; known are global_null")
    );
    assert_eq!(
        with(&["--harmed", "13"]).1,
        "13 harmed cells are more than the 12 cells of the design"
    );
    assert_eq!(
        with(&["--sd", "0"]).1,
        "standard deviation 0 is not above 0 and at most 1e6"
    );
    assert_eq!(
        with(&["--datasets", "0"]).1,
        "data sets are 0, and at least 1 are needed"
    );
}
