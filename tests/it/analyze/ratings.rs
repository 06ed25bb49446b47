//! What a user sees of the agreement of two raters.

use super::kit::{Called, Desk};

fn agreement(table: &str, more: &[&str]) -> Called {
    let desk = Desk::new();
    desk.write("ratings.csv", table);
    let args: Vec<&str> = ["agreement", "ratings.csv"]
        .iter()
        .chain(more)
        .copied()
        .collect();
    desk.call(&args)
}

/// Two raters who agree on 70 of 100 items, 40 times on `no` and 30 times on `yes`.
fn hundred() -> String {
    let mut text = "item,first,second\n".to_owned();
    let groups = [
        ("no", "no", 40),
        ("no", "yes", 20),
        ("yes", "no", 10),
        ("yes", "yes", 30),
    ];
    let mut item = 0;
    for (first, second, count) in groups {
        for _ in 0..count {
            text.push_str(&format!("{item},{first},{second}\n"));
            item += 1;
        }
    }
    text
}

#[test]
fn kappa_is_the_agreement_beyond_chance() {
    let found = agreement(&hundred(), &["--json"]).json();
    assert_eq!(found["format"], "evalxrl.agreement/1");
    assert_eq!(found["categories"], serde_json::json!(["no", "yes"]));
    let kappa = &found["agreements"][0]["agreement"]["kappa"];
    // p_o = .7, p_e = .6·.5 + .4·.5 = .5, so κ = .4.
    assert!(
        (kappa["kappa"].as_f64().unwrap() - 0.4).abs() < 1e-12,
        "{kappa}"
    );
    assert!((kappa["observed_agreement"].as_f64().unwrap() - 0.7).abs() < 1e-12);
    let interval = &found["agreements"][0]["agreement"]["interval"];
    assert!(interval["low"].as_f64().unwrap() < 0.4 && interval["high"].as_f64().unwrap() > 0.4);
}

#[test]
fn the_text_shows_kappa_with_its_intervals_and_flags() {
    let called = agreement(&hundred(), &["--weights", "unweighted,linear"]);
    assert_eq!(called.code, 0, "{}", called.stderr);
    assert!(
        called.stdout.contains("  unweighted  0.40 ["),
        "{}",
        called.stdout
    );
    assert!(
        called.stdout.contains("  linear      0.40 ["),
        "{}",
        called.stdout
    );
    assert!(
        called
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 100)
    );
    assert!(called.stderr.contains("seed: 0"));
    let few = agreement("item,first,second\n1,a,a\n2,b,b\n3,a,b\n", &[]);
    assert!(
        few.stdout.contains("3 verdicts are too few to inform"),
        "{}",
        few.stdout
    );
}

#[test]
fn categories_are_ordered_by_number_where_all_are_numbers_and_as_given_where_given() {
    let text = "item,first,second\n1,10,9\n2,9,9.0\n3,2,10\n";
    let of = |more: &[&str]| {
        let more: Vec<&str> = ["--json"].iter().chain(more).copied().collect();
        agreement(text, &more).json()["categories"].clone()
    };
    assert_eq!(of(&[]), serde_json::json!(["2", "9", "10"]));
    let text = "item,first,second\n1,poor,good\n2,fair,fair\n";
    let found = agreement(text, &["--json", "--categories", "poor,fair,good"]).json();
    assert_eq!(
        found["categories"],
        serde_json::json!(["poor", "fair", "good"])
    );
}

#[test]
fn raters_who_always_say_the_same_have_no_kappa_and_the_call_succeeds() {
    let called = agreement("item,first,second\n1,a,a\n2,a,a\n", &[]);
    assert_eq!(called.code, 0);
    assert!(called.stdout.contains("not computed"), "{}", called.stdout);
}

#[test]
fn every_bad_line_of_ratings_is_told_at_once() {
    let text = "item,first,second,cluster\n1,a,a,x\n1,a,b,x\n2,,b,x\n3,a,b,\n4,a,z,x\n";
    let called = agreement(text, &["--categories", "a,b"]);
    assert_eq!(called.code, 3);
    let errors = called.errors();
    for (error, start) in errors.iter().zip([
        "ratings.csv:3: item 1: stands on line 2 already",
        "ratings.csv:4: first \"\": empty",
        "ratings.csv:5: cluster \"\": empty",
        "ratings.csv:6: second z: none of the categories a, b",
    ]) {
        assert!(error.starts_with(start), "{error}");
    }
    assert_eq!(errors.len(), 4, "{errors:#?}");
    let unknown = agreement("item,first,third\n", &[]);
    assert_eq!(unknown.errors().len(), 2);
    assert_eq!(agreement("item,first,second\n", &[]).code, 3);
}

#[test]
fn verdicts_of_one_cluster_are_drawn_together() {
    let mut text = "item,first,second,cluster\n".to_owned();
    for line in hundred().lines().skip(1) {
        let item: usize = line.split(',').next().unwrap().parse().unwrap();
        text.push_str(&format!("{line},{}\n", item / 10));
    }
    let found = agreement(&text, &["--json"]).json();
    assert_eq!(found["agreements"][0]["agreement"]["clusters"], 10);
}
