//! Knows that the guide to a new malfunction works: its files are written and its commands run, as they stand.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made ends the test"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

const MADE: &str = "treasure-grid-dull-prize";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What a reader does next: writes a file, or runs commands.
enum Act {
    Write(String, String),
    Run(String),
}

/// The fenced blocks of a guide; the path of a file stands on the line before its block.
fn acts(guide: &str) -> Vec<Act> {
    let (mut acts, mut lines, mut path) = (Vec::new(), guide.lines(), None);
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: String = lines
                .by_ref()
                .take_while(|line| *line != "```")
                .flat_map(|line| [line, "\n"])
                .collect();
            acts.push(if language == "sh" {
                Act::Run(text)
            } else {
                let path: Option<String> = path.take();
                Act::Write(path.expect("the line before a file names it"), text)
            });
        } else if !line.is_empty() {
            path = line
                .strip_prefix('`')
                .and_then(|rest| rest.strip_suffix("`:"))
                .map(str::to_owned);
        }
    }
    acts
}

pub(crate) fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(target).unwrap();
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Runs a script in a folder with the program on the `PATH`; gives what it printed.
fn run(script: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_evalxrl")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", script])
        .current_dir(folder)
        .env("PATH", path)
        .env_remove("EVALXRL_ROOT")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{script}\n{out}\n{errors}");
    out
}

#[test]
fn the_guide_to_a_new_malfunction_makes_one_that_bites() {
    let copied = tempfile::tempdir().unwrap();
    for part in ["envs", "malfunctions", "dossiers"] {
        copy(&root().join(part), &copied.path().join(part));
    }
    let guide = std::fs::read_to_string(root().join("docs/guides/new-malfunction.md")).unwrap();
    let mut printed = String::new();
    for act in acts(&guide) {
        match act {
            Act::Write(path, text) => std::fs::write(copied.path().join(path), text).unwrap(),
            Act::Run(script) => printed = run(&script, copied.path()),
        }
    }
    let bites: f64 = printed
        .split_once("A1 gap/span ")
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .unwrap_or_else(|| panic!("no figures of {MADE} in {printed}"))
        .parse()
        .unwrap();
    assert!(bites > 0.25, "{printed}");
    let folder = copied.path().join("malfunctions").join(MADE);
    let diff = std::fs::read_to_string(folder.join("fault.diff")).unwrap();
    assert!(
        diff.contains("+            large=params.large / 10.0"),
        "{diff}"
    );
}
