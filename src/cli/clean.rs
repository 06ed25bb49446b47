//! Knows the verb `clean`: removes what dead runs left behind, and nothing else.
//! Must not know what a sandbox is made of.
//! Start at `run`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::harness::blocking::Front;
use crate::harness::{Docker, Engine, Sandbox, Sealing, local};
use crate::store::RunDirectory;

use super::exit::Failure;
use super::{context, out, sandboxes};

/// Removes sandboxes, networks and half-written files whose owner is dead.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Also clears half-written files of these run directories
    runs: Vec<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// A folder that is no run directory, or an engine that answers but cannot clear.
pub fn run(args: &Args) -> Result<(), Failure> {
    let front = Front::new().map_err(sandboxes::failure)?;
    let swept = local::sweep_dead().map_err(sandboxes::failure)?;
    let mut told = format!("local: removed {} sandboxes\n", swept.sandboxes);
    match front.wait(Engine::connect(None)) {
        Ok(engine) => {
            let docker = Docker::new(engine, BTreeMap::new(), Sealing::default())
                .map_err(sandboxes::failure)?;
            let swept = front
                .wait(docker.sweep_owned(None))
                .map_err(sandboxes::failure)?;
            told.push_str(&format!(
                "docker: removed {} containers, {} networks\n",
                swept.sandboxes, swept.networks
            ));
        }
        Err(fault) => out::talk(&format!("containers are left alone: {}", fault.message)),
    }
    for path in &args.runs {
        let run = RunDirectory::open(path).map_err(context::store_failure)?;
        let files = run.clear_partial().map_err(context::store_failure)?;
        told.push_str(&format!(
            "{}: removed {files} half-written files\n",
            path.display()
        ));
    }
    out::data(&told)
}
