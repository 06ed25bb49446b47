//! Knows `experiment.toml`: what people write to say which sessions they want.
//! Must not know whether what it names exists.
//! Start at `Experiment::read`.

use serde::{Deserialize, Serialize};

use evalxrl_analysis::plan::AnalysisPlan;

use crate::catalog::{Fields, Problem, Problems};
use crate::vocab::{
    Budget, BundleMode, CoderLabel, EnvironmentId, MalfunctionId, MethodId, RootSeed, ScoreBudget,
};

use super::limits::RunLimits;
use super::quantity::Span;

/// Which kind of sandbox a run uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxKind {
    /// Sealed containers.
    Docker,
    /// Local processes; nothing is sealed.
    Local,
}

/// A malfunction by name, or all of an environment that are not held out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// One malfunction.
    One(MalfunctionId),
    /// Every malfunction of an environment that is not held out.
    All(EnvironmentId),
}

/// A coder as people describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct CoderWish {
    /// Its name in tables.
    pub label: CoderLabel,
    /// How it works.
    pub scaffold: String,
    /// What it may spend.
    pub budget: Budget,
    /// Candidates that the scaffold `search` trains at most.
    pub candidates: Option<u32>,
}

/// A run as people describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Where it was written, for messages.
    pub place: String,
    /// Its name.
    pub name: String,
    /// Sessions per cell and coder.
    pub replications: u32,
    /// What is broken.
    pub malfunctions: Vec<Selection>,
    /// What is at hand, in order.
    pub arms: Vec<MethodId>,
    /// What a submission may contain.
    pub bundle: BundleMode,
    /// Attempts of a session that harness failures hit.
    pub attempts: u32,
    /// The kind of sandbox.
    pub sandbox: SandboxKind,
    /// Episodes of final scoring.
    pub scoring_episodes: u32,
    /// Resource limits.
    pub limits: RunLimits,
    /// The root seed, if written.
    pub root_seed: Option<RootSeed>,
    /// Whether the root seed can be guessed.
    pub weak_seed: bool,
    /// Who repairs.
    pub coders: Vec<CoderWish>,
    /// How the scores are analysed.
    pub analysis: AnalysisPlan,
}

impl Experiment {
    /// Reads the text of an experiment file, `place` naming it in messages.
    ///
    /// What cannot be read takes its default, so that the rest can be checked as well.
    #[must_use]
    pub fn read(place: &str, text: &str) -> (Option<Self>, Problems) {
        let mut problems = Problems::none();
        let Some(fields) = Fields::of_file(place, text, &mut problems) else {
            return (None, problems);
        };
        let experiment = Self::of_fields(place, fields, &mut problems);
        (Some(experiment), problems)
    }

    fn of_fields(place: &str, mut fields: Fields, problems: &mut Problems) -> Self {
        check_format(&mut fields, problems);
        let name: Option<String> = fields.required("name", "a name", problems);
        if name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            problems.push(fields.problem("name", "is empty", "write a name"));
        }
        let count = "a whole number from 1";
        let replications = fields.required("replications", count, problems);
        let replications = at_least_one(&fields, "replications", replications, 1, problems);
        let malfunctions = read_malfunctions(&mut fields, problems);
        let arms: Option<Vec<MethodId>> =
            fields.required("arms", "a list of arms such as [\"no-method\"]", problems);
        if arms.as_ref().is_some_and(Vec::is_empty) {
            problems.push(fields.problem("arms", "is empty", "write at least one arm"));
        }
        let bundle = fields
            .optional("bundle", "\"workspace\" or \"parameters\"", problems)
            .unwrap_or(BundleMode::Workspace);
        let attempts = fields.optional("attempts", count, problems);
        let attempts = at_least_one(&fields, "attempts", attempts, 3, problems);
        let sandbox = fields
            .optional("sandbox", "\"docker\" or \"local\"", problems)
            .unwrap_or(SandboxKind::Docker);
        let score = read_score(fields.table("score", problems), problems);
        let scoring_episodes = read_scoring(fields.table("scoring", problems), problems);
        let limits = RunLimits::read(fields.table("limits", problems), problems);
        let (root_seed, weak_seed) = read_seed(&mut fields, problems);
        let coders: Vec<CoderWish> = fields
            .tables("coder", problems)
            .into_iter()
            .filter_map(|table| read_coder(table, score, problems))
            .collect();
        let analysis = analysis_of(place, &mut fields, problems);
        fields.finish(problems);
        Self {
            place: place.to_owned(),
            name: name.unwrap_or_default(),
            replications,
            malfunctions,
            arms: arms.unwrap_or_default(),
            bundle,
            attempts,
            sandbox,
            scoring_episodes,
            limits,
            root_seed,
            weak_seed,
            coders,
            analysis,
        }
    }
}

/// Reads the analysis plan of an experiment file and nothing else of it, `place` naming the file in messages.
///
/// # Errors
/// A text that is no experiment file, an unknown key of `[analysis]`, or every value out of range.
pub fn read_analysis(place: &str, text: &str) -> Result<AnalysisPlan, Problems> {
    let mut problems = Problems::none();
    let mut analysis = AnalysisPlan::default();
    if let Some(mut fields) = Fields::of_file(place, text, &mut problems) {
        check_format(&mut fields, &mut problems);
        analysis = analysis_of(place, &mut fields, &mut problems);
    }
    problems.into_result()?;
    Ok(analysis)
}

fn check_format(fields: &mut Fields, problems: &mut Problems) {
    const FORMAT: &str = "evalxrl.experiment/1";
    let format: Option<String> = fields.required("format", &format!("{FORMAT:?}"), problems);
    if let Some(other) = format.filter(|format| format != FORMAT) {
        let wrong = format!("`{other}` is not known");
        problems.push(fields.problem("format", wrong, format!("write {FORMAT:?}")));
    }
}

