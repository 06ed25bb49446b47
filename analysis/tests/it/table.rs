//! Knows what a score table refuses, and how its strata are formed.
//! Must not know statistics.
//! Start at `session`.

use std::collections::BTreeMap;

use evalxrl_analysis::score_table::{
    Invocations, Outcome, PlannedCell, ReferenceError, Role, Roles, ScoreRow, ScoreTable,
    UNKNOWN_ENVIRONMENT,
};

/// A submitted session in a table without strata.
pub(crate) fn session(malfunction: &str, method: &str, replication: u64, raw: f64) -> ScoreRow {
    ScoreRow {
        malfunction: malfunction.to_owned(),
        environment: "treasure_grid".to_owned(),
        method: method.to_owned(),
        replication,
        coder: None,
        invocations: None,
        block: None,
        raw,
        clipped: None,
        outcome: Outcome::Submitted,
        tool_calls: None,
        cost_usd: None,
        wall_s: None,
    }
}

pub(crate) fn table(rows: Vec<ScoreRow>) -> ScoreTable {
    ScoreTable::from_rows((2..).zip(rows), Roles::default()).unwrap()
}

fn refusals(rows: Vec<ScoreRow>) -> Vec<String> {
    let errors = ScoreTable::from_rows((2..).zip(rows), Roles::default()).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn every_bad_row_is_reported_at_once() {
    let mut spent = session("walls", "saliency", 0, 0.25);
    spent.outcome = Outcome::BudgetSpent;
    let mut contradicting = session("walls", "saliency", 1, 1.5);
    contradicting.clipped = Some(0.9);
    let mut elsewhere = session("walls", "saliency", 2, 0.5);
    elsewhere.environment = "lander".to_owned();
    let mut costly = session("walls", "saliency", 3, 0.5);
    costly.cost_usd = Some(-1.0);
    let rows = vec![
        spent,
        contradicting,
        elsewhere,
        costly,
        session("walls", "saliency", 4, f64::NAN),
        session("walls", "saliency", 0, 0.5),
    ];
    assert_eq!(
        refusals(rows),
        [
            "2: raw 0.25: must be 0, because the outcome is budget_spent",
            "3: clipped 0.9: contradicts raw 1.5, which clips to 1",
            "4: environment lander: walls belongs to treasure_grid on line 2",
            "5: cost_usd -1: not a finite number from 0",
            "6: raw NaN: not finite; a missing session is an absent row",
            "7: replication 0: a second session of saliency on walls, after line 2",
        ]
    );
}

#[test]
fn a_coalition_in_another_order_is_the_same_arm() {
    let rows = vec![
        session("walls", "a+b", 0, 0.5),
        session("walls", "b+a", 0, 0.5),
    ];
    assert_eq!(refusals(rows).len(), 1);
}

#[test]
fn clipped_is_filled_and_rows_are_sorted() {
    let table = table(vec![
        session("walls", "saliency", 1, 1.5),
        session("doors", "saliency", 0, -0.5),
        session("walls", "saliency", 0, 0.5),
    ]);
    let clipped: Vec<Option<f64>> = table.rows().iter().map(|row| row.clipped).collect();
    assert_eq!(clipped, [Some(0.0), Some(0.5), Some(1.0)]);
}

fn placed(row: ScoreRow, coder: &str, invocations: Invocations) -> ScoreRow {
    ScoreRow {
        coder: Some(coder.to_owned()),
        invocations: Some(invocations),
        ..row
    }
}

#[test]
fn reserved_arms_join_every_stratum_they_fit() {
    let few = Invocations::AtMost(5);
    let all = Invocations::Unlimited;
    let table = table(vec![
        placed(session("walls", "saliency", 0, 0.5), "search", few),
        placed(session("walls", "saliency", 0, 0.5), "search", all),
        placed(session("walls", "saliency", 0, 0.5), "other", all),
        placed(session("walls", "no-method", 0, 0.1), "search", all),
        placed(session("walls", "optimal-repair", 0, 1.0), "optimal", all),
    ]);
    let strata = table.strata();
    let seen: Vec<String> = strata
        .iter()
        .map(|stratum| {
            let methods = stratum.methods().join(",");
            let invocations = stratum.invocations().unwrap();
            format!("{} {invocations}: {methods}", stratum.coder().unwrap())
        })
        .collect();
    assert_eq!(
        seen,
        [
            "other unlimited: optimal-repair,saliency",
            "search 5: no-method,optimal-repair,saliency",
            "search unlimited: no-method,optimal-repair,saliency",
        ]
    );
}

#[test]
fn planned_cells_count_what_is_missing_and_refuse_what_was_not_planned() {
    let cell = |malfunction: &str, method: &str| PlannedCell {
        coder: None,
        invocations: None,
        malfunction: malfunction.to_owned(),
        method: method.to_owned(),
        environment: "treasure_grid".to_owned(),
        sessions: 3,
    };
    let seen = table(vec![
        session("walls", "saliency", 0, 0.5),
        session("walls", "no-method", 0, 0.5),
    ]);
    let planned = [
        cell("walls", "saliency"),
        cell("walls", "no-method"),
        cell("doors", "saliency"),
    ];
    let summary = seen.clone().with_planned(planned).unwrap().summary();
    assert_eq!(
        (summary.planned, summary.sessions, summary.missing),
        (9, 2, 7)
    );
    let errors = seen.with_planned([cell("walls", "saliency")]).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "no-method on walls (coder -, invocations -) has sessions but is not planned"
    );
}

