//! Runs in local processes: doing nothing is worth nothing, the same is the same, a stopped run goes on.

use std::collections::BTreeMap;

use serde_json::Value;

use super::kit::{Experiment, call, files_named, json, records, root};

/// Malfunctions that are not held out, of each environment: the first whose target is `serving`, where there is one, and the
/// first of the others.
fn malfunctions() -> Vec<String> {
    let listed: Value =
        serde_json::from_str(&call(&["list", "malfunctions", "--json"]).expect(0).stdout).unwrap();
    let mut first = BTreeMap::new();
    for row in listed["malfunctions"].as_array().expect("a list") {
        if row["held_out"] == false {
            let kind = (row["environment"].to_string(), row["target"] == "serving");
            let id = row["id"].as_str().expect("an id").to_owned();
            first.entry(kind).or_insert(id);
        }
    }
    first.into_values().collect()
}

/// The first malfunction of Treasure Grid.
fn of_the_grid() -> String {
    malfunctions()
        .into_iter()
        .find(|id| id.starts_with("treasure-grid"))
        .expect("there is a malfunction")
}

#[test]
fn doing_nothing_scores_exactly_zero_in_every_environment_and_replication() {
    let chosen = malfunctions();
    let experiment = Experiment::new(&format!(
        r#"
format = "evalxrl.experiment/1"
name = "nothing"
replications = 2
malfunctions = {chosen:?}
arms = ["no-method"]
sandbox = "local"
root_seed = 11
allow_weak_seed = true
[[coder]]
label = "idle"
scaffold = "null"
"#
    ));
    experiment.play("run", &["--workers", "2"]).expect(0);
    let records = records(&experiment.run("run"));
    assert_eq!(records.len(), 2 * chosen.len());
    for record in &records {
        assert_eq!(record["outcome"]["kind"], "submitted", "{record:#}");
        assert_eq!(record["performance"]["measured"], true);
        assert_eq!(record["repair_score"]["raw"], 0.0, "{record:#}");
        assert_eq!(record["isolation"]["kind"], "none");
        assert!(record["reference"]["p_clean"].as_f64() > record["reference"]["p_broken"].as_f64());
    }
}

/// The folder of a local sandbox and an object's address, which Python's errors name, are facts of the host.
fn homeless(text: &str) -> String {
    let mut whole = text.to_owned();
    for mark in ["/tmp/evalxrl-", " at 0x"] {
        let mut parts = whole.split(mark);
        let mut kept = parts.next().unwrap_or("").to_owned();
        for part in parts {
            kept.push_str(mark);
            kept.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
        }
        whole = kept;
    }
    whole
}

/// Removes what differs between two runs of one plan: times and host facts.
fn timeless(mut value: Value) -> Value {
    const TIMES: [&str; 7] = [
        "started",
        "seconds",
        "cpu_seconds",
        "attempt",
        "cpuset_shared",
        "at",
        "created",
    ];
    match &mut value {
        Value::Object(map) => {
            for name in TIMES {
                map.remove(name);
            }
            for inner in map.values_mut() {
                *inner = timeless(inner.take());
            }
        }
        Value::Array(list) => {
            for inner in list {
                *inner = timeless(inner.take());
            }
        }
        // Progress lines tell the speed of training.
        Value::String(text) if text.contains("steps/s") => {
            let lines: Vec<&str> = text
                .lines()
                .map(|line| line.split("steps/s").next().unwrap_or(""))
                .collect();
            *text = lines.join("\n");
        }
        Value::String(text) => *text = homeless(text),
        _ => {}
    }
    value
}

