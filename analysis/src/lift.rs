//! Knows lift: the difference of a method from the no-method baseline, and of methods from each other.
//! Must not know hypothesis tests.
//! Start at `lifts`.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::computed::{Computed, NotComputed};
use crate::contrast::ResampledCells;
use crate::estimate::Interval;
use crate::scale::Scale;
use crate::score_table::{Role, Stratum};

/// Lifts of a stratum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lifts {
    /// One entry per (method, scale), methods sorted; scales `clipped`, `raw`. The baseline itself has none.
    pub methods: Vec<MethodLift>,
    /// c_m. − c_m'. on common malfunctions for each unordered pair of explanation methods, and each method against `placebo`.
    pub comparisons: Vec<MethodComparison>,
}

impl Lifts {
    /// Joins the lifts of two scales, sorted by method (or pair), the first scale first.
    pub fn and(mut self, other: Self) -> Self {
        self.methods.extend(other.methods);
        self.comparisons.extend(other.comparisons);
        self.methods.sort_by(|one, two| one.method.cmp(&two.method));
        self.comparisons
            .sort_by(|one, two| (&one.first, &one.second).cmp(&(&two.first, &two.second)));
        self
    }
}

/// The lift of one method on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodLift {
    /// Id of the method.
    pub method: String,
    /// Its role.
    pub role: Role,
    /// The scale of every number here.
    pub scale: Scale,
    /// ℓ_m: mean of ℓ_mk over malfunctions where both cells have sessions.
    pub mean: Computed<Difference>,
    /// ℓ_mk, one entry per malfunction planned for the method.
    pub malfunctions: Vec<CellLift>,
}

/// The lift of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellLift {
    /// Id of the malfunction.
    pub malfunction: String,
    /// ℓ_mk = c_mk − c_0k.
    pub lift: Computed<Difference>,
    /// c_mk − c of the cheat oracle on the same malfunction.
    pub over_oracle: Computed<Difference>,
}

/// Two methods compared on the malfunctions they share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodComparison {
    /// Id of the first method.
    pub first: String,
    /// Id of the second method.
    pub second: String,
    /// The scale of the difference.
    pub scale: Scale,
    /// Mean of first − second.
    pub difference: Computed<Difference>,
}

/// A difference of means of cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The difference, in score units.
    pub estimate: f64,
    /// How many malfunctions it is a mean over.
    pub malfunctions: u64,
    /// Stratified bootstrap percentile interval; absent where an arm has one session in some cell.
    pub percentile: Computed<Interval>,
    /// Welch interval; absent where an arm has one session in some cell.
    pub welch: Computed<Interval>,
}

/// Computes all lifts and comparisons on one scale.
pub fn lifts(stratum: &Stratum, scale: Scale, resampled: &ResampledCells) -> Lifts {
    let roles = stratum.roles();
    let methods: Vec<MethodLift> = stratum
        .methods()
        .into_par_iter()
        .filter(|method| roles.of(method) != Role::NoMethod)
        .map(|method| method_lift(stratum, method, scale, resampled))
        .collect();
    let explaining: Vec<&str> = stratum
        .methods()
        .into_iter()
        .filter(|method| roles.of(method) == Role::Xrl)
        .collect();
    let placebo = stratum
        .methods()
        .into_iter()
        .find(|method| roles.of(method) == Role::Placebo);
    let pairs: Vec<(&str, &str)> = explaining
        .iter()
        .enumerate()
        .flat_map(|(index, first)| {
            explaining[index + 1..]
                .iter()
                .copied()
                .chain(placebo)
                .map(move |second| (*first, second))
        })
        .collect();
    let comparisons = pairs
        .into_par_iter()
        .map(|(first, second)| MethodComparison {
            first: first.to_owned(),
            second: second.to_owned(),
            scale,
            difference: over_common(stratum, first, second, resampled).into(),
        })
        .collect();
    Lifts {
        methods,
        comparisons,
    }
}

fn method_lift(
    stratum: &Stratum,
    method: &str,
    scale: Scale,
    resampled: &ResampledCells,
) -> MethodLift {
    let roles = stratum.roles();
    let malfunctions = stratum
        .cells()
        .filter(|(_, candidate, _)| *candidate == method)
        .map(|(malfunction, _, _)| {
            let over = |other: &str| {
                let terms = [(1.0, malfunction, method), (-1.0, malfunction, other)];
                resampled.contrast(&terms, 1).into()
            };
            CellLift {
                malfunction: malfunction.to_owned(),
                lift: over(&roles.no_method),
                over_oracle: if method == roles.cheat_oracle {
                    Computed::absent("the cheat oracle itself")
                } else {
                    over(&roles.cheat_oracle)
                },
            }
        })
        .collect();
    MethodLift {
        method: method.to_owned(),
        role: roles.of(method),
        scale,
        mean: over_common(stratum, method, &roles.no_method, resampled).into(),
        malfunctions,
    }
}

/// Mean of first − second over malfunctions where both have sessions.
///
/// # Errors
/// No such malfunction.
pub fn over_common(
    stratum: &Stratum,
    first: &str,
    second: &str,
    resampled: &ResampledCells,
) -> Result<Difference, NotComputed> {
    let common: Vec<&str> = stratum
        .malfunctions()
        .into_iter()
        .filter(|malfunction| {
            [first, second]
                .iter()
                .all(|method| !resampled.scores(malfunction, method).is_empty())
        })
        .collect();
    if common.is_empty() {
        return Err(NotComputed::because(format!(
            "no malfunction with sessions of both {first} and {second}"
        )));
    }
    let weight = 1.0 / common.len() as f64;
    let terms: Vec<_> = common
        .iter()
        .flat_map(|malfunction| {
            [
                (weight, *malfunction, first),
                (-weight, *malfunction, second),
            ]
        })
        .collect();
    resampled.contrast(&terms, common.len() as u64)
}
