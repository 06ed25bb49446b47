//! Knows the tables of effort: tool calls up to a submission, scores under smaller budgets, and cost.
//! Must not know how they are computed.
//! Start at `tool_calls`, `truncation`, `planned_budgets` and `cost`.

use evalxrl_analysis::budget_curve::{BudgetCurves, PlannedCurve, StratumCurves, TruncationCurve};
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::cost::{MethodCost, Total};
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::{BudgetSource, ToolCallBudget};
use evalxrl_analysis::tool_calls::{MethodToolCalls, ToolCallDifference, ToolCalls};

use super::Part;
use crate::report::table::{Cell, Column, Kind, Row, Table};

/// How many tool calls sessions take to submit.
pub(super) fn tool_calls(found: &ToolCalls) -> Part {
    Part {
        anchor: "tool-calls",
        title: "Tool calls up to a submission",
        remarks: vec![budget(&found.budget)],
        open: 1,
        tables: vec![methods(&found.methods), cells(&found.methods)],
        warnings: Vec::new(),
    }
}

fn budget(budget: &ToolCallBudget) -> String {
    let steps = budget.steps;
    match budget.source {
        BudgetSource::Plan => format!("Every session could make {steps} calls, as planned."),
        BudgetSource::Given => {
            format!("Every session is taken to have had {steps} calls, as given.")
        }
        BudgetSource::LargestObserved => format!(
            "The budget is not known: the largest number of calls seen, {steps}, stands in for it."
        ),
    }
}

fn methods(methods: &[MethodToolCalls]) -> Table {
    let rows = methods.iter().map(|each| {
        let difference = |shown: fn(&ToolCallDifference) -> Cell| Cell::of(&each.difference, shown);
        Row::of(vec![
            Cell::text(&each.method),
            Cell::Count(each.sessions),
            Cell::Count(each.submitted),
            Cell::estimated(&each.share_submitted),
            Cell::estimated(&each.restricted_mean),
            median(&each.median),
            difference(|found| Cell::estimated(&found.restricted_mean)),
            difference(|found| Cell::PValue(found.rank_sum.value)),
        ])
    });
    Table {
        name: "tool_calls".to_owned(),
        title: "Tool calls of every method".to_owned(),
        note: "A session without a submission counts as the whole budget in the restricted mean, and above all others in \
               the rank sum, which is exact and two-sided within malfunctions. Plain means are not shown: they leave out \
               what a session would still have needed."
            .to_owned(),
        columns: vec![
            Column::new("method", "method", Kind::Text),
            Column::new("sessions", "N", Kind::Count),
            Column::new("submitted", "submitted", Kind::Count),
            Column::new("share_submitted", "share submitted", Kind::Interval),
            Column::new("restricted_mean", "restricted mean", Kind::Interval),
            Column::new("median", "median", Kind::Text),
            Column::new("difference", "minus no-method", Kind::Interval),
            Column::new("p_rank_sum", "p rank sum", Kind::PValue),
        ],
        rows: rows.collect(),
    }
}

fn cells(methods: &[MethodToolCalls]) -> Table {
    let mut rows = Vec::new();
    for each in methods {
        rows.extend(each.cells.iter().map(|cell| {
            Row::of(vec![
                Cell::text(&cell.malfunction),
                Cell::text(&each.method),
                Cell::Count(cell.sessions),
                Cell::Count(cell.submitted),
                Cell::Number(cell.restricted_mean),
                median(&cell.median),
                Cell::of(&cell.difference, |found| {
                    Cell::estimated(&found.restricted_mean)
                }),
                Cell::of(&cell.difference, |found| Cell::PValue(found.rank_sum.value)),
            ])
        }));
    }
    Table {
        name: "tool_call_cells".to_owned(),
        title: "Tool calls of every cell".to_owned(),
        note: String::new(),
        columns: vec![
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("method", "method", Kind::Text),
            Column::new("sessions", "N", Kind::Count),
            Column::new("submitted", "submitted", Kind::Count),
            Column::new("restricted_mean", "restricted mean", Kind::Number),
            Column::new("median", "median", Kind::Text),
            Column::new("difference", "minus no-method", Kind::Interval),
            Column::new("p_rank_sum", "p rank sum", Kind::PValue),
        ],
        rows,
    }
}

fn median(value: &Computed<f64>) -> Cell {
    match value {
        Computed::Value(calls) => Cell::Number(*calls),
        Computed::NotComputed(reason) => Cell::text(reason.to_string()),
    }
}

