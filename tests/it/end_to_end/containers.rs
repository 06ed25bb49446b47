//! Runs in containers: sealed, mended after kill -9, and without a word that betrays the fault.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::kit::{Experiment, call, files_named, program, records, root};

/// Whether a Docker engine answers; where it must (EVALXRL_REQUIRE_DOCKER), its absence fails the test.
fn docker_answers() -> bool {
    let answers = docker(&["version", "--format", "{{.Server.Version}}"])
        .is_some_and(|output| output.status.success());
    assert!(
        answers || std::env::var_os("EVALXRL_REQUIRE_DOCKER").is_none(),
        "no Docker engine answers, and EVALXRL_REQUIRE_DOCKER is set"
    );
    if !answers {
        println!("skipped: no Docker");
    }
    answers
}

fn docker(arguments: &[&str]) -> Option<Output> {
    Command::new("docker")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()
}

fn lines(arguments: &[&str]) -> Vec<String> {
    let output = docker(arguments).expect("docker is there");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

/// The label of a run on its containers.
fn label(run: &Path) -> String {
    let directory = evalxrl::store::RunDirectory::open(run).expect("a run");
    format!(
        "label=evalxrl.run={}",
        evalxrl::session::run_label(&directory)
    )
}

fn containers(run: &Path) -> Vec<String> {
    lines(&["ps", "-aq", "--no-trunc", "--filter", &label(run)])
}

fn networks(run: &Path) -> Vec<String> {
    lines(&["network", "ls", "-q", "--filter", &label(run)])
}

/// Polls until a condition holds, two minutes at most.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(240);
    while !holds() {
        assert!(Instant::now() < deadline, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn start(experiment: &Experiment, name: &str) -> Child {
    program()
        .args(experiment.arguments(name, &["--workers", "1"]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts")
}

fn first_malfunction() -> String {
    let listed = call(&["list", "malfunctions"]).expect(0).stdout;
    let id = listed
        .split_whitespace()
        .find(|word| word.starts_with("treasure-grid-"));
    id.expect("there is a malfunction").to_owned()
}

#[test]
fn kill_nine_in_the_middle_of_a_run_is_mended_by_the_same_command() {
    if !docker_answers() {
        return;
    }
    let experiment = Experiment::new(&format!(
        r#"
format = "evalxrl.experiment/1"
name = "killed"
replications = 1
malfunctions = ["{}"]
arms = ["no-method", "optimal-repair"]
sandbox = "docker"
[[coder]]
label = "idle"
scaffold = "null"
"#,
        first_malfunction()
    ));
    let run = experiment.run("run");
    let mut child = start(&experiment, "run");
    until("a finished session beside one in flight", || {
        run.join("plan.json").is_file()
            && files_named(&run, "session.json").len() == 1
            && containers(&run).len() >= 2
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let finished = files_named(&run, "session.json").remove(0);
    let before = std::fs::read(&finished).unwrap();
    assert!(
        !containers(&run).is_empty(),
        "the killed run left nothing to mend"
    );
    experiment.play("run", &["--workers", "1"]).expect(0);
    assert!(
        before == std::fs::read(&finished).unwrap(),
        "a finished session was played again"
    );
    let records = records(&run);
    assert_eq!(records.len(), 2);
    assert_eq!((containers(&run), networks(&run)), (vec![], vec![]));
    for record in &records {
        assert_eq!(record["isolation"]["kind"], "docker");
        let probes = record["isolation"]["probes"].as_array().unwrap();
        assert!(
            probes.len() >= 8 && probes.iter().all(|probe| probe["passed"] == true),
            "{probes:#?}"
        );
        match record["key"]["method"].as_str() {
            Some("no-method") => assert_eq!(record["repair_score"]["raw"], 0.0),
            _ => assert!(
                record["repair_score"]["raw"].as_f64().unwrap() > 0.8,
                "{record:#}"
            ),
        }
    }
}

/// Every word that no coder may see: ids, classes and oracle texts of the whole catalogue.
fn secrets() -> Vec<String> {
    let mut found = Vec::new();
    for path in files_named(&root().join("malfunctions"), "malfunction.toml") {
        let manifest: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
        for field in ["id", "class", "oracle", "summary"] {
            found.push(manifest[field].as_str().unwrap().to_owned());
        }
        for field in ["causal", "not_causal"] {
            found.extend(
                manifest[field]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|text| text.as_str().unwrap().to_owned()),
            );
        }
    }
    found
}

fn assert_silent(place: &str, bytes: &[u8], secrets: &[String]) {
    let text = String::from_utf8_lossy(bytes);
    for secret in secrets {
        assert!(!text.contains(secret.as_str()), "{place} tells {secret:?}");
    }
}

#[test]
fn nothing_inside_a_workspace_or_an_image_betrays_the_fault() {
    if !docker_answers() {
        return;
    }
    let experiment = Experiment::new(&format!(
        r#"
format = "evalxrl.experiment/1"
name = "silent"
replications = 1
malfunctions = ["{}"]
arms = ["reward-decomposition"]
sandbox = "docker"
score = {{ calls = 2, episodes = 64 }}
[[coder]]
label = "search"
scaffold = "search"
candidates = 1
"#,
        first_malfunction()
    ));
    let run = experiment.run("run");
    let mut child = start(&experiment, "run");
    until("a session at work", || {
        run.join("plan.json").is_file() && !files_named(&run, "transcript.jsonl").is_empty()
    });
    let secrets = secrets();
    let workspace = containers(&run)
        .into_iter()
        .find(|id| {
            let mode = lines(&["inspect", "--format", "{{.HostConfig.NetworkMode}}", id]);
            mode.first().is_some_and(|mode| mode == "none")
        })
        .expect("a workspace without a network");
    let shown = docker(&["inspect", &workspace]).unwrap();
    assert_silent("docker inspect", &shown.stdout, &secrets);
    for (place, script) in [
        (
            "files",
            "tar -cf - --exclude=.cache /home /opt/method /tmp /run 2>/dev/null",
        ),
        ("names", "find / -xdev 2>/dev/null"),
        (
            "environment",
            "cat /proc/*/environ /proc/*/cmdline 2>/dev/null",
        ),
    ] {
        let seen = docker(&["exec", "-u", "0", &workspace, "/bin/bash", "-c", script]).unwrap();
        assert!(!seen.stdout.is_empty(), "{place} could not be read");
        assert_silent(place, &seen.stdout, &secrets);
    }
    let clean = docker(&[
        "exec",
        "-u",
        "0",
        &workspace,
        "python3",
        "-I",
        "-c",
        "import evalxrl_envs",
    ])
    .unwrap();
    assert!(
        !clean.status.success(),
        "the clean package can be imported in a workspace"
    );
    let image = lines(&["inspect", "--format", "{{.Image}}", &workspace]).remove(0);
    let history = docker(&["image", "history", "--no-trunc", &image]).unwrap();
    assert_silent("the image's history", &history.stdout, &secrets);
    child.wait().unwrap();
    assert_eq!(records(&run).len(), 1);
    assert_eq!((containers(&run), networks(&run)), (vec![], vec![]));
}
