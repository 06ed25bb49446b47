//! Knows how a rich dossier compares with a minimal one: the same method in two packagings, on the malfunctions they share.
//! Must not know the hypotheses H1 to H3, nor how cells are resampled.
//! Start at `ablation`.

use serde::{Deserialize, Serialize};

use crate::computed::{Computed, NotComputed, finite};
use crate::contrast::ResampledCells;
use crate::estimate::PValue;
use crate::lift::{Difference, over_common};
use crate::moments::mean;
use crate::multiplicity::benjamini_hochberg;
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, generator};
use crate::scale::Scale;
use crate::score_table::Stratum;
use crate::signed_rank::{SignedRankFlag, ZeroRule, sign_flip, signed_rank};
use crate::two_sample::Effort;

/// Every declared pair of dossiers, in the order of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ablation {
    /// The false discovery rate that the p-values of several pairs are adjusted for.
    pub q: f64,
    /// One entry per declared pair.
    pub pairs: Vec<AblationPair>,
}

/// One declared pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AblationPair {
    /// Id of the rich dossier.
    pub rich: String,
    /// Id of the minimal dossier.
    pub minimal: String,
    /// On the clipped scale.
    pub clipped: Computed<DossierDifference>,
    /// On the raw scale, winsorised.
    pub raw: Computed<DossierDifference>,
}

/// What the rich dossier adds on one scale, in two readings that answer different questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DossierDifference {
    /// The scale of every number here.
    pub scale: Scale,
    /// δ_k, one entry per malfunction with sessions of both.
    pub malfunctions: Vec<MalfunctionDifference>,
    /// Malfunctions of the stratum where one of them has no session.
    pub left_out: Vec<String>,
    /// Reading "fixed malfunctions": δ with intervals over sessions; it speaks of these malfunctions alone.
    pub fixed_malfunctions: Difference,
    /// Reading "malfunctions as a sample": tests of the δ_k, two-sided; it speaks of malfunctions like these.
    pub malfunctions_as_sample: Vec<AblationTest>,
}

/// The difference on one malfunction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MalfunctionDifference {
    /// Id of the malfunction.
    pub malfunction: String,
    /// δ_k = c_rich,k − c_minimal,k.
    pub difference: f64,
}

/// One two-sided test of the δ_k, paired by malfunction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AblationTest {
    /// Which test.
    pub test: AblationTestName,
    /// The p-value of the pair.
    pub p: Computed<PValue>,
    /// Adjusted by Benjamini–Hochberg over the declared pairs, within this test and scale.
    pub p_adjusted: Computed<f64>,
    /// Reservations about a signed rank test.
    pub flags: Vec<SignedRankFlag>,
}

/// The tests of a pair of dossiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AblationTestName {
    /// All signs of the δ_k, their mean.
    SignFlipMean,
    /// Signed rank, zeros dropped before ranking.
    SignedRankWilcox,
    /// Signed rank, zeros ranked and dropped.
    SignedRankPratt,
}

/// Compares every pair `[rich, minimal]` of `plan.ablation_pairs`: δ_k = c_rich,k − c_minimal,k, δ = mean of δ_k over common
/// malfunctions. `clipped` and `raw` are the stratum's resamples; sign flips take keys from `ablation/{scale}/{rich}/{minimal}`.
///
/// # Errors
/// A plan without pairs.
pub fn ablation(
    stratum: &Stratum,
    plan: &AnalysisPlan,
    clipped: &ResampledCells,
    raw: &ResampledCells,
    seeds: &impl NamedSeeds,
) -> Result<Ablation, NotComputed> {
    if plan.ablation_pairs.is_empty() {
        return Err(NotComputed::because("the plan declares no ablation pair"));
    }
    let mut pairs: Vec<AblationPair> = plan
        .ablation_pairs
        .iter()
        .map(|(rich, minimal)| {
            let on = |scale, resampled| {
                difference(stratum, [rich, minimal], scale, plan, resampled, seeds).into()
            };
            AblationPair {
                rich: rich.clone(),
                minimal: minimal.clone(),
                clipped: on(Scale::Clipped, clipped),
                raw: on(Scale::Raw, raw),
            }
        })
        .collect();
    adjust(&mut pairs, plan.q, |pair| &mut pair.clipped)?;
    adjust(&mut pairs, plan.q, |pair| &mut pair.raw)?;
    Ok(Ablation { q: plan.q, pairs })
}

