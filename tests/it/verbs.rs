//! Knows the verbs about the catalogue as a shell calls them, on a small repository and with a Python that is no Python.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a fixture that cannot be made ends the test, and a skipped test says so"
)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::repository::Repository;

const CANDIDATES: &str = r#"format = "evalxrl.candidates/1"
environment = "toy_grid"
[[candidate]]
entry = "P1"
class = "reward-imbalance"
what = "the treasure pays {strength}"
ladder = ["5", "1"]
[[candidate.edit]]
file = "evalxrl_envs/toy_grid/environment.py"
from = "return 10 * here"
to = "return {strength} * here"
"#;

fn program(repository: &Repository) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evalxrl"));
    command
        .current_dir(repository.root())
        .env("EVALXRL_CACHE", repository.path("cache"))
        .env_remove("EVALXRL_ROOT")
        .stdin(Stdio::null());
    command
}

pub(crate) fn call(repository: &Repository, arguments: &[&str]) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = program(repository).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// A program that prints its arguments and ends with a code.
fn shell(repository: &Repository, code: i32) -> PathBuf {
    let path = repository.path(&format!("python-{code}"));
    let text = format!("#!/bin/sh\nshift 5\necho \"$@\"\nexit {code}\n");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_rung_becomes_a_folder_with_its_diff_and_what_is_known_of_it() {
    let repository = Repository::sound();
    repository.write("malfunctions/candidates/toy_grid.toml", CANDIDATES);
    let new = |rung: &str| {
        let arguments = [
            "new",
            "malfunction",
            "toy-grid-half-pay",
            "--candidate",
            rung,
        ];
        call(&repository, &arguments)
    };
    for (rung, fragment) in [
        ("toy_grid/P2/5", "no candidate of toy_grid is called `P2`"),
        ("toy_grid/P1/7", "`7` is no strength of P1"),
        ("other/P1/5", "is no candidate of toy_grid"),
    ] {
        let (code, _, told) = new(rung);
        assert_eq!(code, 2);
        assert!(told.contains(fragment) && told.contains("next: "), "{told}");
    }
    let (code, made, told) = new("toy_grid/P1/5");
    assert_eq!(
        (code, made.as_str()),
        (0, "malfunctions/toy-grid-half-pay\n"),
        "{told}"
    );
    let read = |name: &str| {
        let path = repository.path(&format!("malfunctions/toy-grid-half-pay/{name}"));
        std::fs::read_to_string(path).unwrap()
    };
    assert!(read("fault.diff").contains("+    return 5 * here\n"));
    let manifest = read("malfunction.toml");
    for line in [
        "class = \"reward-imbalance\"",
        "target = \"environment\"",
        "summary = \"The treasure pays 5.\"",
    ] {
        assert!(manifest.contains(line), "{manifest}");
    }
    let readme = read("README.md");
    assert!(
        readme.contains("Candidate P1 at strength 5: the treasure pays 5."),
        "{readme}"
    );
    let (code, _, told) = call(&repository, &["check", "toy-grid-half-pay", "--static"]);
    assert_eq!(code, 3);
    assert!(!told.contains("fault.diff"), "{told}");
}

#[test]
fn malfunctions_are_listed_in_a_hundred_and_twenty_columns() {
    let repository = Repository::sound();
    let long = "toy-grid-with-a-name-of-forty-characters";
    let class = |text: String| {
        let text = text.replace("reward-imbalance", "non-stationary-control");
        text.replace("held_out = false", "held_out = true")
    };
    repository.malfunction(long, class, |diff| diff);
    let (code, list, _) = call(&repository, &["list", "malfunctions"]);
    assert_eq!(code, 0);
    assert!(
        list.lines().all(|line| line.chars().count() <= 120),
        "{list}"
    );
    let row = list.lines().find(|line| line.starts_with(long)).unwrap();
    assert!(
        row.contains("non-stationary-control") && row.ends_with("held out"),
        "{row}"
    );
    let other = ["list", "malfunctions", "--environment", "toy_gird"];
    let (code, _, told) = call(&repository, &other);
    assert_eq!(code, 2);
    assert!(told.contains("did you mean `toy_grid`?"), "{told}");
    let (code, list, _) = call(&repository, &["env", "list", "--json"]);
    assert_eq!(code, 0);
    let document: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert_eq!(document["format"], "evalxrl.list/1");
    assert_eq!(document["environments"][0]["id"], "toy_grid");
}

#[test]
fn verbs_of_environments_hand_their_arguments_on_and_their_endings_back() {
    let repository = Repository::sound();
    for (ended, expected) in [(0, 0), (2, 2), (3, 3), (4, 10), (130, 130), (1, 1), (77, 1)] {
        let python = shell(&repository, ended);
        let python = python.to_str().unwrap();
        let arguments = [
            "env",
            "train",
            "--python",
            python,
            "--environment",
            "toy_grid",
            "--seed",
            "3",
        ];
        let (code, passed, told) = call(&repository, &arguments);
        assert_eq!(code, expected, "{told}");
        assert_eq!(passed, "train --environment toy_grid --seed 3\n");
    }
}

#[test]
fn the_tables_of_the_readme_are_made_and_a_missing_marker_is_told() {
    let repository = Repository::sound();
    let write = |text: &str| repository.write("malfunctions/README.md", text);
    write("# Malfunctions\n");
    let (code, _, told) = call(&repository, &["reference", "--tables"]);
    assert_eq!(code, 3);
    assert!(
        told.contains("malfunctions/README.md: admitted: has no"),
        "{told}"
    );
    write(
        "<!-- admitted: begin -->\n<!-- admitted: end -->\n<!-- candidates: begin -->\n<!-- candidates: end -->\n",
    );
    assert_eq!(call(&repository, &["reference", "--tables"]).0, 0);
    let text = std::fs::read_to_string(repository.path("malfunctions/README.md")).unwrap();
    assert!(
        text.contains("| `toy-grid-weak-pay` | reward-imbalance | environment |"),
        "{text}"
    );
}

/// A Python of this machine, or nothing and a word on it.
fn python() -> Option<&'static str> {
    let found = ["python3.11", "python3"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        println!("skipped: no Python on this machine");
    }
    found
}

