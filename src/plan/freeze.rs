//! Knows how chosen malfunctions, arms and coders become the sessions of a plan.
//! Must not know what may be chosen.
//! Start at `freeze`.

use std::collections::BTreeMap;

use crate::catalog::{Catalog, hash_files};
use crate::vocab::{Arm, Invocations, SeedName, SessionKey};

use super::build::{ChosenArm, ChosenMalfunction};
use super::experiment::Experiment;
use super::session_hash::{self, SessionContent};
use super::{
    Access, FORMAT, Facts, OPTIMAL, Plan, PlannedArm, PlannedCoder, PlannedDossier,
    PlannedMalfunction, PlannedSession, Scoring, order,
};

/// Lays out every session in order and gives each its hash.
pub(super) fn freeze(
    experiment: &Experiment,
    catalog: &Catalog,
    facts: &Facts,
    malfunctions: &[ChosenMalfunction<'_>],
    arms: &[ChosenArm<'_>],
    coders: Vec<PlannedCoder>,
) -> Plan {
    let root = experiment
        .root_seed
        .clone()
        .unwrap_or_else(|| facts.root_seed.clone());
    let shared = hash_files(catalog.shared());
    let mut sessions = Vec::new();
    for replication in 0..experiment.replications {
        for chosen in malfunctions {
            let id = &chosen.malfunction.id;
            let pairs: Vec<(&ChosenArm<'_>, &PlannedCoder)> = arms
                .iter()
                .flat_map(|arm| coders.iter().map(move |coder| (arm, coder)))
                .filter(|(arm, coder)| {
                    (arm.arm == Arm::OptimalRepair) == (coder.scaffold == OPTIMAL)
                })
                .collect();
            for (arm, coder) in order::shuffled(pairs, &root, id, replication) {
                let key = SessionKey {
                    malfunction: id.clone(),
                    method: arm.method.clone(),
                    coder: coder.label.clone(),
                    invocations: Invocations::Unlimited,
                    replication,
                };
                let environment = &chosen.environment.id;
                let seeds = session_hash::seeds(
                    &root,
                    [
                        SeedName::final_episodes(environment, replication),
                        SeedName::development_episodes(environment, replication),
                        SeedName::training(id, replication, 0),
                        SeedName::coder(&key),
                    ],
                );
                let session_hash = session_hash::hash(&SessionContent {
                    key: &key,
                    environment: &chosen.environment.hash,
                    malfunction: &chosen.malfunction.hash,
                    dossiers: arm
                        .dossiers
                        .iter()
                        .map(|dossier| (dossier.id.as_str(), dossier.hash.as_str()))
                        .collect(),
                    shared: (!arm.dossiers.is_empty()).then_some(shared.as_str()),
                    images: &facts.images,
                    coder,
                    sandbox: experiment.sandbox,
                    access: Access::White,
                    bundle: experiment.bundle,
                    limits: &experiment.limits,
                    scoring_episodes: experiment.scoring_episodes,
                    seeds,
                });
                sessions.push(PlannedSession {
                    index: sessions.len() as u32,
                    key,
                    session_hash,
                });
            }
        }
    }
    let references: BTreeMap<_, _> = malfunctions
        .iter()
        .map(|chosen| (chosen.malfunction.id.clone(), chosen.reference.clone()))
        .collect();
    let references_text = serde_json::to_string(&references)
        .expect("references hold strings, finite numbers and maps with string keys");
    Plan {
        format: FORMAT.to_owned(),
        name: experiment.name.clone(),
        created: facts.created.clone(),
        version: facts.version.clone(),
        git: facts.git.clone(),
        root_seed: root,
        weak_seed: experiment.weak_seed,
        sandbox: experiment.sandbox,
        access: Access::White,
        bundle: experiment.bundle,
        attempts: experiment.attempts,
        replications: experiment.replications,
        coders,
        arms: arms.iter().map(planned_arm).collect(),
        malfunctions: malfunctions.iter().map(planned_malfunction).collect(),
        limits: experiment.limits.clone(),
        scoring: Scoring {
            episodes: experiment.scoring_episodes,
        },
        analysis: experiment.analysis.clone(),
        images: facts.images.clone(),
        catalog_hash: catalog.hash(),
        references,
        references_hash: blake3::hash(references_text.as_bytes())
            .to_hex()
            .to_string(),
        sessions,
    }
}

fn planned_arm(arm: &ChosenArm<'_>) -> PlannedArm {
    PlannedArm {
        method: arm.method.clone(),
        dossiers: arm
            .dossiers
            .iter()
            .map(|dossier| PlannedDossier {
                id: dossier.id.clone(),
                version: dossier.version.clone(),
                hash: dossier.hash.clone(),
            })
            .collect(),
    }
}

fn planned_malfunction(chosen: &ChosenMalfunction<'_>) -> PlannedMalfunction {
    PlannedMalfunction {
        id: chosen.malfunction.id.clone(),
        environment: chosen.environment.id.clone(),
        class: chosen.malfunction.class,
        version: chosen.malfunction.version,
        held_out: chosen.malfunction.held_out,
        hash: chosen.malfunction.hash.clone(),
        source_hash: chosen.environment.hash.clone(),
        expected_to_reveal: chosen.malfunction.expected_to_reveal.clone(),
        expected_to_mislead: chosen.malfunction.expected_to_mislead.clone(),
    }
}
