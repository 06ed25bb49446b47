//! Knows how to train and play with a Python of this machine, in a folder of its own.
//! Must not know what is measured.
//! Start at `Interpreter`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::catalog::Files;
use crate::reference::{Laboratory, LaboratoryError, Passing, Players};

/// A Python with the packages of `envs/requirements.lock`.
#[derive(Debug)]
pub(super) struct Interpreter {
    python: PathBuf,
    compiled: PathBuf,
}

#[derive(Deserialize)]
struct Evaluation {
    format: String,
    agents: Vec<Evaluated>,
}

#[derive(Deserialize)]
struct Evaluated {
    returns: Vec<f64>,
}

#[derive(Deserialize)]
struct Training {
    format: String,
    seconds: Seconds,
}

#[derive(Deserialize)]
struct Seconds {
    processor: f64,
}

/// Runs a module after asking the kernel to end the process with its parent: a training outlives nobody who waits for it.
/// Ctrl-C ends it at once, whatever it is importing, and without a traceback.
const BOUND: &str = "\
import ctypes, os, runpy, signal, sys
if sys.platform == 'linux':
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]):
        sys.exit(130)
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
module = sys.argv[2]
del sys.argv[1:3]
runpy.run_module(module, run_name='__main__', alter_sys=True)
";

/// A command that runs the package's command line bound to this process; verb and arguments follow.
pub(super) fn module(python: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(python);
    command
        .args(options)
        .args(["-c", BOUND, &std::process::id().to_string(), "evalxrl_envs"]);
    command
}

impl Interpreter {
    /// A Python and the folder of its compilation cache.
    pub(super) fn new(python: PathBuf, compiled: PathBuf) -> Self {
        Self { python, compiled }
    }

    fn run(
        &self,
        verb: &'static str,
        files: &Files,
        arguments: &[String],
    ) -> Result<Vec<u8>, LaboratoryError> {
        let parent = std::env::temp_dir();
        let folder = Passing::below(&parent).map_err(|error| LaboratoryError::File {
            path: parent,
            error,
        })?;
        place(files, folder.path())?;
        let mut command = module(&self.python, &[]);
        command
            .args([verb, "--device", "cpu"])
            .args(arguments)
            .current_dir(folder.path())
            .env_clear()
            .env("EVALXRL_XLA_CACHE", &self.compiled)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        for name in ["PATH", "HOME", "LANG", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let output = command.output().map_err(|error| LaboratoryError::File {
            path: self.python.clone(),
            error,
        })?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.trim().lines().last().unwrap_or_default();
        Err(LaboratoryError::Command {
            command: verb,
            code: output.status.code(),
            ending: output.status.to_string(),
            message: message.to_owned(),
        })
    }
}

impl Interpreter {
    /// Writes one greedy episode of an agent in the form that the name's ending says.
    pub(super) fn render(
        &self,
        files: &Files,
        agent: &Path,
        out: &Path,
        episode_seed: u64,
    ) -> Result<(), LaboratoryError> {
        let arguments = [
            "--agent".to_owned(),
            agent.display().to_string(),
            "--episode-seed".to_owned(),
            episode_seed.to_string(),
            "--out".to_owned(),
            out.display().to_string(),
        ];
        self.run("render", files, &arguments).map(drop)
    }
}

impl Laboratory for Interpreter {
    fn train(&mut self, files: &Files, seeds: &[u64], into: &Path) -> Result<f64, LaboratoryError> {
        let list: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let folder = into.canonicalize().map_err(|error| LaboratoryError::File {
            path: into.to_owned(),
            error,
        })?;
        let arguments = [
            "--json".to_owned(),
            "--seeds".to_owned(),
            list.join(","),
            "--agent".to_owned(),
            folder.display().to_string(),
        ];
        let stdout = self.run("train", files, &arguments)?;
        read_training(&stdout)
    }

    fn evaluate(
        &mut self,
        files: &Files,
        players: Players<'_>,
        key: &str,
        episodes: u32,
    ) -> Result<Vec<Vec<f64>>, LaboratoryError> {
        let mut arguments = vec![
            "--json".to_owned(),
            "--key".to_owned(),
            key.to_owned(),
            "--episodes".to_owned(),
            episodes.to_string(),
        ];
        let expected = match players {
            Players::Random => {
                arguments.push("--random".to_owned());
                1
            }
            Players::Agents(paths) | Players::Served(paths) => {
                if matches!(players, Players::Served(_)) {
                    arguments.push("--served".to_owned());
                }
                for path in paths {
                    arguments.push("--agent".to_owned());
                    arguments.push(path.display().to_string());
                }
                paths.len()
            }
        };
        let stdout = self.run("evaluate", files, &arguments)?;
        read_evaluation(&stdout, expected, episodes)
    }
}

/// Processor seconds of a training.
fn read_training(stdout: &[u8]) -> Result<f64, LaboratoryError> {
    const FORMAT: &str = "evalxrl.training/1";
    let wrong = |message: String| LaboratoryError::Output {
        command: "train",
        format: FORMAT,
        message,
    };
    let document: Training =
        serde_json::from_slice(stdout).map_err(|error| wrong(error.to_string()))?;
    if document.format != FORMAT {
        return Err(wrong(format!("format is `{}`", document.format)));
    }
    Ok(document.seconds.processor)
}

fn read_evaluation(
    stdout: &[u8],
    players: usize,
    episodes: u32,
) -> Result<Vec<Vec<f64>>, LaboratoryError> {
    const FORMAT: &str = "evalxrl.evaluation/1";
    let wrong = |message: String| LaboratoryError::Output {
        command: "evaluate",
        format: FORMAT,
        message,
    };
    let document: Evaluation =
        serde_json::from_slice(stdout).map_err(|error| wrong(error.to_string()))?;
    if document.format != FORMAT {
        return Err(wrong(format!("format is `{}`", document.format)));
    }
    let returns: Vec<Vec<f64>> = document
        .agents
        .into_iter()
        .map(|agent| agent.returns)
        .collect();
    let whole = returns.len() == players
        && returns.iter().all(|list| {
            list.len() == episodes as usize && list.iter().all(|value| value.is_finite())
        });
    if whole {
        Ok(returns)
    } else {
        Err(wrong(
            "other players, other episodes or returns that are not finite".to_owned(),
        ))
    }
}

fn place(files: &Files, folder: &Path) -> Result<(), LaboratoryError> {
    for (path, bytes) in files {
        let file = folder.join(path);
        let failed = |error| LaboratoryError::File {
            path: file.clone(),
            error,
        };
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(&file, bytes).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_evaluation_must_hold_every_player_and_episode() {
        let text = br#"{"format":"evalxrl.evaluation/1","environment":"e","episodes":2,
            "agents":[{"agent":"a","returns":[1.0,2.0],"unfloored_returns":[1.0,2.0]}]}"#;
        assert_eq!(read_evaluation(text, 1, 2).unwrap(), [[1.0, 2.0]]);
        assert!(read_evaluation(text, 2, 2).is_err());
        assert!(read_evaluation(text, 1, 3).is_err());
        assert!(read_evaluation(b"{}", 1, 2).is_err());
    }

    #[test]
    fn a_training_must_tell_its_processor_time() {
        let text = br#"{"format":"evalxrl.training/1","updates":1,"seconds":
            {"compile":1.0,"run":2.0,"total":3.0,"processor":4.5},"returns":[[1,null]]}"#;
        assert!((read_training(text).unwrap() - 4.5).abs() < 1e-12);
        assert!(read_training(b"{}").is_err());
    }
}
