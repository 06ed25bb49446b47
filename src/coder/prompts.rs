//! Knows the brief: the one text that every coder reads, equal for every arm up to its last section.
//! Must not know malfunctions, scores or which arm is the baseline.
//! Start at `brief_text`.

use minijinja::{Environment, UndefinedBehavior, Value, context};

use super::DossierLine;
use crate::vocab::{Budget, BundleMode};

const BRIEF: &str = "brief.md.jinja";
const SOURCES: [(&str, &str); 2] = [
    (BRIEF, include_str!("prompts/brief.md.jinja")),
    (
        "explanations.md.jinja",
        include_str!("prompts/explanations.md.jinja"),
    ),
];

/// A template that cannot be rendered; a defect of ours.
#[derive(Debug, thiserror::Error)]
#[error("brief cannot be rendered from {template}: {source}")]
pub struct PromptError {
    template: &'static str,
    source: minijinja::Error,
}

/// What the brief is made of.
#[derive(Debug, Clone)]
pub struct BriefFacts {
    /// The environment's title.
    pub title: String,
    /// What the environment is, one or two sentences.
    pub summary: String,
    /// The environment's package folder below the source root.
    pub environment: String,
    /// The source root below the workspace root.
    pub source: String,
    /// The train command.
    pub train: String,
    /// The command that serves the agent.
    pub serve: String,
    /// What may be spent.
    pub budget: Budget,
    /// What a submission contains.
    pub bundle: BundleMode,
    /// Dossiers at hand; empty for the baseline.
    pub dossiers: Vec<DossierLine>,
}

/// Renders the text of `BRIEF.md`.
///
/// # Errors
/// A template that does not fit the facts.
pub fn brief_text(facts: &BriefFacts) -> Result<String, PromptError> {
    let failed = |source| PromptError {
        template: BRIEF,
        source,
    };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, text) in SOURCES {
        environment.add_template(name, text).map_err(failed)?;
    }
    let dossiers: Vec<Value> = facts.dossiers.iter().map(dossier).collect();
    let budget = &facts.budget;
    environment
        .get_template(BRIEF)
        .and_then(|template| {
            template.render(context! {
                title => facts.title.as_str(),
                summary => facts.summary.as_str(),
                environment => facts.environment.as_str(),
                source => facts.source.as_str(),
                train => facts.train.as_str(),
                serve => facts.serve.as_str(),
                wall_seconds => budget.wall_seconds,
                working_seconds => budget.working_seconds,
                command_seconds => budget.command_seconds,
                steps => budget.steps,
                score_calls => budget.score.calls,
                score_episodes => budget.score.episodes,
                parameters_only => facts.bundle == BundleMode::Parameters,
                dossiers => dossiers,
            })
        })
        .map(|text| format!("{}\n", text.trim_end()))
        .map_err(failed)
}

/// The templates by name, so that a plan can hash what coders will read.
#[must_use]
pub fn prompt_sources() -> &'static [(&'static str, &'static str)] {
    &SOURCES
}

fn dossier(line: &DossierLine) -> Value {
    let tools: Vec<Value> = line
        .tools
        .iter()
        .map(|tool| context! { name => tool.name.as_str(), help => tool.help.as_str() })
        .collect();
    context! { title => line.title.as_str(), folder => line.folder.as_str(), tools => tools }
}

#[cfg(test)]
mod tests;
