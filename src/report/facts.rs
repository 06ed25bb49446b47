//! Knows the facts about a run that stand beside the answer and under provenance.
//! Must not know findings beyond their deviations, nor markup.
//! Start at `facts`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::document::Document;
use super::numerals;

/// A name with its value.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Fact {
    label: String,
    value: String,
}

fn fact(label: &str, value: impl Into<String>) -> Fact {
    Fact {
        label: label.to_owned(),
        value: value.into(),
    }
}

pub(super) fn listed(map: &BTreeMap<String, String>) -> Vec<Fact> {
    map.iter().map(|(name, value)| fact(name, value)).collect()
}

pub(super) fn facts(document: &Document<'_>) -> Vec<Fact> {
    let progress = &document.progress;
    let coders: Vec<&str> = document
        .run
        .coders
        .iter()
        .map(|coder| coder.label.as_str())
        .collect();
    let models: Vec<&str> = document
        .run
        .coders
        .iter()
        .filter_map(|coder| coder.model.as_deref())
        .collect();
    vec![
        fact(
            "Sessions",
            format!(
                "{} done of {} planned, {} missing",
                progress.done,
                progress.planned,
                progress.missing.len()
            ),
        ),
        fact("Isolation", &progress.isolation),
        fact("Coders", coders.join(", ")),
        fact(
            "Models",
            if models.is_empty() {
                "none: no coder of this plan talks to a model".to_owned()
            } else {
                models.join(", ")
            },
        ),
        fact(
            "Cost",
            format!("{} USD", numerals::score(progress.cost_usd)),
        ),
        fact(
            "Time of sessions",
            format!(
                "{} minutes, added up",
                numerals::score(progress.wall_minutes)
            ),
        ),
    ]
}

pub(super) fn incomplete(document: &Document<'_>) -> Option<String> {
    let missing = document.progress.missing.len();
    (missing > 0).then(|| {
        format!(
            "{missing} of {} planned sessions are missing. Everything below is of an incomplete run.",
            document.progress.planned
        )
    })
}

pub(super) fn deviations(document: &Document<'_>) -> Vec<String> {
    let mut list: Vec<String> = document
        .analysis
        .deviations
        .iter()
        .map(|deviation| {
            format!(
                "analysis.{} is {}, but {} in the frozen plan",
                deviation.key, deviation.used, deviation.frozen
            )
        })
        .collect();
    if document.run.weak_seed {
        list.push("the root seed is a short integer and can be guessed".to_owned());
    }
    if document.run.dirty {
        list.push("the plan was frozen from source with uncommitted changes".to_owned());
    }
    list
}

pub(super) fn provenance(document: &Document<'_>) -> Vec<Fact> {
    let run = document.run;
    let mut list = vec![
        fact("plan frozen", &run.created),
        fact("version", &run.version),
        fact("commit", run.commit.as_deref().unwrap_or("not known")),
        fact("sandbox", &run.sandbox),
        fact("access", &run.access),
        fact("bundle", &run.bundle),
        fact("root seed", &run.root_seed),
        fact("generator of the analysis", &document.analysis.generator),
        fact("catalog", &run.catalog_hash),
        fact("references", &run.references_hash),
    ];
    for coder in &run.coders {
        list.push(fact(
            &format!("coder {}", coder.label),
            match &coder.model {
                Some(model) => format!("{} with {model}", coder.scaffold),
                None => coder.scaffold.clone(),
            },
        ));
    }
    for (name, digest) in &run.images {
        list.push(fact(&format!("image {name}"), digest));
    }
    list.extend(listed(&document.conditions));
    list
}