/// Runs a program with SIGINT as usual: a test that a shell began in the background was told to ignore it.
const INTERRUPTIBLE: &str = "import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])";

/// Waits until something holds.
fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(value) = found() {
            return value;
        }
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn runs(process: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    status.is_ok_and(|text| !text.contains("State:\tZ"))
}

fn started(mut child: Child, mark: &Path) -> (Child, i32) {
    let training = until("training begins", || {
        assert!(
            child.try_wait().unwrap().is_none(),
            "ended before it trained"
        );
        std::fs::read_to_string(mark).ok()?.trim().parse().ok()
    });
    (child, training)
}

#[test]
fn a_screening_that_is_stopped_or_killed_leaves_no_training_behind() {
    let Some(python) = python() else { return };
    let repository = Repository::sound();
    repository.write("malfunctions/candidates/toy_grid.toml", CANDIDATES);
    let mark = repository.path("mark");
    let temporary = repository.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let code = format!(
        "import os, time\nopen({:?}, 'w').write(str(os.getpid()) + '\\n')\ntime.sleep(600)\n",
        mark.to_str().unwrap()
    );
    repository.write("envs/evalxrl_envs/__main__.py", code);
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        let child = Command::new(python)
            .args(["-c", INTERRUPTIBLE, env!("CARGO_BIN_EXE_evalxrl")])
            .args(["reference", "--screen", "toy_grid", "--python", python])
            .current_dir(repository.root())
            .env("EVALXRL_CACHE", repository.path("cache"))
            .env("TMPDIR", &temporary)
            .env_remove("EVALXRL_ROOT")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut child, training) = started(child, &mark);
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
        child.wait().unwrap();
        until("the training ends", || (!runs(training)).then_some(()));
        std::fs::remove_file(&mark).unwrap();
    }
    let left = std::fs::read_dir(repository.path("malfunctions/candidates")).unwrap();
    assert_eq!(left.count(), 1, "the ladders alone");
    // Killed programs leave their folder to the next one, which finds it free.
    let left = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    assert!(left(&temporary) > 0);
    repository.write("envs/evalxrl_envs/__main__.py", "raise SystemExit(1)\n");
    let mut last = program(&repository);
    last.args(["reference", "--screen", "toy_grid", "--python", python]);
    assert!(
        !last
            .env("TMPDIR", &temporary)
            .output()
            .unwrap()
            .status
            .success()
    );
    assert_eq!(left(&temporary), 0);
}

