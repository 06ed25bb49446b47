//! Knows one planted violation of each rule that a dossier keeps, in a copy of the catalogue, and that one run tells them all.
//! Must not know how a rule is found broken.
//! Start at `one_run_tells_a_violation_of_each_rule_of_a_dossier`.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made ends the test"
)]

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::Command;

use evalxrl::catalog::{Catalog, ToolCall, ToolRun, check_tools};
use serde_json::Value;
use tempfile::TempDir;

use crate::guides::copy;

/// A copy of what is in the repository.
fn copied() -> TempDir {
    let folder = TempDir::new().unwrap();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for part in ["envs", "malfunctions", "dossiers"] {
        copy(&root.join(part), &folder.path().join(part));
    }
    folder
}

fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join("dossiers").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn words(count: usize) -> String {
    "word ".repeat(count)
}

/// As many rules as one manifest can break and still be read.
const CROOKED: &str = r#"id = "straight"
method = "bent"
packaging = "rich"
version = "1.0"
title = "How MALFUNCTION\u001b[31m looks"
authors = []
licence = "free, mostly"
papers = [
    { file = "papers/nowhere.md", citation = "Nobody, Nowhere, 2020" },
    { file = "papers/short.md", citation = "Somebody, Something, 2020" },
    { file = "papers/long.md", citation = "Somebody, Everything, 2021" },
]
environments = ["treasure_grid", "nowhere"]
needs = ["names", "telepathy", "python:"]
access = []
pages = 3

[[tool]]
name = "rdx-compare"
argv = ["sh", "-c", "true"]
help = "looks\nfor reward-hacking"
timeout_s = 301

[[tool]]
name = "crooked-text"
argv = "sh -c true"
help = "looks"
timeout_s = 60

[[tool]]
name = "crooked-none"
argv = []
help = "looks"
timeout_s = 0
colour = "red"

[[tool]]
name = "crooked-half"
argv = ["sh", 1]
help = ""
timeout_s = 1.5

[[tool]]
name = "crooked-none"
argv = ["sh"]
help = "is called as another"
timeout_s = 60

[[tool]]
name = "submit"
argv = ["sh"]
help = "is called as a command that every workspace has"
timeout_s = 60
"#;

/// Every field of another type.
const MISTYPED: &str = r#"id = "Mis_Typed"
method = 1
packaging = "large"
version = 1.0
title = ["a", "b"]
authors = "somebody"
licence = 2
papers = [{ file = "papers/a.md", citation = "A", year = 2020 }]
environments = "treasure_grid"
needs = "names"
access = ["grey"]
tool = "sh"
"#;

/// A sound manifest but for what is replaced.
const PLAIN: &str = r#"id = "ID"
method = "METHOD"
packaging = "PACKAGING"
version = "1.0.0"
title = "Plain"
authors = ["Somebody"]
licence = "Apache-2.0"
papers = []
environments = []
needs = []
"#;