#[test]
fn the_error_of_references_grows_away_from_the_middle() {
    let reference = ReferenceError {
        gap: 2.0,
        standard_error_clean: 0.2,
        standard_error_broken: 0.4,
    };
    assert!((reference.at(0.0) - 0.2).abs() < 1e-15);
    assert!((reference.at(1.0) - 0.1).abs() < 1e-15);
    let inverted = ReferenceError {
        gap: -2.0,
        ..reference
    };
    let errors = table(vec![session("walls", "saliency", 0, 0.5)])
        .with_references(BTreeMap::from([("walls".to_owned(), inverted)]))
        .unwrap_err();
    assert!(errors[0].to_string().starts_with("the references of walls"));
}

#[test]
fn a_malfunction_planned_in_another_environment_is_refused_once() {
    let planned = |environment: &str| {
        ["saliency", "no-method"].map(|method| PlannedCell {
            coder: None,
            invocations: None,
            malfunction: "walls".to_owned(),
            method: method.to_owned(),
            environment: environment.to_owned(),
            sessions: 1,
        })
    };
    let seen = table(vec![session("walls", "saliency", 0, 0.5)]);
    let errors = seen.clone().with_planned(planned("lander")).unwrap_err();
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        ["walls is planned in environment lander, but has sessions in treasure_grid"]
    );
    // Where either side does not tell, nothing contradicts.
    assert!(seen.with_planned(planned(UNKNOWN_ENVIRONMENT)).is_ok());
}

#[test]
fn a_table_may_leave_the_environment_out() {
    let mut row = serde_json::to_value(session("walls", "saliency", 0, 0.5)).unwrap();
    row.as_object_mut().unwrap().remove("environment");
    let row: ScoreRow = serde_json::from_value(row).unwrap();
    let table = table(vec![row]);
    assert_eq!(table.planned()[0].environment, "-");
    let misspelt = serde_json::json!({ "malfunction": "walls", "metod": "saliency" });
    let error = serde_json::from_value::<ScoreRow>(misspelt).unwrap_err();
    assert!(error.to_string().contains("unknown field `metod`"));
}

#[test]
fn a_coalition_names_each_member_once_and_every_member() {
    let mut nobody = session("walls", "saliency", 0, 0.5);
    nobody.coder = Some(String::new());
    nobody.block = Some(String::new());
    let rows = vec![
        session("walls", "b+a+b", 0, 0.5),
        session("walls", "a+", 0, 0.5),
        nobody,
    ];
    assert_eq!(
        refusals(rows),
        [
            "2: method b+a+b: a coalition that names a member twice",
            "3: method a+: a coalition with a member that has no name",
            "4: coder \"\": empty",
            "4: block \"\": empty",
        ]
    );
}

#[test]
fn reserved_arms_are_known_by_the_ids_a_caller_gives() {
    let roles = Roles {
        no_method: "control".to_owned(),
        optimal_repair: "revert".to_owned(),
        ..Roles::default()
    };
    let all = Invocations::Unlimited;
    let rows = vec![
        placed(
            session("walls", "saliency", 0, 0.5),
            "search",
            Invocations::AtMost(5),
        ),
        placed(session("walls", "control", 0, 0.1), "search", all),
        placed(session("walls", "revert", 0, 1.0), "script", all),
        placed(
            session("walls", "no-method", 0, 0.3),
            "search",
            Invocations::AtMost(5),
        ),
    ];
    let table = ScoreTable::from_rows((2..).zip(rows), roles).unwrap();
    let strata = table.strata();
    assert_eq!(strata.len(), 1);
    assert_eq!(
        strata[0].methods(),
        ["control", "no-method", "revert", "saliency"]
    );
    // The default id is an explanation method like any other once another id plays its role.
    assert_eq!(table.roles().of("no-method"), Role::Xrl);
}

#[test]
fn an_arm_of_the_stratum_itself_goes_before_one_that_joins() {
    let few = Invocations::AtMost(5);
    let all = Invocations::Unlimited;
    let table = table(vec![
        placed(session("walls", "saliency", 0, 0.5), "search", few),
        placed(session("walls", "saliency", 0, 0.5), "search", all),
        placed(session("walls", "cheat-oracle", 0, 0.8), "search", few),
        placed(session("walls", "cheat-oracle", 0, 0.9), "search", all),
    ]);
    let oracle: Vec<f64> = table
        .strata()
        .iter()
        .map(|stratum| stratum.cell("walls", "cheat-oracle").unwrap().rows[0].raw)
        .collect();
    assert_eq!(oracle, [0.8, 0.9]);
}

#[test]
fn a_session_counted_twice_names_both_lines_and_the_row_order_does_not_matter() {
    let rows = vec![
        session("walls", "saliency", 3, 0.5),
        session("doors", "saliency", 3, 0.5),
        session("walls", "saliency", 3, 0.7),
        session("walls", "saliency", 3, 0.9),
    ];
    assert_eq!(
        refusals(rows),
        [
            "4: replication 3: a second session of saliency on walls, after line 2",
            "5: replication 3: a second session of saliency on walls, after line 2",
        ]
    );
}
