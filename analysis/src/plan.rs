//! Knows the analysis plan: every number an analysis depends on, its default and its permitted range.
//! Must not know where a plan is written.
//! Start at `AnalysisPlan`.

use serde::{Deserialize, Serialize};

/// The `[analysis]` table of an experiment, frozen with the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnalysisPlan {
    /// Level of the tests of H1.
    pub alpha: f64,
    /// False discovery rate of the Benjamini–Hochberg families.
    pub q: f64,
    /// Nominal coverage of intervals.
    pub confidence: f64,
    /// Monte Carlo draws B of the tests of H1.
    pub permutations: u64,
    /// Monte Carlo draws of a two-sample test.
    pub permutations_two_sample: u64,
    /// Bootstrap resamples.
    pub resamples: u64,
    /// The lowest value a raw score takes in means and tests of means.
    pub winsor_floor: f64,
    /// What the column `block` is used for.
    pub blocks: Blocks,
    /// Most arrangements (or sign vectors) of H1 that are enumerated.
    pub exact_limit_h1: u64,
    /// Most assignments of a two-sample test that are enumerated.
    pub exact_limit_two_sample: u64,
    /// γ of the optimality gap.
    pub optimality_target: f64,
    /// Thresholds τ of score profiles.
    pub profile_thresholds: Vec<f64>,
    /// δ, the largest gap of the cheat oracle that still counts as at the ceiling.
    pub oracle_gap_margin: f64,
    /// How many of its standard errors a gap between clean and broken must reach.
    pub gap_standard_errors: f64,
    /// Pairs `[rich, minimal]` of dossiers to compare.
    pub ablation_pairs: Vec<(String, String)>,
}

/// What the column `block` is used for in H1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocks {
    /// Sessions of a cell are exchangeable whatever their block.
    Ignore,
    /// Session labels are permuted within (malfunction, block), and the blocked test is the primary.
    Use,
}

impl Default for AnalysisPlan {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            q: 0.05,
            confidence: 0.95,
            permutations: 9_999,
            permutations_two_sample: 99_999,
            resamples: 50_000,
            winsor_floor: -1.0,
            blocks: Blocks::Ignore,
            exact_limit_h1: 1_000_000,
            exact_limit_two_sample: 5_000_000,
            optimality_target: 1.0,
            profile_thresholds: (0..=20).map(|step| f64::from(step) / 20.0).collect(),
            oracle_gap_margin: 0.10,
            gap_standard_errors: 5.0,
            ablation_pairs: Vec::new(),
        }
    }
}

/// A key of the plan with a value outside its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("analysis.{key}: {value} is not {expected}")]
pub struct PlanError {
    /// The key.
    pub key: &'static str,
    /// The value as written.
    pub value: String,
    /// What would be accepted.
    pub expected: &'static str,
}

/// One key whose value differs from the frozen plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deviation {
    /// The key.
    pub key: String,
    /// Its value in the frozen plan.
    pub frozen: String,
    /// The value used.
    pub used: String,
}

