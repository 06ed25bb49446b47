//! Knows Cohen's kappa of a table of two raters' verdicts, with its normal-theory standard errors.
//! Must not know which verdicts the categories stand for.
//! Start at `kappa`, or at `agreement` for single verdicts.

mod agreement;

use serde::{Deserialize, Serialize};

use crate::computed::{Computed, NotComputed};
use crate::estimate::{Interval, IntervalFlag, IntervalMethod};
use crate::moments::normal_quantile;

pub use agreement::{Agreement, agreement};

/// Fewer verdicts than this, and kappa is flagged.
pub const ENOUGH_VERDICTS: u64 = 60;

/// How much a disagreement between categories i and j counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weights {
    /// 1 wherever i ≠ j.
    Unweighted,
    /// |i − j|.
    Linear,
    /// (i − j)².
    Quadratic,
}

impl Weights {
    /// w_ij.
    pub fn of(self, first: usize, second: usize) -> f64 {
        let steps = first.abs_diff(second) as f64;
        match self {
            Self::Unweighted => steps.min(1.0),
            Self::Linear => steps,
            Self::Quadratic => steps * steps,
        }
    }
}

/// Agreement beyond chance of two raters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kappa {
    /// How disagreements count.
    pub weights: Weights,
    /// n: verdicts that both raters gave.
    pub verdicts: u64,
    /// Σa·o: weighted share of agreement, 1 where all verdicts agree.
    pub observed_agreement: f64,
    /// p_e = Σa·e: the share expected of independent raters with these margins.
    pub chance_agreement: f64,
    /// κ.
    pub kappa: f64,
    /// SE of κ; absent where one rater gave one category throughout.
    pub standard_error: Computed<f64>,
    /// SE_0: its standard error if the raters were independent.
    pub null_standard_error: Computed<f64>,
    /// The largest unweighted κ that these margins allow.
    pub kappa_max: Computed<f64>,
    /// κ ± z·SE, not limited to [−1, 1].
    pub normal: Computed<Interval>,
    /// What a reader must know before trusting κ.
    pub flags: Vec<IntervalFlag>,
}

/// Computes κ = 1 − Σw·o/Σw·e of a table (`table[i][j]`: verdicts i of the first rater with j of the second), with the
/// large-sample standard errors of Fleiss, Cohen and Everitt (1969): with a = 1 − w/max w, A_i = Σ_j a_ij o_.j and
/// B_j = Σ_i a_ij o_i., SE² = [Σo(a − (A_i + B_j)(1 − κ))² − (κ − p_e(1 − κ))²]/(n(1 − p_e)²) and
/// SE_0² = [Σe(a − A_i − B_j)² − p_e²]/(n(1 − p_e)²). `level` is that of the normal interval.
///
/// # Errors
/// A table that is not square, no verdict, both raters with one and the same category throughout, or a level outside (0, 1).
pub fn kappa(table: &[Vec<u64>], weights: Weights, level: f64) -> Result<Kappa, NotComputed> {
    if !(level > 0.0 && level < 1.0) {
        return Err(NotComputed::because(format!(
            "the level {level} is not strictly between 0 and 1"
        )));
    }
    let shares = Shares::new(table)?;
    let (observed, expected) = shares.disagreements(weights);
    if expected <= 0.0 {
        return Err(NotComputed::because(
            "both raters gave one and the same category throughout",
        ));
    }
    let constant = shares.constant_rater();
    let kappa = if constant {
        0.0
    } else {
        1.0 - observed / expected
    };
    let largest = weights.of(0, table.len() - 1);
    let [standard_error, null_standard_error] = shares.standard_errors(weights, kappa);
    let standard_errors = [standard_error, null_standard_error].map(|error| {
        if constant {
            Computed::absent("one rater gave one category throughout")
        } else {
            Computed::Value(error)
        }
    });
    let flags = if shares.verdicts < ENOUGH_VERDICTS {
        vec![IntervalFlag::TooFewToInform]
    } else {
        Vec::new()
    };
    let [standard_error, null_standard_error] = standard_errors;
    Ok(Kappa {
        weights,
        verdicts: shares.verdicts,
        observed_agreement: 1.0 - observed / largest,
        chance_agreement: 1.0 - expected / largest,
        kappa,
        normal: standard_error
            .clone()
            .map(|error| normal(kappa, error, level, &flags)),
        standard_error,
        null_standard_error,
        kappa_max: shares.kappa_max(),
        flags,
    })
}

