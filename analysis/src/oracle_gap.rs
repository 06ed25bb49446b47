//! Knows H2: how far the cheat oracle stays below an optimal repair.
//! Must not know the other hypotheses.
//! Start at `oracle_gap`.

use serde::{Deserialize, Serialize};

use crate::bootstrap;
use crate::computed::{Computed, NotComputed};
use crate::contrast::{ResampledCells, satterthwaite};
use crate::estimate::{Interval, IntervalFlag, PValue};
use crate::lift::Difference;
use crate::moments::mean;
use crate::multiplicity::benjamini_hochberg;
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, generator};
use crate::scale::Scale;
use crate::score_table::Stratum;
use crate::two_sample::{Alternative, Effort, permutation_mean};

/// H2 on both scales; `clipped` leads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct H2 {
    /// On the clipped scale: the verdict of the whole.
    pub clipped: Computed<OracleGap>,
    /// On the raw scale, winsorised.
    pub raw: Computed<OracleGap>,
}

/// The gap between optimal repair and cheat oracle on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OracleGap {
    /// The scale of every number here.
    pub scale: Scale,
    /// δ: the margin of the verdict.
    pub margin: f64,
    /// Whether the constant 1 stands in for a missing `optimal-repair` arm.
    pub optimal_repair_assumed: bool,
    /// D: mean of D_k over the malfunctions, with bootstrap and Welch intervals.
    pub gap: Difference,
    /// R = Σ mean(oracle)/Σ mean(optimal).
    pub recovered_ratio: Computed<Interval>,
    /// From the interval of D against δ.
    pub verdict: GapVerdict,
    /// One entry per malfunction with both arms.
    pub malfunctions: Vec<MalfunctionGap>,
    /// Malfunctions of the stratum left out, because an arm has no session.
    pub left_out: Vec<String>,
}

/// The gap on one malfunction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MalfunctionGap {
    /// Id of the malfunction.
    pub malfunction: String,
    /// Mean of optimal repair (1 where assumed).
    pub optimal_mean: f64,
    /// Mean of the cheat oracle.
    pub oracle_mean: f64,
    /// D_k with bootstrap and Welch intervals.
    pub gap: Difference,
    /// Two-sample permutation, alternative optimal > oracle; descriptive.
    pub p: Computed<PValue>,
    /// `p` adjusted by Benjamini–Hochberg over the malfunctions.
    pub p_adjusted: Computed<f64>,
    /// From the interval of D_k against δ.
    pub verdict: GapVerdict,
}

/// The words for a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapVerdict {
    /// The interval lies below the margin.
    AtCeiling,
    /// The interval lies above the margin.
    Gap,
    /// The interval holds the margin.
    Undecided,
}

/// Computes H2 on both scales; `clipped` and `raw` are the stratum's resamples on those scales.
/// The permutation tests take their keys from `h2/{scale}/{malfunction}`.
pub fn h2(
    stratum: &Stratum,
    plan: &AnalysisPlan,
    clipped: &ResampledCells,
    raw: &ResampledCells,
    seeds: &(impl NamedSeeds + Sync),
) -> H2 {
    H2 {
        clipped: oracle_gap(stratum, Scale::Clipped, plan, clipped, seeds).into(),
        raw: oracle_gap(stratum, Scale::Raw, plan, raw, seeds).into(),
    }
}

