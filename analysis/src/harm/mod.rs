//! Knows H3: does some method make repairs worse than no method at all?
//! Must not know the bootstrap, which has no valid p-value here.
//! Start at `harm`.

mod cell;
mod missing;
mod pairing;
mod tests;
mod warnings;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use missing::{MissingAsZero, ZeroedCell};
pub use pairing::{NO_BLOCKS, Pairing};
pub use tests::{paired_tests, tests};

use crate::attainability::{AttainableTest, hypothesis_cells};
use crate::computed::{Computed, NotComputed};
use crate::estimate::PValue;
use crate::multiplicity::benjamini_hochberg;
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, generator};
use crate::score_table::Stratum;
use crate::signed_rank::SignedRankFlag;

/// H3 over all planned cells of explanation methods, on the raw scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Harm {
    /// The false discovery rate q.
    pub q: f64,
    /// m_planned: the family that p-values are adjusted over.
    pub planned_cells: u64,
    /// Cells with sessions in both arms.
    pub tested_cells: u64,
    /// The answer.
    pub verdict: HarmVerdict,
    /// The cells behind `harm_found`.
    pub harmed: Vec<HarmedCell>,
    /// ⌈m·p_min/q⌉ of the primary for the most favourable cell: with fewer harmed cells nothing could have been found.
    pub cells_needed: Computed<u64>,
    /// One entry per planned cell.
    pub cells: Vec<HarmCell>,
    /// The primary once more, with every planned session without a score counted as 0.
    pub missing_as_zero: Computed<MissingAsZero>,
    /// What a reader must know, as sentences.
    pub warnings: Vec<String>,
}

/// A discovery of the primary test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarmedCell {
    /// Id of the method.
    pub method: String,
    /// Id of the malfunction.
    pub malfunction: String,
}

/// One cell against the baseline of its malfunction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HarmCell {
    /// Id of the method.
    pub method: String,
    /// Id of the malfunction.
    pub malfunction: String,
    /// N: sessions of the method.
    pub sessions: u64,
    /// N0: sessions of the baseline.
    pub baseline_sessions: u64,
    /// ℓ_mk on the raw scale, winsorised.
    pub lift: Computed<f64>,
    /// Whether N ≠ N0: then the permutation test can be too liberal, and Welch comes first.
    pub unequal_sessions: bool,
    /// How the sessions pair by block.
    pub pairing: Computed<Pairing>,
    /// One entry per test; the primary first, unless the numbers of sessions differ.
    pub tests: Vec<HarmTest>,
}

/// One one-sided test (less) of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HarmTest {
    /// Which test.
    pub test: HarmTestName,
    /// Whether it decides.
    pub primary: bool,
    /// The p-value of the cell.
    pub p: Computed<PValue>,
    /// Adjusted by Benjamini–Hochberg over `planned_cells`, within this test.
    pub p_adjusted: Computed<f64>,
    /// Adjusted p ≤ q and a negative lift.
    pub discovery: bool,
    /// Reservations about a signed rank test.
    pub flags: Vec<SignedRankFlag>,
}

/// The tests of H3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HarmTestName {
    /// All assignments of the pooled winsorised scores, difference of means. The primary.
    PermutationMean,
    /// Student t with Satterthwaite degrees of freedom.
    Welch,
    /// Mann–Whitney, exact, on the scores as stored.
    RankSum,
    /// All assignments, Welch's t.
    PermutationWelch,
    /// Paired by block, on the scores as stored: signed rank, zeros dropped before ranking.
    SignedRankWilcox,
    /// Paired by block, on the scores as stored: signed rank, zeros ranked and dropped.
    SignedRankPratt,
    /// Paired by block, on winsorised scores: all signs of the differences, their mean.
    SignFlipMean,
}

/// The words of H3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HarmVerdict {
    /// At least one discovery.
    HarmFound,
    /// None, though one was possible.
    NoHarmFound,
    /// No outcome of this design could have been a discovery.
    NotTestable,
}

/// Tests every planned cell of explanation methods against `no-method` on its malfunction, with keys `h3/{malfunction}/{method}`
/// and `h3/missing_as_zero/{malfunction}/{method}`. Paired tests pair sessions by `block` and by nothing else.
///
/// # Errors
/// No planned cell, or no baseline session anywhere.
pub fn harm(
    stratum: &Stratum,
    plan: &AnalysisPlan,
    seeds: &(impl NamedSeeds + Sync),
) -> Result<Harm, NotComputed> {
    harm_of_family(stratum, plan, None, seeds)
}

