//! What every check needs: a kind of sandbox on small images with stubs, and short ways to use it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use evalxrl::harness::images::{self, Base, Recipe};
use evalxrl::harness::{
    Command, Docker, Engine, Execution, Limits, Local, Network, Owner, Role, Running, Sandbox,
    Sealing, Spec, User,
};
use evalxrl::vocab::{HarnessFault, Opaque, RootSeed, SeedName};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;

/// One check of the suite.
pub(super) type Check = fn(Arc<Kit>) -> BoxFuture<'static, ()>;

/// Stands for the scorer: whatever the agent says is its answer.
const STUB_SCORER: &str = r#"
import json, socket, sys
print(json.dumps({"ready": True, "versions": {"stub": "1"}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if "warm" in request:
        print(json.dumps({"warmed": True}), flush=True)
    elif "self_drive" in request:
        asked = request["self_drive"]
        if asked["environment"] == "unhealthy":
            print(json.dumps({"status": "scorer_failed", "reason": "unhealthy"}), flush=True)
        else:
            zeros = [0] * asked["episodes"]
            print(json.dumps({"self_drive": True, "returns": zeros, "lengths": zeros}), flush=True)
    else:
        host, _, port = request["address"].rpartition(":")
        try:
            with socket.create_connection((host, int(port)), timeout=10) as agent:
                text = agent.makefile().read()
        except OSError as error:
            text = json.dumps({"status": "agent_unserved", "reason": str(error)})
        if text == "end":
            sys.exit(3)
        print(text, flush=True)
"#;

/// A kind of sandbox under test.
pub(crate) struct Kit {
    pub(crate) sandbox: Arc<dyn Sandbox>,
    pub(crate) run: String,
}

fn recipe() -> Recipe {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sandbox");
    let package = scratch.join("evalxrl_envs");
    let scoring = package.join("scoring");
    std::fs::create_dir_all(&scoring).unwrap();
    for (path, text) in [
        (scratch.join("empty.lock"), "# no package\n"),
        (package.join("__init__.py"), ""),
        (scoring.join("__init__.py"), ""),
        (scoring.join("__main__.py"), STUB_SCORER),
    ] {
        // Tests in other processes may read the same files: they are replaced, never cut short.
        let staged = tempfile::NamedTempFile::new_in(&scratch).unwrap();
        std::fs::write(staged.path(), text).unwrap();
        staged.persist(path).unwrap();
    }
    Recipe {
        docker: root.join("docker"),
        lock: scratch.join("empty.lock"),
        package,
        cache: scratch.join("cache"),
    }
}

fn say(text: &str) {
    println!("{text}");
}

impl Kit {
    fn of(sandbox: Arc<dyn Sandbox>) -> Arc<Self> {
        let run = format!(
            "suite-{}-{}",
            std::process::id(),
            sandbox.isolation().as_str()
        );
        Arc::new(Self { sandbox, run })
    }

    /// Local processes.
    pub(super) async fn local() -> Arc<Self> {
        let runtime = images::local(&recipe(), &say).await.unwrap();
        Self::of(Arc::new(Local::open(runtime).unwrap()))
    }

    /// Containers, where an engine answers.
    pub(super) async fn docker() -> Option<Arc<Self>> {
        Self::containers(Sealing::default()).await
    }

    /// Containers whose networks keep an address of the host.
    pub(super) async fn open_docker() -> Option<Arc<Self>> {
        let sealing = Sealing {
            without_host_address: false,
            ..Sealing::default()
        };
        Self::containers(sealing).await
    }

    async fn containers(sealing: Sealing) -> Option<Arc<Self>> {
        let Ok(engine) = Engine::connect(None).await else {
            assert!(
                std::env::var_os("EVALXRL_REQUIRE_DOCKER").is_none(),
                "no Docker engine answers, and EVALXRL_REQUIRE_DOCKER is set"
            );
            return None;
        };
        let images = images::docker(&engine, &recipe(), Base::Either, &say).await;
        let docker = Docker::new(engine, images.unwrap(), sealing).unwrap();
        Some(Self::of(Arc::new(docker)))
    }

    /// Runs checks, three at a time; the number that passed. Every failure is told before the test fails.
    pub(super) async fn run(self: &Arc<Self>, checks: Vec<(&'static str, Check)>) -> usize {
        let count = checks.len();
        let failed: Vec<String> = futures_util::stream::iter(checks)
            .map(|(name, check)| {
                let running = tokio::spawn(check(Arc::clone(self)));
                let began = std::time::Instant::now();
                async move {
                    let ended = tokio::time::timeout(Duration::from_secs(240), running).await;
                    println!("{:6.1} s  {name}", began.elapsed().as_secs_f64());
                    match ended {
                        Ok(Ok(())) => None,
                        Ok(Err(error)) => Some(format!("{name}: {error}")),
                        Err(_) => Some(format!("{name}: did not end")),
                    }
                }
            })
            .buffer_unordered(3)
            .filter_map(|failure| async { failure })
            .collect()
            .await;
        assert!(
            failed.is_empty(),
            "{} of {count} failed:\n{}",
            failed.len(),
            failed.join("\n")
        );
        count
    }

    /// Removes all that was made.
    pub(super) async fn clear(&self) {
        self.sandbox.sweep_owned(Some(&self.run)).await.unwrap();
    }

    /// An owner of this run.
    pub(super) fn owner(&self) -> Owner {
        Owner {
            run: self.run.clone(),
            session: Opaque::from_seed(&RootSeed::weak(1).derive(&SeedName::new("suite"))),
        }
    }

    /// What to create, with small limits.
    pub(super) fn spec(&self, role: Role, network: Option<Network>) -> Spec {
        Spec {
            role,
            network,
            limits: Limits {
                memory: 256 << 20,
                cpus: 2.0,
                cpuset: None,
                pids: 64,
                home: 32 << 20,
                temporary: 16 << 20,
            },
            life: Duration::from_secs(900),
            environment: BTreeMap::from([("FROM_SPEC".to_owned(), "1".to_owned())]),
            owner: self.owner(),
        }
    }

    /// A fresh workspace.
    pub(super) async fn workspace(&self) -> Arc<dyn Running> {
        self.made(self.spec(Role::Workspace, None)).await
    }

    /// A sandbox of a spec.
    pub(super) async fn made(&self, spec: Spec) -> Arc<dyn Running> {
        Arc::from(self.sandbox.create(spec).await.unwrap())
    }
}

/// A shell text as the coder.
pub(super) fn shell(text: &str) -> Command {
    Command::new(User::Coder, &["/bin/bash", "-c", text]).limit(Duration::from_secs(60))
}

/// Runs a shell text as the coder.
pub(super) async fn run(sandbox: &dyn Running, text: &str) -> Execution {
    sandbox.exec(shell(text)).await.unwrap()
}

/// What a shell text prints, trimmed.
pub(super) async fn told(sandbox: &dyn Running, text: &str) -> String {
    let done = run(sandbox, text).await;
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// Waits until something holds, at most 30 s.
pub(super) async fn until<F>(what: &str, mut holds: impl FnMut() -> F)
where
    F: Future<Output = bool>,
{
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    while !holds().await {
        assert!(tokio::time::Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A tar stream of files.
pub(super) fn tar_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        archive.append_data(&mut header, name, *bytes).unwrap();
    }
    archive.into_inner().unwrap()
}

/// Files of a tar stream.
pub(super) fn files_of(stream: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(stream).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
        if entry.header().entry_type().is_file() {
            files.insert(entry.path().unwrap().display().to_string(), bytes);
        }
    }
    files
}

/// The kind of a fault that must be there.
pub(super) fn kind<T>(result: Result<T, HarnessFault>) -> evalxrl::vocab::FaultKind {
    match result {
        Ok(_) => panic!("a fault was expected"),
        Err(fault) => fault.kind,
    }
}
