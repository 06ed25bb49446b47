//! Knows the limits of the summary for a terminal.
//! Must not know a terminal.
//! Start at the tests.

use super::synthetic::{Shape, folder, repeat_with};
use crate::report::write;

#[test]
fn the_summary_fits_a_terminal_whatever_the_run() {
    for (methods, malfunctions, missing_every) in
        [(1, 1, 0), (1, 4, 3), (3, 4, 0), (12, 40, 7), (30, 2, 5)]
    {
        let mut shape = Shape::of(methods, malfunctions, 2);
        shape.missing_every = missing_every;
        shape.resamples = 20;
        let (out, _held) = folder(&format!("summary-{methods}-{malfunctions}"));
        let summary = write(&shape.run(), &out).unwrap().summary;
        let lines: Vec<&str> = summary.lines().collect();
        assert!(lines.len() <= 20, "{summary}");
        let path = lines.len() - 1;
        for line in &lines[..path] {
            assert!(line.chars().count() <= 100, "{line}");
        }
        assert!(lines[path].starts_with("report: "));
        assert!(!summary.contains('\u{1b}'));
        for hypothesis in ["H1 (structure): ", "H2 (oracle gap): ", "H3 (harm): "] {
            assert!(summary.contains(hypothesis), "{summary}");
        }
    }
}

#[test]
fn the_summary_of_a_pilot_shows_intervals() {
    let (out, _held) = folder("summary-pilot");
    let summary = write(&Shape::of(1, 3, 3).run(), &out).unwrap().summary;
    let all = summary
        .lines()
        .find(|line| line.starts_with("all malfunctions"))
        .unwrap();
    assert_eq!(all.matches('[').count(), 3, "{summary}");
}

#[test]
fn the_summary_names_its_coder_where_there_are_several() {
    let mut run = Shape::of(1, 3, 2).run();
    let (out, _held) = folder("summary-one-coder");
    let summary = write(&run, &out).unwrap().summary;
    assert!(!summary.contains("this is coder"), "{summary}");
    repeat_with(&mut run, "second");
    let (out, _held) = folder("summary-two-coders");
    let summary = write(&run, &out).unwrap().summary;
    assert!(
        summary
            .starts_with("this is coder search, invocations unlimited; the page has the others\n"),
        "{summary}"
    );
}