/// Computes the gap on one scale, whose resamples are given.
///
/// # Errors
/// No malfunction with sessions of the cheat oracle (and of optimal repair, if that arm is planned).
pub fn oracle_gap(
    stratum: &Stratum,
    scale: Scale,
    plan: &AnalysisPlan,
    resampled: &ResampledCells,
    seeds: &(impl NamedSeeds + Sync),
) -> Result<OracleGap, NotComputed> {
    let arms = Arms {
        optimal: stratum.roles().optimal_repair.as_str(),
        oracle: stratum.roles().cheat_oracle.as_str(),
        assumed: !stratum
            .methods()
            .contains(&stratum.roles().optimal_repair.as_str()),
        resampled,
        level: plan.confidence,
    };
    let (used, left_out): (Vec<&str>, Vec<&str>) = stratum
        .malfunctions()
        .into_iter()
        .partition(|malfunction| arms.both(malfunction));
    if used.is_empty() {
        return Err(NotComputed::because(if arms.assumed {
            format!("no session of {}", arms.oracle)
        } else {
            format!(
                "no malfunction with sessions of both {} and {}",
                arms.oracle, arms.optimal
            )
        }));
    }
    let margin = plan.oracle_gap_margin;
    let gap = arms.gap(stratum, &used)?;
    let mut malfunctions = Vec::with_capacity(used.len());
    for malfunction in &used {
        let gap = arms.gap(stratum, &[malfunction])?;
        malfunctions.push(MalfunctionGap {
            malfunction: (*malfunction).to_owned(),
            optimal_mean: arms.optimal_mean(malfunction),
            oracle_mean: mean(resampled.scores(malfunction, arms.oracle)),
            verdict: GapVerdict::of(&gap, margin),
            gap,
            p: arms.permutation(malfunction, scale, plan, seeds),
            p_adjusted: Computed::absent("no p-value"),
        });
    }
    adjust(&mut malfunctions, plan.q)?;
    Ok(OracleGap {
        scale,
        margin,
        optimal_repair_assumed: arms.assumed,
        verdict: GapVerdict::of(&gap, margin),
        gap,
        recovered_ratio: arms.ratio(&used).into(),
        malfunctions,
        left_out: left_out.into_iter().map(str::to_owned).collect(),
    })
}

fn adjust(malfunctions: &mut [MalfunctionGap], q: f64) -> Result<(), NotComputed> {
    let p: Vec<Option<f64>> = malfunctions
        .iter()
        .map(|gap| gap.p.value().map(|p| p.value))
        .collect();
    let adjusted =
        benjamini_hochberg(&p, q, None).map_err(|error| NotComputed::because(error.to_string()))?;
    for (gap, adjusted) in malfunctions.iter_mut().zip(adjusted) {
        if let Some(adjusted) = adjusted {
            gap.p_adjusted = Computed::Value(adjusted.value);
        }
    }
    Ok(())
}

impl GapVerdict {
    /// Reads the verdict from the bootstrap interval; without one it is undecided.
    fn of(gap: &Difference, margin: f64) -> Self {
        match gap.percentile.value() {
            Some(interval) if interval.lies_below(margin) => Self::AtCeiling,
            Some(interval) if interval.lies_above(margin) => Self::Gap,
            _ => Self::Undecided,
        }
    }
}

/// The two arms of H2 on one scale.
struct Arms<'a> {
    optimal: &'a str,
    oracle: &'a str,
    /// The constant 1 stands in for optimal repair.
    assumed: bool,
    resampled: &'a ResampledCells,
    level: f64,
}

