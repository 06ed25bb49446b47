//! Knows how a simulation is laid out as plain tables of at most 100 columns.
//! Must not know how it is made.
//! Start at `text`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::simulate::{
    PROCEDURES, Rate, ScenarioRates, Simulation, SimulationPlan, VerdictShares,
};

use crate::cli::out;
use crate::cli::pilot::Pilot;

/// All tables, attainability first.
pub(super) fn text(plan: &SimulationPlan, found: &Simulation, pilot: Option<&Pilot>) -> String {
    let design = &found.design;
    let mut parts = vec![format!(
        "{} methods × {} malfunctions × {} sessions, {} data sets, B = {}\n{}",
        design.methods,
        design.malfunctions,
        design.sessions,
        found.datasets,
        found.permutations,
        noise(plan, pilot)
    )];
    parts.push(attainability(found));
    if !found.scenarios.is_empty() {
        parts.push(rates(found));
        parts.push(verdicts(found));
        parts.push(scenarios(found));
    }
    if !found.harm.is_empty() {
        parts.push(harm(found));
    }
    parts.push(coverage(found));
    parts.join("\n")
}

fn noise(plan: &SimulationPlan, pilot: Option<&Pilot>) -> String {
    let mut text = match &plan.noise {
        None => "noise: each scenario's own; normal of SD 0.25 elsewhere\n".to_owned(),
        Some(noise) => format!("noise: {}, SD {:.3}\n", noise.name(), noise.sd()),
    };
    if let Some(pilot) = pilot {
        let variance = &pilot.variance;
        text.push_str(&format!(
            "pilot: SD {:.3} within {} cells ({} degrees of freedom), upper 80 % bound {:.3}\n",
            variance.sd, variance.cells, variance.df, variance.upper_sd
        ));
    }
    text
}

