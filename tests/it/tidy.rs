//! The house keeps its shape: arrows, file sizes, names, formats of text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Room → rooms it may use, as DESIGN draws them; `cli` may use everything.
const ARROWS: [(&str, &[&str]); 12] = [
    ("vocab", &[]),
    ("catalog", &["vocab"]),
    ("plan", &["catalog", "vocab"]),
    ("store", &["vocab"]),
    ("harness", &["vocab"]),
    ("model", &["vocab"]),
    ("coder", &["model", "vocab"]),
    ("workspace", &["catalog", "harness", "vocab"]),
    (
        "session",
        &[
            "workspace",
            "coder",
            "model",
            "harness",
            "store",
            "catalog",
            "vocab",
        ],
    ),
    ("runner", &["session", "store", "plan", "vocab"]),
    (
        "reference",
        &["workspace", "harness", "catalog", "store", "vocab"],
    ),
    ("report", &["store", "plan", "vocab"]),
];

/// Rooms that may use the crate `evalxrl-analysis`.
const ANALYSTS: [&str; 5] = ["plan", "session", "reference", "report", "cli"];

/// Module names under which unrelated things gather.
const HUBS: [&str; 6] = ["utils", "util", "helpers", "common", "misc", "errors"];

/// Lines of a source file beyond which it wants dividing.
const CEILING: usize = 600;

/// Bytes of a tracked file beyond which it is taken for something built or downloaded.
const HEAVY: u64 = 256 * 1024;

/// Python packages → packages they may use, as DESIGN draws them.
const PYTHON_ARROWS: [(&str, &[&str]); 8] = [
    ("core", &[]),
    ("agents", &["core"]),
    ("serving", &["core", "agents"]),
    ("scoring", &["core", "serving"]),
    ("cartpole", &["core"]),
    ("datacenter_cooling", &["core"]),
    ("traffic_lights", &["core"]),
    ("treasure_grid", &["core"]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn tracked() -> Vec<PathBuf> {
    let listed = std::process::Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ])
        .current_dir(root())
        .output()
        .expect("git is there");
    String::from_utf8_lossy(&listed.stdout)
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .filter(|path| root().join(path).is_file())
        .collect()
}

fn with_extension(extension: &str) -> Vec<PathBuf> {
    tracked()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// Rooms named behind `crate::` in a file of the root crate.
fn rooms_used(text: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(group) => group.split('}').next().unwrap_or("").split(',').collect(),
            None => vec![rest],
        };
        for name in names {
            let word: String = name
                .trim()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            used.insert(word);
        }
    }
    used
}

#[test]
fn every_arrow_between_rooms_is_drawn_in_the_design() {
    let arrows: BTreeMap<&str, &[&str]> = ARROWS.into();
    let mut strays = Vec::new();
    for path in with_extension("rs") {
        let Ok(inner) = path.strip_prefix("src") else {
            continue;
        };
        let Some(room) = inner.iter().next().and_then(|part| part.to_str()) else {
            continue;
        };
        if inner.iter().count() < 2 || room == "cli" {
            continue;
        }
        let allowed = arrows
            .get(room)
            .unwrap_or_else(|| panic!("{room} is not in the design"));
        let text = read(&path);
        for used in rooms_used(&text) {
            if used != room
                && arrows.contains_key(used.as_str())
                && !allowed.contains(&used.as_str())
                || used == "cli"
            {
                strays.push(format!("{}: {room} → {used}", path.display()));
            }
        }
        if text.contains("evalxrl_analysis") && !ANALYSTS.contains(&room) {
            strays.push(format!("{}: {room} → evalxrl-analysis", path.display()));
        }
    }
    assert!(
        strays.is_empty(),
        "arrows that the design does not draw:\n{}",
        strays.join("\n")
    );
}

#[test]
fn a_planted_arrow_is_seen_in_every_spelling() {
    for text in [
        "use crate::report::Page;",
        "use crate::{vocab::Seed, report};",
        "let x = crate::report::f();",
    ] {
        assert!(rooms_used(text).contains("report"), "{text}");
    }
}