impl Arms<'_> {
    fn both(&self, malfunction: &str) -> bool {
        let has = |method: &str| !self.resampled.scores(malfunction, method).is_empty();
        has(self.oracle) && (self.assumed || has(self.optimal))
    }

    fn optimal_mean(&self, malfunction: &str) -> f64 {
        if self.assumed {
            1.0
        } else {
            mean(self.resampled.scores(malfunction, self.optimal))
        }
    }

    /// Mean of D_k over some malfunctions.
    fn gap(&self, stratum: &Stratum, malfunctions: &[&str]) -> Result<Difference, NotComputed> {
        let weight = 1.0 / malfunctions.len() as f64;
        let mut terms = Vec::with_capacity(2 * malfunctions.len());
        for malfunction in malfunctions {
            if !self.assumed {
                terms.push((weight, *malfunction, self.optimal));
            }
            terms.push((-weight, *malfunction, self.oracle));
        }
        let mut gap = self.resampled.contrast(&terms, malfunctions.len() as u64)?;
        if self.assumed {
            self.add_one(&mut gap, stratum, malfunctions);
        }
        Ok(gap)
    }

    /// Turns −mean(oracle) into 1 − mean(oracle), and adds the error of the references, where known, to the Welch interval.
    fn add_one(&self, gap: &mut Difference, stratum: &Stratum, malfunctions: &[&str]) {
        let weight = 1.0 / malfunctions.len() as f64;
        gap.estimate += 1.0;
        if let Computed::Value(interval) = &mut gap.percentile {
            interval.estimate += 1.0;
            interval.low += 1.0;
            interval.high += 1.0;
            interval.flags.push(IntervalFlag::OptimalRepairAssumedOne);
        }
        let mut samples = Vec::with_capacity(malfunctions.len());
        let mut extra = 0.0;
        let mut known = true;
        for malfunction in malfunctions {
            let sample = self.resampled.scores(malfunction, self.oracle);
            samples.push((-weight, sample));
            match stratum.reference(malfunction) {
                Some(reference) => extra += (weight * reference.at(mean(sample))).powi(2),
                None => known = false,
            }
        }
        gap.welch = satterthwaite(gap.estimate, &samples, extra, self.level).map(|mut interval| {
            interval.flags.push(IntervalFlag::OptimalRepairAssumedOne);
            interval.flags.push(if known {
                IntervalFlag::ReferenceErrorIncluded
            } else {
                IntervalFlag::ReferenceErrorUnknown
            });
            interval
        });
    }

    /// R = Σ_k mean(oracle)/Σ_k mean(optimal), only where the interval of the denominator lies above 0.
    fn ratio(&self, malfunctions: &[&str]) -> Result<Interval, NotComputed> {
        let sum = |method: &str| {
            let terms: Vec<_> = malfunctions
                .iter()
                .map(|malfunction| (1.0, *malfunction, method))
                .collect();
            self.resampled.contrast(&terms, malfunctions.len() as u64)
        };
        let resampled_sum = |method: &str, index: usize| -> f64 {
            malfunctions
                .iter()
                .map(|malfunction| self.resampled.means(malfunction, method)[index])
                .sum()
        };
        let oracle = sum(self.oracle)?;
        oracle.percentile.as_result()?;
        let count = malfunctions.len() as f64;
        let denominator = if self.assumed {
            count
        } else {
            let optimal = sum(self.optimal)?;
            if !optimal.percentile.as_result()?.lies_above(0.0) {
                return Err(NotComputed::because(
                    "the interval of the denominator is not above 0",
                ));
            }
            optimal.estimate
        };
        let resamples = self.resampled.means(malfunctions[0], self.oracle).len();
        let replicates: Vec<f64> = (0..resamples)
            .map(|index| {
                let bottom = if self.assumed {
                    count
                } else {
                    resampled_sum(self.optimal, index)
                };
                resampled_sum(self.oracle, index) / bottom
            })
            // A denominator of 0 is rarer than the interval's ends, but must not leave an infinity.
            .filter(|ratio| ratio.is_finite())
            .collect();
        if replicates.is_empty() {
            return Err(NotComputed::because(
                "every resample has a denominator of 0",
            ));
        }
        let sizes = malfunctions.iter().flat_map(|malfunction| {
            let optimal = (!self.assumed).then_some(self.optimal);
            [Some(self.oracle), optimal]
                .into_iter()
                .flatten()
                .map(|method| self.resampled.scores(malfunction, method).len())
        });
        let ratio = oracle.estimate / denominator;
        let mut interval = bootstrap::reported(ratio, &replicates, self.level, sizes);
        if let (true, Computed::Value(interval)) = (self.assumed, &mut interval) {
            interval.flags.push(IntervalFlag::OptimalRepairAssumedOne);
        }
        interval.as_result().cloned()
    }

    fn permutation(
        &self,
        malfunction: &str,
        scale: Scale,
        plan: &AnalysisPlan,
        seeds: &impl NamedSeeds,
    ) -> Computed<PValue> {
        if self.assumed {
            return Computed::absent("no arm of optimal repair");
        }
        let mut rng = generator(seeds, &format!("h2/{}/{malfunction}", scale.name()));
        let effort = Effort {
            exact_limit: plan.exact_limit_two_sample,
            draws: plan.permutations_two_sample,
        };
        permutation_mean(
            self.resampled.scores(malfunction, self.optimal),
            self.resampled.scores(malfunction, self.oracle),
            Alternative::Greater,
            effort,
            &mut rng,
        )
        .into()
    }
}
