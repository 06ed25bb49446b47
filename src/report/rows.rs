//! Knows which fields of a session record a report uses, and what must be equal between records.
//! Must not know the files behind a record, nor how a field is shown.
//! Start at `SessionRow::of`.

use std::path::PathBuf;

use super::inert::inert_line;
use super::run::{Condition, SessionRow};
use super::source::word;
use crate::store::SessionRecord;
use crate::vocab::{EnvironmentId, Outcome};

impl SessionRow {
    /// Takes from a record what a report uses; texts of the session are made inert here.
    #[must_use]
    pub fn of(
        record: &SessionRecord,
        environment: &EnvironmentId,
        transcript: Option<PathBuf>,
    ) -> Self {
        Self {
            key: record.key.clone(),
            environment: environment.clone(),
            outcome: record.outcome.kind(),
            detail: detail(&record.outcome),
            raw: record.repair_score.raw,
            clipped: record.repair_score.clipped,
            actions: u64::from(record.calls.actions),
            score_calls: u64::from(record.calls.score),
            cost_usd: record.usage.cost_all_attempts,
            seconds: record.seconds,
            fault_touched: record.bundle.as_ref().map(|bundle| bundle.fault_touched),
            serving_changed: record.bundle.as_ref().map_or_else(Vec::new, |bundle| {
                let serving = &bundle.changed.serving;
                serving.iter().map(|path| inert_line(path)).collect()
            }),
            restoring_rank: record.restoring_rank,
            conditions: conditions(record, environment),
            note: record.note.as_deref().map(inert_line),
            transcript,
        }
    }
}

fn detail(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Submitted => None,
        Outcome::BudgetSpent { limit } => Some(word(limit)),
        Outcome::GaveUp { reason }
        | Outcome::AgentUnserved { reason }
        | Outcome::ScoringRejected { reason } => Some(inert_line(reason)),
    }
}

/// Replications are blocks: within one, every method meets the same broken agent and the same episodes.
fn conditions(record: &SessionRecord, environment: &EnvironmentId) -> Vec<Condition> {
    let run = || "run".to_owned();
    let block = format!("{} r{:02}", record.key.malfunction, record.key.replication);
    let cell = format!("{} with {}", record.key.malfunction, record.key.method);
    let mut list = vec![
        (
            "isolation.kind".to_owned(),
            run(),
            word(&record.isolation.kind),
        ),
        ("bundle_mode".to_owned(), run(), word(&record.bundle_mode)),
        (
            "reference.hash".to_owned(),
            block.clone(),
            record.reference.hash.clone(),
        ),
        (
            "reference.p_clean".to_owned(),
            block.clone(),
            record.reference.p_clean.to_string(),
        ),
        (
            "reference.p_broken".to_owned(),
            block,
            record.reference.p_broken.to_string(),
        ),
    ];
    for (name, version) in &record.versions {
        list.push((format!("versions.{name}"), run(), version.clone()));
    }
    for (role, image) in &record.images {
        list.push((format!("images.{role}"), run(), word(image)));
    }
    for (name, hash) in &record.sources {
        let scope = if name == "environment" {
            environment.to_string()
        } else {
            cell.clone()
        };
        list.push((format!("sources.{name}"), scope, hash.clone()));
    }
    list.into_iter()
        .map(|(field, scope, value)| Condition {
            field: inert_line(&field),
            scope,
            value: inert_line(&value),
        })
        .collect()
}
