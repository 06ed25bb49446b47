//! Knows what the texts of dossiers say by themselves of the place of faults, beside the lifts of the leading stratum.
//! Must not compute statistics, nor know how a text is measured.
//! Start at `LocalisationFindings::of`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::findings::{Findings, StratumFindings};
use evalxrl_analysis::localisation::{
    CellLocalisation, LiftCorrelation, MethodLocalisation, TextPercentile, localisation,
};
use serde::Serialize;

use super::run::Run;
use crate::store::LocalisationRecord;
use crate::vocab::SeedName;

/// Why there is nothing of this, with what makes it.
const NO_RECORD: &str =
    "no record of what texts say without a coder: evalxrl localise --run RUN makes them";

/// Standalone localisation beside lift, as `findings.json` holds it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct LocalisationFindings<'a> {
    /// In the order of `cells`.
    pub(super) texts: Vec<TextFacts<'a>>,
    pub(super) cells: Vec<CellLocalisation>,
    pub(super) methods: Vec<MethodLocalisation>,
    pub(super) correlations: Vec<LiftCorrelation>,
}

/// What a percentile was measured from.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TextFacts<'a> {
    malfunction: &'a str,
    method: &'a str,
    inputs: &'a str,
    pub(super) tools: usize,
    pub(super) query_tokens: u64,
    pub(super) lines: u64,
    pub(super) faulty_lines: usize,
}

impl<'a> LocalisationFindings<'a> {
    /// The records of a run beside the lifts of one stratum, if there is one.
    pub(super) fn of(
        run: &'a Run,
        findings: &Findings,
        stratum: Option<&StratumFindings>,
    ) -> Computed<Self> {
        if run.localisation.is_empty() {
            return Computed::absent(NO_RECORD);
        }
        let mut records: Vec<&LocalisationRecord> = run.localisation.iter().collect();
        records.sort_by_key(|record| (record.malfunction.as_str(), record.dossier.as_str()));
        let percentiles: Vec<TextPercentile> = records
            .iter()
            .map(|record| TextPercentile {
                malfunction: record.malfunction.to_string(),
                method: record.dossier.to_string(),
                percentile: record.percentile,
            })
            .collect();
        let seeds = |name: &str| run.root_seed.derive(&SeedName::new(name)).bytes();
        let lifts = stratum.map(|stratum| &stratum.lifts);
        let found = localisation(&percentiles, lifts, &findings.analysis.plan, &seeds);
        Computed::Value(Self {
            texts: records.into_iter().map(TextFacts::of).collect(),
            cells: found.cells,
            methods: found.methods,
            correlations: found.correlations,
        })
    }
}

impl<'a> TextFacts<'a> {
    fn of(record: &'a LocalisationRecord) -> Self {
        Self {
            malfunction: record.malfunction.as_str(),
            method: record.dossier.as_str(),
            inputs: &record.inputs,
            tools: record.tools.len(),
            query_tokens: record.query_tokens,
            lines: record.lines,
            faulty_lines: record.faulty.len(),
        }
    }
}
