//! Knows how a frozen plan and the records of a run directory become the `Run` of a report.
//! Must not know the files of a run directory; `store` does.
//! Start at `Run::read`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::inert::inert_line;
use super::run::{
    Coder, Expected, Facts, Failure, Malfunction, Prediction, Reference, Run, SessionRow,
};
use crate::plan::Plan;
use crate::store::{RunDirectory, StoreError};
use crate::vocab::EnvironmentId;

impl Run {
    /// Reads every session record of a plan; the analysis is done as frozen until the caller sets `analysis`, and without
    /// records of localisation until it sets `localisation`.
    ///
    /// # Errors
    /// A record or an attempt that cannot be read.
    pub fn read(plan: &Plan, directory: &RunDirectory) -> Result<Self, StoreError> {
        let environments: BTreeMap<&str, &EnvironmentId> = plan
            .malfunctions
            .iter()
            .map(|each| (each.id.as_str(), &each.environment))
            .collect();
        let mut sessions = Vec::new();
        let mut failures = Vec::new();
        for planned in &plan.sessions {
            let key = &planned.key;
            let environment = environments.get(key.malfunction.as_str());
            match (directory.record(key)?, environment) {
                (Some(record), Some(environment)) => {
                    let transcript = directory.transcript(key);
                    let kept = transcript.is_file().then_some(transcript);
                    sessions.push(SessionRow::of(&record, environment, kept));
                }
                _ => {
                    let attempts = directory.attempts(key)?;
                    failures.extend(attempts.last().map(|last| Failure {
                        key: key.clone(),
                        attempts: attempts.len() as u64,
                        last: inert_line(&last.fault.to_string()),
                    }));
                }
            }
        }
        Ok(Self {
            facts: facts(plan),
            root_seed: plan.root_seed.clone(),
            frozen: plan.analysis.clone(),
            analysis: plan.analysis.clone(),
            malfunctions: malfunctions(plan),
            planned: plan.sessions.iter().map(|each| each.key.clone()).collect(),
            sessions,
            failures,
            tool_call_budgets: plan
                .coders
                .iter()
                .map(|coder| (coder.label.to_string(), u64::from(coder.budget.steps)))
                .collect(),
            predictions: predictions(plan),
            localisation: Vec::new(),
        })
    }
}

fn predictions(plan: &Plan) -> Vec<Prediction> {
    let mut list = Vec::new();
    for malfunction in &plan.malfunctions {
        for (methods, expected) in [
            (&malfunction.expected_to_reveal, Expected::Reveal),
            (&malfunction.expected_to_mislead, Expected::Mislead),
        ] {
            list.extend(methods.iter().map(|method| Prediction {
                malfunction: malfunction.id.clone(),
                method: method.clone(),
                expected,
            }));
        }
    }
    list.sort();
    list
}

fn malfunctions(plan: &Plan) -> Vec<Malfunction> {
    let of = |each: &crate::plan::PlannedMalfunction| Malfunction {
        id: each.id.clone(),
        environment: each.environment.clone(),
        class: word(&each.class),
        reference: plan.references.get(&each.id).map(|reference| Reference {
            clean: reference.p_clean,
            standard_error_clean: reference.se_clean,
            broken: reference.p_broken,
            standard_error_broken: reference.se_broken,
            gap_over_error: reference.gap_over_error,
        }),
    };
    plan.malfunctions.iter().map(of).collect()
}

fn facts(plan: &Plan) -> Facts {
    let coders = plan.coders.iter().map(|coder| Coder {
        label: coder.label.to_string(),
        scaffold: inert_line(&coder.scaffold),
        model: None,
    });
    Facts {
        name: inert_line(&plan.name),
        created: inert_line(&plan.created),
        version: inert_line(&plan.version),
        commit: plan.git.commit.as_deref().map(inert_line),
        dirty: plan.git.dirty,
        sandbox: word(&plan.sandbox),
        access: word(&plan.access),
        bundle: word(&plan.bundle),
        root_seed: plan.root_seed.clone().into(),
        weak_seed: plan.weak_seed,
        catalog_hash: inert_line(&plan.catalog_hash),
        references_hash: inert_line(&plan.references_hash),
        images: inert_map(&plan.images),
        coders: coders.collect(),
        settings: settings(plan),
    }
}

fn inert_map(map: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let entries = map.iter();
    entries
        .map(|(name, value)| (inert_line(name), inert_line(value)))
        .collect()
}

/// Budgets, limits, arms and whatever else of the plan decides results, one line each.
fn settings(plan: &Plan) -> BTreeMap<String, String> {
    let mut lines = BTreeMap::new();
    lines.insert("attempts".to_owned(), plan.attempts.to_string());
    lines.insert("replications".to_owned(), plan.replications.to_string());
    flatten("scoring", &json(&plan.scoring), &mut lines);
    flatten("limits", &json(&plan.limits), &mut lines);
    flatten("analysis", &json(&plan.analysis), &mut lines);
    for coder in &plan.coders {
        flatten(&format!("coder.{}", coder.label), &json(coder), &mut lines);
    }
    for arm in &plan.arms {
        flatten(
            &format!("arm.{}", arm.method),
            &json(&arm.dossiers),
            &mut lines,
        );
    }
    for malfunction in &plan.malfunctions {
        let name = format!("malfunction.{}", malfunction.id);
        flatten(&name, &json(malfunction), &mut lines);
    }
    lines
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

fn flatten(name: &str, value: &Value, lines: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                flatten(&format!("{name}.{key}"), value, lines);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                flatten(&format!("{name}.{index}"), item, lines);
            }
        }
        Value::Null => {}
        Value::String(text) => {
            lines.insert(inert_line(name), inert_line(text));
        }
        other => {
            lines.insert(inert_line(name), inert_line(&other.to_string()));
        }
    }
}

/// A small value of a plan as its JSON text, without the quotes of a plain string.
pub(super) fn word(value: &impl Serialize) -> String {
    match json(value) {
        Value::String(text) => inert_line(&text),
        other => inert_line(&other.to_string()),
    }
}
