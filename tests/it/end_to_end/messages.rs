//! Bad input gets one clear message, a documented exit code, and nothing lost.

use super::kit::{Called, Experiment, call, program};

const SOUND: &str = r#"
format = "evalxrl.experiment/1"
name = "sound"
replications = 1
malfunctions = [{ environment = "treasure_grid" }]
arms = ["no-method"]
sandbox = "docker"
[[coder]]
label = "idle"
scaffold = "null"
"#;

/// Asserts that a message says file, field and remedy.
fn tells(called: &Called, parts: &[&str]) {
    for part in parts {
        assert!(
            called.stderr.contains(part),
            "{part:?} is not in:\n{}",
            called.stderr
        );
    }
}

#[test]
fn a_broken_plan_names_file_and_field_and_leaves_no_run_directory() {
    for (from, to, parts) in [
        (
            "replications = 1",
            "replications = \"many\"",
            &["experiment.toml", "replications"][..],
        ),
        (
            "name = \"sound\"",
            "nmae = \"sound\"",
            &["experiment.toml", "nmae"],
        ),
        (
            "\"no-method\"",
            "\"no-such-dossier\"",
            &["experiment.toml", "arms", "no-such-dossier"],
        ),
        (
            "scaffold = \"null\"",
            "scaffold = \"nobody\"",
            &["experiment.toml", "scaffold", "nobody"],
        ),
        (
            "treasure_grid",
            "treasure_isle",
            &["experiment.toml", "malfunctions", "treasure_isle"],
        ),
        ("format = ", "format = = ", &["experiment.toml"]),
    ] {
        let experiment = Experiment::new(&SOUND.replace(from, to));
        let refused = experiment.play("run", &["--sandbox", "local"]).expect(3);
        tells(&refused, parts);
        assert!(!experiment.run("run").exists(), "{to}");
        call(&["plan", &experiment.file()]).expect(3);
    }
}

#[test]
fn two_defects_of_one_plan_are_told_together() {
    let text = SOUND
        .replace("replications = 1", "replications = 0")
        .replace("\"no-method\"", "\"nothing-here\"");
    let experiment = Experiment::new(&text);
    let planned = call(&["plan", &experiment.file()]).expect(3);
    let run = experiment.play("run", &["--sandbox", "local"]).expect(3);
    for refused in [planned, run] {
        tells(&refused, &["replications", "nothing-here"]);
    }
}

#[test]
fn a_stopped_engine_is_told_with_a_way_out() {
    let experiment = Experiment::new(SOUND);
    let output = program()
        .args(experiment.arguments("run", &["--sandbox", "docker"]))
        .env("DOCKER_HOST", "unix:///nonexistent/docker.sock")
        .output()
        .unwrap();
    let refused = Called::of(&output).expect(4);
    tells(
        &refused,
        &["docker_unavailable", "next:", "--sandbox local"],
    );
    assert!(!experiment.run("run").exists());
}

#[test]
fn what_is_no_run_directory_is_told_by_every_verb_that_wants_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    for verb in [
        vec!["show", &path],
        vec!["report", &path],
        vec!["export", "csv", &path],
    ] {
        let refused = call(&verb).expect(2);
        tells(&refused, &["plan.json", "next:"]);
    }
    std::fs::write(folder.path().join("plan.json"), "{\"format\": \"else\"}").unwrap();
    let refused = call(&["show", &path]).expect(3);
    tells(&refused, &["plan.json", "next:"]);
}

#[test]
fn wrong_usage_has_its_own_code() {
    for arguments in [
        &["run"][..],
        &["run", "absent.toml", "--out", "x"],
        &["frobnicate"],
        &["list", "unicorns"],
    ] {
        call(arguments).expect(2);
    }
}