fn normal(kappa: f64, error: f64, level: f64, flags: &[IntervalFlag]) -> Interval {
    let half = normal_quantile((1.0 + level) / 2.0) * error;
    let still = (error <= 1e-12).then_some(IntervalFlag::NoVariation);
    Interval {
        estimate: kappa,
        low: kappa - half,
        high: kappa + half,
        level,
        method: IntervalMethod::Normal,
        flags: flags.iter().copied().chain(still).collect(),
    }
}

/// A table as proportions, with its margins.
struct Shares {
    verdicts: u64,
    /// o_ij.
    table: Vec<Vec<f64>>,
    /// o_i., of the first rater.
    rows: Vec<f64>,
    /// o_.j, of the second rater.
    columns: Vec<f64>,
}

impl Shares {
    fn new(table: &[Vec<u64>]) -> Result<Self, NotComputed> {
        if let Some(row) = table.iter().find(|row| row.len() != table.len()) {
            return Err(NotComputed::because(format!(
                "the table is not square: {} rows, and one of {} columns",
                table.len(),
                row.len()
            )));
        }
        let verdicts = table
            .iter()
            .flatten()
            .try_fold(0_u64, |sum, count| sum.checked_add(*count))
            .ok_or_else(|| NotComputed::because("more verdicts than can be counted"))?;
        if verdicts == 0 {
            return Err(NotComputed::because("no verdict"));
        }
        let n = verdicts as f64;
        let table: Vec<Vec<f64>> = table
            .iter()
            .map(|row| row.iter().map(|count| *count as f64 / n).collect())
            .collect();
        let rows = table.iter().map(|row| row.iter().sum()).collect();
        let columns = (0..table.len())
            .map(|column| table.iter().map(|row| row[column]).sum())
            .collect();
        Ok(Self {
            verdicts,
            table,
            rows,
            columns,
        })
    }

    /// Σw·o and Σw·e.
    fn disagreements(&self, weights: Weights) -> (f64, f64) {
        let (mut observed, mut expected) = (0.0, 0.0);
        for (i, row) in self.table.iter().enumerate() {
            for (j, share) in row.iter().enumerate() {
                observed += weights.of(i, j) * share;
                expected += weights.of(i, j) * self.rows[i] * self.columns[j];
            }
        }
        (observed, expected)
    }

    /// Whether some rater gave one category throughout.
    fn constant_rater(&self) -> bool {
        [&self.rows, &self.columns]
            .into_iter()
            .any(|margin| margin.iter().filter(|share| **share > 0.0).count() == 1)
    }

    /// SE and SE_0. Both numerators are variances (the terms subtracted are squared means), and are summed as such, so
    /// that perfect agreement gives exactly 0.
    fn standard_errors(&self, weights: Weights, kappa: f64) -> [f64; 2] {
        let size = self.table.len();
        let largest = weights.of(0, size - 1);
        let agreement = |i: usize, j: usize| 1.0 - weights.of(i, j) / largest;
        let of_row: Vec<f64> = (0..size)
            .map(|i| (0..size).map(|j| agreement(i, j) * self.columns[j]).sum())
            .collect();
        let of_column: Vec<f64> = (0..size)
            .map(|j| (0..size).map(|i| agreement(i, j) * self.rows[i]).sum())
            .collect();
        let chance: f64 = of_row
            .iter()
            .zip(&self.rows)
            .map(|(own, share)| own * share)
            .sum();
        let centre = kappa - chance * (1.0 - kappa);
        let (mut variance, mut null_variance) = (0.0, 0.0);
        for (i, (shares, of_row)) in self.table.iter().zip(&of_row).enumerate() {
            for (j, (share, of_column)) in shares.iter().zip(&of_column).enumerate() {
                let (own, margins) = (agreement(i, j), of_row + of_column);
                variance += share * (own - margins * (1.0 - kappa) - centre).powi(2);
                null_variance += self.rows[i] * self.columns[j] * (own - margins + chance).powi(2);
            }
        }
        [variance, null_variance]
            .map(|variance| (variance / self.verdicts as f64).sqrt() / (1.0 - chance))
    }

    /// (Σmin(o_i., o_.i) − Σo_i.o_.i)/(1 − Σo_i.o_.i).
    fn kappa_max(&self) -> Computed<f64> {
        let pairs = || self.rows.iter().zip(&self.columns);
        let best: f64 = pairs().map(|(row, column)| row.min(*column)).sum();
        let chance: f64 = pairs().map(|(row, column)| row * column).sum();
        if self.constant_rater() {
            return Computed::Value(0.0);
        }
        Computed::Value((best - chance) / (1.0 - chance))
    }
}
