//! Knows a malfunction: its manifest, its diff, and how both make broken source out of clean source.
//! Must not know how an agent is trained or measured.
//! Start at `Malfunction`.

use serde::{Deserialize, Serialize};

use crate::vocab::{EnvironmentId, MalfunctionId, MethodId};

use super::environment::{Environment, SERVING};
use super::fault_diff::{DiffError, FaultDiff};
use super::fields::Fields;
use super::folder::Files;
use super::{Problem, Problems};

/// What kind of defect a malfunction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Clipped or scaled training reward.
    RewardClipping,
    /// Too short or too long a horizon.
    MildMyopia,
    /// Wrong weights between reward components.
    RewardImbalance,
    /// Training on other dynamics or starts than those scored.
    DistributionalShift,
    /// Observations that drift.
    SensorDrift,
    /// A reward that pays for something else.
    RewardHacking,
    /// Actions whose effect changes.
    NonStationaryControl,
    /// A defect of the learning algorithm.
    TrainingCode,
    /// A defect between data and its use.
    DataPipeline,
    /// Two malfunctions at once.
    Composite,
}

impl Class {
    /// Every class, in order of the format.
    pub const ALL: [Self; 10] = [
        Self::RewardClipping,
        Self::MildMyopia,
        Self::RewardImbalance,
        Self::DistributionalShift,
        Self::SensorDrift,
        Self::RewardHacking,
        Self::NonStationaryControl,
        Self::TrainingCode,
        Self::DataPipeline,
        Self::Composite,
    ];

    /// The word used in manifests and tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RewardClipping => "reward-clipping",
            Self::MildMyopia => "mild-myopia",
            Self::RewardImbalance => "reward-imbalance",
            Self::DistributionalShift => "distributional-shift",
            Self::SensorDrift => "sensor-drift",
            Self::RewardHacking => "reward-hacking",
            Self::NonStationaryControl => "non-stationary-control",
            Self::TrainingCode => "training-code",
            Self::DataPipeline => "data-pipeline",
            Self::Composite => "composite",
        }
    }
}

impl std::fmt::Display for Class {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Where the repair belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The training code or its configuration.
    Training,
    /// The environment.
    Environment,
    /// The agent server.
    Serving,
}

/// A malfunction of the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct Malfunction {
    /// Its id, the name of its folder.
    pub id: MalfunctionId,
    /// The environment whose source it changes.
    pub environment: EnvironmentId,
    /// Raised by any change of the diff or of the environment's dynamics.
    pub version: u32,
    /// What kind of defect.
    pub class: Class,
    /// Never used while a dossier or prompt is tuned.
    pub held_out: bool,
    /// Where the repair belongs.
    pub target: Target,
    /// Where the kind of defect is described.
    pub taxonomy: String,
    /// Two sentences for maintainers.
    pub summary: String,
    /// All that the cheat oracle sees.
    pub oracle: String,
    /// Observable consequences.
    pub causal: Vec<String>,
    /// True observations that may be taken for the cause.
    pub not_causal: Vec<String>,
    /// Smallest gap for which sessions may run; return units.
    pub min_gap: f64,
    /// Methods expected to help.
    pub expected_to_reveal: Vec<MethodId>,
    /// Methods expected to mislead.
    pub expected_to_mislead: Vec<MethodId>,
    /// The two halves of a composite.
    pub halves: Vec<MalfunctionId>,
    /// The fault.
    pub diff: FaultDiff,
    /// Hash of the whole folder.
    pub hash: String,
    /// Hash of version, environment and diff: what a measurement of it depends on.
    pub fault_hash: String,
}

impl Malfunction {
    /// Makes broken source out of clean source.
    ///
    /// # Errors
    /// The first place where the diff does not fit.
    pub fn apply(&self, clean: &Files) -> Result<Files, DiffError> {
        self.diff.apply(clean)
    }

    /// The text of the diff that repairs broken source, paths from the package's parent.
    #[must_use]
    pub fn reverse_diff(&self) -> String {
        self.diff.reversed().to_string()
    }

