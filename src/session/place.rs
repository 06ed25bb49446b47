//! Knows the sandboxes of a session as specifications, and plain tar reading of our own streams.
//! Must not know what happens in them.
//! Start at `workspace_spec`.

use std::collections::BTreeMap;
use std::io::Read;

use crate::harness::{Limits, Network, Owner, Role, Spec};
use crate::store::RunDirectory;
use crate::workspace::Tree;

use super::job::Job;

/// The label of a run on everything the harness makes for it: opaque, and equal for the same folder.
#[must_use]
pub fn run_label(run: &RunDirectory) -> String {
    let path = std::path::absolute(run.root()).unwrap_or_else(|_| run.root().to_owned());
    blake3::hash(path.as_os_str().as_encoded_bytes())
        .to_hex()
        .as_str()[..12]
        .to_owned()
}

fn spec(
    job: &Job,
    run: &str,
    role: Role,
    network: Option<Network>,
    cpuset: Option<String>,
) -> Spec {
    let fallback = Limits {
        memory: 4 << 30,
        cpus: 2.0,
        cpuset: None,
        pids: 256,
        home: 2 << 30,
        temporary: 512 << 20,
    };
    let mut limits = job.limits.get(&role).cloned().unwrap_or(fallback);
    if limits.cpuset.is_none() {
        limits.cpuset = cpuset;
    }
    Spec {
        role,
        network,
        limits,
        life: job.life(),
        environment: variables(),
        owner: Owner {
            run: run.to_owned(),
            session: job.opaque(),
        },
    }
}

/// Variables of every process in a sandbox: quiet tools, and nothing of the host. Compiled programs travel from
/// the training of a block into workspaces, so their keys must not hold the folder of the cache.
fn variables() -> BTreeMap<String, String> {
    [
        ("PAGER", "cat"),
        ("MANPAGER", "cat"),
        ("LESS", "-R"),
        ("PIP_PROGRESS_BAR", "off"),
        ("TQDM_DISABLE", "1"),
        ("JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES", "none"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}

/// The coder's sandbox: no network.
#[must_use]
pub fn workspace_spec(job: &Job, run: &str, cpuset: Option<String>) -> Spec {
    spec(job, run, Role::Workspace, None, cpuset)
}

/// The sandbox that serves a bundle, on the session's network.
#[must_use]
pub fn agent_spec(job: &Job, run: &str, network: Network, cpuset: Option<String>) -> Spec {
    spec(job, run, Role::Agent, Some(network), cpuset)
}

/// The sandbox that measures.
#[must_use]
pub fn scorer_spec(job: &Job, run: &str, network: Option<Network>, cpuset: Option<String>) -> Spec {
    spec(job, run, Role::Scorer, network, cpuset)
}

/// Reads regular files of a tar stream that our own side packed or asked for.
///
/// # Errors
/// The stream is not a tar.
pub fn untar(stream: &[u8]) -> std::io::Result<Tree> {
    let mut files = Tree::new();
    for entry in tar::Archive::new(stream).entries()? {
        let mut entry = entry?;
        if entry.header().entry_type().is_file() {
            let path = entry.path()?.to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            files.insert(path, bytes);
        }
    }
    Ok(files)
}
