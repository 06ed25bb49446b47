//! Knows visits: the workspace of a job as its coder would meet it, with nobody in it but whoever calls its tools.
//! Must not know scores, budgets or why one looks.
//! Start at `Visitor::enter`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::harness::{Command, Execution, Exit, Place, Running, Sandbox, User};
use crate::store::{Lease, publish};
use crate::vocab::{FaultKind, HarnessFault, SeedName};
use crate::workspace::{PARAMETERS, Rendered, Tree};

use super::block::{hash_tree, pack_tree};
use super::furnishing::{brief, fill, rendered};
use super::job::Job;
use super::live::Live;
use super::place::{untar, workspace_spec};
use super::tools::{Tool, place_tools};
use super::training::train;

/// Opens workspaces for a look.
#[derive(Clone)]
pub struct Visitor {
    /// Where sandboxes come from.
    pub sandbox: Arc<dyn Sandbox>,
    /// The folder of trained agents, so that the same one is trained once.
    pub cache: PathBuf,
    /// The label of whoever looks on everything the harness makes.
    pub label: String,
    /// Whether programs that tools compiled in one workspace of an environment are placed into the next. Calls are then
    /// faster than a coder's first ones.
    pub warm: bool,
}

/// An opened workspace; `leave` removes it.
pub struct Visit {
    live: Live,
    workspace: Arc<dyn Running>,
    tools: BTreeMap<String, Tool>,
    rendered: Rendered,
    /// Where compiled programs are kept.
    warm: Option<PathBuf>,
}

/// The folder of compiled programs of tools, below the method place.
const COMPILED: &str = "state/xla";

/// Bytes of compiled programs that are kept.
const MOST: usize = 1 << 30;

fn internal(message: impl std::fmt::Display) -> HarnessFault {
    HarnessFault::new(FaultKind::Internal, message.to_string())
}

impl Visitor {
    /// Trains the agent of a job if that was never done, and furnishes its workspace: the one of the first replication
    /// when its first training seed is not passed over.
    ///
    /// # Errors
    /// The harness failed, or the agent cannot be trained.
    pub async fn enter(&self, job: &Job) -> Result<Visit, HarnessFault> {
        let seed = SeedName::training(&job.block.malfunction, job.block.replication, 0);
        let mut compiled = self.trained(job, &seed).await?;
        let agent = compiled
            .remove(PARAMETERS)
            .ok_or_else(|| internal("a kept agent holds no parameters"))?;
        let rendered = rendered(job, &agent, &compiled, &seed, &brief(job)?);
        let mut live = Live::new(Arc::clone(&self.sandbox));
        let warm = self.warm.then(|| self.programs(job));
        let furnished = self
            .furnish(job, &rendered, warm.as_deref(), &mut live)
            .await;
        match furnished {
            Ok((workspace, tools)) => Ok(Visit {
                live,
                workspace,
                tools,
                rendered,
                warm,
            }),
            Err(fault) => {
                live.clear().await?;
                Err(fault)
            }
        }
    }

    async fn furnish(
        &self,
        job: &Job,
        rendered: &Rendered,
        warm: Option<&Path>,
        live: &mut Live,
    ) -> Result<(Arc<dyn Running>, BTreeMap<String, Tool>), HarnessFault> {
        let spec = workspace_spec(job, &self.label, None);
        let workspace = live.create(spec).await?;
        fill(workspace.as_ref(), rendered).await?;
        let tools = place_tools(rendered, workspace.as_ref()).await?;
        if let Some(programs) = warm.and_then(|path| std::fs::read(path).ok()) {
            workspace
                .put(User::Method, Place::Method, &programs)
                .await?;
        }
        Ok((workspace, tools))
    }

    /// The file of programs that tools compiled in workspaces of this environment.
    fn programs(&self, job: &Job) -> PathBuf {
        let name = format!("{} {:?}", job.block.environment, self.sandbox.images());
        self.cache
            .join(&blake3::hash(name.as_bytes()).to_hex().as_str()[..24])
            .join("programs.tar")
    }

    /// Parameter file and compiled programs of a job's agent, from the cache or trained now.
    async fn trained(&self, job: &Job, seed: &SeedName) -> Result<Tree, HarnessFault> {
        let images = format!("{:?}", self.sandbox.images());
        let name = format!(
            "{} {} {images}",
            hash_tree(&job.block.broken),
            job.seed(seed).integer()
        );
        let folder = self
            .cache
            .join(&blake3::hash(name.as_bytes()).to_hex().as_str()[..24]);
        let path = folder.join("trained.tar");
        loop {
            match std::fs::read(&path) {
                Ok(bytes) => return untar(&bytes).map_err(internal),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(internal(format!("{}: {error}", path.display()))),
            }
            if let Some(_lease) = Lease::claim(&folder).map_err(internal)? {
                let spec = workspace_spec(job, &self.label, None);
                let trained = train(&self.sandbox, spec, job, seed, &Tree::new()).await?;
                let mut files = trained.compiled;
                files.insert(PARAMETERS.to_owned(), trained.agent);
                publish(&path, &pack_tree(&files)).map_err(internal)?;
                return Ok(files);
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }
}

impl Visit {
    /// The files as they were placed.
    #[must_use]
    pub fn rendered(&self) -> &Rendered {
        &self.rendered
    }

    /// Calls a dossier tool from the workspace root, with arguments added to its own.
    ///
    /// # Errors
    /// There is no such tool, or the harness failed.
    pub async fn call(&self, tool: &str, added: &[String]) -> Result<Execution, HarnessFault> {
        let known = self
            .tools
            .get(tool)
            .ok_or_else(|| internal(format!("{tool}: no such tool in this workspace")))?;
        let execution = self.workspace.exec(known.command(added, None)).await?;
        self.workspace.sweep(User::Method).await?;
        Ok(execution)
    }

    /// Removes the workspace.
    ///
    /// # Errors
    /// The harness failed.
    pub async fn leave(mut self) -> Result<(), HarnessFault> {
        let kept = self.keep_programs().await;
        self.live.clear().await?;
        kept
    }

    async fn keep_programs(&self) -> Result<(), HarnessFault> {
        let Some(path) = &self.warm else {
            return Ok(());
        };
        let method = self.workspace.path(Place::Method);
        let argv = ["/bin/tar", "-c", "-C", &method, "-f", "-", COMPILED];
        let mut command = Command::new(User::Method, &argv);
        command.output_cap = MOST;
        let packed = self.workspace.exec(command).await?;
        if packed.exit == Exit::Code(0) && packed.bytes_elided == 0 {
            publish(path, &packed.stdout).map_err(internal)?;
        }
        Ok(())
    }
}
