//! Knows the summary of one cell (malfunction × method): mean, spread and intervals on both scales.
//! Must not know other cells.
//! Start at `summarise`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bootstrap::{self, ONE_SESSION};
use crate::computed::{Computed, NotComputed, finite};
use crate::contrast::ResampledCells;
use crate::estimate::{Interval, IntervalFlag, IntervalMethod};
use crate::moments::{mean, t_quantile, variance};
use crate::plan::AnalysisPlan;
use crate::score_table::{Outcome, Role, Stratum};

/// One planned cell of a stratum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellFinding {
    /// Id of the malfunction.
    pub malfunction: String,
    /// Id of its environment.
    pub environment: String,
    /// Id of the method.
    pub method: String,
    /// The role of the method.
    pub role: Role,
    /// Sessions planned.
    pub planned: u64,
    /// Sessions with a score.
    pub sessions: u64,
    /// Sessions per outcome; outcomes that did not occur are absent.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// The clipped score.
    pub clipped: Computed<CellScores>,
    /// The raw score, winsorised.
    pub raw: Computed<CellScores>,
}

/// The scores of one cell on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellScores {
    /// Mean over sessions.
    pub mean: f64,
    /// Standard deviation over sessions, with N − 1.
    pub standard_deviation: Computed<f64>,
    /// Bootstrap percentile interval of the mean.
    pub percentile: Computed<Interval>,
    /// Student t interval of the mean.
    pub student_t: Computed<Interval>,
    /// SE_ref at the mean: the error of the references, shared by every method of the malfunction.
    pub reference_error: Computed<f64>,
}

/// Summarises every planned cell of a stratum; `clipped` and `raw` are its resamples on those scales.
pub fn summarise(
    stratum: &Stratum,
    plan: &AnalysisPlan,
    clipped: &ResampledCells,
    raw: &ResampledCells,
) -> Vec<CellFinding> {
    stratum
        .cells()
        .map(|(malfunction, method, cell)| {
            let mut outcomes = BTreeMap::new();
            for row in &cell.rows {
                *outcomes.entry(row.outcome).or_insert(0) += 1;
            }
            let scores = |resampled: &ResampledCells| {
                scores(stratum, malfunction, method, plan.confidence, resampled)
            };
            CellFinding {
                malfunction: malfunction.to_owned(),
                environment: cell.environment.clone(),
                method: method.to_owned(),
                role: stratum.roles().of(method),
                planned: cell.planned,
                sessions: cell.rows.len() as u64,
                outcomes,
                clipped: scores(clipped).into(),
                raw: scores(raw).into(),
            }
        })
        .collect()
}

fn scores(
    stratum: &Stratum,
    malfunction: &str,
    method: &str,
    level: f64,
    resampled: &ResampledCells,
) -> Result<CellScores, NotComputed> {
    let sample = resampled.scores(malfunction, method);
    if sample.is_empty() {
        return Err(NotComputed::because("no session"));
    }
    let centre = finite(mean(sample))?;
    let standard_deviation = if sample.len() < 2 {
        Computed::absent("one session")
    } else {
        finite(variance(sample).sqrt()).into()
    };
    let means = resampled.means(malfunction, method);
    Ok(CellScores {
        mean: centre,
        standard_deviation,
        percentile: bootstrap::reported(centre, means, level, [sample.len()]),
        student_t: student_t(sample, level).into(),
        reference_error: match stratum.reference(malfunction) {
            Some(reference) => Computed::Value(reference.at(centre)),
            None => Computed::absent("the errors of the references are not known"),
        },
    })
}

/// Student t interval of a mean: c ± t(N − 1)·s/√N.
///
/// # Errors
/// Fewer than two scores, or scores too large for floating point.
pub fn student_t(sample: &[f64], level: f64) -> Result<Interval, NotComputed> {
    if sample.len() < 2 {
        return Err(NotComputed::because(ONE_SESSION));
    }
    let n = sample.len() as f64;
    let estimate = mean(sample);
    let spread = variance(sample);
    let half = t_quantile((1.0 + level) / 2.0, n - 1.0) * (spread / n).sqrt();
    let flags = if spread <= 1e-24 {
        vec![IntervalFlag::NoVariation]
    } else {
        Vec::new()
    };
    Interval {
        estimate,
        low: estimate - half,
        high: estimate + half,
        level,
        method: IntervalMethod::StudentT,
        flags,
    }
    .finite()
}
