//! Knows Shapley values: how the worth of all methods together divides among them, given the worth of every coalition.
//! Must not know how cells are resampled.
//! Start at `shapley` for bare numbers, `of_stratum` for a table.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::computed::{Computed, NotComputed, finite};
use crate::contrast::{ResampledCells, Term};
use crate::estimate::Interval;
use crate::moments::mean;
use crate::scale::Scale;
use crate::score_table::{Role, Stratum};

/// Most methods whose coalitions are enumerated.
pub const MOST_METHODS: usize = 12;

/// Σφ and v(all) − v(∅) agree to this, relative to the largest worth where that is above 1.
const EFFICIENCY_TOLERANCE: f64 = 1e-12;

/// Shapley values of bare numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShapleyValues {
    /// φ_i, one per method.
    pub values: Vec<f64>,
    /// Σφ.
    pub sum: f64,
    /// v(all) − v(∅), which Σφ equals.
    pub efficiency: f64,
}

/// Shapley values of the methods of a stratum, on both scales.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shapley {
    /// Ids of the methods that form coalitions, sorted.
    pub methods: Vec<String>,
    /// Malfunctions where every coalition and the baseline have sessions: every worth is a mean over these.
    pub malfunctions: Vec<String>,
    /// On the clipped scale.
    pub clipped: ShapleyScale,
    /// On the raw scale, winsorised.
    pub raw: ShapleyScale,
}

/// Shapley values on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShapleyScale {
    /// The scale of every number here.
    pub scale: Scale,
    /// v(S) by bitmask: bit i of the position stands for method i; the first is the baseline.
    pub coalitions: Vec<CoalitionValue>,
    /// φ, one entry per method.
    pub values: Vec<MethodValue>,
    /// Σφ.
    pub sum: f64,
    /// v(all) − v(∅).
    pub gain: f64,
    /// Whether the two agree to 1e-12.
    pub efficient: bool,
}

/// The worth of one coalition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoalitionValue {
    /// Ids of its methods, sorted; empty for the baseline.
    pub members: Vec<String>,
    /// v(S): mean over the common malfunctions of the cell means.
    pub value: f64,
}

/// The share of one method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodValue {
    /// Id of the method.
    pub method: String,
    /// φ_i, in score units.
    pub value: f64,
    /// Stratified bootstrap percentile interval over sessions.
    pub percentile: Computed<Interval>,
    /// t interval with Var φ_i = Σ_S w_S²·Var v(S) and Satterthwaite degrees of freedom.
    pub t: Computed<Interval>,
}

/// Divides v(all) − v(∅): φ_i = Σ_{S∌i} |S|!(n−|S|−1)!/n!·[v(S∪{i}) − v(S)] (Shapley, A Value for n-Person Games, 1953).
/// `v[mask]` is the worth of the coalition whose members are the set bits of `mask`; its length is 2^n, 1 ≤ n ≤ 12.
///
/// # Errors
/// Another length, a worth that is not finite, or sums beyond the range of numbers.
pub fn shapley(v: &[f64]) -> Result<ShapleyValues, NotComputed> {
    let methods = v.len().checked_ilog2().unwrap_or(0) as usize;
    if !v.len().is_power_of_two() || methods == 0 {
        return Err(NotComputed::because(format!(
            "{} worths are not those of all coalitions of at least one method",
            v.len()
        )));
    }
    at_most_enumerable(methods)?;
    if v.iter().any(|worth| !worth.is_finite()) {
        return Err(NotComputed::because("a worth is not finite"));
    }
    let weights = Weights::new(methods);
    let values: Vec<f64> = (0..methods)
        .map(|method| {
            // Marginal contributions, so that a constant in all worths cancels exactly.
            let marginal = (0..v.len())
                .filter(|mask| mask >> method & 1 == 0)
                .map(|mask| weights.joining(mask) * (v[mask | 1 << method] - v[mask]));
            finite(marginal.sum())
        })
        .collect::<Result<_, _>>()?;
    Ok(ShapleyValues {
        sum: finite(values.iter().sum())?,
        values,
        efficiency: finite(v[v.len() - 1] - v[0])?,
    })
}

