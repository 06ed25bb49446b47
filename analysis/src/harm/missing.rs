//! Knows the sensitivity of H3 to sessions that are missing: the primary with all of them counted as 0.
//! Must not know the other tests, nor the bootstrap.
//! Start at `missing_as_zero`.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::HarmedCell;
use super::cell::{effort, lift};
use crate::computed::{Computed, NotComputed};
use crate::estimate::PValue;
use crate::multiplicity::benjamini_hochberg;
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, generator};
use crate::scale::Scale;
use crate::score_table::Stratum;
use crate::two_sample::{Alternative, permutation_mean};

/// The primary test of every planned cell with missing sessions as 0, in both arms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingAsZero {
    /// The discoveries.
    pub harmed: Vec<HarmedCell>,
    /// One entry per planned cell.
    pub cells: Vec<ZeroedCell>,
}

/// One cell with missing sessions as 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ZeroedCell {
    /// Id of the method.
    pub method: String,
    /// Id of the malfunction.
    pub malfunction: String,
    /// Sessions of the method, zeros included.
    pub sessions: u64,
    /// Sessions of the baseline, zeros included.
    pub baseline_sessions: u64,
    /// ℓ_mk on the raw scale, winsorised.
    pub lift: Computed<f64>,
    /// `permutation_mean`, alternative `less`.
    pub p: Computed<PValue>,
    /// Adjusted by Benjamini–Hochberg over all planned cells.
    pub p_adjusted: Computed<f64>,
    /// Adjusted p ≤ q and a negative lift.
    pub discovery: bool,
}

/// Repeats the primary with missing sessions as 0, with keys `h3/missing_as_zero/{malfunction}/{method}`.
///
/// # Errors
/// No planned session of these cells or of their baselines is missing.
pub(super) fn missing_as_zero(
    stratum: &Stratum,
    planned: &[(&str, &str)],
    family: u64,
    plan: &AnalysisPlan,
    seeds: &(impl NamedSeeds + Sync),
) -> Result<MissingAsZero, NotComputed> {
    let baseline = stratum.roles().no_method.as_str();
    let lacking = |malfunction: &str, method: &str| {
        stratum
            .cell(malfunction, method)
            .is_some_and(|cell| (cell.rows.len() as u64) < cell.planned)
    };
    let any = planned.iter().any(|(malfunction, method)| {
        lacking(malfunction, method) || lacking(malfunction, baseline)
    });
    if !any {
        return Err(NotComputed::because("no planned session is missing"));
    }
    let filled = |malfunction: &str, method: &str| {
        let mut scores = stratum.scores(malfunction, method, Scale::Raw, plan.winsor_floor);
        let planned = stratum
            .cell(malfunction, method)
            .map_or(0, |cell| cell.planned);
        let planned = usize::try_from(planned).expect("the number of sessions fits into memory");
        scores.resize(planned.max(scores.len()), 0.0);
        scores
    };
    let mut cells: Vec<ZeroedCell> = planned
        .par_iter()
        .map(|&(malfunction, method)| {
            let name = format!("h3/missing_as_zero/{malfunction}/{method}");
            let mut rng = generator(seeds, &name);
            let (ours, theirs) = (filled(malfunction, method), filled(malfunction, baseline));
            ZeroedCell {
                method: method.to_owned(),
                malfunction: malfunction.to_owned(),
                sessions: ours.len() as u64,
                baseline_sessions: theirs.len() as u64,
                lift: lift(&ours, &theirs, baseline),
                p: permutation_mean(&ours, &theirs, Alternative::Less, effort(plan), &mut rng)
                    .into(),
                p_adjusted: Computed::absent("no p-value"),
                discovery: false,
            }
        })
        .collect();
    adjust(&mut cells, family, plan.q)?;
    let harmed = cells
        .iter()
        .filter(|cell| cell.discovery)
        .map(|cell| HarmedCell {
            method: cell.method.clone(),
            malfunction: cell.malfunction.clone(),
        })
        .collect();
    Ok(MissingAsZero { harmed, cells })
}

fn adjust(cells: &mut [ZeroedCell], family: u64, q: f64) -> Result<(), NotComputed> {
    let family = usize::try_from(family).unwrap_or(usize::MAX);
    let p: Vec<Option<f64>> = cells
        .iter()
        .map(|cell| cell.p.value().map(|p| p.value))
        .collect();
    let adjusted = benjamini_hochberg(&p, q, Some(family))
        .map_err(|error| NotComputed::because(error.to_string()))?;
    for (cell, adjusted) in cells.iter_mut().zip(adjusted) {
        if let Some(adjusted) = adjusted {
            let negative = cell.lift.value().is_some_and(|lift| *lift < 0.0);
            cell.p_adjusted = Computed::Value(adjusted.value);
            cell.discovery = adjusted.rejected && negative;
        }
    }
    Ok(())
}
