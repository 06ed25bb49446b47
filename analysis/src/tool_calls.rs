//! Knows how many tool calls coders take to a submission, under a budget that cuts the count off.
//! Must not know scores.
//! Start at `tool_calls`.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::bootstrap;
use crate::computed::{Computed, NotComputed};
use crate::estimate::{Estimated, PValue};
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, generator};
use crate::score_table::{Outcome, Role, ScoreRow, Stratum, ToolCallBudget};
use crate::stratified_rank_sum::{RankSumFlag, stratified_rank_sum};

/// Tool calls of every arm that a coder worked in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCalls {
    /// τ.
    pub budget: ToolCallBudget,
    /// One entry per method with sessions, sorted; `optimal-repair`, where no coder works, is left out.
    pub methods: Vec<MethodToolCalls>,
}

/// Tool calls of one method. Means over malfunctions weigh each malfunction alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodToolCalls {
    /// Id of the method.
    pub method: String,
    /// Its role.
    pub role: Role,
    /// Malfunctions with sessions.
    pub malfunctions: u64,
    /// Sessions.
    pub sessions: u64,
    /// Sessions that submitted.
    pub submitted: u64,
    /// Mean over malfunctions of the share of sessions that submitted.
    pub share_submitted: Estimated,
    /// Mean over malfunctions of mean min(T, τ), never = τ; in tool calls.
    pub restricted_mean: Estimated,
    /// Median T over all sessions, or not reached.
    pub median: Computed<f64>,
    /// Against `no-method`, on malfunctions with sessions of both.
    pub difference: Computed<ToolCallDifference>,
    /// One entry per malfunction with sessions.
    pub cells: Vec<CellToolCalls>,
}

/// Tool calls of one method on one malfunction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellToolCalls {
    /// Id of the malfunction.
    pub malfunction: String,
    /// Sessions.
    pub sessions: u64,
    /// Sessions that submitted.
    pub submitted: u64,
    /// Mean min(T, τ), never = τ; in tool calls.
    pub restricted_mean: f64,
    /// Median T, or not reached.
    pub median: Computed<f64>,
    /// Against `no-method` on this malfunction.
    pub difference: Computed<ToolCallDifference>,
}

/// A method's tool calls against those without a method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallDifference {
    /// Malfunctions compared.
    pub malfunctions: u64,
    /// Difference of restricted means, with stratified bootstrap interval; in tool calls.
    pub restricted_mean: Estimated,
    /// Two-sided rank sum of T within malfunctions, every "never" tied above all.
    pub rank_sum: PValue,
    /// Reservations about it.
    pub rank_sum_flags: Vec<RankSumFlag>,
}

/// Summarises T = tool calls if submitted, else never. Sessions are resampled with keys `tool_calls/{malfunction}/{method}`.
/// Restricted means as in Royston and Parmar (2013), with the budget τ as the horizon: raw means would be right-censored.
///
/// # Errors
/// No common budget τ, a submitted session without `tool_calls`, or no session at all.
pub fn tool_calls(
    stratum: &Stratum,
    plan: &AnalysisPlan,
    seeds: &(impl NamedSeeds + Sync),
) -> Result<ToolCalls, NotComputed> {
    let budget = *stratum.tool_call_budget().as_result()?;
    let arms = observed(stratum)?;
    if arms.is_empty() {
        return Err(NotComputed::because("no session by a coder"));
    }
    let cells: BTreeMap<(&str, &str), Resampled> = arms
        .into_par_iter()
        .map(|((malfunction, method), calls)| {
            let name = format!("tool_calls/{malfunction}/{method}");
            let mut rng = generator(seeds, &name);
            let cell = [calls];
            let replicates = bootstrap::replicates(
                &cell,
                plan.resamples,
                |drawn| rates(&drawn[0], budget),
                &mut rng,
            );
            let [calls] = cell;
            ((malfunction, method), Resampled { calls, replicates })
        })
        .collect();
    let arms = Arms {
        cells,
        baseline: &stratum.roles().no_method,
        budget,
        level: plan.confidence,
    };
    let methods = stratum
        .methods()
        .into_par_iter()
        .filter_map(|method| {
            let malfunctions = arms.malfunctions(method);
            if malfunctions.is_empty() {
                return None;
            }
            Some(arms.method(method, stratum.roles().of(method), &malfunctions))
        })
        .collect();
    Ok(ToolCalls { budget, methods })
}

/// T of each session by (malfunction, method), infinite where it never submitted; arms without a coder are left out.
pub(crate) fn observed(stratum: &Stratum) -> Result<BTreeMap<(&str, &str), Vec<f64>>, NotComputed> {
    let mut arms = BTreeMap::new();
    let mut lacking: Vec<String> = Vec::new();
    for (malfunction, method, cell) in stratum.cells() {
        if stratum.roles().of(method) == Role::OptimalRepair || cell.rows.is_empty() {
            continue;
        }
        let mut calls = Vec::with_capacity(cell.rows.len());
        for row in &cell.rows {
            match to_submission(row) {
                Some(number) => calls.push(number),
                None => lacking.push(format!(
                    "{method} on {malfunction}, replication {}",
                    row.replication
                )),
            }
        }
        arms.insert((malfunction, method), calls);
    }
    match lacking.first() {
        None => Ok(arms),
        Some(first) => Err(NotComputed::because(format!(
            "{} submitted sessions have no tool_calls, the first of them {first}",
            lacking.len()
        ))),
    }
}