impl AnalysisPlan {
    /// Checks every key against its range.
    ///
    /// # Errors
    /// All keys that are out of range, in the order of the table.
    pub fn check(&self) -> Result<(), Vec<PlanError>> {
        const OPEN: &str = "strictly between 0 and 1";
        const COUNT: &str = "a whole number from 1 to 100 million";
        const RESAMPLES: &str = "a whole number from 1 to 1 million";
        const LIMIT: &str = "a whole number up to 1000 million";
        let count = |value: u64| (1..=100_000_000).contains(&value);
        let open = |value: f64| value > 0.0 && value < 1.0;
        let rules: [(&'static str, String, bool, &'static str); 14] = [
            ("alpha", self.alpha.to_string(), open(self.alpha), OPEN),
            ("q", self.q.to_string(), open(self.q), OPEN),
            (
                "confidence",
                self.confidence.to_string(),
                open(self.confidence),
                OPEN,
            ),
            (
                "permutations",
                self.permutations.to_string(),
                count(self.permutations),
                COUNT,
            ),
            (
                "permutations_two_sample",
                self.permutations_two_sample.to_string(),
                count(self.permutations_two_sample),
                COUNT,
            ),
            (
                "resamples",
                self.resamples.to_string(),
                (1..=1_000_000).contains(&self.resamples),
                RESAMPLES,
            ),
            (
                "winsor_floor",
                self.winsor_floor.to_string(),
                self.winsor_floor.is_finite() && self.winsor_floor <= 0.0,
                "a finite number up to 0",
            ),
            (
                "exact_limit_h1",
                self.exact_limit_h1.to_string(),
                self.exact_limit_h1 <= 1_000_000_000,
                LIMIT,
            ),
            (
                "exact_limit_two_sample",
                self.exact_limit_two_sample.to_string(),
                self.exact_limit_two_sample <= 1_000_000_000,
                LIMIT,
            ),
            (
                "optimality_target",
                self.optimality_target.to_string(),
                self.optimality_target.is_finite(),
                "a finite number",
            ),
            (
                "profile_thresholds",
                format!("{:?}", self.profile_thresholds),
                self.profile_thresholds
                    .iter()
                    .all(|threshold| threshold.is_finite()),
                "a list of finite numbers",
            ),
            (
                "oracle_gap_margin",
                self.oracle_gap_margin.to_string(),
                self.oracle_gap_margin.is_finite() && self.oracle_gap_margin >= 0.0,
                "a finite number from 0",
            ),
            (
                "gap_standard_errors",
                self.gap_standard_errors.to_string(),
                self.gap_standard_errors.is_finite() && self.gap_standard_errors >= 0.0,
                "a finite number from 0",
            ),
            (
                "ablation_pairs",
                format!("{:?}", self.ablation_pairs),
                self.ablation_pairs
                    .iter()
                    .all(|(rich, minimal)| rich != minimal),
                "a list of pairs of two different dossiers",
            ),
        ];
        let errors: Vec<PlanError> = rules
            .into_iter()
            .filter(|(_, _, accepted, _)| !accepted)
            .map(|(key, value, _, expected)| PlanError {
                key,
                value,
                expected,
            })
            .collect();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    /// Lists every key whose value differs from the frozen plan.
    pub fn deviations_from(&self, frozen: &Self) -> Vec<Deviation> {
        let ours = self.entries();
        let theirs = frozen.entries();
        ours.into_iter()
            .zip(theirs)
            .filter(|((_, used), (_, frozen))| used != frozen)
            .map(|((key, used), (_, frozen))| Deviation {
                key: key.to_owned(),
                frozen,
                used,
            })
            .collect()
    }

    fn entries(&self) -> Vec<(&'static str, String)> {
        vec![
            ("alpha", self.alpha.to_string()),
            ("q", self.q.to_string()),
            ("confidence", self.confidence.to_string()),
            ("permutations", self.permutations.to_string()),
            (
                "permutations_two_sample",
                self.permutations_two_sample.to_string(),
            ),
            ("resamples", self.resamples.to_string()),
            ("winsor_floor", self.winsor_floor.to_string()),
            ("blocks", format!("{:?}", self.blocks)),
            ("exact_limit_h1", self.exact_limit_h1.to_string()),
            (
                "exact_limit_two_sample",
                self.exact_limit_two_sample.to_string(),
            ),
            ("optimality_target", self.optimality_target.to_string()),
            (
                "profile_thresholds",
                format!("{:?}", self.profile_thresholds),
            ),
            ("oracle_gap_margin", self.oracle_gap_margin.to_string()),
            ("gap_standard_errors", self.gap_standard_errors.to_string()),
            ("ablation_pairs", format!("{:?}", self.ablation_pairs)),
        ]
    }
}
