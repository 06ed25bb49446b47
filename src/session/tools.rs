//! Knows the dossier tools of a rendered workspace: how each is put on PATH and what runs when it is called.
//! Must not know who calls, nor what a call is counted against.
//! Start at `tools_of`.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::harness::relay::tool_links;
use crate::harness::{Command, Place, Running, User};
use crate::vocab::HarnessFault;
use crate::workspace::Rendered;

/// A dossier tool as the session runs it.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    /// Program and first arguments.
    argv: Vec<String>,
    /// Time limit.
    pub(super) limit: Duration,
    /// Variables of its process.
    environment: BTreeMap<String, String>,
}

impl Tool {
    /// The command of one call with arguments added; `directory` is the caller's.
    pub(super) fn command(&self, added: &[String], directory: Option<String>) -> Command {
        let mut command = Command::new(User::Method, &[]).limit(self.limit);
        command.argv = self.argv.iter().chain(added).cloned().collect();
        command.directory = directory;
        command.environment = self.environment.clone();
        command
    }
}

/// The dossier tools of a rendered workspace, ready to run in it.
pub(super) fn tools_of(rendered: &Rendered, workspace: &dyn Running) -> BTreeMap<String, Tool> {
    let method = workspace.path(Place::Method);
    let home = workspace.path(Place::Home);
    let mut tools = BTreeMap::new();
    for folder in &rendered.dossiers {
        let mut path: Vec<String> = folder
            .python_path
            .iter()
            .map(|part| format!("{method}/{part}"))
            .collect();
        path.push(home.clone());
        let environment: BTreeMap<String, String> = [
            ("PYTHONPATH".to_owned(), path.join(":")),
            ("XRL_STATE".to_owned(), format!("{method}/state")),
            (
                "EVALXRL_XLA_CACHE".to_owned(),
                format!("{method}/state/xla"),
            ),
        ]
        .into();
        for tool in &folder.tools {
            tools.insert(
                tool.name.clone(),
                Tool {
                    argv: tool.argv.clone(),
                    limit: Duration::from_secs(tool.timeout_seconds),
                    environment: environment.clone(),
                },
            );
        }
    }
    tools
}

/// The same, with their names placed on the coder's PATH.
pub(super) async fn place_tools(
    rendered: &Rendered,
    workspace: &dyn Running,
) -> Result<BTreeMap<String, Tool>, HarnessFault> {
    let tools = tools_of(rendered, workspace);
    let names: Vec<&str> = tools.keys().map(String::as_str).collect();
    workspace
        .put(User::Method, Place::Method, &tool_links(&names)?)
        .await?;
    Ok(tools)
}
