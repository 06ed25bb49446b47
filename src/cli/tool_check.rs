//! Knows how the tools of dossiers are run for `check`: in a workspace of a clean agent, without a network where it can be shut off.
//! Must not know the rules; the catalogue judges what the tools did.
//! Start at `run`.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::catalog::{Catalog, Dossier, Problems, ToolCall, ToolRun, check_tools};
use crate::harness::blocking::Front;
use crate::harness::{Command, Exit, Limits, Owner, Place, Role, Running, Sandbox, Spec, User};
use crate::session::{Tool, pack, tools_of};
use crate::vocab::{EnvironmentId, HarnessFault, Opaque, RootSeed, SeedName};
use crate::workspace::{self, Rendered, Tree};

use super::exit::Failure;
use super::{jobs, out, planning, sandboxes};

/// Runs every tool of these dossiers, on each of their environments that is here.
pub(super) fn run(catalog: &Catalog, dossiers: &[&Dossier]) -> Result<Problems, Failure> {
    let mut problems = Problems::none();
    if dossiers.is_empty() {
        return Ok(problems);
    }
    let front = Front::new().map_err(sandboxes::failure)?;
    let opened = front.wait(sandboxes::open(
        sandboxes::Choice::Auto,
        None,
        catalog.root(),
    ))?;
    let mut agents: BTreeMap<EnvironmentId, Tree> = BTreeMap::new();
    for dossier in dossiers {
        for id in &dossier.environments {
            let Ok(environment) = catalog.environment(id) else {
                continue;
            };
            if !agents.contains_key(id) {
                agents.insert(id.clone(), front.wait(planning::clean_agents(id, catalog))?);
            }
            let agent = agents.get(id).and_then(|agents| agents.values().next());
            let rendered = workspace::render(&workspace::Request {
                source: &environment.source,
                agent: agent.map(Vec::as_slice),
                train_seed: 0,
                brief: None,
                dossiers: &[(opaque("folder"), jobs::files_of(dossier))],
                shared_code: catalog.shared(),
                compiled: &Tree::new(),
            });
            out::talk(&format!("running the tools of {} on {id}", dossier.id));
            let sandbox = front
                .wait(furnish(opened.sandbox.as_ref(), &rendered))
                .map_err(sandboxes::failure)?;
            let tools = tools_of(&rendered, sandbox.as_ref());
            let checked = check_tools(dossier, &catalog.secrets(), &mut |call| {
                front.wait(call_tool(sandbox.as_ref(), &tools, &call))
            });
            front.wait(sandbox.remove()).map_err(sandboxes::failure)?;
            problems.extend(checked.map_err(sandboxes::failure)?);
        }
    }
    Ok(problems)
}

fn opaque(name: &str) -> Opaque {
    Opaque::from_seed(&RootSeed::weak(0).derive(&SeedName::new(format!("check/{name}"))))
}

/// A workspace with everything in place.
async fn furnish(
    sandbox: &dyn Sandbox,
    rendered: &Rendered,
) -> Result<Box<dyn Running>, HarnessFault> {
    let spec = Spec {
        role: Role::Workspace,
        network: None,
        limits: Limits {
            memory: 4 << 30,
            cpus: 2.0,
            cpuset: None,
            pids: 256,
            home: 512 << 20,
            temporary: 512 << 20,
        },
        life: Duration::from_secs(3600),
        environment: BTreeMap::new(),
        owner: Owner {
            run: "check".to_owned(),
            session: opaque("session"),
        },
    };
    let running = sandbox.create(spec).await?;
    for (user, place, files) in [
        (User::Coder, Place::Home, &rendered.home),
        (User::Method, Place::Method, &rendered.method),
    ] {
        let tar = pack(
            files
                .iter()
                .map(|file| (file.path.as_str(), file.bytes.as_slice(), file.mode)),
        );
        running.put(user, place, &tar).await?;
    }
    Ok(running)
}

async fn call_tool(
    sandbox: &dyn Running,
    tools: &BTreeMap<String, Tool>,
    call: &ToolCall<'_>,
) -> Result<ToolRun, HarnessFault> {
    let limit = Duration::from_secs(call.tool.timeout_s);
    let mut command = Command::new(User::Method, &[]).limit(limit);
    command.argv = call
        .tool
        .argv
        .iter()
        .cloned()
        .chain(call.added.iter().map(ToString::to_string))
        .collect();
    if let Some(tool) = tools.get(&call.tool.name) {
        command.environment = tool.environment.clone();
    }
    let ran = sandbox.exec(command).await?;
    Ok(ToolRun {
        code: match ran.exit {
            Exit::Code(code) => Some(code),
            Exit::TimedOut | Exit::Lost => None,
        },
        stdout: ran.stdout,
        stderr: ran.stderr,
        seconds: ran.seconds,
    })
}
