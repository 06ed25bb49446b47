//! Knows looks into workspaces as a shell calls them: `try` and `localise`, with real training and a dossier of a stranger.
//! Must not know how a workspace is furnished.
//! Start at `a_dossier_that_names_the_place_stands_first_and_one_that_says_nothing_in_the_middle`.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made ends the test"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::guides::copy;

/// A fault of one line in `reset` of the environment.
const BROKEN: &str = "cartpole-loud-angle";

/// A copy of the catalogue with two dossiers whose only tool prints a text.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(dossiers: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        for part in ["envs", "malfunctions"] {
            copy(&root.join(part), &folder.path().join(part));
        }
        let place = Self { folder };
        place.write("dossiers/_shared/xrl_common/__init__.py", "");
        let shell = "import sys\nif '--help' in sys.argv:\n    sys.exit()\n";
        for (id, code) in dossiers {
            let method = format!(
                "id = \"{id}\"\nmethod = \"{id}\"\npackaging = \"default\"\nversion = \"1.0.0\"\ntitle = \"{id}\"\n\
                 authors = [\"somebody\"]\nlicence = \"Apache-2.0\"\n\
                 papers = [{{ file = \"papers/a.md\", citation = \"Somebody, Something, 2020\" }}]\n\
                 environments = [\"cartpole\"]\nneeds = []\n\n[[tool]]\nname = \"{id}-tell\"\n\
                 argv = [\"python\", \"-m\", \"telling\"]\nhelp = \"tells\"\ntimeout_s = 60\n"
            );
            place.write(&format!("dossiers/{id}/dossier.toml"), &method);
            place.write(&format!("dossiers/{id}/README.md"), "It tells.\n");
            place.write(&format!("dossiers/{id}/papers/a.md"), &"word ".repeat(300));
            place.write(&format!("dossiers/{id}/examples/a.md"), "None yet.\n");
            let tool = format!("dossiers/{id}/tools/telling/__main__.py");
            place.write(&tool, &format!("{shell}{code}\n"));
        }
        place
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn call(&self, arguments: &[&str]) -> (i32, String, String) {
        let Output {
            status,
            stdout,
            stderr,
        } = Command::new(env!("CARGO_BIN_EXE_evalxrl"))
            .current_dir(self.folder.path())
            .env_remove("EVALXRL_ROOT")
            .args(arguments)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }
}

fn percentile(path: &Path) -> f64 {
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    record["percentile"].as_f64().unwrap()
}

#[test]
fn a_dossier_that_names_the_place_stands_first_and_one_that_says_nothing_in_the_middle() {
    let place = Place::new(&[
        ("pointer", "pass"),
        ("silent", "pass"),
        ("lame", "print('half'); sys.exit(3)"),
    ]);
    let (catalog, _) = evalxrl::catalog::Catalog::survey(place.folder.path());
    let broken = catalog.malfunction(&BROKEN.parse().unwrap()).unwrap();
    let environment = catalog.environment(&broken.environment).unwrap();
    let source = broken.apply(&environment.source).unwrap();
    let (path, line) = broken.diff.faulty_lines()[0];
    let text = String::from_utf8(source[path].clone()).unwrap();
    let faulty = text.lines().nth(line - 1).unwrap();
    place.write(
        "dossiers/pointer/tools/telling/__main__.py",
        &format!("print({faulty:?})\n"),
    );
    let arguments = [
        "localise",
        "--out",
        "found",
        "--malfunction",
        BROKEN,
        "--sandbox",
        "local",
    ];
    let (code, printed, told) = place.call(&arguments);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("3 pairs to measure"), "{told}");
    assert!(printed.contains("cartpole-loud-angle  0.50  "), "{printed}");
    let file = |dossier: &str| place.path(&format!("found/{BROKEN}/{dossier}.json"));
    assert!(percentile(&file("pointer")) > 0.99, "{printed}");
    assert_eq!(percentile(&file("silent")), 0.5);
    assert_eq!(
        percentile(&file("lame")),
        0.5,
        "a tool that fails adds nothing"
    );

    let (code, again, told) = place.call(&arguments);
    assert_eq!((code, again), (0, printed));
    assert!(told.contains("0 pairs to measure"), "{told}");

    place.write("dossiers/silent/README.md", "It tells nothing.\n");
    let (code, _, told) = place.call(&arguments);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("1 pairs to measure"), "{told}");
}

#[test]
fn a_tool_that_fails_or_prints_too_wide_is_told_after_all_were_called() {
    let place = Place::new(&[("wide", "print('x' * 101); print('\\x1b[31mred')")]);
    let manifest = place.path("dossiers/wide/dossier.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let second = "\n[[tool]]\nname = \"wide-fail\"\nargv = [\"python\", \"-c\", \"import sys; sys.exit(5)\"]\n\
                  help = \"fails\"\ntimeout_s = 60\n";
    std::fs::write(&manifest, text + second).unwrap();
    let arguments = [
        "try",
        "wide",
        "--malfunction",
        BROKEN,
        "--sandbox",
        "local",
        "--out",
        "kept",
    ];
    let (code, printed, told) = place.call(&arguments);
    assert_eq!(code, 3, "{told}");
    assert!(
        told.contains("wide-tell: prints a line of 101 columns"),
        "{told}"
    );
    assert!(
        told.contains("wide-fail: its default invocation ends with exit 5"),
        "{told}"
    );
    assert!(
        printed.contains("agent/parameters.safetensors"),
        "{printed}"
    );
    assert!(printed.contains("␛[31mred"), "{printed}");
    assert!(place.path("kept/workspace/BRIEF.md").is_file());
    assert!(place.path("kept/outputs/wide-tell.txt").is_file());
    let secret = Command::new("grep")
        .args(["-rlE", "loud.angle|wide-tell|observation.fault"])
        .arg(place.path("kept/workspace/evalxrl_envs"))
        .output()
        .unwrap();
    assert!(secret.stdout.is_empty(), "the source names what is broken");

    let (code, _, told) = place.call(&arguments);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("kept: holds something already"), "{told}");
}

#[test]
fn what_cannot_be_tried_is_refused_before_anything_is_trained() {
    let place = Place::new(&[("plain", "print('fine')")]);
    for (arguments, fragment) in [
        (
            &["try", "nothing", "--environment", "cartpole"][..],
            "nothing",
        ),
        (&["try", "plain"], "--environment"),
        (&["try", "plain", "--environment", "nowhere"], "nowhere"),
        (
            &["try", "plain", "--environment", "treasure_grid"],
            "does not list treasure_grid",
        ),
        (
            &[
                "try",
                "plain",
                "--environment",
                "treasure_grid",
                "--malfunction",
                BROKEN,
            ],
            "cartpole-loud-angle breaks cartpole, not treasure_grid",
        ),
        (&["localise"], "--run"),
        (
            &["localise", "--out", "envs/evalxrl_envs/__init__.py"],
            "__init__.py",
        ),
        (&["new", "dossier", "no-method"], "is an arm"),
        (&["localise", "--run", "nowhere"], "nowhere"),
        (
            &["localise", "--out", "o", "--malfunction", "nothing"],
            "nothing",
        ),
        (
            &["localise", "--out", "o", "--dossier", "nothing"],
            "nothing",
        ),
    ] {
        let (code, printed, told) = place.call(arguments);
        assert_eq!((code, printed.as_str()), (2, ""), "{arguments:?} {told}");
        assert!(told.contains(fragment), "{arguments:?} {told}");
    }
}