    /// The hash of clean source on which a measurement of it depends.
    #[must_use]
    pub fn measured_with<'a>(&self, environment: &'a Environment) -> &'a str {
        if self.touches_serving() {
            &environment.served_hash
        } else {
            &environment.training_hash
        }
    }

    /// Whether the fault changes code that the agent server runs, so that a broken agent must be measured served.
    #[must_use]
    pub fn touches_serving(&self) -> bool {
        self.target == Target::Serving
            || self
                .diff
                .files
                .iter()
                .any(|file| file.path.starts_with(SERVING))
    }
}

/// The manifest alone, before its diff is read.
#[derive(Debug, Clone)]
pub(super) struct Manifest {
    pub(super) id: MalfunctionId,
    pub(super) environment: EnvironmentId,
    pub(super) version: u32,
    pub(super) class: Class,
    pub(super) held_out: bool,
    pub(super) target: Target,
    pub(super) taxonomy: String,
    pub(super) summary: String,
    pub(super) oracle: String,
    pub(super) causal: Vec<String>,
    pub(super) not_causal: Vec<String>,
    pub(super) min_gap: f64,
    pub(super) expected_to_reveal: Vec<MethodId>,
    pub(super) expected_to_mislead: Vec<MethodId>,
    pub(super) halves: Vec<MalfunctionId>,
}

impl Manifest {
    /// Reads `malfunction.toml` with every rule that needs no other file.
    pub(super) fn read(
        folder: &str,
        place: &str,
        text: &str,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut fields = Fields::of_file(place, text, problems)?;
        let id = fields.required("id", &format!("\"{folder}\""), problems);
        let environment = fields.required("environment", "the id of an environment", problems);
        let version = fields.required("version", "a whole number from 1", problems);
        let classes = Class::ALL.map(Class::as_str).join(", ");
        let class = fields.required("class", &format!("one of {classes}"), problems);
        let held_out = fields.required("held_out", "true or false", problems);
        let target = fields.required(
            "target",
            "\"training\", \"environment\" or \"serving\"",
            problems,
        );
        let taxonomy = fields.required("taxonomy", "an entry such as \"none\"", problems);
        let summary = fields.required("summary", "two sentences for maintainers", problems);
        let oracle = fields.required(
            "oracle",
            "mechanism, file, function, correct line",
            problems,
        );
        let observations = "a list of observations, at least one";
        let causal = fields.required("causal", observations, problems);
        let not_causal = fields.required("not_causal", observations, problems);
        let min_gap = fields.required("min_gap", "a number above 0, in return units", problems);
        let methods = "a list of method ids";
        let expected_to_reveal = fields.required("expected_to_reveal", methods, problems);
        let expected_to_mislead = fields.required("expected_to_mislead", methods, problems);
        let halves = fields
            .optional("halves", "a list of two malfunction ids", problems)
            .unwrap_or_default();
        fields.finish(problems);
        let manifest = Self {
            id: id?,
            environment: environment?,
            version: version?,
            class: class?,
            held_out: held_out?,
            target: target?,
            taxonomy: taxonomy?,
            summary: summary?,
            oracle: oracle?,
            causal: causal?,
            not_causal: not_causal?,
            min_gap: min_gap?,
            expected_to_reveal: expected_to_reveal?,
            expected_to_mislead: expected_to_mislead?,
            halves,
        };
        manifest.check(folder, place, problems);
        Some(manifest)
    }