fn analysis_of(place: &str, fields: &mut Fields, problems: &mut Problems) -> AnalysisPlan {
    let analysis: AnalysisPlan = fields
        .optional("analysis", "the keys of the analysis plan", problems)
        .unwrap_or_default();
    if let Err(errors) = analysis.check() {
        for error in errors {
            problems.push(Problem::new(
                place,
                format!("analysis.{}", error.key),
                format!("{} is out of range", error.value),
                format!("write {}", error.expected),
            ));
        }
    }
    analysis
}

fn at_least_one(
    fields: &Fields,
    field: &str,
    value: Option<u32>,
    default: u32,
    problems: &mut Problems,
) -> u32 {
    match value {
        Some(0) => {
            problems.push(fields.problem(field, "0 is too small", "write a whole number from 1"));
            default
        }
        Some(value) => value,
        None => default,
    }
}

fn read_malfunctions(fields: &mut Fields, problems: &mut Problems) -> Vec<Selection> {
    let expected = "[\"…\"] with malfunction ids, or [{ environment = \"…\" }]";
    let Some(values) = fields.required::<Vec<toml::Value>>("malfunctions", expected, problems)
    else {
        return Vec::new();
    };
    if values.is_empty() {
        problems.push(fields.problem("malfunctions", "is empty", format!("write {expected}")));
    }
    let mut selections = Vec::new();
    for value in values {
        let selection = match &value {
            toml::Value::String(id) => MalfunctionId::new(id.as_str())
                .map(Selection::One)
                .map_err(|error| error.to_string()),
            toml::Value::Table(table) if table.len() == 1 => {
                match table.get("environment").and_then(toml::Value::as_str) {
                    Some(id) => EnvironmentId::new(id)
                        .map(Selection::All)
                        .map_err(|error| error.to_string()),
                    None => Err(format!("{value} is not accepted")),
                }
            }
            other => Err(format!("{other} is not accepted")),
        };
        match selection {
            Ok(selection) => selections.push(selection),
            Err(wrong) => {
                problems.push(fields.problem("malfunctions", wrong, format!("write {expected}")));
            }
        }
    }
    selections
}

fn read_score(fields: Option<Fields>, problems: &mut Problems) -> ScoreBudget {
    let mut score = ScoreBudget::default();
    if let Some(mut fields) = fields {
        if let Some(calls) = fields.optional("calls", "a whole number", problems) {
            score.calls = calls;
        }
        let episodes = fields.optional("episodes", "a whole number from 1", problems);
        score.episodes = at_least_one(&fields, "episodes", episodes, score.episodes, problems);
        fields.finish(problems);
    }
    score
}

fn read_scoring(fields: Option<Fields>, problems: &mut Problems) -> u32 {
    let Some(mut fields) = fields else { return 256 };
    let episodes = fields.optional("episodes", "a whole number from 1", problems);
    let episodes = at_least_one(&fields, "episodes", episodes, 256, problems);
    fields.finish(problems);
    episodes
}

fn read_seed(fields: &mut Fields, problems: &mut Problems) -> (Option<RootSeed>, bool) {
    let expected = "64 hexadecimal digits";
    let allowed = fields
        .optional("allow_weak_seed", "true or false", problems)
        .unwrap_or(false);
    match fields.optional::<toml::Value>("root_seed", expected, problems) {
        None => (None, false),
        Some(toml::Value::String(text)) => match RootSeed::try_from(text) {
            Ok(seed) => (Some(seed), false),
            Err(error) => {
                let remedy = format!("write {expected}");
                problems.push(fields.problem("root_seed", error.to_string(), remedy));
                (None, false)
            }
        },
        Some(toml::Value::Integer(number)) if allowed && number >= 0 => {
            (Some(RootSeed::weak(number.unsigned_abs())), true)
        }
        Some(other) => {
            problems.push(fields.problem(
                "root_seed",
                format!("{other} can be guessed"),
                format!("write {expected}, or a whole number with allow_weak_seed = true"),
            ));
            (None, false)
        }
    }
}

fn read_coder(
    mut fields: Fields,
    score: ScoreBudget,
    problems: &mut Problems,
) -> Option<CoderWish> {
    let label: Option<CoderLabel> = fields.required("label", "a label", problems);
    let scaffold: Option<String> = fields.required("scaffold", "the name of a scaffold", problems);
    let mut budget = Budget {
        score,
        ..Budget::default()
    };
    if let Some(mut table) = fields.table("budget", problems) {
        let steps = table.optional("steps", "a whole number from 1", problems);
        budget.steps = at_least_one(&table, "steps", steps, budget.steps, problems);
        for (field, seconds) in [
            ("wall", &mut budget.wall_seconds),
            ("working", &mut budget.working_seconds),
            ("command", &mut budget.command_seconds),
        ] {
            if let Some(Span(span)) = table.optional(field, "a duration such as \"90m\"", problems)
            {
                *seconds = span;
            }
        }
        table.finish(problems);
    }
    let candidates = fields.optional("candidates", "a whole number from 1", problems);
    let candidates =
        candidates.map(|count| at_least_one(&fields, "candidates", Some(count), 1, problems));
    if candidates.is_some() && scaffold.as_deref().is_some_and(|name| name != "search") {
        problems.push(fields.problem(
            "candidates",
            "belongs to the scaffold `search` only",
            "remove it",
        ));
    }
    fields.finish(problems);
    Some(CoderWish {
        label: label?,
        scaffold: scaffold?,
        budget,
        candidates,
    })
}
