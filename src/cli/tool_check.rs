//! Knows how the tools of dossiers are run for `check`: in the workspace of a sound agent, without a network where it can be shut off.
//! Must not know the rules; the catalogue judges what the tools did.
//! Start at `run`.

use crate::catalog::{Catalog, Dossier, Problems, ToolCall, ToolRun, check_tools};
use crate::harness::blocking::Front;
use crate::harness::{Execution, Exit};
use crate::session::Visit;
use crate::vocab::HarnessFault;

use super::exit::Failure;
use super::visits::Doorway;
use super::{jobs, out, sandboxes};

/// Runs every tool of these dossiers, on each of their environments that is here.
pub(super) fn run(
    catalog: &Catalog,
    dossiers: &[&Dossier],
    choice: sandboxes::Choice,
) -> Result<Problems, Failure> {
    let mut problems = Problems::none();
    if dossiers.is_empty() {
        return Ok(problems);
    }
    let front = Front::new().map_err(sandboxes::failure)?;
    let doorway = front.wait(Doorway::open(choice, catalog))?;
    for dossier in dossiers {
        for id in &dossier.environments {
            let Ok(environment) = catalog.environment(id) else {
                continue;
            };
            let job = jobs::look(catalog, environment, None, &[dossier])?;
            out::talk(&format!("running the tools of {} on {id}", dossier.id));
            let visit = front
                .wait(doorway.visitor.enter(&job))
                .map_err(sandboxes::failure)?;
            let checked = check_tools(dossier, &catalog.secrets(), &mut |call| {
                front.wait(call_tool(&visit, &call))
            });
            front.wait(visit.leave()).map_err(sandboxes::failure)?;
            problems.extend(checked.map_err(sandboxes::failure)?);
        }
    }
    Ok(problems)
}

async fn call_tool(visit: &Visit, call: &ToolCall<'_>) -> Result<ToolRun, HarnessFault> {
    let added: Vec<String> = call.added.iter().map(ToString::to_string).collect();
    let ran = visit.call(&call.tool.name, &added).await?;
    Ok(ToolRun {
        code: exit_code(&ran),
        stdout: ran.stdout,
        stderr: ran.stderr,
        seconds: ran.seconds,
    })
}

/// The exit code of a call; `None` when it was killed.
pub(super) fn exit_code(ran: &Execution) -> Option<i32> {
    match ran.exit {
        Exit::Code(code) => Some(code),
        Exit::TimedOut | Exit::Lost => None,
    }
}
