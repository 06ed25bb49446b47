//! Knows the mean score of one coder by planned invocation budget.
//! Must not know truncation.
//! Start at `planned`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::SCALES;
use crate::computed::NotComputed;
use crate::contrast::{ResampledCells, Term};
use crate::estimate::Estimated;
use crate::plan::AnalysisPlan;
use crate::randomness::NamedSeeds;
use crate::scale::Scale;
use crate::score_table::{Invocations, Role, Stratum};

/// One method's mean score by planned invocation budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCurve {
    /// The coder; null where the table has no such column.
    pub coder: Option<String>,
    /// Id of the method.
    pub method: String,
    /// The scale of every score here.
    pub scale: Scale,
    /// Malfunctions with sessions under each of these budgets.
    pub malfunctions: u64,
    /// One entry per budget, ascending; `unlimited` last.
    pub points: Vec<PlannedPoint>,
}

/// The mean at one planned budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedPoint {
    /// The invocation budget.
    pub invocations: Invocations,
    /// Mean over malfunctions of the cell means, with stratified bootstrap interval.
    pub mean: Estimated,
}

/// Follows each method over the strata of one coder, which differ only in their invocation budget.
///
/// # Errors
/// No coder with two invocation budgets.
pub(super) fn planned(
    strata: &[Stratum],
    plan: &AnalysisPlan,
    seeds: &(impl NamedSeeds + Sync),
) -> Result<Vec<PlannedCurve>, NotComputed> {
    let mut coders: BTreeMap<Option<&str>, Vec<(Invocations, &Stratum)>> = BTreeMap::new();
    for stratum in strata {
        if let Some(invocations) = stratum.invocations() {
            let own = coders.entry(stratum.coder()).or_default();
            own.push((invocations, stratum));
        }
    }
    coders.retain(|_, strata| strata.len() > 1);
    if coders.is_empty() {
        return Err(NotComputed::because("no coder has two invocation budgets"));
    }
    let mut curves = Vec::new();
    for (coder, strata) in coders {
        for scale in SCALES {
            let budgets: Vec<(Invocations, ResampledCells)> = strata
                .iter()
                .map(|(invocations, stratum)| {
                    (
                        *invocations,
                        ResampledCells::new(stratum, scale, plan, seeds),
                    )
                })
                .collect();
            for method in crossed(&strata) {
                curves.extend(over_budgets(coder, method, scale, &strata, &budgets)?);
            }
        }
    }
    curves.sort_by(|one, two| (&one.coder, &one.method).cmp(&(&two.coder, &two.method)));
    Ok(curves)
}

/// Methods planned under two budgets or more; arms that join whatever the budget are the same sessions everywhere.
fn crossed<'a>(strata: &[(Invocations, &'a Stratum)]) -> BTreeSet<&'a str> {
    let mut once = BTreeSet::new();
    let mut twice = BTreeSet::new();
    for (_, stratum) in strata {
        for method in stratum.methods() {
            let own = matches!(stratum.roles().of(method), Role::Xrl | Role::Placebo);
            if own && !once.insert(method) {
                twice.insert(method);
            }
        }
    }
    twice
}

/// The curve of one method, on the malfunctions where it has sessions under every budget it was planned with.
fn over_budgets(
    coder: Option<&str>,
    method: &str,
    scale: Scale,
    strata: &[(Invocations, &Stratum)],
    budgets: &[(Invocations, ResampledCells)],
) -> Result<Option<PlannedCurve>, NotComputed> {
    let own: Vec<(&Stratum, &(Invocations, ResampledCells))> = strata
        .iter()
        .map(|(_, stratum)| *stratum)
        .zip(budgets)
        .filter(|(stratum, _)| stratum.methods().contains(&method))
        .collect();
    let Some((first, _)) = own.first() else {
        return Ok(None);
    };
    let common: Vec<&str> = first
        .malfunctions()
        .into_iter()
        .filter(|malfunction| {
            own.iter()
                .all(|(_, (_, cells))| !cells.scores(malfunction, method).is_empty())
        })
        .collect();
    if common.is_empty() {
        return Ok(None);
    }
    let terms: Vec<Term<'_>> = common
        .iter()
        .map(|malfunction| (1.0 / common.len() as f64, *malfunction, method))
        .collect();
    let mut points = Vec::with_capacity(own.len());
    for (_, (invocations, cells)) in own {
        let found = cells.contrast(&terms, common.len() as u64)?;
        points.push(PlannedPoint {
            invocations: *invocations,
            mean: Estimated {
                estimate: found.estimate,
                interval: found.percentile,
            },
        });
    }
    points.sort_by_key(|point| point.invocations);
    Ok(Some(PlannedCurve {
        coder: coder.map(str::to_owned),
        method: method.to_owned(),
        scale,
        malfunctions: common.len() as u64,
        points,
    }))
}
