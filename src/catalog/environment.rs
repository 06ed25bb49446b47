//! Knows an environment of the catalogue: its manifest and the source that a coder sees of it.
//! Must not know its dynamics.
//! Start at `Environment`.

use serde::{Deserialize, Serialize};

use crate::vocab::EnvironmentId;

use super::fields::Fields;
use super::folder::{Files, hash_files};
use super::{Problem, Problems};

/// The package of the environments, and the first part of every path in `Environment::source`.
pub const PACKAGE: &str = "evalxrl_envs";

/// Folders of the package that every pruned copy holds.
const SHARED: [&str; 3] = ["core", "agents", "serving"];

/// What kind of action an environment takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// One of n.
    Discrete,
    /// One of n per head.
    MultiDiscrete,
    /// A vector of numbers.
    Box,
}

/// An environment as `environment.toml` and its source describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct Environment {
    /// Its id, the name of its folder.
    pub id: EnvironmentId,
    /// Its title for readers.
    pub title: String,
    /// One line on what it is.
    pub summary: String,
    /// Steps after which an episode is truncated.
    pub horizon: u32,
    /// The kind of its actions.
    pub action: ActionKind,
    /// Every episode return is raised to this; return units.
    pub return_floor: f64,
    /// The pruned clean package subtree, paths from `evalxrl_envs/`.
    pub source: Files,
    /// Hash of `source`.
    pub hash: String,
    /// Hash of the part of `source` that training and playing depend on; references are stale when it changes.
    pub training_hash: String,
    /// The same with the agent server, on which malfunctions of serving code depend as well.
    pub served_hash: String,
}

impl Environment {
    /// Reads a manifest; `package` holds every file of the package by path from `evalxrl_envs/`.
    pub(super) fn read(
        folder: &str,
        place: &str,
        text: &str,
        package: &Files,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut fields = Fields::of_file(place, text, problems)?;
        let format: Option<String> =
            fields.required("format", "\"evalxrl.environment/1\"", problems);
        if let Some(other) = format.filter(|format| format != "evalxrl.environment/1") {
            problems.push(fields.problem(
                "format",
                format!("`{other}` is not known"),
                "write \"evalxrl.environment/1\"",
            ));
        }
        let id: Option<EnvironmentId> = fields.required("id", &format!("\"{folder}\""), problems);
        if let Some(id) = id.as_ref().filter(|id| id.as_str() != folder) {
            problems.push(fields.problem(
                "id",
                format!("`{id}` is not the name of its folder"),
                format!("write \"{folder}\""),
            ));
        }
        let title = fields.required("title", "a title", problems);
        let summary = fields.required("summary", "one line", problems);
        let horizon = fields.required("horizon", "a number of steps", problems);
        let action = fields.required(
            "action",
            "\"discrete\", \"multi_discrete\" or \"box\"",
            problems,
        );
        let default: Option<toml::Value> = fields.required("default_action", "an action", problems);
        let return_floor: Option<f64> = fields.required("return_floor", "a number", problems);
        if return_floor.is_some_and(|floor| !floor.is_finite()) {
            problems.push(fields.problem("return_floor", "is not finite", "write a finite number"));
        }
        fields.finish(problems);
        let source = prune(package, folder);
        if source
            .values()
            .any(|bytes| std::str::from_utf8(bytes).is_err())
        {
            problems.push(Problem::new(
                place,
                "",
                "its source holds a file that is not text",
                "keep text files only in the folders a coder sees",
            ));
        }
        default?;
        Some(Self {
            id: id?,
            title: title?,
            summary: summary?,
            horizon: horizon?,
            action: action?,
            return_floor: return_floor?,
            hash: hash_files(&source),
            training_hash: training_hash(&source),
            served_hash: served_hash(&source),
            source,
        })
    }
}

/// Keeps what a coder sees of the package: its entry points, shared folders and one environment, without READMEs and tests.
///
/// An editor's swap and backup files are no source: a file that is open for reading makes no reference stale.
fn prune(package: &Files, environment: &str) -> Files {
    package
        .iter()
        .filter(|(path, _)| {
            let mut parts = path.split('/');
            let (Some(_), Some(first)) = (parts.next(), parts.next()) else {
                return false;
            };
            let rest: Vec<&str> = parts.collect();
            if rest.is_empty() {
                return first == "__init__.py" || first == "__main__.py";
            }
            let last = rest[rest.len() - 1];
            (SHARED.contains(&first) || first == environment)
                && !rest.contains(&"tests")
                && !rest.iter().any(|part| part.starts_with('.'))
                && !last.ends_with('~')
                && !last.starts_with("README")
        })
        .map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect()
}

/// The part of every path of the agent server.
pub const SERVING: &str = "evalxrl_envs/serving/";

/// Hash of what trains an agent and plays it in process; without the server, pictures, and the contract of explanation tools.
#[must_use]
pub fn training_hash(source: &Files) -> String {
    hash_files(&acting(source, |path| !path.starts_with(SERVING)))
}

/// Hash of what trains an agent, plays it and serves it.
#[must_use]
pub fn served_hash(source: &Files) -> String {
    hash_files(&acting(source, |_| true))
}

fn acting(source: &Files, wanted: impl Fn(&str) -> bool) -> Files {
    let apart = |path: &str| {
        let names = [
            "/render.py",
            "/explain.py",
            "/core/images.py",
            "/core/state_json.py",
        ];
        names.iter().any(|name| path.ends_with(name))
    };
    source
        .iter()
        .filter(|(path, _)| !apart(path) && wanted(path))
        .map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pruned_copy_holds_one_environment_and_no_scoring_readme_or_test() {
        let package: Files = [
            "evalxrl_envs/__init__.py",
            "evalxrl_envs/__main__.py",
            "evalxrl_envs/core/rollout.py",
            "evalxrl_envs/agents/ppo.py",
            "evalxrl_envs/serving/server.py",
            "evalxrl_envs/scoring/driver.py",
            "evalxrl_envs/here/config.toml",
            "evalxrl_envs/here/README.md",
            "evalxrl_envs/here/tests/test_it.py",
            "evalxrl_envs/here/.config.toml.swp",
            "evalxrl_envs/here/config.toml~",
            "evalxrl_envs/core/.idea/rollout.xml",
            "evalxrl_envs/there/config.toml",
        ]
        .into_iter()
        .map(|path| (path.to_owned(), Vec::new()))
        .collect();
        let pruned = prune(&package, "here");
        assert_eq!(
            pruned.keys().map(String::as_str).collect::<Vec<_>>(),
            [
                "evalxrl_envs/__init__.py",
                "evalxrl_envs/__main__.py",
                "evalxrl_envs/agents/ppo.py",
                "evalxrl_envs/core/rollout.py",
                "evalxrl_envs/here/config.toml",
                "evalxrl_envs/serving/server.py",
            ]
        );
    }
}
