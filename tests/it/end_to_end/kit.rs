//! Calls the program as a user does, and reads what it leaves.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The repository under test.
pub(super) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The program, to be called in the repository.
pub(super) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evalxrl"));
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// What a call printed and its exit code; no call may panic or show a traceback.
pub(super) struct Called {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Called {
    pub(super) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let called = Self {
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        };
        for word in ["panicked", "Traceback", "RUST_BACKTRACE"] {
            assert!(
                !called.stderr.contains(word),
                "{word} reached the user:\n{}",
                called.stderr
            );
        }
        called
    }

    pub(super) fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        self
    }
}

pub(super) fn call(arguments: &[&str]) -> Called {
    Called::of(
        &program()
            .args(arguments)
            .output()
            .expect("the program starts"),
    )
}

/// An experiment file in a folder of its own.
pub(super) struct Experiment {
    folder: tempfile::TempDir,
}

impl Experiment {
    pub(super) fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("experiment.toml"), text).expect("it is written");
        Self { folder }
    }

    pub(super) fn file(&self) -> String {
        self.folder
            .path()
            .join("experiment.toml")
            .display()
            .to_string()
    }

    pub(super) fn run(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The arguments of `run` into a named run directory.
    pub(super) fn arguments(&self, name: &str, more: &[&str]) -> Vec<String> {
        let out = self.run(name).display().to_string();
        let mut all = vec!["run".to_owned(), self.file(), "--out".to_owned(), out];
        all.extend(more.iter().map(ToString::to_string));
        all
    }

    pub(super) fn play(&self, name: &str, more: &[&str]) -> Called {
        let arguments = self.arguments(name, more);
        Called::of(
            &program()
                .args(arguments)
                .output()
                .expect("the program starts"),
        )
    }
}

/// Every file of that name below a folder, sorted.
pub(super) fn files_named(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name() == name)
        .map(walkdir::DirEntry::into_path)
        .collect();
    found.sort();
    found
}

pub(super) fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("it can be read")).expect("it is JSON")
}

/// Session records of a run, by path below it.
pub(super) fn records(run: &Path) -> Vec<Value> {
    files_named(&run.join("sessions"), "session.json")
        .iter()
        .map(|path| json(path))
        .collect()
}
