//! Knows H3: does some method make repairs worse than no method at all?
//! Must not know the bootstrap, which has no valid p-value here.
//! Start at `harm`.

use rand_core::RngCore;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::attainability::{AttainableTest, attainability, hypothesis_cells};
use crate::computed::{Computed, NotComputed};
use crate::estimate::PValue;
use crate::moments::mean;
use crate::multiplicity::benjamini_hochberg;
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, generator};
use crate::scale::Scale;
use crate::score_table::Stratum;
use crate::two_sample::{self, Alternative, Effort};

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

/// Tests every planned cell of explanation methods against `no-method` on its malfunction, with keys `h3/{malfunction}/{method}`.
///
/// # Errors
/// No planned cell, or no baseline session anywhere.
pub fn harm(
    stratum: &Stratum,
    plan: &AnalysisPlan,
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
            cell(stratum, malfunction, method, plan, &mut rng)
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
    adjust(&mut cells, plan.q)?;
    let harmed: Vec<HarmedCell> = cells
        .iter()
        .filter(|cell| cell.tests.iter().any(|test| test.primary && test.discovery))
        .map(|cell| HarmedCell {
            method: cell.method.clone(),
            malfunction: cell.malfunction.clone(),
        })
        .collect();
    let family = cells.len() as u64;
    let needed = cells_needed(&cells, plan.q);
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
        warnings: warnings(&cells, needed, plan.q),
        cells,
    })
}

/// Runs the four tests on two samples, alternative `less`, without adjustment: means on winsorised scores, ranks on scores as given.
pub fn tests(
    method: [&[f64]; 2],
    baseline: [&[f64]; 2],
    effort: Effort,
    rng: &mut impl RngCore,
) -> Vec<(HarmTestName, Computed<PValue>)> {
    let [winsorised, stored] = method;
    let [baseline_winsorised, baseline_stored] = baseline;
    vec![
        (
            HarmTestName::PermutationMean,
            two_sample::permutation_mean(
                winsorised,
                baseline_winsorised,
                Alternative::Less,
                effort,
                rng,
            )
            .into(),
        ),
        (
            HarmTestName::Welch,
            two_sample::welch(winsorised, baseline_winsorised)
                .map(|welch| welch.p_less())
                .into(),
        ),
        (
            HarmTestName::RankSum,
            two_sample::rank_sum(stored, baseline_stored, Alternative::Less).into(),
        ),
        (
            HarmTestName::PermutationWelch,
            two_sample::permutation_welch(
                winsorised,
                baseline_winsorised,
                Alternative::Less,
                effort,
                rng,
            )
            .map(|(_, p)| p)
            .into(),
        ),
    ]
}

fn cell(
    stratum: &Stratum,
    malfunction: &str,
    method: &str,
    plan: &AnalysisPlan,
    rng: &mut impl RngCore,
) -> HarmCell {
    let baseline = stratum.roles().no_method.as_str();
    let on = |scale, method: &str| stratum.scores(malfunction, method, scale, plan.winsor_floor);
    let effort = Effort {
        exact_limit: plan.exact_limit_two_sample,
        draws: plan.permutations_two_sample,
    };
    let ours = [on(Scale::Raw, method), on(Scale::RawUnwinsorised, method)];
    let theirs = [
        on(Scale::Raw, baseline),
        on(Scale::RawUnwinsorised, baseline),
    ];
    let lift = match (ours[0].len(), theirs[0].len()) {
        (0, _) => Computed::absent("no session"),
        (_, 0) => Computed::absent(format!("no session of {baseline}")),
        _ => Computed::Value(mean(&ours[0]) - mean(&theirs[0])),
    };
    let unequal_sessions = lift.value().is_some() && ours[0].len() != theirs[0].len();
    let mut tests: Vec<HarmTest> =
        tests([&ours[0], &ours[1]], [&theirs[0], &theirs[1]], effort, rng)
            .into_iter()
            .map(|(test, p)| HarmTest {
                test,
                primary: test == HarmTestName::PermutationMean,
                p_adjusted: Computed::absent("no p-value"),
                p,
                discovery: false,
            })
            .collect();
    if unequal_sessions {
        tests.sort_by_key(|test| test.test != HarmTestName::Welch);
    }
    HarmCell {
        method: method.to_owned(),
        malfunction: malfunction.to_owned(),
        sessions: ours[0].len() as u64,
        baseline_sessions: theirs[0].len() as u64,
        lift,
        unequal_sessions,
        tests,
    }
}

/// Adjusts each test over all planned cells, absent p-values counted.
fn adjust(cells: &mut [HarmCell], q: f64) -> Result<(), NotComputed> {
    for name in HarmTestName::ALL {
        let p: Vec<Option<f64>> = cells
            .iter()
            .map(|cell| {
                let test = cell.tests.iter().find(|test| test.test == name)?;
                test.p.value().map(|p| p.value)
            })
            .collect();
        let adjusted = benjamini_hochberg(&p, q, Some(cells.len()))
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
fn cells_needed(cells: &[HarmCell], q: f64) -> Option<u64> {
    let mut smallest: Vec<u64> = cells
        .iter()
        .filter(|cell| cell.lift.value().is_some())
        .map(|cell| {
            AttainableTest::Permutation.cells_needed(
                cell.sessions,
                cell.baseline_sessions,
                cells.len() as u64,
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

fn warnings(cells: &[HarmCell], needed: Option<u64>, q: f64) -> Vec<String> {
    let mut warnings = Vec::new();
    let missing = cells
        .iter()
        .filter(|cell| cell.lift.value().is_none())
        .count();
    if missing > 0 {
        warnings.push(format!(
            "{missing} of {} planned cells have no p-value; they count in the adjustment",
            cells.len()
        ));
    }
    let unequal = cells.iter().filter(|cell| cell.unequal_sessions).count();
    if unequal > 0 {
        warnings.push(format!(
            "{unequal} cells have another number of sessions than their baseline: the permutation test can be too \
             liberal there, so Welch comes first"
        ));
    }
    let cure = || {
        let family = cells.len() as u64;
        attainability(AttainableTest::Permutation, 1, 1, family, family, q).sessions_for_one_cell
    };
    match needed {
        Some(1) => {}
        Some(count) => warnings.push(format!(
            "fewer than {count} harmed cells could not have been found; N = N0 = {} finds one",
            cure()
        )),
        None => warnings.push(format!(
            "no harm could have been found with these numbers of sessions; N = N0 = {} finds one cell",
            cure()
        )),
    }
    warnings
}

impl HarmTestName {
    /// Every test, the primary first.
    pub const ALL: [Self; 4] = [
        Self::PermutationMean,
        Self::Welch,
        Self::RankSum,
        Self::PermutationWelch,
    ];
}
