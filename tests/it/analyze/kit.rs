//! Makes tables of scores and hands them to the program as a user does.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// An analysis that is quick, and otherwise as by default.
const QUICK: &str =
    "format = \"evalxrl.experiment/1\"\n[analysis]\nresamples = 300\npermutations = 99\n";

/// A folder with what a call reads.
pub(super) struct Desk {
    folder: TempDir,
}

/// What a call printed and its exit code.
pub(super) struct Called {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Called {
    pub(super) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// The messages on standard error, without the word in front.
    pub(super) fn errors(&self) -> Vec<String> {
        let lines = self.stderr.lines();
        lines
            .filter_map(|line| line.strip_prefix("error: "))
            .map(str::to_owned)
            .collect()
    }
}

impl Desk {
    pub(super) fn new() -> Self {
        let desk = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        desk.write("quick.toml", QUICK);
        desk
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Calls the program in the folder; `threads` is what the computation may use.
    pub(super) fn call_with(&self, args: &[&str], stdin: &[u8], threads: usize) -> Called {
        let mut child = Command::new(env!("CARGO_BIN_EXE_evalxrl"))
            .args(args)
            .current_dir(self.folder.path())
            .env("RAYON_NUM_THREADS", threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A call that reads no input may have closed it.
        drop(child.stdin.take().unwrap().write_all(stdin));
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let called = Called {
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        };
        assert!(!called.stderr.contains("panicked"), "{}", called.stderr);
        called
    }

    pub(super) fn call(&self, args: &[&str]) -> Called {
        self.call_with(args, b"", 2)
    }

    /// Analyses a table quickly, as JSON.
    pub(super) fn findings(&self, table: &str) -> Value {
        self.write("scores.csv", table);
        let args = ["analyze", "scores.csv", "--plan", "quick.toml", "--json"];
        self.call(&args).json()
    }

    /// The messages about a table that cannot be analysed.
    pub(super) fn refused(&self, table: &str) -> Vec<String> {
        self.write("scores.csv", table);
        let called = self.call(&["analyze", "scores.csv"]);
        assert_eq!(called.code, 3, "{}{}", called.stdout, called.stderr);
        assert_eq!(called.stdout, "");
        called.errors()
    }
}

/// A number in [0, 1) that looks irregular.
fn wobble(seed: usize) -> f64 {
    (seed as f64 * 0.754_877_666 + 0.1).fract()
}

/// A table of so many methods beside no-method and cheat-oracle, on so many malfunctions.
pub(super) fn table(methods: usize, malfunctions: usize, sessions: usize) -> String {
    let mut text = "malfunction,method,replication,block,raw,outcome,tool_calls\n".to_owned();
    let names = (0..methods).map(|index| format!("m{index}"));
    let arms: Vec<String> = ["no-method", "cheat-oracle"]
        .map(str::to_owned)
        .into_iter()
        .chain(names)
        .collect();
    for k in 0..malfunctions {
        for (m, arm) in arms.iter().enumerate() {
            for n in 0..sessions {
                let noise = wobble(k * 97 + m * 13 + n * 5) - 0.5;
                let raw = 0.3 + 0.2 * wobble(k * 31 + m * 17) + 0.3 * noise;
                let calls = 10 + (k + 3 * m + 7 * n) % 40;
                if (k + m + n).is_multiple_of(11) {
                    text.push_str(&format!("k{k},{arm},{n},b{n},0,gave_up,{calls}\n"));
                } else {
                    text.push_str(&format!("k{k},{arm},{n},b{n},{raw},submitted,{calls}\n"));
                }
            }
        }
    }
    text
}