/// Trains by copying the line that pays, plays as well as it pays, and puts another sweep's file in place meanwhile.
const SHOP: &str = r#"import json, os, re, sys
verb, arguments = sys.argv[1], sys.argv[2:]
named = lambda name: [b for a, b in zip(arguments, arguments[1:]) if a == name]
if os.path.exists(BETWEEN):
    os.replace(BETWEEN, REFERENCES)
if verb == "train":
    pay = re.search(r"return (\d+)", open("evalxrl_envs/toy_grid/environment.py").read())[1]
    for seed in named("--seeds")[0].split(","):
        open(os.path.join(named("--agent")[0], seed + ".safetensors"), "w").write(pay)
    print(json.dumps({"format": "evalxrl.training/1", "seconds": {"processor": 1.0}}))
else:
    pays = [float(open(path).read()) for path in named("--agent")] or [0.0]
    agents = [{"returns": [pay + i % 2 / 100 for i in range(256)]} for pay in pays]
    print(json.dumps({"format": "evalxrl.evaluation/1", "agents": agents}))
"#;

#[test]
fn two_sweeps_of_one_repository_keep_the_rows_of_both() {
    let Some(python) = python() else { return };
    let repository = Repository::sound();
    let (rows, between) = (
        repository.path("malfunctions/references.toml"),
        repository.path("between.toml"),
    );
    let shop = SHOP
        .replace("BETWEEN", &format!("{between:?}"))
        .replace("REFERENCES", &format!("{rows:?}"));
    repository.write("envs/evalxrl_envs/__main__.py", shop);
    let half = |diff: String| diff.replace("return 1 *", "return 5 *");
    repository.malfunction("toy-grid-half-pay", |text| text, half);
    let sweep = |id: &str| {
        call(
            &repository,
            &["reference", "--only", id, "--python", python],
        )
    };
    let (code, told, talk) = sweep("toy-grid-half-pay");
    assert_eq!(code, 0, "{told}{talk}");
    // The second sweep begins without a row, and the first one ends while it trains.
    std::fs::rename(&rows, &between).unwrap();
    assert_eq!(sweep("toy-grid-weak-pay").0, 0);
    assert!(!between.exists());
    let text = std::fs::read_to_string(&rows).unwrap();
    for id in ["toy-grid-half-pay", "toy-grid-weak-pay"] {
        assert!(text.contains(&format!("[malfunctions.{id}]")), "{text}");
    }
    // A row whose folder has a defect is kept; that of a folder that is gone is dropped.
    repository.remove("malfunctions/toy-grid-half-pay/fault.diff");
    let (code, _, told) = sweep("toy-grid-weak-pay");
    assert_eq!(code, 3);
    assert!(!told.contains("drops the row"), "{told}");
    repository.remove("malfunctions/toy-grid-half-pay");
    assert_eq!(sweep("toy-grid-weak-pay").0, 0);
    let text = std::fs::read_to_string(&rows).unwrap();
    assert!(
        !text.contains("half-pay") && text.contains("weak-pay"),
        "{text}"
    );
}

#[test]
fn options_that_would_be_passed_over_are_refused() {
    let repository = Repository::sound();
    for arguments in [
        &["reference", "--entry", "P1"][..],
        &["reference", "--only", "toy-grid-weak-pay", "--entry", "P1"],
        &["reference", "--environment", "toy_grid", "--entry", "P1"],
        &["reference", "--tables", "--entry", "P1"],
        &["new", "malfunction", "toy-grid-"],
        &["new", "malfunction", "toy-grid"],
    ] {
        let (code, _, told) = call(&repository, arguments);
        assert_eq!(code, 2, "{arguments:?}: {told}");
    }
}
