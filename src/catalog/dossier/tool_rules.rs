//! Knows the rules that only a run of a tool can show: help offline and soon, the same bytes twice, inside its time.
//! Must not know where or how a tool runs: the caller hands in a function that runs one.
//! Start at `check_tools`.

use super::super::secrecy::Secrets;
use super::super::{Problem, Problems};
use super::rules::verdict_words;
use super::{Dossier, Tool};

/// Seconds within which `--help` answers.
const HELP_SECONDS: f64 = 5.0;

/// One call of one tool, as `check_tools` asks for it.
#[derive(Debug, Clone, Copy)]
pub struct ToolCall<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// Arguments added to its `argv`.
    pub added: &'a [&'a str],
}

/// What the call did.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRun {
    /// Exit code; `None` when it was killed at its time limit.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Wall clock, seconds.
    pub seconds: f64,
}

/// Runs every tool of a dossier and reports what it breaks; `run` runs one call without any network.
///
/// # Errors
/// What `run` reports when a call could not be made at all.
pub fn check_tools<E>(
    dossier: &Dossier,
    secrets: &Secrets,
    run: &mut dyn FnMut(ToolCall<'_>) -> Result<ToolRun, E>,
) -> Result<Problems, E> {
    let mut problems = Problems::none();
    for tool in &dossier.tools {
        let mut broken = |wrong: String, remedy: &str| {
            problems.push(Problem::new(
                format!("dossiers/{}/dossier.toml", dossier.id),
                format!("tool `{}`", tool.name),
                wrong,
                remedy,
            ));
        };
        let help = run(ToolCall {
            tool,
            added: &["--help"],
        })?;
        if help.code != Some(0) {
            broken(
                format!("--help ends with {}", ended(&help)),
                "let it print its usage and exit 0",
            );
        }
        if help.seconds >= HELP_SECONDS {
            let wrong = format!("--help takes {:.1} s", help.seconds);
            broken(
                wrong,
                "answer in under 5 s: import what is slow only when it is needed",
            );
        }
        let first = run(ToolCall { tool, added: &[] })?;
        let second = run(ToolCall { tool, added: &[] })?;
        if first.code != Some(0) {
            broken(
                format!("its default invocation ends with {}", ended(&first)),
                "let `argv` with nothing added succeed within timeout_s",
            );
        }
        if first.stdout != second.stdout || first.code != second.code {
            broken(
                "prints other bytes when run twice".into(),
                "derive every draw from --seed",
            );
        }
        for output in [&help, &first] {
            let streams = [output.stdout.as_slice(), &output.stderr].concat();
            let text = String::from_utf8_lossy(&streams);
            for secret in secrets.found_in(&text) {
                broken(
                    format!("prints `{secret}`"),
                    "print no id, class or oracle text",
                );
            }
        }
        let plain = |text: &str| text.chars().all(|c| c == '\n' || !c.is_control());
        if !std::str::from_utf8(&first.stdout).is_ok_and(plain) {
            broken(
                "prints control characters, or bytes that are no UTF-8".into(),
                "print plain lines of text",
            );
        }
        for word in verdict_words(&String::from_utf8_lossy(&first.stdout)) {
            broken(
                format!("prints the verdict word `{word}`"),
                "describe, do not diagnose",
            );
        }
    }
    Ok(problems)
}

fn ended(run: &ToolRun) -> String {
    let Some(code) = run.code else {
        return format!("a kill after {:.0} s", run.seconds);
    };
    let error = String::from_utf8_lossy(&run.stderr);
    match error.trim().lines().last() {
        Some(line) => format!("exit {code} (`{line}`)"),
        None => format!("exit {code}"),
    }
}
