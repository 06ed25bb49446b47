//! Knows how an estimate with its interval and a p-value are written down.
//! Must not know how either is obtained.
//! Start at `Interval` and `PValue`.

use serde::{Deserialize, Serialize};

use crate::computed::{Computed, NotComputed, finite};

/// An estimate with a two-sided interval, in the unit of the estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The point estimate.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Nominal coverage, such as 0.95.
    pub level: f64,
    /// How the ends were obtained.
    pub method: IntervalMethod,
    /// What a reader must know before trusting the ends.
    pub flags: Vec<IntervalFlag>,
}

impl Interval {
    /// Passes an interval on whose numbers are all finite.
    ///
    /// # Errors
    /// An estimate or an end that floating point cannot hold.
    pub fn finite(self) -> Result<Self, NotComputed> {
        for number in [self.estimate, self.low, self.high] {
            finite(number)?;
        }
        Ok(self)
    }

    /// Says whether the whole interval lies above a value.
    pub fn lies_above(&self, value: f64) -> bool {
        self.low > value
    }

    /// Says whether the whole interval lies below a value.
    pub fn lies_below(&self, value: f64) -> bool {
        self.high < value
    }
}

/// An estimate that exists whether or not an interval can be given for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimated {
    /// The estimate.
    pub estimate: f64,
    /// Its interval.
    pub interval: Computed<Interval>,
}

/// How the ends of an interval were obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Stratified bootstrap, percentile ends.
    Percentile,
    /// Stratified bootstrap, ends mirrored at the estimate.
    Basic,
    /// Stratified bootstrap, bias corrected and accelerated.
    Bca,
    /// Student t of one cell.
    StudentT,
    /// Normal theory with unequal variances, Satterthwaite degrees of freedom.
    Welch,
    /// Stratified bootstrap with scaled residuals and the bias taken off twice, percentile ends, truncated below at 0.
    AdjustedPercentile,
    /// Noncentrality parameters of the F distribution, turned into shares of variance.
    NoncentralF,
    /// Normal theory: estimate ± z times its standard error.
    Normal,
}

/// A reservation about an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalFlag {
    /// Every resample gave the same value.
    Degenerate,
    /// A bootstrap interval over fewer than ten sessions in some cell covers too little.
    UndercoversBelowTen,
    /// The bias correction was infinite, so that percentile ends stand in.
    PercentileInstead,
    /// No `optimal-repair` arm: the constant 1 stands in.
    OptimalRepairAssumedOne,
    /// The error of the references is included.
    ReferenceErrorIncluded,
    /// The error of the references is not known and not included.
    ReferenceErrorUnknown,
    /// No variation in any arm: a normal-theory interval has width 0.
    NoVariation,
    /// Fewer verdicts than an agreement can be judged from.
    TooFewToInform,
    /// More than 5 % of the resamples had no defined value and were dropped.
    ManyUndefinedResamples,
}

/// A p-value, with the integers behind it where there are any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PValue {
    /// In (0, 1].
    pub value: f64,
    /// Whether all arrangements were counted (identity included).
    pub exact: bool,
    /// Arrangements (exact) or draws (Monte Carlo) at least as extreme as observed; null for a distribution function.
    pub count: Option<u64>,
    /// All arrangements (exact), or the number of draws B (Monte Carlo); null for a distribution function.
    pub total: Option<u64>,
    /// sqrt(p(1 − p)/(B + 1)) for Monte Carlo; null otherwise.
    pub monte_carlo_error: Option<f64>,
}

impl PValue {
    /// The share of arrangements, the identity being one of them.
    pub fn exact(count: u64, total: u64) -> Self {
        Self {
            value: count as f64 / total as f64,
            exact: true,
            count: Some(count),
            total: Some(total),
            monte_carlo_error: None,
        }
    }

    /// (1 + count)/(draws + 1), never 0.
    pub fn monte_carlo(count: u64, draws: u64) -> Self {
        let value = (count + 1) as f64 / (draws + 1) as f64;
        Self {
            value,
            exact: false,
            count: Some(count),
            total: Some(draws),
            monte_carlo_error: Some((value * (1.0 - value) / (draws + 1) as f64).sqrt()),
        }
    }

    /// The two-sided p-value min(1, 2·min(less, greater)) of two one-sided ones from the same arrangements. Its count is
    /// twice the smaller count where enumerated; where drawn it is the smaller count, and the error is doubled.
    pub fn two_sided(less: &Self, greater: &Self) -> Self {
        let smaller = if less.value <= greater.value {
            less
        } else {
            greater
        };
        let doubled = |count: u64| smaller.total.map_or(count, |total| total.min(2 * count));
        Self {
            value: (2.0 * smaller.value).min(1.0),
            count: if smaller.exact {
                smaller.count.map(doubled)
            } else {
                smaller.count
            },
            monte_carlo_error: smaller.monte_carlo_error.map(|error| 2.0 * error),
            ..smaller.clone()
        }
    }

    /// A value of a distribution function, kept above 0.
    pub fn from_distribution(value: f64) -> Self {
        Self {
            value: value.clamp(f64::MIN_POSITIVE, 1.0),
            exact: false,
            count: None,
            total: None,
            monte_carlo_error: None,
        }
    }
}