/// T: tool calls if submitted, infinite if never; nothing where a submission has no count.
fn to_submission(row: &ScoreRow) -> Option<f64> {
    if row.outcome == Outcome::Submitted {
        row.tool_calls.map(|calls| calls as f64)
    } else {
        Some(f64::INFINITY)
    }
}

/// Share submitted and restricted mean.
fn rates(calls: &[f64], budget: ToolCallBudget) -> [f64; 2] {
    let horizon = budget.steps as f64;
    let submitted = calls.iter().filter(|number| number.is_finite()).count();
    let restricted: f64 = calls.iter().map(|number| number.min(horizon)).sum();
    let sessions = calls.len() as f64;
    [submitted as f64 / sessions, restricted / sessions]
}

/// Median by interpolation, never where that meets a session that never submitted.
fn median(calls: &[f64]) -> Computed<f64> {
    let mut sorted = calls.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    if high.is_finite() {
        Computed::Value(low + (high - low) / 2.0)
    } else {
        Computed::absent("not reached")
    }
}

/// One cell with the rates of its resamples.
struct Resampled {
    calls: Vec<f64>,
    replicates: Vec<[f64; 2]>,
}

/// Every cell of a stratum by (malfunction, method).
struct Arms<'a> {
    cells: BTreeMap<(&'a str, &'a str), Resampled>,
    baseline: &'a str,
    budget: ToolCallBudget,
    level: f64,
}

impl<'a> Arms<'a> {
    fn malfunctions(&self, method: &str) -> Vec<&'a str> {
        self.cells
            .keys()
            .filter(|(_, own)| *own == method)
            .map(|(malfunction, _)| *malfunction)
            .collect()
    }

    fn method(&self, method: &str, role: Role, malfunctions: &[&str]) -> MethodToolCalls {
        let cells: Vec<CellToolCalls> = malfunctions
            .iter()
            .map(|malfunction| self.cell(malfunction, method))
            .collect();
        let all: Vec<f64> = malfunctions
            .iter()
            .flat_map(|malfunction| self.cells[&(*malfunction, method)].calls.iter().copied())
            .collect();
        let own: Vec<(f64, &Resampled)> = malfunctions
            .iter()
            .map(|malfunction| (1.0, &self.cells[&(*malfunction, method)]))
            .collect();
        MethodToolCalls {
            method: method.to_owned(),
            role,
            malfunctions: malfunctions.len() as u64,
            sessions: all.len() as u64,
            submitted: cells.iter().map(|cell| cell.submitted).sum(),
            share_submitted: self.mean_of(&own, 0, malfunctions.len()),
            restricted_mean: self.mean_of(&own, 1, malfunctions.len()),
            median: median(&all),
            difference: self.difference(method, malfunctions).into(),
            cells,
        }
    }

    fn cell(&self, malfunction: &str, method: &str) -> CellToolCalls {
        let calls = &self.cells[&(malfunction, method)].calls;
        CellToolCalls {
            malfunction: malfunction.to_owned(),
            sessions: calls.len() as u64,
            submitted: calls.iter().filter(|number| number.is_finite()).count() as u64,
            restricted_mean: rates(calls, self.budget)[1],
            median: median(calls),
            difference: self.difference(method, &[malfunction]).into(),
        }
    }

    /// Σ sign·rate over cells, divided by the number of malfunctions, with its stratified interval.
    fn mean_of(&self, cells: &[(f64, &Resampled)], rate: usize, malfunctions: usize) -> Estimated {
        let count = malfunctions as f64;
        let estimate = cells
            .iter()
            .map(|(sign, cell)| sign * rates(&cell.calls, self.budget)[rate])
            .sum::<f64>()
            / count;
        let resamples = cells.first().map_or(0, |(_, cell)| cell.replicates.len());
        let replicates: Vec<f64> = (0..resamples)
            .map(|index| {
                let sum: f64 = cells
                    .iter()
                    .map(|(sign, cell)| sign * cell.replicates[index][rate])
                    .sum();
                sum / count
            })
            .collect();
        let sizes = cells.iter().map(|(_, cell)| cell.calls.len());
        Estimated {
            estimate,
            interval: bootstrap::reported(estimate, &replicates, self.level, sizes),
        }
    }

    fn difference(
        &self,
        method: &str,
        malfunctions: &[&str],
    ) -> Result<ToolCallDifference, NotComputed> {
        if method == self.baseline {
            return Err(NotComputed::because("the baseline itself"));
        }
        let mut cells = Vec::new();
        let mut strata = Vec::new();
        for malfunction in malfunctions {
            let own = &self.cells[&(*malfunction, method)];
            if let Some(baseline) = self.cells.get(&(*malfunction, self.baseline)) {
                cells.extend([(1.0, own), (-1.0, baseline)]);
                strata.push((own.calls.clone(), baseline.calls.clone()));
            }
        }
        if strata.is_empty() {
            return Err(NotComputed::because(format!(
                "no malfunction with sessions of both {method} and {}",
                self.baseline
            )));
        }
        let ranks = stratified_rank_sum(&strata)?;
        Ok(ToolCallDifference {
            malfunctions: strata.len() as u64,
            restricted_mean: self.mean_of(&cells, 1, strata.len()),
            rank_sum: ranks.two_sided,
            rank_sum_flags: ranks.flags,
        })
    }
}
