//! Knows the stratified bootstrap: sessions resampled within their cell, and intervals from what comes out.
//! Must not know p-values: none is valid here, and none is offered.
//! Start at `replicates` and `percentile`.

mod correction;
mod resamples;

use serde::{Deserialize, Serialize};

use crate::computed::{Computed, NotComputed};
use crate::estimate::{Interval, IntervalFlag, IntervalMethod};
use crate::moments::select_quantile;

pub use correction::{Correction, jackknife};
pub(crate) use resamples::{Drawn, Resamples, over_malfunctions};
pub use resamples::{replicates, replicates_from};

/// Fewer sessions than this in some cell, and a bootstrap interval is flagged.
pub const ENOUGH_SESSIONS: usize = 10;

/// Above this share of undefined resamples the interval of the others is flagged.
pub(crate) const MANY_UNDEFINED: f64 = 0.05;

/// Why a cell has no interval over sessions.
pub(crate) const ONE_SESSION: &str = "a cell has one session";

/// How the ends of a bootstrap interval are taken from the replicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Quantiles of the replicates.
    Percentile,
    /// Quantiles mirrored at the estimate.
    Basic,
    /// Quantiles corrected for bias and acceleration.
    Bca,
}

/// What is resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Sessions within their cell; the malfunctions are those that were tried.
    Sessions,
    /// Malfunctions with replacement, then sessions within each; the malfunctions are a sample of others.
    Malfunctions,
}

/// How an interval is made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// How the ends are taken.
    pub kind: Kind,
    /// What is resampled.
    pub over: Over,
    /// Nominal coverage, strictly between 0 and 1.
    pub level: f64,
    /// Resamples, at least 1.
    pub resamples: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kind: Kind::Percentile,
            over: Over::Sessions,
            level: 0.95,
            resamples: 50_000,
        }
    }
}

impl Options {
    /// Refuses what no interval can be made with.
    ///
    /// # Errors
    /// A level outside (0, 1), or no resamples.
    pub fn check(&self) -> Result<(), NotComputed> {
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(NotComputed::because(format!(
                "the level {} is not strictly between 0 and 1",
                self.level
            )));
        }
        if self.resamples == 0 {
            return Err(NotComputed::because("no resamples"));
        }
        Ok(())
    }

    /// Makes the interval of an estimate from its replicates (not empty); `left_out` gives the jackknife of `Correction::new`,
    /// and `units` is the smallest number of things that were resampled together.
    ///
    /// # Errors
    /// Numbers beyond the range of floating point.
    pub(crate) fn interval(
        &self,
        estimate: f64,
        replicates: &[f64],
        left_out: impl FnOnce() -> Vec<Vec<f64>>,
        units: usize,
    ) -> Result<Interval, NotComputed> {
        let mut interval = match self.kind {
            Kind::Percentile => percentile(estimate, replicates, self.level),
            Kind::Basic => basic(estimate, replicates, self.level),
            Kind::Bca => bca(estimate, replicates, &left_out(), self.level),
        };
        if units < ENOUGH_SESSIONS {
            interval.flags.push(IntervalFlag::UndercoversBelowTen);
        }
        interval.finite()
    }
}

/// An interval from `replicates` (not empty) between two probabilities, flagged where all of them are equal.
fn between(
    estimate: f64,
    replicates: &[f64],
    level: f64,
    method: IntervalMethod,
    ends: [f64; 2],
) -> Interval {
    let least = replicates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = replicates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most - least <= 1e-12 * estimate.abs().max(1.0) {
        let flags = vec![IntervalFlag::Degenerate];
        return Interval {
            estimate,
            low: estimate,
            high: estimate,
            level,
            method,
            flags,
        };
    }
    let mut values = replicates.to_vec();
    let [low, high] = ends.map(|probability| select_quantile(&mut values, probability));
    Interval {
        estimate,
        low,
        high,
        level,
        method,
        flags: Vec::new(),
    }
}

pub(crate) fn tails(level: f64) -> [f64; 2] {
    [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
}

/// Percentile interval; `replicates` must not be empty.
pub fn percentile(estimate: f64, replicates: &[f64], level: f64) -> Interval {
    between(
        estimate,
        replicates,
        level,
        IntervalMethod::Percentile,
        tails(level),
    )
}

/// Basic interval [2θ̂ − q_hi, 2θ̂ − q_lo]; `replicates` must not be empty.
pub fn basic(estimate: f64, replicates: &[f64], level: f64) -> Interval {
    let percentile = between(
        estimate,
        replicates,
        level,
        IntervalMethod::Basic,
        tails(level),
    );
    let (low, high) = (
        2.0 * estimate - percentile.high,
        2.0 * estimate - percentile.low,
    );
    Interval {
        low,
        high,
        ..percentile
    }
}

/// Bias-corrected and accelerated interval; percentile ends, flagged, where z0 is infinite.
pub fn bca(estimate: f64, replicates: &[f64], left_out: &[Vec<f64>], level: f64) -> Interval {
    let correction = Correction::new(estimate, replicates, left_out);
    if !correction.bias.is_finite() {
        let mut interval = percentile(estimate, replicates, level);
        if interval.flags.is_empty() {
            interval.flags.push(IntervalFlag::PercentileInstead);
        }
        return interval;
    }
    let ends = correction.probabilities(level);
    between(estimate, replicates, level, IntervalMethod::Bca, ends)
}

/// A statistic's percentile interval over cells of these sizes: absent where a cell has one session, flagged below ten.
pub(crate) fn reported(
    estimate: f64,
    replicates: &[f64],
    level: f64,
    sizes: impl IntoIterator<Item = usize>,
) -> Computed<Interval> {
    let smallest = sizes.into_iter().min().unwrap_or(0);
    if smallest < 2 {
        return Computed::absent(ONE_SESSION);
    }
    let options = Options {
        level,
        ..Options::default()
    };
    options
        .interval(estimate, replicates, Vec::new, smallest)
        .into()
}
