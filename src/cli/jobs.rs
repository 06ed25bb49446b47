//! Knows how a frozen plan and the catalogue become the jobs of sessions.
//! Must not know how a job is played.
//! Start at `jobs`.

use std::collections::BTreeMap;

use crate::catalog::{Catalog, Dossier, Environment, Malfunction, hash_files};
use crate::harness::{Limits, Role};
use crate::plan::{Plan, PlannedSession, RoleLimits, RunLimits};
use crate::session::{BlockJob, Job};
use crate::vocab::{
    Arm, Budget, BundleMode, CoderLabel, EnvironmentId, Invocations, MalfunctionId, MethodId,
    RootSeed, SessionKey,
};
use crate::workspace::{DossierFiles, ToolCommand, Tree};

use super::exit::{Code, Failure};

/// The title of the folder that holds the oracle text.
const ORACLE_TITLE: &str = "Account of what is wrong";

/// The job of every session of a plan; `clean` holds the clean reference agents of each environment by file name.
pub(super) fn jobs(
    plan: &Plan,
    catalog: &Catalog,
    clean: &BTreeMap<EnvironmentId, Tree>,
) -> Result<BTreeMap<SessionKey, Job>, Failure> {
    plan.sessions
        .iter()
        .map(|session| Ok((session.key.clone(), job(session, plan, catalog, clean)?)))
        .collect()
}

fn job(
    session: &PlannedSession,
    plan: &Plan,
    catalog: &Catalog,
    clean: &BTreeMap<EnvironmentId, Tree>,
) -> Result<Job, Failure> {
    let unknown = |error: crate::catalog::UnknownId| Failure::new(Code::Invalid, error.to_string());
    let key = &session.key;
    let malfunction = catalog.malfunction(&key.malfunction).map_err(unknown)?;
    let environment = catalog
        .environment(&malfunction.environment)
        .map_err(unknown)?;
    let broken = broken(Some(malfunction), environment)?;
    let coder = plan.coder(&key.coder).ok_or_else(|| {
        Failure::new(
            Code::Internal,
            format!("plan.json names no coder `{}`", key.coder),
        )
    })?;
    let mut sources: BTreeMap<String, String> = [
        ("environment".to_owned(), environment.hash.clone()),
        ("malfunction".to_owned(), malfunction.hash.clone()),
    ]
    .into();
    let mut dossiers = Vec::new();
    match Arm::of(&key.method) {
        Arm::NoMethod | Arm::OptimalRepair => {}
        Arm::CheatOracle => dossiers.push(oracle(&malfunction.oracle)),
        Arm::Dossiers(ids) => {
            for id in &ids {
                let dossier = catalog.dossier(id).map_err(unknown)?;
                sources.insert(format!("dossier/{id}"), dossier.hash.clone());
                dossiers.push(files_of(dossier));
            }
            sources.insert("dossier/_shared".to_owned(), hash_files(catalog.shared()));
        }
    }
    Ok(Job {
        key: key.clone(),
        session_hash: session.session_hash.clone(),
        block: BlockJob {
            malfunction: malfunction.id.clone(),
            environment: environment.id.clone(),
            replication: key.replication,
            clean: environment.source.clone(),
            broken,
            clean_agents: clean.get(&environment.id).cloned().unwrap_or_default(),
            min_gap: malfunction.min_gap,
            episodes: plan.scoring.episodes,
        },
        title: environment.title.clone(),
        summary: environment.summary.clone(),
        dossiers,
        shared_code: catalog.shared().clone(),
        reverse_diff: malfunction.reverse_diff(),
        scaffold: coder.scaffold.clone(),
        candidates: coder.candidates,
        budget: coder.budget,
        bundle_mode: plan.bundle,
        limits: limits(&plan.limits),
        sources,
        root_seed: plan.root_seed.clone(),
    })
}

/// The job of somebody who only looks: the first replication, the budgets of an experiment that says nothing, and a root
/// seed that anybody can give, so that a look can be repeated. Nothing broken means the clean environment.
pub(super) fn look(
    catalog: &Catalog,
    environment: &Environment,
    malfunction: Option<&Malfunction>,
    dossiers: &[&Dossier],
) -> Result<Job, Failure> {
    let id = match malfunction {
        Some(malfunction) => malfunction.id.clone(),
        None => MalfunctionId::new(environment.id.as_str().replace('_', "-")).map_err(internal)?,
    };
    let mut names: Vec<&str> = dossiers.iter().map(|one| one.id.as_str()).collect();
    names.sort_unstable();
    let key = SessionKey {
        malfunction: id.clone(),
        method: MethodId::new(names.join("+")).map_err(internal)?,
        coder: CoderLabel::new("nobody").map_err(internal)?,
        invocations: Invocations::Unlimited,
        replication: 0,
    };
    Ok(Job {
        session_hash: String::new(),
        block: BlockJob {
            malfunction: id,
            environment: environment.id.clone(),
            replication: 0,
            clean: environment.source.clone(),
            broken: broken(malfunction, environment)?,
            clean_agents: Tree::new(),
            min_gap: 0.0,
            episodes: 0,
        },
        title: environment.title.clone(),
        summary: environment.summary.clone(),
        dossiers: dossiers.iter().map(|one| files_of(one)).collect(),
        shared_code: catalog.shared().clone(),
        reverse_diff: String::new(),
        scaffold: String::new(),
        candidates: None,
        budget: Budget::default(),
        bundle_mode: BundleMode::Workspace,
        limits: limits(&RunLimits::default()),
        sources: BTreeMap::new(),
        root_seed: RootSeed::weak(0),
        key,
    })
}

/// The source of an environment with a fault applied, or as it is.
fn broken(malfunction: Option<&Malfunction>, environment: &Environment) -> Result<Tree, Failure> {
    let Some(malfunction) = malfunction else {
        return Ok(environment.source.clone());
    };
    malfunction.apply(&environment.source).map_err(|error| {
        Failure::new(
            Code::Invalid,
            format!("fault.diff of {}: {error}", malfunction.id),
        )
    })
}

fn internal(error: impl std::fmt::Display) -> Failure {
    Failure::new(Code::Internal, error.to_string())
}

fn oracle(text: &str) -> DossierFiles {
    DossierFiles {
        title: ORACLE_TITLE.to_owned(),
        readable: [(
            "README.md".to_owned(),
            format!("{}\n", text.trim_end()).into_bytes(),
        )]
        .into(),
        code: Tree::new(),
        tools: Vec::new(),
    }
}

fn files_of(dossier: &Dossier) -> DossierFiles {
    DossierFiles {
        title: dossier.title.clone(),
        readable: dossier.visible(),
        code: dossier.code(),
        tools: dossier
            .tools
            .iter()
            .map(|tool| ToolCommand {
                name: tool.name.clone(),
                argv: tool.argv.clone(),
                help: tool.help.clone(),
                timeout_seconds: tool.timeout_s,
            })
            .collect(),
    }
}

fn limits(run: &RunLimits) -> BTreeMap<Role, Limits> {
    let of = |role: &RoleLimits| Limits {
        memory: role.memory,
        cpus: role.cpus,
        cpuset: role.cpuset.clone(),
        pids: role.pids,
        home: role.home,
        temporary: role.temporary,
    };
    [
        (Role::Workspace, of(&run.workspace)),
        (Role::Agent, of(&run.agent)),
        (Role::Scorer, of(&run.scorer)),
    ]
    .into()
}