fn difference(
    stratum: &Stratum,
    [rich, minimal]: [&str; 2],
    scale: Scale,
    plan: &AnalysisPlan,
    resampled: &ResampledCells,
    seeds: &impl NamedSeeds,
) -> Result<DossierDifference, NotComputed> {
    let known = stratum.methods();
    let unknown: Vec<&str> = [rich, minimal]
        .into_iter()
        .filter(|method| !known.contains(method))
        .collect();
    if !unknown.is_empty() {
        return Err(NotComputed::because(format!(
            "no such method in this stratum: {}",
            unknown.join(", ")
        )));
    }
    let fixed_malfunctions = over_common(stratum, rich, minimal, resampled)?;
    let mut malfunctions = Vec::new();
    let mut left_out = Vec::new();
    for malfunction in stratum.malfunctions() {
        let [ours, theirs] = [rich, minimal].map(|method| resampled.scores(malfunction, method));
        if ours.is_empty() || theirs.is_empty() {
            left_out.push(malfunction.to_owned());
        } else {
            malfunctions.push(MalfunctionDifference {
                malfunction: malfunction.to_owned(),
                difference: finite(mean(ours) - mean(theirs))?,
            });
        }
    }
    let deltas: Vec<f64> = malfunctions
        .iter()
        .map(|malfunction| malfunction.difference)
        .collect();
    let key = format!("ablation/{}/{rich}/{minimal}", scale.name());
    let effort = Effort {
        exact_limit: plan.exact_limit_two_sample,
        draws: plan.permutations_two_sample,
    };
    let flips =
        sign_flip(&deltas, effort, &mut generator(seeds, &key)).map(|found| found.two_sided);
    let ranks = |test, rule| match signed_rank(&deltas, rule) {
        Ok(found) => unadjusted(test, Ok(found.two_sided), found.flags),
        Err(reason) => unadjusted(test, Err(reason), Vec::new()),
    };
    Ok(DossierDifference {
        scale,
        malfunctions,
        left_out,
        fixed_malfunctions,
        malfunctions_as_sample: vec![
            unadjusted(AblationTestName::SignFlipMean, flips, Vec::new()),
            ranks(AblationTestName::SignedRankWilcox, ZeroRule::Wilcox),
            ranks(AblationTestName::SignedRankPratt, ZeroRule::Pratt),
        ],
    })
}

fn unadjusted(
    test: AblationTestName,
    p: Result<PValue, NotComputed>,
    flags: Vec<SignedRankFlag>,
) -> AblationTest {
    AblationTest {
        test,
        p: p.into(),
        p_adjusted: Computed::absent("no p-value"),
        flags,
    }
}

/// Adjusts each test over the declared pairs, those without a p-value counted.
fn adjust(
    pairs: &mut [AblationPair],
    q: f64,
    on: impl Fn(&mut AblationPair) -> &mut Computed<DossierDifference>,
) -> Result<(), NotComputed> {
    for index in 0..3 {
        let mut tests: Vec<Option<&mut AblationTest>> = pairs
            .iter_mut()
            .map(|pair| match on(pair) {
                Computed::Value(found) => found.malfunctions_as_sample.get_mut(index),
                Computed::NotComputed(_) => None,
            })
            .collect();
        let p: Vec<Option<f64>> = tests
            .iter()
            .map(|test| test.as_ref()?.p.value().map(|p| p.value))
            .collect();
        let adjusted = benjamini_hochberg(&p, q, Some(p.len()))
            .map_err(|error| NotComputed::because(error.to_string()))?;
        for (test, adjusted) in tests.iter_mut().zip(adjusted) {
            if let (Some(test), Some(adjusted)) = (test, adjusted) {
                test.p_adjusted = Computed::Value(adjusted.value);
            }
        }
    }
    Ok(())
}
