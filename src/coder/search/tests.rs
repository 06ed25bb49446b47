use super::*;
use crate::coder::scripted::{AGENT, Call, Scripted, brief, dossier};

const CONFIG: &str = "p/grid/config.toml";

#[tokio::test]
async fn the_query_is_the_readme_and_one_default_run_of_each_tool() {
    let mut bench = Scripted::new([("d/README.md", "read me"), (CONFIG, "[hyper]\nx = 2\n")]);
    let mut brief = brief();
    brief.dossiers = vec![dossier()];
    brief.candidates = Some(0);
    assert_eq!(
        Search.repair(&brief, &mut bench).await,
        Ok(Ending::Submitted)
    );
    assert_eq!(
        bench.calls[..2],
        [
            Call::Tool("look".into(), vec!["--budget".into(), "small".into()]),
            Call::Tool("tell".into(), Vec::new())
        ]
    );
    assert_eq!(
        bench.notes[0]["text"],
        "read me\noutput of look\noutput of tell\n"
    );
}

#[tokio::test]
async fn a_tool_that_fails_adds_nothing_to_the_query() {
    let mut bench = Scripted::new([("d/README.md", "read me"), (CONFIG, "[hyper]\nx = 2\n")]);
    bench.failing = Some("look".into());
    let mut brief = brief();
    brief.dossiers = vec![dossier()];
    brief.candidates = Some(0);
    assert_eq!(
        Search.repair(&brief, &mut bench).await,
        Ok(Ending::Submitted)
    );
    assert_eq!(bench.notes[0]["text"], "read me\noutput of tell\n");
}

#[tokio::test]
async fn a_repair_is_found_trained_and_submitted() {
    let mut bench = Scripted::new([(CONFIG, "[params]\nslip = 0.5\n"), ("p/a.py", "x = 1\n")]);
    bench.training = |files| {
        (
            0,
            "update 1/2  return 0.0\n".into(),
            format!("of {}", files[CONFIG]),
        )
    };
    bench.scoring = |files| {
        Some(if files[AGENT].contains("slip = 0.05") {
            9.0
        } else {
            1.0
        })
    };
    assert_eq!(
        Search.repair(&brief(), &mut bench).await,
        Ok(Ending::Submitted)
    );
    let submitted = bench.submitted.unwrap();
    assert_eq!(submitted[CONFIG], "[params]\nslip = 0.05\n");
    assert_eq!(submitted[AGENT], "of [params]\nslip = 0.05\n");
    assert_eq!(submitted["p/a.py"], "x = 1\n");
}

#[tokio::test]
async fn two_sessions_with_one_seed_are_the_same_and_another_seed_is_not() {
    let session = |number: u64| async move {
        let mut bench = Scripted::new([
            (CONFIG, "[params]\nslip = 0.5\nn = 3\n"),
            ("p/a.py", "x = 1 + y\n"),
        ]);
        bench.scoring = |files| Some(files[CONFIG].len() as f64);
        let mut brief = brief();
        brief.seed =
            crate::vocab::RootSeed::weak(number).derive(&crate::vocab::SeedName::new("search/x"));
        Search.repair(&brief, &mut bench).await.unwrap();
        (bench.calls, bench.notes, bench.submitted)
    };
    assert_eq!(session(1).await, session(1).await);
    assert_ne!(session(1).await.1, session(2).await.1);
}

#[tokio::test]
async fn the_transcript_tells_the_order_and_how_many_there_are() {
    let mut bench = Scripted::new([
        (CONFIG, "[hyper]\nx = 2\n"),
        ("p/grid/environment.toml", "x = 2\n"),
    ]);
    Search.repair(&brief(), &mut bench).await.unwrap();
    let event = &bench.notes[1];
    assert_eq!(event["event"], "search_order");
    assert_eq!(event["found"], event["kept"]);
    let first: Candidate = serde_json::from_value(event["first"][0].clone()).unwrap();
    assert_eq!(
        (first.path.as_str(), first.line, first.scope.as_str()),
        (CONFIG, 2, "hyper")
    );
    let listed = event["first"].as_array().unwrap();
    assert!(listed.iter().all(|candidate| candidate["path"] == CONFIG));
}