/// Place, field and a fragment of what is wrong.
const TOLD: &[(&str, &str, &str)] = &[
    (
        "crooked/dossier.toml",
        "id",
        "is not the name of its folder",
    ),
    ("crooked/dossier.toml", "packaging", "is `rich`, but the id"),
    ("crooked/dossier.toml", "method", "does not go with the id"),
    ("crooked/dossier.toml", "version", "no semantic version"),
    ("crooked/dossier.toml", "title", "holds a control character"),
    ("crooked/dossier.toml", "authors", "names nobody"),
    ("crooked/dossier.toml", "licence", "no SPDX expression"),
    (
        "crooked/dossier.toml",
        "papers",
        "`papers/nowhere.md` is not a file",
    ),
    (
        "crooked/dossier.toml",
        "environments",
        "`nowhere` is not known",
    ),
    ("crooked/dossier.toml", "needs", "`telepathy` is not known"),
    ("crooked/dossier.toml", "needs", "`python:` is not known"),
    ("crooked/dossier.toml", "access", "is empty"),
    ("crooked/dossier.toml", "pages", "is an unknown field"),
    ("crooked/dossier.toml", "tool[0].help", "is not one line"),
    (
        "crooked/dossier.toml",
        "tool[0].timeout_s",
        "301 is out of range",
    ),
    ("crooked/dossier.toml", "tool[1].argv", "is not accepted"),
    ("crooked/dossier.toml", "tool[2].argv", "is empty"),
    (
        "crooked/dossier.toml",
        "tool[2].timeout_s",
        "0 is out of range",
    ),
    (
        "crooked/dossier.toml",
        "tool[2].colour",
        "is an unknown field",
    ),
    ("crooked/dossier.toml", "tool[3].argv", "is not accepted"),
    ("crooked/dossier.toml", "tool[3].help", "is not one line"),
    (
        "crooked/dossier.toml",
        "tool[3].timeout_s",
        "is not accepted",
    ),
    (
        "crooked/dossier.toml",
        "tool[5].name",
        "is a command that every workspace has",
    ),
    (
        "crooked/dossier.toml",
        "tool `rdx-compare`",
        "a tool of reward-decomposition",
    ),
    (
        "crooked/dossier.toml",
        "tool `crooked-none`",
        "a tool of crooked",
    ),
    (
        "reward-decomposition/dossier.toml",
        "tool `rdx-compare`",
        "a tool of crooked",
    ),
    ("crooked", "title", "would read `MALFUNCTION`"),
    (
        "crooked",
        "tool `rdx-compare`",
        "would read `reward-hacking`",
    ),
    ("crooked", "README.md", "has 4001 words"),
    ("crooked", "examples/b.md", "would read `ORACLE`"),
    ("crooked", "papers/short.md", "has 299 words"),
    ("crooked", "papers/long.md", "has 601 words"),
    ("crooked", "papers/long.md", "would read `MALFUNCTION`"),
    ("crooked", "papers/unlisted.md", "is not listed"),
    ("crooked", "papers/notes.txt", "is not Markdown"),
    ("crooked", "papers/scan.pdf", "is a binary document"),
    ("crooked", "papers/plain.md", "is a binary document"),
    ("crooked", "examples", "holds 2 files"),
    (
        "crooked",
        "examples/a.md",
        "would read `distributional-shift`",
    ),
    ("crooked", "src/crooked/MODULE.py", "would read `MODULE`"),
    (
        "crooked",
        "tools/crooked/look.py",
        "would read `MALFUNCTION`",
    ),
    ("crooked", "tests/golden/out.txt", "verdict word `because`"),
    ("crooked", "tests/golden/out.txt", "verdict word `fault`"),
    (
        "crooked",
        "tests/golden/out.txt",
        "would read `MALFUNCTION`",
    ),
    ("mistyped/dossier.toml", "id", "Mis_Typed"),
    ("mistyped/dossier.toml", "method", "is not accepted"),
    ("mistyped/dossier.toml", "packaging", "is not accepted"),
    ("mistyped/dossier.toml", "version", "is not accepted"),
    ("mistyped/dossier.toml", "title", "is not accepted"),
    ("mistyped/dossier.toml", "authors", "is not accepted"),
    ("mistyped/dossier.toml", "licence", "is not accepted"),
    ("mistyped/dossier.toml", "papers", "unknown field `year`"),
    ("mistyped/dossier.toml", "environments", "is not accepted"),
    ("mistyped/dossier.toml", "needs", "is not accepted"),
    ("mistyped/dossier.toml", "access", "is not accepted"),
    ("mistyped/dossier.toml", "tool", "is not a list of tables"),
    ("empty/dossier.toml", "id", "is missing"),
    ("empty/dossier.toml", "method", "is missing"),
    ("empty/dossier.toml", "packaging", "is missing"),
    ("empty/dossier.toml", "version", "is missing"),
    ("empty/dossier.toml", "title", "is missing"),
    ("empty/dossier.toml", "authors", "is missing"),
    ("empty/dossier.toml", "licence", "is missing"),
    ("empty/dossier.toml", "papers", "is missing"),
    ("empty/dossier.toml", "environments", "is missing"),
    ("empty/dossier.toml", "needs", "is missing"),
    ("empty/dossier.toml", "tool[0].name", "is missing"),
    ("empty/dossier.toml", "tool[0].argv", "is missing"),
    ("empty/dossier.toml", "tool[0].help", "is missing"),
    ("empty/dossier.toml", "tool[0].timeout_s", "is missing"),
    ("garbled/dossier.toml", "line 1", "is not TOML"),
    ("silent/dossier.toml", "", "is missing"),
    ("linked", "README.md", "is a link"),
    ("bare/dossier.toml", "environments", "is empty"),
    ("bare/dossier.toml", "tool", "lists no tool"),
    ("bare", "", "neither src/ nor tools/"),
    ("bare", "README.md", "has 1501 words"),
    ("bare", "papers", "cites no paper"),
    ("bare", "examples", "holds 0 files"),
    ("tiny-minimal", "README.md", "has 301 words"),
    ("tiny-minimal", "papers", "ships papers"),
    ("tiny-minimal", "examples", "holds 1 files"),
    (
        "tiny-minimal/dossier.toml",
        "method",
        "no dossier `tiny` in default packaging",
    ),
    (
        "tiny-rich/dossier.toml",
        "packaging",
        "is `default`, but the id `tiny-rich` says `rich`",
    ),
    ("tiny-rich", "README.md", "is missing"),
];