/// Computes the Shapley values of the methods that form coalitions (arms `a+b`) in a stratum: v(S) is the mean over common
/// malfunctions of the cell means of coalition S, v(∅) that of `no-method`. `clipped` and `raw` are the stratum's resamples.
///
/// # Errors
/// No coalition arm; more than 12 methods in them; coalitions without sessions, all of them listed; no common malfunction.
pub fn of_stratum(
    stratum: &Stratum,
    clipped: &ResampledCells,
    raw: &ResampledCells,
) -> Result<Shapley, NotComputed> {
    let methods: Vec<&str> = stratum
        .methods()
        .into_iter()
        .filter(|method| stratum.roles().of(method) == Role::Xrl && method.contains('+'))
        .flat_map(|coalition| coalition.split('+'))
        .collect::<BTreeSet<&str>>()
        .into_iter()
        .collect();
    if methods.is_empty() {
        return Err(NotComputed::because(
            "no coalition of methods (an arm such as a+b) in this stratum",
        ));
    }
    at_most_enumerable(methods.len())?;
    let arms: Vec<String> = (0..1_usize << methods.len())
        .map(|mask| match members(&methods, mask) {
            nobody if nobody.is_empty() => stratum.roles().no_method.clone(),
            somebody => somebody.join("+"),
        })
        .collect();
    let has = |malfunction: &str, arm: &str| !raw.scores(malfunction, arm).is_empty();
    let missing: Vec<&str> = arms
        .iter()
        .map(String::as_str)
        .filter(|arm| !stratum.malfunctions().iter().any(|k| has(k, arm)))
        .collect();
    if !missing.is_empty() {
        return Err(NotComputed::because(format!(
            "coalitions of {} without sessions: {}",
            methods.join(", "),
            missing.join(", ")
        )));
    }
    let malfunctions: Vec<&str> = stratum
        .malfunctions()
        .into_iter()
        .filter(|malfunction| arms.iter().all(|arm| has(malfunction, arm)))
        .collect();
    if malfunctions.is_empty() {
        return Err(NotComputed::because(
            "no malfunction with sessions of every coalition",
        ));
    }
    let on = |scale, resampled| {
        let game = Game {
            methods: &methods,
            arms: &arms,
            malfunctions: &malfunctions,
            resampled,
        };
        game.solve(scale)
    };
    Ok(Shapley {
        clipped: on(Scale::Clipped, clipped)?,
        raw: on(Scale::Raw, raw)?,
        methods: methods.iter().map(|&method| method.to_owned()).collect(),
        malfunctions: malfunctions.iter().map(|&k| k.to_owned()).collect(),
    })
}

fn at_most_enumerable(methods: usize) -> Result<(), NotComputed> {
    if methods > MOST_METHODS {
        return Err(NotComputed::because(format!(
            "{methods} methods form coalitions; at most {MOST_METHODS} are enumerated"
        )));
    }
    Ok(())
}

fn members<'a>(methods: &[&'a str], mask: usize) -> Vec<&'a str> {
    methods
        .iter()
        .enumerate()
        .filter(|(index, _)| mask >> index & 1 == 1)
        .map(|(_, method)| *method)
        .collect()
}

/// w(s) = s!(n−s−1)!/n! by size s of the coalition that is joined.
struct Weights(Vec<f64>);

impl Weights {
    fn new(methods: usize) -> Self {
        // 1/(n·C(n−1, s)), where the binomial coefficient is exact.
        let mut binomial = 1.0;
        let weights = (0..methods).map(|size| {
            let weight = 1.0 / (methods as f64 * binomial);
            binomial *= (methods - 1 - size) as f64 / (size + 1) as f64;
            weight
        });
        Self(weights.collect())
    }

    /// The weight of joining a coalition that lacks the joining method.
    fn joining(&self, mask: usize) -> f64 {
        self.0[mask.count_ones() as usize]
    }
}

/// The coalitions of a stratum on one scale.
struct Game<'a> {
    methods: &'a [&'a str],
    /// Arm of each coalition, by bitmask.
    arms: &'a [String],
    malfunctions: &'a [&'a str],
    resampled: &'a ResampledCells,
}

impl Game<'_> {
    fn solve(&self, scale: Scale) -> Result<ShapleyScale, NotComputed> {
        let worths: Vec<f64> = self.arms.iter().map(|arm| self.worth(arm)).collect();
        let solved = shapley(&worths)?;
        let mut values = Vec::with_capacity(self.methods.len());
        for (index, &value) in solved.values.iter().enumerate() {
            let terms = self.terms(index);
            let found = self
                .resampled
                .contrast(&terms, self.malfunctions.len() as u64)?;
            values.push(MethodValue {
                method: self.methods[index].to_owned(),
                value,
                percentile: found.percentile,
                t: found.welch,
            });
        }
        let largest = worths
            .iter()
            .fold(1.0_f64, |most, worth| most.max(worth.abs()));
        Ok(ShapleyScale {
            scale,
            coalitions: worths
                .iter()
                .enumerate()
                .map(|(mask, &value)| CoalitionValue {
                    members: members(self.methods, mask)
                        .into_iter()
                        .map(str::to_owned)
                        .collect(),
                    value,
                })
                .collect(),
            values,
            sum: solved.sum,
            gain: solved.efficiency,
            efficient: (solved.sum - solved.efficiency).abs() <= EFFICIENCY_TOLERANCE * largest,
        })
    }

    fn worth(&self, arm: &str) -> f64 {
        let cells: Vec<f64> = self
            .malfunctions
            .iter()
            .map(|malfunction| mean(self.resampled.scores(malfunction, arm)))
            .collect();
        mean(&cells)
    }

    /// φ_i as a weighted sum of cell means: +w(|S|−1) for coalitions with the method, −w(|S|) for those without.
    fn terms(&self, method: usize) -> Vec<Term<'_>> {
        let weights = Weights::new(self.methods.len());
        let share = 1.0 / self.malfunctions.len() as f64;
        let mut terms = Vec::with_capacity(self.arms.len() * self.malfunctions.len());
        for (mask, arm) in self.arms.iter().enumerate() {
            let weight = if mask >> method & 1 == 1 {
                weights.joining(mask & !(1 << method))
            } else {
                -weights.joining(mask)
            };
            terms.extend(
                self.malfunctions
                    .iter()
                    .map(|malfunction| (weight * share, *malfunction, arm.as_str())),
            );
        }
        terms
    }
}
