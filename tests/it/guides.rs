//! Knows that the guides to a new malfunction and a new method work: their files are written and their commands run, as they stand.
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

/// Follows a guide in a copy of the repository; gives the copy and what the last command printed.
fn follow(guide: &str, parts: &[&str]) -> (tempfile::TempDir, String) {
    let copied = tempfile::tempdir().unwrap();
    for part in parts {
        copy(&root().join(part), &copied.path().join(part));
    }
    let guide = std::fs::read_to_string(root().join("docs/guides").join(guide)).unwrap();
    let mut printed = String::new();
    for act in acts(&guide) {
        match act {
            Act::Write(path, text) => std::fs::write(copied.path().join(path), text).unwrap(),
            Act::Run(script) => printed = run(&script, copied.path()),
        }
    }
    (copied, printed)
}

#[test]
fn the_guide_to_a_new_method_ends_with_a_dossier_that_went_out_and_came_back() {
    let parts = ["envs", "malfunctions", "dossiers", "scripts"];
    let (copied, printed) = follow("method-author.md", &parts);
    assert!(printed.starts_with("return-spread  1.0.0  "), "{printed}");
    let tried = copied.path().join("tried/outputs/spread-returns.txt");
    let tried = std::fs::read_to_string(tried).unwrap();
    assert!(
        tried.starts_with("# spread-returns  treasure_grid  gamma 0.990 (config.toml)"),
        "{tried}"
    );
}

#[test]
fn the_guide_to_a_new_malfunction_makes_one_that_bites() {
    let (copied, printed) = follow("new-malfunction.md", &["envs", "malfunctions", "dossiers"]);
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