    fn check(&self, folder: &str, place: &str, problems: &mut Problems) {
        let mut broken = |field: &str, wrong: String, remedy: &str| {
            problems.push(Problem::new(place, field, wrong, remedy));
        };
        if self.id.as_str() != folder {
            let wrong = format!("`{}` is not the name of its folder", self.id);
            broken("id", wrong, &format!("write \"{folder}\""));
        }
        let start = format!("{}-", self.environment.as_str().replace('_', "-"));
        if !self.id.as_str().starts_with(&start) {
            let wrong = format!("`{}` does not begin with its environment", self.id);
            broken(
                "id",
                wrong,
                &format!("begin the id and its folder with `{start}`"),
            );
        }
        if self.version == 0 {
            broken("version", "0 is too small".into(), "begin at 1");
        }
        if !is_taxonomy(&self.taxonomy) {
            broken(
                "taxonomy",
                format!("`{}` is not an entry of a known taxonomy", self.taxonomy),
                "write none, nikanjam-2022/<category>, rlmutation/<operator>, muprl/<operator>, \
                 engstrom-2020/<optimisation> or report/<repository>#<number>",
            );
        }
        for (field, text) in [("summary", &self.summary), ("oracle", &self.oracle)] {
            if text.trim().is_empty() {
                broken(field, "is empty".into(), "write it");
            }
        }
        if sentences(&self.summary) != 2 {
            let wrong = format!("has {} sentences", sentences(&self.summary));
            broken("summary", wrong, "write two sentences");
        }
        for (field, list) in [("causal", &self.causal), ("not_causal", &self.not_causal)] {
            if list.is_empty() || list.iter().any(|text| text.trim().is_empty()) {
                broken(
                    field,
                    "has no entry or an empty one".into(),
                    "write at least one observation",
                );
            }
        }
        if let Some(first) = self.causal.first().filter(|first| sentences(first) != 1) {
            let wrong = format!("`{first}` is not one sentence");
            broken("causal", wrong, "write one sentence that shows the symptom");
        }
        if !(self.min_gap.is_finite() && self.min_gap > 0.0) {
            let wrong = format!("{} is not a gap", self.min_gap);
            broken("min_gap", wrong, "write a number above 0");
        }
        let composite = self.class == Class::Composite;
        if composite && self.halves.len() != 2 {
            let wrong = format!("has {} entries", self.halves.len());
            broken("halves", wrong, "name the two halves of the composite");
        }
        if composite && !self.held_out {
            let wrong = "is false, and composites are held out".to_owned();
            broken("held_out", wrong, "write true");
        }
        if !composite && !self.halves.is_empty() {
            broken("halves", "belongs to composites only".into(), "remove it");
        }
    }
}

fn is_taxonomy(text: &str) -> bool {
    let word = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    match text.split_once('/') {
        None => text == "none",
        Some(("nikanjam-2022", category)) => [
            "environment",
            "exploration",
            "updating-network",
            "output-layer",
        ]
        .contains(&category),
        Some(("rlmutation" | "muprl" | "engstrom-2020", entry)) => word(entry),
        Some(("report", report)) => report.rsplit_once('#').is_some_and(|(repository, number)| {
            let parts: Vec<&str> = repository.split('/').collect();
            (1..=2).contains(&parts.len())
                && parts.iter().all(|part| word(part))
                && number.chars().all(|c| c.is_ascii_alphanumeric())
                && !number.is_empty()
        }),
        Some(_) => false,
    }
}

/// Sentences of a text: full stops, question and exclamation marks at the end of a word.
fn sentences(text: &str) -> usize {
    text.split_whitespace()
        .filter(|word| word.ends_with(['.', '?', '!']))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_entries_of_the_named_taxonomies_pass() {
        for text in [
            "none",
            "nikanjam-2022/exploration",
            "engstrom-2020/reward-clipping",
            "report/purejaxrl#6",
            "report/luchris429/purejaxrl#a9e996e",
        ] {
            assert!(is_taxonomy(text), "{text}");
        }
        for text in [
            "",
            "nikanjam-2022/none",
            "report/purejaxrl",
            "elsewhere/x",
            "muprl/",
        ] {
            assert!(!is_taxonomy(text), "{text}");
        }
    }

    #[test]
    fn a_number_with_a_point_is_no_sentence() {
        assert_eq!(sentences("The clip is at 1.0 here. It hurts."), 2);
    }
}
