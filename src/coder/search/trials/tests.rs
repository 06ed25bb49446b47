use super::*;
use crate::coder::scripted::{AGENT, Call, Scripted, TRAIN, brief};
use crate::coder::search::Operator;

const CONFIG: &str = "p/grid/config.toml";
const TRAINER: &str = "p/agents/ppo.py";

/// A bench with a trainer whose only literal is 5 and a configuration that has one number in each of two tables.
fn bench() -> Scripted {
    let mut bench = Scripted::new([
        (TRAINER, "x = 5\n"),
        (CONFIG, "[params]\na = 5\n[hyper]\nb = 5\n"),
    ]);
    bench.training = |files| {
        (
            0,
            "update 1/2  return 0.0\n".into(),
            format!("of {}", files[TRAINER]),
        )
    };
    bench
}

fn files(bench: &Scripted) -> BTreeMap<String, String> {
    let mut files = bench.files.clone();
    files.remove(AGENT);
    files
}

/// Edits of the trainer's literal, one for each number.
fn edits(numbers: &[&str]) -> Vec<Candidate> {
    numbers
        .iter()
        .map(|number| edit(TRAINER, "", 4, number))
        .collect()
}

fn edit(path: &str, scope: &str, start: usize, after: &str) -> Candidate {
    Candidate {
        path: path.into(),
        line: 1,
        scope: scope.into(),
        operator: Operator::QueryNumber,
        start,
        before: "5".into(),
        after: after.into(),
        score: 0.0,
    }
}

async fn try_out(bench: &mut Scripted, candidates: &[Candidate]) -> Result<Ending, Stop> {
    let (files, wall) = (files(bench), bench.remaining.wall_seconds);
    run(&brief(), bench, &files, candidates, wall).await
}

#[tokio::test]
async fn without_a_better_candidate_the_exact_bytes_handed_out_are_submitted() {
    let mut bench = bench();
    let before = files(&bench);
    assert_eq!(
        try_out(&mut bench, &edits(&["1", "2"])).await,
        Ok(Ending::Submitted)
    );
    let mut submitted = bench.submitted.clone().unwrap();
    assert_eq!(submitted.remove(AGENT).as_deref(), Some("handed out"));
    submitted.retain(|path, _| !path.starts_with(KEPT));
    assert_eq!(submitted, before);
    assert_eq!(bench.results(), ["scored", "scored"]);
}

#[tokio::test]
async fn a_gain_within_the_standard_errors_is_no_gain() {
    // Both standard errors are 0.3, so the bar is 0.424 above the unedited mean.
    for (gain, wins) in [(0.42, false), (0.43, true)] {
        let mut bench = bench();
        bench.scoring = if wins {
            |files| {
                Some(if files[AGENT].contains("of x = 7") {
                    0.43
                } else {
                    0.0
                })
            }
        } else {
            |files| {
                Some(if files[AGENT].contains("of x = 7") {
                    0.42
                } else {
                    0.0
                })
            }
        };
        try_out(&mut bench, &edits(&["1", "7"])).await.unwrap();
        let submitted = bench.submitted.unwrap();
        assert_eq!(submitted[TRAINER] == "x = 7\n", wins, "{gain}");
        assert_eq!(submitted[AGENT] == "of x = 7\n", wins, "{gain}");
    }
}

#[tokio::test]
async fn the_best_of_several_is_submitted_with_its_own_parameters() {
    let mut bench = bench();
    bench.scoring = |files| {
        files[AGENT]
            .strip_prefix("of x = ")
            .map_or(Some(0.0), |n| n.trim().parse().ok())
    };
    try_out(&mut bench, &edits(&["3", "8", "6"])).await.unwrap();
    let submitted = bench.submitted.as_ref().unwrap();
    assert_eq!(submitted[TRAINER], "x = 8\n");
    assert_eq!(submitted[AGENT], "of x = 8\n");
    let Some(Call::Submit(note)) = bench.calls.last() else {
        unreachable!("the last call is the submission")
    };
    assert_eq!(
        note,
        "p/agents/ppo.py line 1: `5` became `8`; mean return 8 over 64 episodes"
    );
}

#[tokio::test]
async fn a_candidate_behind_at_half_time_is_dropped_unscored() {
    let mut bench = bench();
    bench.training = |files| {
        let half = if files[TRAINER] == "x = 5\n" {
            -2.0
        } else {
            -2.1
        };
        (0, format!("update 1/2  return {half}\n"), "new".into())
    };
    try_out(&mut bench, &edits(&["1"])).await.unwrap();
    assert_eq!(bench.results(), ["dropped"]);
    let scores = bench
        .calls
        .iter()
        .filter(|call| **call == Call::Score)
        .count();
    assert_eq!(scores, 1);
}

#[tokio::test]
async fn edits_of_reward_or_environment_are_scored_however_they_train() {
    let mut bench = bench();
    bench
        .files
        .insert("p/grid/environment.py".into(), "x = 5\n".into());
    bench.training = |files| {
        let plain = files[CONFIG] == "[params]\na = 5\n[hyper]\nb = 5\n"
            && files["p/grid/environment.py"] == "x = 5\n";
        let half = if plain { 0.0 } else { -9.0 };
        (0, format!("update 1/2  return {half}\n"), "new".into())
    };
    let candidates = [
        edit(CONFIG, "params", 13, "6"),
        edit("p/grid/environment.py", "", 4, "6"),
        edit(CONFIG, "hyper", 27, "6"),
    ];
    try_out(&mut bench, &candidates).await.unwrap();
    assert_eq!(bench.results(), ["scored", "scored", "dropped"]);
}

