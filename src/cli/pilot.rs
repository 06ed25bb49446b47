//! Knows what a pilot gives to planning: its scatter within cells, and the noise to simulate with.
//! Must not know which verb plans.
//! Start at `Pilot::of_table` and `noise`.

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;
use evalxrl_analysis::power::{PilotVariance, pilot_variance};
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::{Role, ScoreTable};
use evalxrl_analysis::simulate::{DEFAULT_SD, Noise, PilotResiduals};

use super::exit::{Code, Failure};

/// How simulated sessions scatter around the mean of their cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum NoiseKind {
    /// Normal
    Normal,
    /// Beta, between 0 and 1
    Beta,
    /// Two bumps
    Bimodal,
    /// Residuals of the pilot, drawn within its cells
    Pilot,
}

/// The scatter of a pilot.
#[derive(Debug)]
pub(super) struct Pilot {
    /// Pooled over cells, with its upper bound.
    pub(super) variance: PilotVariance,
    /// Explanation methods in default packaging that it has.
    pub(super) methods: u64,
    /// Malfunctions that it has.
    pub(super) malfunctions: u64,
    cells: Vec<Vec<f64>>,
}

impl Pilot {
    /// Takes the cells of explanation methods in default packaging and of the baseline, on the raw scale, winsorised.
    ///
    /// # Errors
    /// Exit 3 where no cell has two sessions, or none varies.
    pub(super) fn of_table(
        table: &ScoreTable,
        winsor_floor: f64,
        place: &str,
    ) -> Result<Self, Failure> {
        let roles = table.roles();
        let mut cells: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for row in table.rows() {
            if roles.enters_hypotheses(&row.method) || roles.of(&row.method) == Role::NoMethod {
                let key = (&row.coder, row.invocations, &row.malfunction, &row.method);
                let score = Scale::Raw.place(row.raw, winsor_floor);
                cells.entry(key).or_default().push(score);
            }
        }
        let cells: Vec<Vec<f64>> = cells.into_values().collect();
        let variance = pilot_variance(&cells).map_err(|reason| {
            Failure::new(Code::Invalid, format!("{place}: {reason}"))
                .remedy("a pilot needs cells of two sessions and more whose scores differ")
        })?;
        let count = |names: BTreeSet<&str>| names.len() as u64;
        let planned = table.planned();
        Ok(Self {
            variance,
            methods: count(
                planned
                    .iter()
                    .map(|cell| cell.method.as_str())
                    .filter(|method| roles.enters_hypotheses(method))
                    .collect(),
            ),
            malfunctions: count(
                planned
                    .iter()
                    .map(|cell| cell.malfunction.as_str())
                    .collect(),
            ),
            cells,
        })
    }
}

/// The noise of a kind, with the standard deviation given, or the upper bound of a pilot, or 0.25.
///
/// # Errors
/// Exit 2 for residuals without a pilot.
pub(super) fn noise(
    kind: NoiseKind,
    sd: Option<f64>,
    pilot: Option<&Pilot>,
) -> Result<Noise, Failure> {
    let bound = pilot.map(|pilot| pilot.variance.upper_sd);
    let sd = sd.or(bound).unwrap_or(DEFAULT_SD);
    Ok(match (kind, pilot) {
        (NoiseKind::Normal, _) => Noise::Normal { sd },
        (NoiseKind::Beta, _) => Noise::Beta { sd },
        (NoiseKind::Bimodal, _) => Noise::Bimodal { sd },
        (NoiseKind::Pilot, Some(pilot)) => {
            let residuals = PilotResiduals::new(&pilot.cells)
                .map_err(|error| Failure::new(Code::Invalid, error.to_string()))?;
            Noise::Pilot(residuals.scaled_to(sd))
        }
        (NoiseKind::Pilot, None) => {
            return Err(Failure::new(Code::Usage, "--noise pilot without a pilot")
                .remedy("name a run directory or a table of scores with --pilot"));
        }
    })
}