#[test]
fn one_plan_and_seed_give_the_same_bytes_with_one_worker_and_with_two() {
    let first = of_the_grid();
    let experiment = Experiment::new(&format!(
        r#"
format = "evalxrl.experiment/1"
name = "same"
replications = 1
malfunctions = ["{first}"]
arms = ["no-method", "cheat-oracle", "reward-decomposition", "optimal-repair"]
sandbox = "local"
root_seed = 12
allow_weak_seed = true
score = {{ calls = 3, episodes = 64 }}
[[coder]]
label = "search"
scaffold = "search"
candidates = 1
"#
    ));
    experiment.play("one", &["--workers", "1"]).expect(0);
    experiment.play("two", &["--workers", "2"]).expect(0);
    let (one, two) = (experiment.run("one"), experiment.run("two"));
    for name in ["session.json", "block.json", "scoring.json"] {
        let (left, right) = (files_named(&one, name), files_named(&two, name));
        assert_eq!(left.len(), right.len());
        assert!(!left.is_empty(), "{name}");
        for (left, right) in left.iter().zip(&right) {
            assert_eq!(
                left.strip_prefix(&one).unwrap(),
                right.strip_prefix(&two).unwrap()
            );
            assert_eq!(
                timeless(json(left)),
                timeless(json(right)),
                "{}",
                left.display()
            );
        }
    }
    for name in ["bundle.tar.zst", "parameters.safetensors"] {
        for (left, right) in files_named(&one, name).iter().zip(&files_named(&two, name)) {
            assert!(
                std::fs::read(left).unwrap() == std::fs::read(right).unwrap(),
                "{}",
                left.display()
            );
        }
    }
    let transcripts = files_named(&one, "transcript.jsonl");
    assert_eq!(transcripts.len(), 4);
    for (left, right) in transcripts
        .iter()
        .zip(&files_named(&two, "transcript.jsonl"))
    {
        let lines = |path: &std::path::Path| -> Vec<Value> {
            std::fs::read_to_string(path)
                .unwrap()
                .lines()
                .map(|line| {
                    let mut line = timeless(serde_json::from_str(line).unwrap());
                    // The number of bytes counts the digits of the speed.
                    if let Some(data) = line.get_mut("data").and_then(Value::as_object_mut) {
                        data.remove("bytes");
                    }
                    line
                })
                .collect()
        };
        for (left_line, right_line) in lines(left).iter().zip(&lines(right)) {
            assert_eq!(left_line, right_line, "{}", left.display());
        }
        assert_eq!(lines(left).len(), lines(right).len());
    }
    let optimal = records(&one)
        .into_iter()
        .find(|record| record["key"]["method"] == "optimal-repair");
    assert!(optimal.unwrap()["repair_score"]["raw"].as_f64().unwrap() > 0.8);
    reports_and_exports(&one.display().to_string());
}

/// A finished run can be shown, reported and exported, twice to the same bytes.
fn reports_and_exports(run: &str) {
    let summary = call(&["report", run]).expect(0).stdout;
    assert!(summary.lines().count() <= 20, "{summary}");
    assert!(
        summary.lines().all(|line| line.chars().count() <= 100),
        "{summary}"
    );
    let page = std::path::Path::new(run).join("report/report.html");
    let first = std::fs::read(&page).unwrap();
    call(&["report", run]).expect(0);
    assert!(
        first == std::fs::read(&page).unwrap(),
        "the page differs on the second making"
    );
    let table = call(&["export", "csv", run]).expect(0).stdout;
    assert_eq!(table.lines().count(), 5, "{table}");
    assert!(
        call(&["show", run])
            .expect(0)
            .stdout
            .contains("4 of 4 sessions finished")
    );
}

#[test]
fn the_same_command_keeps_what_is_finished_and_another_plan_is_refused() {
    let first = of_the_grid();
    let text = format!(
        r#"
format = "evalxrl.experiment/1"
name = "again"
replications = 1
malfunctions = ["{first}"]
arms = ["no-method"]
sandbox = "local"
[[coder]]
label = "idle"
scaffold = "null"
"#
    );
    let experiment = Experiment::new(&text);
    experiment.play("run", &[]).expect(0);
    let record = files_named(&experiment.run("run"), "session.json").remove(0);
    let before = std::fs::read(&record).unwrap();
    let again = experiment.play("run", &[]).expect(0);
    assert!(
        again.stdout.contains("(0 by this call)"),
        "{}",
        again.stdout
    );
    assert!(before == std::fs::read(&record).unwrap());
    std::fs::write(
        experiment.file(),
        text.replace("replications = 1", "replications = 2"),
    )
    .unwrap();
    let refused = experiment.play("run", &[]).expect(6);
    assert!(
        refused.stderr.contains("holds another plan"),
        "{}",
        refused.stderr
    );
    assert!(root().join("malfunctions").is_dir());
}