/// As `harm`, in a family of at least `m_planned` cells: a cell that was planned but left no trace in the table counts.
///
/// # Errors
/// No planned cell, or no baseline session anywhere.
pub fn harm_of_family(
    stratum: &Stratum,
    plan: &AnalysisPlan,
    m_planned: Option<u64>,
    seeds: &(impl NamedSeeds + Sync),
) -> Result<Harm, NotComputed> {
    let planned = hypothesis_cells(stratum);
    if planned.is_empty() {
        return Err(NotComputed::because("no explanation method is planned"));
    }
    let mut cells: Vec<HarmCell> = planned
        .par_iter()
        .map(|&(malfunction, method)| {
            let mut rng = generator(seeds, &format!("h3/{malfunction}/{method}"));
            cell::tested(stratum, malfunction, method, plan, &mut rng)
        })
        .collect();
    let tested = cells
        .iter()
        .filter(|cell| cell.lift.value().is_some())
        .count();
    if tested == 0 {
        return Err(NotComputed::because(format!(
            "no malfunction with sessions of both {} and an explanation method",
            stratum.roles().no_method
        )));
    }
    let family = m_planned.unwrap_or(0).max(cells.len() as u64);
    adjust(&mut cells, family, plan.q)?;
    let harmed: Vec<HarmedCell> = cells
        .iter()
        .filter(|cell| cell.tests.iter().any(|test| test.primary && test.discovery))
        .map(|cell| HarmedCell {
            method: cell.method.clone(),
            malfunction: cell.malfunction.clone(),
        })
        .collect();
    let needed = cells_needed(&cells, family, plan.q);
    let verdict = match needed {
        _ if !harmed.is_empty() => HarmVerdict::HarmFound,
        Some(_) => HarmVerdict::NoHarmFound,
        None => HarmVerdict::NotTestable,
    };
    Ok(Harm {
        q: plan.q,
        planned_cells: family,
        tested_cells: tested as u64,
        verdict,
        harmed,
        cells_needed: needed.map_or_else(
            || Computed::absent("no number of harmed cells could be found with these sessions"),
            Computed::Value,
        ),
        warnings: warnings::warnings(&cells, family, needed, plan.q, stratum.has_blocks()),
        missing_as_zero: missing::missing_as_zero(stratum, &planned, family, plan, seeds).into(),
        cells,
    })
}

/// Adjusts each test over a family, absent p-values counted.
fn adjust(cells: &mut [HarmCell], family: u64, q: f64) -> Result<(), NotComputed> {
    let family = usize::try_from(family).unwrap_or(usize::MAX);
    for name in HarmTestName::ALL {
        let p: Vec<Option<f64>> = cells
            .iter()
            .map(|cell| {
                let test = cell.tests.iter().find(|test| test.test == name)?;
                test.p.value().map(|p| p.value)
            })
            .collect();
        let adjusted = benjamini_hochberg(&p, q, Some(family))
            .map_err(|error| NotComputed::because(error.to_string()))?;
        for (cell, adjusted) in cells.iter_mut().zip(adjusted) {
            let negative = cell.lift.value().is_some_and(|lift| *lift < 0.0);
            for test in cell.tests.iter_mut().filter(|test| test.test == name) {
                if let Some(adjusted) = adjusted {
                    test.p_adjusted = Computed::Value(adjusted.value);
                    test.discovery = adjusted.rejected && negative;
                }
            }
        }
    }
    Ok(())
}

/// The fewest cells that could be discoveries together: for each number of sessions, so many cells at its p_min as are
/// needed, if that many cells have p_min as small as that. `None`: no number suffices.
fn cells_needed(cells: &[HarmCell], family: u64, q: f64) -> Option<u64> {
    let mut smallest: Vec<u64> = cells
        .iter()
        .filter(|cell| cell.lift.value().is_some())
        .map(|cell| {
            AttainableTest::Permutation.cells_needed(
                cell.sessions,
                cell.baseline_sessions,
                family,
                q,
            )
        })
        .collect();
    smallest.sort_unstable();
    // With the first i + 1 cells all at their p_min, the largest of which asks for `needed` cells.
    smallest
        .iter()
        .enumerate()
        .map(|(index, needed)| (index as u64 + 1, *needed))
        .find(|(count, needed)| count >= needed)
        .map(|(count, _)| count)
}

impl HarmTestName {
    /// Every test, the primary first.
    pub const ALL: [Self; 7] = [
        Self::PermutationMean,
        Self::Welch,
        Self::RankSum,
        Self::PermutationWelch,
        Self::SignedRankWilcox,
        Self::SignedRankPratt,
        Self::SignFlipMean,
    ];
}