#[test]
fn every_arrow_between_python_packages_is_drawn_in_the_design() {
    let arrows: BTreeMap<&str, &[&str]> = PYTHON_ARROWS.into();
    let mut strays = Vec::new();
    for path in with_extension("py") {
        let Ok(inner) = path.strip_prefix("envs/evalxrl_envs") else {
            continue;
        };
        if inner.iter().count() < 2 {
            continue;
        }
        let package = inner
            .iter()
            .next()
            .and_then(|part| part.to_str())
            .unwrap_or("");
        let allowed = arrows
            .get(package)
            .unwrap_or_else(|| panic!("{package} is not in the design"));
        for line in read(&path)
            .lines()
            .filter(|line| line.contains("evalxrl_envs."))
        {
            for (at, _) in line.match_indices("evalxrl_envs.") {
                let used: String = line[at + "evalxrl_envs.".len()..]
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                let imports = line.trim_start().starts_with("from ")
                    || line.trim_start().starts_with("import ");
                if imports && used != package && !allowed.contains(&used.as_str()) {
                    strays.push(format!("{}: {package} → {used}", path.display()));
                }
                if imports && package == "scoring" && line.contains("serving.server") {
                    strays.push(format!(
                        "{}: scoring may use serving.protocol only",
                        path.display()
                    ));
                }
            }
        }
    }
    assert!(
        strays.is_empty(),
        "arrows that the design does not draw:\n{}",
        strays.join("\n")
    );
}

#[test]
fn no_source_file_is_longer_than_six_hundred_lines_and_the_median_is_short() {
    let mut lengths = Vec::new();
    for extension in ["rs", "py"] {
        for path in with_extension(extension) {
            lengths.push((read(&path).lines().count(), path));
        }
    }
    let long: Vec<_> = lengths
        .iter()
        .filter(|(lines, _)| *lines > CEILING)
        .collect();
    assert!(long.is_empty(), "files that want dividing: {long:?}");
    lengths.sort();
    assert!(
        lengths[lengths.len() / 2].0 <= 200,
        "the median file is too long"
    );
}

#[test]
fn nothing_built_or_downloaded_is_kept() {
    let heavy: Vec<_> = tracked()
        .into_iter()
        .filter(|path| std::fs::metadata(root().join(path)).is_ok_and(|of| of.len() > HEAVY))
        .collect();
    assert!(heavy.is_empty(), "heavy files: {heavy:?}");
}

#[test]
fn nothing_is_called_by_a_name_under_which_unrelated_things_gather() {
    let hubs: Vec<_> = tracked()
        .into_iter()
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "rs" || extension == "py")
                && path.with_extension("").iter().any(|part| {
                    part.to_str()
                        .is_some_and(|part| HUBS.contains(&part) || part == "prelude")
                })
        })
        .collect();
    assert!(hubs.is_empty(), "hub names: {hubs:?}");
}

#[test]
fn every_rust_module_says_what_it_knows_must_not_know_and_where_to_start() {
    let silent: Vec<_> = with_extension("rs")
        .into_iter()
        .filter(|path| path.starts_with("src") && path.iter().count() > 2)
        .filter(|path| {
            let is_test = path.iter().any(|part| part == "tests")
                || path
                    .file_stem()
                    .is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
            let text = read(path);
            let head: String = text
                .lines()
                .take(8)
                .filter(|line| line.starts_with("//!"))
                .collect();
            let told = ["Knows", "Must not", "Start at"]
                .iter()
                .all(|words| head.contains(words));
            !(is_test || told)
        })
        .collect();
    assert!(
        silent.is_empty(),
        "modules without their three lines: {silent:?}"
    );
}

#[test]
fn only_the_command_line_reads_the_process_environment_or_exits() {
    let strays: Vec<_> = with_extension("rs")
        .into_iter()
        .filter(|path| path.starts_with("src") && !path.starts_with("src/cli"))
        .filter(|path| {
            let text = read(path);
            let code = match path.iter().any(|part| part == "tests") {
                true => "",
                false => text.split("#[cfg(test)]").next().unwrap_or(""),
            };
            code.contains("env::var")
                || code.contains("process::exit")
                || code.contains("env::args")
        })
        .collect();
    assert!(
        strays.is_empty(),
        "the process environment is read outside cli: {strays:?}"
    );
}

#[test]
fn every_top_level_folder_has_a_readme_that_names_its_entries() {
    let mut missing = Vec::new();
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in tracked() {
        let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
        if parts.len() > 1 && !parts[0].starts_with('.') {
            folders
                .entry(parts[0].to_owned())
                .or_default()
                .insert(parts[1].to_owned());
        }
    }
    for (folder, entries) in folders {
        let readme = read(Path::new(&folder).join("README.md").as_path());
        for entry in entries
            .iter()
            .filter(|entry| *entry != "README.md" && !entry.starts_with('.'))
        {
            if !readme.contains(entry.trim_end_matches(".rs")) {
                missing.push(format!("{folder}/README.md does not name {entry}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
