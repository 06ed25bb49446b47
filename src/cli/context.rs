//! Knows the process's surroundings: the cache, the clock, the machine, and what a run directory's failures mean.
//! Must not know any verb.
//! Start at `cache`.

use std::path::PathBuf;

use crate::plan::Plan;
use crate::store::{RunDirectory, StoreError};

use super::exit::{Code, Failure};

/// Memory that one worker's sandboxes may take, bytes.
const WORKER_MEMORY: u64 = 6 << 30;

/// The frozen plan of a run.
pub(super) fn plan_of(run: &RunDirectory) -> Result<Plan, Failure> {
    let bytes = run.plan().map_err(store_failure)?;
    let text = String::from_utf8_lossy(&bytes);
    Plan::from_json(&text).map_err(|error| {
        Failure::new(
            Code::Invalid,
            format!("{}: {error}", run.plan_path().display()),
        )
        .remedy(
            "the file was changed or is of another version; start the run anew in another folder",
        )
    })
}

/// What a failure of the run directory means to a person.
pub(super) fn store_failure(error: StoreError) -> Failure {
    let code = match &error {
        StoreError::OtherPlan { .. } => Code::OtherPlan,
        StoreError::NotARun { .. } => Code::Usage,
        StoreError::Malformed { .. } => Code::Invalid,
        StoreError::Io { .. } => Code::Internal,
    };
    let remedy = match code {
        Code::OtherPlan => "give --out another folder",
        Code::Usage => "name a folder that `evalxrl run … --out` made",
        Code::Invalid => "move the file aside; the same run then makes it anew",
        _ => "check the folder's permissions and the disk",
    };
    Failure::new(code, error.to_string()).remedy(remedy)
}

/// Now, RFC 3339, UTC, whole seconds.
pub(super) fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}

/// The folder for what can be made again: `EVALXRL_CACHE`, else `evalxrl` in the user's cache.
pub(super) fn cache() -> Result<PathBuf, Failure> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set("EVALXRL_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("evalxrl")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/evalxrl")))
        .ok_or_else(|| {
            Failure::new(
                Code::Usage,
                "no folder for the cache: neither EVALXRL_CACHE nor HOME is set",
            )
            .remedy("set EVALXRL_CACHE to a folder that may be written")
        })
}

/// Processors this process may use.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Workers by default: as many as processors and memory allow, at least one.
pub(super) fn workers() -> usize {
    let memory = memory().unwrap_or(WORKER_MEMORY);
    cores()
        .min(usize::try_from(memory / WORKER_MEMORY).unwrap_or(usize::MAX))
        .max(1)
}

/// Memory of the machine, bytes.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes << 10)
}