/// Plants the dossiers of `TOLD` into a copied catalogue.
fn plant(root: &Path, malfunction: &str, oracle: &str) {
    let crooked = CROOKED.replace("MALFUNCTION", malfunction);
    write(root, "crooked/dossier.toml", crooked);
    write(root, "crooked/README.md", words(4001));
    write(root, "crooked/papers/short.md", words(299));
    write(root, "crooked/papers/long.md", words(600) + malfunction);
    write(root, "crooked/papers/unlisted.md", words(350));
    write(root, "crooked/papers/notes.txt", words(350));
    write(root, "crooked/papers/scan.pdf", [0xff, 0xd8, 0x00]);
    write(
        root,
        "crooked/papers/plain.md",
        "%PDF-1.4\n".to_owned() + &words(350),
    );
    write(
        root,
        "crooked/examples/a.md",
        "A Distributional-Shift example.\n",
    );
    write(
        root,
        "crooked/examples/b.md",
        oracle.replacen(' ', "\n  ", 3),
    );
    let module = malfunction.replace('-', "_");
    write(root, &format!("crooked/src/crooked/{module}.py"), "x = 1\n");
    write(
        root,
        "crooked/tools/crooked/look.py",
        format!("# as in {malfunction}\n"),
    );
    let golden = format!("low because of a fault: {malfunction}\n");
    write(root, "crooked/tests/golden/out.txt", golden);

    write(root, "mistyped/dossier.toml", MISTYPED);
    write(root, "empty/dossier.toml", "[[tool]]\n");
    write(root, "garbled/dossier.toml", "id = = 1\n");
    write(root, "silent/README.md", "Nothing else.\n");
    write(root, "linked/dossier.toml", "");
    std::os::unix::fs::symlink("dossier.toml", root.join("dossiers/linked/README.md")).unwrap();

    let plain = |id: &str, packaging: &str| {
        let text = PLAIN.replace("ID", id).replace("PACKAGING", packaging);
        text.replace("METHOD", id.split('-').next().unwrap())
    };
    write(root, "bare/dossier.toml", plain("bare", "default"));
    write(root, "bare/README.md", words(1501));
    let papers = "papers = [{ file = \"papers/a.md\", citation = \"A\" }]";
    let minimal = plain("tiny-minimal", "minimal").replace("papers = []", papers);
    write(root, "tiny-minimal/dossier.toml", minimal);
    write(root, "tiny-minimal/README.md", words(301));
    write(root, "tiny-minimal/papers/a.md", words(350));
    write(root, "tiny-minimal/examples/a.md", "An example.\n");
    write(
        root,
        "tiny-rich/dossier.toml",
        plain("tiny-rich", "default"),
    );
}

#[test]
fn one_run_tells_a_violation_of_each_rule_of_a_dossier() {
    let folder = copied();
    let catalog = Catalog::load(folder.path()).unwrap();
    let malfunction = catalog.malfunctions().next().unwrap();
    let (id, oracle) = (malfunction.id.as_str(), malfunction.oracle.as_str());
    plant(folder.path(), id, oracle);
    let output = Command::new(env!("CARGO_BIN_EXE_evalxrl"))
        .args(["check", "dossiers", "--static", "--json"])
        .current_dir(folder.path())
        .env_remove("EVALXRL_ROOT")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let problems = document["problems"].as_array().unwrap();
    let of = |problem: &Value, field: &str| problem[field].as_str().unwrap().to_owned();
    let shown = serde_json::to_string_pretty(problems).unwrap();
    let cut: String = oracle.chars().take(60).collect();
    let spelt = |text: &str| {
        let text = text.replace("MALFUNCTION", id).replace("ORACLE", &cut);
        text.replace("MODULE", &id.replace('-', "_"))
    };
    for (place, field, fragment) in TOLD {
        let (place, field, fragment) = (format!("dossiers/{place}"), spelt(field), spelt(fragment));
        let hit = problems.iter().any(|problem| {
            of(problem, "place") == place
                && of(problem, "field") == field
                && of(problem, "wrong").contains(&fragment)
        });
        assert!(hit, "{place}: {field}: {fragment}\n{shown}");
    }
    for problem in problems {
        assert!(!of(problem, "remedy").is_empty(), "{problem}");
        let place = of(problem, "place");
        // Of the clashing method all packagings are told.
        let method = place.replace("-minimal/", "/").replace("-rich/", "/");
        let planted = TOLD
            .iter()
            .any(|(told, ..)| [&place, &method].contains(&&format!("dossiers/{told}")));
        assert!(planted, "the sound ones stay sound: {problem}");
        let line = format!("error: {place}: ");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains(&line),
            "{line}"
        );
    }
}

