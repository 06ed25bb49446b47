//! Knows how large an interaction is, as a share of variance, with two kinds of interval.
//! Must not know any test: no p-value follows from these intervals.
//! Start at `effect_size` and `adjusted_interval`.

use rand_core::RngCore;
use serde::{Deserialize, Serialize};

use crate::computed::{Computed, NotComputed};
use crate::estimate::{Interval, IntervalFlag, IntervalMethod};
use crate::interaction::{Matrix, Observed, cell_sums, scaled_residuals};
use crate::moments::select_quantile;
use crate::noncentral_f::noncentrality;
use crate::plan::AnalysisPlan;
use crate::randomness::{BoundedDraws, Streams};

/// How large the interaction is; shares of variance, unit-free.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectSize {
    /// ω²_p = (SS_I − df_I·MSE)/(SS_I + (n − df_I)·MSE), not truncated at 0 (Olejnik and Algina 2003).
    pub partial_omega_squared: f64,
    /// ω² = (SS_I − df_I·MSE)/(SS_T + MSE), not truncated at 0 (Hays, Statistics).
    pub omega_squared: f64,
    /// η² = SS_I/SS_T; descriptive, because it is biased.
    pub eta_squared: f64,
    /// η²_p = SS_I/(SS_I + SSE); descriptive, because it is biased.
    pub partial_eta_squared: f64,
    /// Interval of ω²_p by the adjusted stratified bootstrap; conservative. The headline.
    pub bootstrap: Computed<Interval>,
    /// Interval of ω²_p from the noncentral F distribution; assumes normal residuals of equal variance.
    pub noncentral_f: Computed<Interval>,
}

/// Computes sizes and intervals, with the resamples and the confidence of the plan.
///
/// # Errors
/// No error term.
pub(crate) fn effect_size(
    observed: &Observed,
    plan: &AnalysisPlan,
    streams: &Streams,
) -> Result<EffectSize, NotComputed> {
    let Observed {
        design,
        sums,
        sse,
        total,
        ..
    } = observed;
    let mse = design.mse(*sse)?;
    let surplus = sums.interaction - design.df_interaction as f64 * mse;
    Ok(EffectSize {
        partial_omega_squared: partial_omega_squared(observed, sums.interaction, *sse, 1.0),
        omega_squared: surplus / (total + mse),
        eta_squared: sums.interaction / total,
        partial_eta_squared: sums.interaction / (sums.interaction + sse),
        bootstrap: bootstrap(observed, plan.resamples, plan.confidence, streams).into(),
        noncentral_f: noncentral(observed, plan.confidence).into(),
    })
}

/// Computes the adjusted stratified bootstrap interval of ω²_p alone, from so many resamples. Draws one key.
///
/// Y* = c_mk + sqrt(N_mk/(N_mk − 1))·(Y_resampled − c_mk) restores the variance that resampling takes from small cells;
/// ω²_p* = (SS_I* − 2·df_I·MSE*)/(SS_I* + (n − 2·df_I)·MSE*) takes the noise off twice: that of the scores, which is part of
/// the cell means, and that of resampling. Percentile ends, truncated below at 0.
///
/// # Errors
/// A matrix without interaction or without error term, or a cell of one session.
pub fn adjusted_interval(
    matrix: &Matrix,
    resamples: u64,
    level: f64,
    rng: &mut impl RngCore,
) -> Result<Interval, NotComputed> {
    let streams = Streams::draw(rng);
    bootstrap(&Observed::new(matrix)?, resamples, level, &streams)
}

/// Computes the noncentral F interval of ω²_p alone: each end is λ/(λ + n), where λ ≥ 0 solves P(F'(df_I, df_E, λ) ≤ F_I) =
/// (1 ± level)/2 (Steiger 2004).
///
/// # Errors
/// A matrix without interaction or without error term.
pub fn noncentral_f_interval(matrix: &Matrix, level: f64) -> Result<Interval, NotComputed> {
    noncentral(&Observed::new(matrix)?, level)
}