#[tokio::test]
async fn the_unedited_tree_is_trained_once_and_only_when_needed() {
    let mut bench = bench();
    try_out(&mut bench, &[edit(CONFIG, "params", 13, "6")])
        .await
        .unwrap();
    let trainings = |bench: &Scripted| {
        let is_training = |call: &&Call| matches!(call, Call::Run(text) if text.ends_with(TRAIN));
        bench.calls.iter().filter(is_training).count()
    };
    assert_eq!(trainings(&bench), 1);
    bench = self::bench();
    try_out(&mut bench, &edits(&["1", "2", "3"])).await.unwrap();
    assert_eq!(trainings(&bench), 4);
}

#[tokio::test]
async fn a_tree_that_does_not_train_costs_no_score() {
    let mut bench = bench();
    bench.training = |files| match files[TRAINER].as_str() {
        "x = 5\n" => (0, String::new(), "new".into()),
        _ => (1, "no module".into(), String::new()),
    };
    try_out(&mut bench, &edits(&["1", "2"])).await.unwrap();
    assert_eq!(bench.results(), ["untrained", "untrained"]);
    assert_eq!(bench.remaining.score_calls, 9);
    assert_eq!(bench.submitted.unwrap()[AGENT], "handed out");
}

#[tokio::test]
async fn score_calls_end_the_trials() {
    let mut bench = bench();
    bench.remaining.score_calls = 3;
    try_out(&mut bench, &edits(&["1", "2", "3", "4"]))
        .await
        .unwrap();
    assert_eq!(bench.results(), ["scored", "scored"]);
    assert!(bench.submitted.is_some());
}

#[tokio::test]
async fn nine_tenths_of_the_wall_clock_end_the_trials() {
    let mut bench = bench();
    bench.remaining.wall_seconds = 100.0;
    bench.pace = 8.0;
    let many: Vec<String> = (10..60).map(|n| n.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    try_out(&mut bench, &edits(&many)).await.unwrap();
    assert!(!bench.results().is_empty() && bench.results().len() < 10);
    assert!(bench.submitted.is_some());
}

#[tokio::test]
async fn steps_end_the_trials_in_time_to_submit() {
    let mut bench = bench();
    bench.remaining.steps = 20;
    try_out(&mut bench, &edits(&["1", "2", "3", "4", "6", "7", "8"]))
        .await
        .unwrap();
    assert!(!bench.results().is_empty() && bench.results().len() < 7);
    assert!(bench.submitted.is_some());
}

#[tokio::test]
async fn no_score_call_at_all_submits_the_agent_untouched() {
    let mut bench = bench();
    bench.remaining.score_calls = 0;
    try_out(&mut bench, &edits(&["1"])).await.unwrap();
    assert!(matches!(bench.calls[..], [Call::Submit(_)]));
}

#[tokio::test]
async fn an_agent_that_cannot_be_set_aside_is_not_trained_over() {
    let mut bench = bench();
    bench.failing = Some("mkdir".into());
    try_out(&mut bench, &edits(&["1"])).await.unwrap();
    assert_eq!(bench.submitted.unwrap()[AGENT], "handed out");
    assert_eq!(bench.calls.len(), 2);
}

#[tokio::test]
async fn a_candidate_that_cannot_be_served_is_passed_over() {
    let mut bench = bench();
    bench.scoring = |files| (files[TRAINER] != "x = 1\n").then_some(0.0);
    try_out(&mut bench, &edits(&["1", "2"])).await.unwrap();
    assert_eq!(bench.results(), ["refused", "scored"]);
}

#[tokio::test]
async fn a_refused_best_bundle_gives_way_to_the_unedited_one() {
    let mut bench = bench();
    bench.scoring = |files| {
        Some(if files[AGENT] == "handed out" {
            0.0
        } else {
            9.0
        })
    };
    bench.refusals = 1;
    assert_eq!(
        try_out(&mut bench, &edits(&["1"])).await,
        Ok(Ending::Submitted)
    );
    let submitted = bench.submitted.unwrap();
    assert_eq!(submitted[AGENT], "handed out");
    assert_eq!(submitted[TRAINER], "x = 5\n");
}

#[tokio::test]
async fn two_refusals_give_up() {
    let mut bench = bench();
    bench.scoring = |files| {
        Some(if files[AGENT] == "handed out" {
            0.0
        } else {
            9.0
        })
    };
    bench.refusals = 2;
    let ending = try_out(&mut bench, &edits(&["1"])).await;
    assert!(matches!(ending, Ok(Ending::GaveUp(reason)) if reason.contains("refused by script")));
}

#[tokio::test]
async fn a_spent_budget_is_handed_on() {
    let mut bench = bench();
    bench.pace = 600.0;
    let ending = try_out(&mut bench, &edits(&["1"])).await;
    assert_eq!(ending, Err(Stop::Budget(crate::vocab::Limit::Wall)));
}