fn attainability(found: &Simulation) -> String {
    let head = [
        "test of harm",
        "smallest p",
        "cells needed together",
        "N that one cell needs",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for reach in &found.attainability {
        rows.push(vec![
            reach.test.name().to_owned(),
            reach.arrangements.map_or_else(
                || format!("{:.1e}", reach.p_min),
                |count| format!("1/{count}"),
            ),
            reach.cells_needed.to_string(),
            reach.sessions_for_one_cell.to_string(),
        ]);
    }
    let mut text = format!(
        "Attainable among {} cells\n\n{}",
        found.design.cells(),
        out::table(&rows)
    );
    for warning in found
        .attainability
        .iter()
        .filter_map(|reach| reach.warning())
    {
        text.push_str(&wrapped(&format!("warning: {warning}")));
    }
    text
}

/// A sentence in lines of at most 100 columns, all but the first set in.
fn wrapped(sentence: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in sentence.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < 100 => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("    {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

fn rates(found: &Simulation) -> String {
    let mut head = vec!["scenario".to_owned()];
    head.extend(PROCEDURES.iter().map(word));
    let mut rows = vec![head];
    for row in &found.scenarios {
        let mut cells = vec![row.scenario.clone()];
        cells.extend(row.procedures.iter().map(|procedure| {
            let mark = if procedure.liberal { "*" } else { "" };
            computed(&procedure.rate) + mark
        }));
        rows.push(cells);
    }
    format!(
        "H1: share of data sets rejected at α = {} (± Monte Carlo error)\n\n{}\
         * liberal: additivity holds, and the rate lies above α by more than 3 errors\n",
        found.alpha,
        out::table(&rows)
    )
}

fn verdicts(found: &Simulation) -> String {
    let head = [
        "scenario",
        "uniform",
        "parallel",
        "strength",
        "structured",
        "crossover",
        "none",
        "step 3 alone",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for ScenarioRates {
        scenario,
        verdict,
        beyond_first_axis,
        ..
    } in &found.scenarios
    {
        let VerdictShares {
            uniform,
            single_axis_parallel,
            single_axis_strength,
            structured,
            structured_crossover,
            not_computed,
        } = verdict;
        let shares = [
            uniform,
            single_axis_parallel,
            single_axis_strength,
            structured,
            structured_crossover,
            not_computed,
        ];
        let mut row = vec![scenario.clone()];
        row.extend(shares.map(|share| format!("{:.3}", share.value)));
        row.push(match beyond_first_axis {
            Computed::Value(rate) => plus_minus(rate),
            Computed::NotComputed(_) => String::new(),
        });
        rows.push(row);
    }
    format!(
        "H1: share of each verdict, on one scale\n\n{}",
        out::table(&rows)
    )
}

fn scenarios(found: &Simulation) -> String {
    let mut text = "Scenarios\n\n".to_owned();
    for row in &found.scenarios {
        text.push_str(&format!("{}\n    {}\n", row.scenario, row.description));
    }
    text
}

fn harm(found: &Simulation) -> String {
    let head = [
        "harmed",
        "test",
        "size",
        "false discovery",
        "power per cell",
        "power any",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut refused = String::new();
    for rates in &found.harm {
        match rates {
            Computed::Value(rates) => rows.extend(rates.tests.iter().map(|row| {
                vec![
                    if rates.harmed == 0 {
                        "none".to_owned()
                    } else {
                        format!(
                            "{} by {:.3} ({:.2} SD)",
                            rates.harmed, rates.effect, rates.effect_in_sds
                        )
                    },
                    word(&row.test),
                    computed(&row.size),
                    plus_minus(&row.false_discovery),
                    computed(&row.power_per_cell),
                    computed(&row.power_any),
                ]
            })),
            Computed::NotComputed(reason) => {
                refused.push_str(&format!("not simulated: {reason}\n"));
            }
        }
    }
    format!(
        "H3 at q = {}, each test adjusted by itself\n\n{}{refused}",
        found.q,
        out::table(&rows)
    )
}

fn coverage(found: &Simulation) -> String {
    let mut text = String::new();
    if !found.effect_size_coverage.is_empty() {
        let head = [
            "interaction rms",
            "true ω²_p",
            "nominal",
            "coverage",
            "mean width",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let mut refused = String::new();
        for coverage in &found.effect_size_coverage {
            match coverage {
                Computed::Value(coverage) => rows.push(vec![
                    coverage.interaction_rms.to_string(),
                    format!("{:.3}", coverage.truth),
                    coverage.level.to_string(),
                    plus_minus(&coverage.coverage),
                    format!("{:.3}", coverage.mean_width),
                ]),
                Computed::NotComputed(reason) => refused = format!("not simulated: {reason}\n"),
            }
        }
        text.push_str(&format!(
            "Adjusted stratified bootstrap interval of ω²_p\n\n{}{refused}",
            out::table(&rows)
        ));
    }
    if let Computed::Value(errors) = &found.percentile_errors {
        let head = [
            "percentile interval of",
            "nominal error of a side",
            "above the truth",
            "below",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (name, sides) in [
            ("a cell's mean", errors.cell),
            ("a cell's lift", errors.lift),
        ] {
            rows.push(vec![
                name.to_owned(),
                format!("{:.2}", errors.nominal),
                plus_minus(&sides.above),
                plus_minus(&sides.below),
            ]);
        }
        text.push_str(&format!(
            "\nPercentile intervals at N = {}\n\n{}",
            errors.sessions,
            out::table(&rows)
        ));
    }
    text
}

fn computed(rate: &Computed<Rate>) -> String {
    rate.value().map_or_else(|| "-".to_owned(), plus_minus)
}

fn plus_minus(rate: &Rate) -> String {
    let error = format!("{:.3}", rate.error);
    format!("{:.3} ±{}", rate.value, error.trim_start_matches('0'))
}

/// The word that findings use.
fn word(name: &impl serde::Serialize) -> String {
    match serde_json::to_value(name) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
