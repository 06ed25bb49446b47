//! Knows the verb `doctor`: what this machine can do, and whether its sandboxes are sealed.
//! Must not know how a probe is made.
//! Start at `run`.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args as ClapArgs;
use serde_json::{Value, json};

use crate::harness::blocking::Front;
use crate::harness::probes;
use crate::harness::{Command, Exit, Limits, Owner, Role, Sandbox, Spec, User};
use crate::vocab::{FaultKind, HarnessFault, Isolation, Opaque, Probe, RootSeed, SeedName};

use super::exit::Failure;
use super::root::CatalogFolder;
use super::sandboxes::{self, Choice};
use super::{context, out};

/// Tells what this machine can do, and probes its sandboxes.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Which kind of sandbox to examine
    #[arg(long, value_enum, default_value_t = Choice::Auto)]
    sandbox: Choice,
    /// Prints JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// What was found in live sandboxes.
struct Examination {
    jax: String,
    probes: Result<Vec<Probe>, HarnessFault>,
}

/// Runs the verb.
///
/// # Errors
/// Exit 4 when no sandbox can be made, 8 when one that should be sealed is not.
pub fn run(args: &Args) -> Result<(), Failure> {
    let root = args.folder.find()?;
    let front = Front::new().map_err(sandboxes::failure)?;
    let opened = front.wait(sandboxes::open(args.sandbox, None, &root))?;
    let sandbox = opened.sandbox.as_ref();
    let examined = front.wait(examine(sandbox)).map_err(sandboxes::failure)?;
    let isolation = sandbox.isolation();
    let facts: Vec<(&str, String)> = vec![
        ("repository", root.display().to_string()),
        ("cache", context::cache()?.display().to_string()),
        ("processors", context::cores().to_string()),
        ("workers by default", context::workers().to_string()),
        ("sandbox", isolation.as_str().to_owned()),
        ("python, jax inside", examined.jax.clone()),
    ];
    let (probes, broken) = match examined.probes {
        Ok(probes) => (probes, None),
        Err(fault) => (Vec::new(), Some(fault)),
    };
    if args.json {
        let facts: BTreeMap<&str, &String> =
            facts.iter().map(|(name, value)| (*name, value)).collect();
        out::data(&format!(
            "{:#}\n",
            document(&facts, sandbox, &probes, broken.as_ref())
        ))?;
    } else {
        let mut text = out::table(
            &facts
                .into_iter()
                .map(|(name, value)| vec![name.to_owned(), value])
                .collect::<Vec<_>>(),
        );
        text.push('\n');
        let mut rows = vec![
            ["probe", "as it must be", "seen"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for probe in &probes {
            let verdict = match (probe.passed, isolation) {
                (true, _) => "yes",
                (false, Isolation::Docker) => "NO",
                (false, Isolation::None) => "no (nothing seals local processes)",
            };
            rows.push(vec![
                probe.name.clone(),
                verdict.to_owned(),
                probe.seen.clone(),
            ]);
        }
        text.push_str(&out::table(&rows));
        out::data(&text)?;
    }
    match broken {
        Some(fault) => Err(sandboxes::failure(fault)),
        None => Ok(()),
    }
}

fn document(
    facts: &BTreeMap<&str, &String>,
    sandbox: &dyn Sandbox,
    probes: &[Probe],
    broken: Option<&HarnessFault>,
) -> Value {
    let images: BTreeMap<String, _> = sandbox
        .images()
        .into_iter()
        .map(|(role, facts)| (format!("{role:?}").to_lowercase(), facts))
        .collect();
    json!({
        "format": "evalxrl.doctor/1", "facts": facts, "images": images, "probes": probes, "fault": broken,
    })
}

/// Looks around in sandboxes made for nothing else, and removes them.
async fn examine(sandbox: &dyn Sandbox) -> Result<Examination, HarnessFault> {
    let seed = RootSeed::weak(u64::from(std::process::id())).derive(&SeedName::new("doctor"));
    let owner = Owner {
        run: "doctor".to_owned(),
        session: Opaque::from_seed(&seed),
    };
    let jax = jax_inside(sandbox, &owner).await;
    let probes = probes::rehearse(sandbox, &owner).await;
    sandbox.sweep_owned(Some("doctor")).await?;
    match &probes {
        Err(fault) if fault.kind != FaultKind::IsolationBroken => Err(fault.clone()),
        _ => Ok(Examination { jax: jax?, probes }),
    }
}

/// The versions of Python and JAX that a workspace offers.
async fn jax_inside(sandbox: &dyn Sandbox, owner: &Owner) -> Result<String, HarnessFault> {
    let workspace = sandbox
        .create(Spec {
            role: Role::Workspace,
            network: None,
            limits: Limits {
                memory: 2 << 30,
                cpus: 1.0,
                cpuset: None,
                pids: 128,
                home: 256 << 20,
                temporary: 256 << 20,
            },
            life: Duration::from_secs(600),
            environment: BTreeMap::new(),
            owner: owner.clone(),
        })
        .await?;
    let text = "import sys, jax; print(sys.version.split()[0], jax.__version__)";
    let command = Command::new(User::Coder, &["python3", "-c", text]);
    let ran = workspace
        .exec(command.limit(Duration::from_secs(120)))
        .await;
    workspace.remove().await?;
    let ran = ran?;
    match ran.exit {
        Exit::Code(0) => Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned()),
        _ => Err(HarnessFault::new(
            FaultKind::ImageMissing,
            format!(
                "python3 in a workspace cannot import jax: {}",
                String::from_utf8_lossy(&ran.stderr)
            ),
        )),
    }
}