/// Scores that a smaller budget would have left, from one run.
pub(super) fn truncation(curves: &StratumCurves, found: &[TruncationCurve]) -> Part {
    let raw = || found.iter().filter(|curve| curve.scale == Scale::Raw);
    let mut rows = Vec::new();
    for curve in raw() {
        for (index, calls) in curve.calls.iter().enumerate() {
            let ends = curve.low.value().zip(curve.high.value());
            rows.push(Row::of(vec![
                Cell::text(&curve.method),
                Cell::Count(*calls),
                Cell::Interval {
                    estimate: curve.means[index],
                    ends: ends.map(|(low, high)| [low[index], high[index]]),
                },
            ]));
        }
    }
    let points = Table {
        name: "truncation".to_owned(),
        title: "Score of sessions that had submitted by then".to_owned(),
        note:
            "Raw scores; a session that had not submitted counts as 0. Pointwise stratified bands."
                .to_owned(),
        columns: vec![
            Column::new("method", "method", Kind::Text),
            Column::new("calls", "calls", Kind::Count),
            Column::new("mean", "mean score", Kind::Interval),
        ],
        rows,
    };
    let areas = Table {
        name: "truncation_areas".to_owned(),
        title: "Area below each curve".to_owned(),
        note: "Normalised to the budget: the mean score over all smaller budgets.".to_owned(),
        columns: vec![
            Column::new("method", "method", Kind::Text),
            Column::new("scale", "scale", Kind::Text),
            Column::new("malfunctions", "malfunctions", Kind::Count),
            Column::new("area", "area", Kind::Interval),
        ],
        rows: found
            .iter()
            .map(|curve| {
                Row::of(vec![
                    Cell::text(&curve.method),
                    Cell::text(curve.scale.name()),
                    Cell::Count(curve.malfunctions),
                    Cell::estimated(&curve.area),
                ])
            })
            .collect(),
    };
    Part {
        anchor: "truncation",
        title: "Scores by number of calls",
        remarks: vec![format!("This is {}.", curves.label)],
        open: 1,
        tables: vec![areas, points],
        warnings: Vec::new(),
    }
}

/// Means of strata that differ in their invocation budget alone; none where no coder has several budgets.
pub(in crate::report) fn planned_budgets(curves: &BudgetCurves) -> Option<Table> {
    curves.planned.value().map(|curves| planned(curves))
}

fn planned(curves: &[PlannedCurve]) -> Table {
    let mut rows = Vec::new();
    for curve in curves {
        rows.extend(curve.points.iter().map(|point| {
            Row::of(vec![
                Cell::text(curve.coder.as_deref().unwrap_or("all")),
                Cell::text(&curve.method),
                Cell::text(curve.scale.name()),
                Cell::text(point.invocations.to_string()),
                Cell::estimated(&point.mean),
            ])
        }));
    }
    Table {
        name: "planned_budgets".to_owned(),
        title: "Scores under each planned budget".to_owned(),
        note: "Each budget was played on its own; coders are never pooled.".to_owned(),
        columns: vec![
            Column::new("coder", "coder", Kind::Text),
            Column::new("method", "method", Kind::Text),
            Column::new("scale", "scale", Kind::Text),
            Column::new("invocations", "invocations", Kind::Text),
            Column::new("mean", "mean score", Kind::Interval),
        ],
        rows,
    }
}

/// What the sessions of each method cost.
pub(super) fn cost(costs: &[MethodCost]) -> Table {
    let rows = costs.iter().map(|cost| {
        let part = |value: &Computed<Total>, shown: fn(&Total) -> f64| {
            Cell::of(value, |total| Cell::Number(shown(total)))
        };
        Row::of(vec![
            Cell::text(&cost.method),
            Cell::Count(cost.sessions),
            part(&cost.cost_usd, |total| total.sum),
            part(&cost.cost_usd, |total| total.mean),
            part(&cost.wall_s, |total| total.sum),
            part(&cost.wall_s, |total| total.mean),
        ])
    });
    Table {
        name: "cost".to_owned(),
        title: "Cost of every method".to_owned(),
        note: "Over the sessions that say what they cost.".to_owned(),
        columns: vec![
            Column::new("method", "method", Kind::Text),
            Column::new("sessions", "N", Kind::Count),
            Column::new("cost_usd", "cost, USD", Kind::Number),
            Column::new("cost_usd_mean", "a session", Kind::Number),
            Column::new("wall_s", "seconds", Kind::Number),
            Column::new("wall_s_mean", "a session", Kind::Number),
        ],
        rows: rows.collect(),
    }
}