/// A manifest whose tools each break one rule when they run.
fn running(names: &[&str]) -> String {
    let tool = |name: &&str| {
        format!("[[tool]]\nname = \"{name}\"\nargv = [\"sh\"]\nhelp = \"runs\"\ntimeout_s = 7\n")
    };
    let tools: String = names.iter().map(tool).collect();
    let plain = PLAIN.replace("ID", "running").replace("METHOD", "running");
    plain.replace("PACKAGING", "default") + &tools
}

/// Tool and what is told of it.
const RUNS: &[(&str, &str)] = &[
    ("slow-help", "--help takes 5.0 s"),
    ("failing-help", "--help ends with exit 1 (`no such option`)"),
    ("stuck-help", "--help ends with a kill after 7 s"),
    ("telling-help", "prints `reward-hacking`"),
    ("failing", "its default invocation ends with exit 2"),
    (
        "over-time",
        "its default invocation ends with a kill after 7 s",
    ),
    ("changing", "prints other bytes when run twice"),
    ("ending-otherwise", "prints other bytes when run twice"),
    ("telling", "prints `MALFUNCTION`"),
    ("telling-aside", "prints `MALFUNCTION`"),
    ("judging", "prints the verdict word `because`"),
];

#[test]
fn one_run_tells_each_rule_that_only_a_running_tool_can_break() {
    let folder = copied();
    let mut names: Vec<&str> = RUNS.iter().map(|(name, _)| *name).collect();
    names.push("sound");
    write(folder.path(), "running/dossier.toml", running(&names));
    let (catalog, _) = Catalog::survey(folder.path());
    let id = catalog.malfunctions().next().unwrap().id.to_string();
    let dossier = catalog.dossier(&"running".parse().unwrap()).unwrap();
    let mut calls = 0;
    let mut pretended = |call: ToolCall<'_>| {
        calls += 1;
        let mut run = ToolRun {
            code: Some(0),
            stdout: b"seen\n".to_vec(),
            stderr: Vec::new(),
            seconds: 1.0,
        };
        let (name, help) = (call.tool.name.as_str(), call.added == ["--help"]);
        match (name, help) {
            ("slow-help", true) => run.seconds = 5.0,
            ("failing-help", true) => {
                (run.code, run.stderr) = (Some(1), b"usage\nno such option\n".to_vec());
            }
            ("stuck-help", true) | ("over-time", false) => (run.code, run.seconds) = (None, 7.0),
            ("telling-help", true) => run.stdout = b"finds reward-hacking\n".to_vec(),
            ("failing", false) => run.code = Some(2),
            ("changing", false) => run.stdout = calls.to_string().into_bytes(),
            ("ending-otherwise", false) => run.code = Some(calls % 2),
            ("telling", false) => run.stdout = id.clone().into_bytes(),
            ("telling-aside", false) => run.stderr = id.clone().into_bytes(),
            ("judging", false) => run.stdout = b"low because of it\n".to_vec(),
            _ => {}
        }
        Ok::<_, Infallible>(run)
    };
    let problems = check_tools(dossier, &catalog.secrets(), &mut pretended).unwrap();
    for (name, fragment) in RUNS {
        let (field, fragment) = (
            format!("tool `{name}`"),
            fragment.replace("MALFUNCTION", &id),
        );
        let hit = problems.list().iter().any(|problem| {
            problem.place == "dossiers/running/dossier.toml"
                && problem.field == field
                && problem.wrong.contains(&fragment)
                && !problem.remedy.is_empty()
        });
        assert!(hit, "{field}: {fragment}\n{problems}");
    }
    assert!(!problems.to_string().contains("tool `sound`"), "{problems}");
}