/// (SS_I − t·df_I·MSE)/(SS_I + (n − t·df_I)·MSE), with t = 1 for an estimate and t = 2 for a resample of it.
fn partial_omega_squared(observed: &Observed, interaction: f64, sse: f64, times: f64) -> f64 {
    let design = &observed.design;
    let mse = sse / design.df_error as f64;
    let sessions: usize = design.group_sizes.iter().sum();
    let noise = times * design.df_interaction as f64;
    let denominator = interaction + (sessions as f64 - noise) * mse;
    if denominator > 0.0 {
        (interaction - noise * mse) / denominator
    } else {
        0.0
    }
}

fn bootstrap(
    observed: &Observed,
    resamples: u64,
    level: f64,
    streams: &Streams,
) -> Result<Interval, NotComputed> {
    let design = &observed.design;
    design.mse(observed.sse)?;
    if design.sizes.contains(&1) {
        return Err(NotComputed::because("a cell has one session"));
    }
    let centres = cell_sums(&observed.centred);
    let residuals: Vec<f64> = scaled_residuals(&observed.centred).scores().collect();
    let draws = BoundedDraws::of_cells(&design.sizes);
    let resamples = usize::try_from(resamples).expect("resamples fit into memory");
    let scratch = || {
        (
            vec![0; draws.len()],
            vec![0.0; centres.len()],
            vec![0.0; design.methods],
        )
    };
    let replicates = streams.replicates(resamples, scratch, |(drawn, sums, by_method), rng| {
        draws.fill(rng, drawn);
        let (mut first, mut sse) = (0, 0.0);
        for ((slot, centre), size) in sums.iter_mut().zip(&centres).zip(&design.sizes) {
            let cell = first..first + size;
            let own = &residuals[cell.clone()];
            let (mut sum, mut squares) = (0.0, 0.0);
            for draw in &drawn[cell] {
                let residual = own[*draw as usize];
                sum += residual;
                squares += residual * residual;
            }
            if *size > 0 {
                sse += (squares - sum * sum / *size as f64).max(0.0);
            }
            *slot = centre + sum;
            first += size;
        }
        let interaction = design.sums(sums, by_method).interaction;
        partial_omega_squared(observed, interaction, sse, 2.0)
    });
    let estimate = partial_omega_squared(observed, observed.sums.interaction, observed.sse, 1.0);
    interval(estimate, replicates, level)
}

/// Percentile ends, truncated below at 0.
fn interval(estimate: f64, mut replicates: Vec<f64>, level: f64) -> Result<Interval, NotComputed> {
    let least = replicates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = replicates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if replicates.is_empty() {
        return Err(NotComputed::because("no resamples"));
    }
    let [low, high] = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        .map(|probability| select_quantile(&mut replicates, probability).max(0.0));
    Ok(Interval {
        estimate,
        low,
        high,
        level,
        method: IntervalMethod::AdjustedPercentile,
        flags: if most > least {
            Vec::new()
        } else {
            vec![IntervalFlag::Degenerate]
        },
    })
}

fn noncentral(observed: &Observed, level: f64) -> Result<Interval, NotComputed> {
    let Observed {
        design, sums, sse, ..
    } = observed;
    let f = design.f(sums.interaction, *sse)?;
    let sessions: usize = design.group_sizes.iter().sum();
    let (numerator, denominator) = (design.df_interaction as f64, design.df_error as f64);
    let end = |probability: f64| {
        let noncentrality = noncentrality(f, numerator, denominator, probability);
        noncentrality / (noncentrality + sessions as f64)
    };
    Ok(Interval {
        estimate: partial_omega_squared(observed, sums.interaction, *sse, 1.0),
        low: end((1.0 + level) / 2.0),
        high: end((1.0 - level) / 2.0),
        level,
        method: IntervalMethod::NoncentralF,
        flags: Vec::new(),
    })
}
