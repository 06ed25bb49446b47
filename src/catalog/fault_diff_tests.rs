use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::*;

const DIFF: &str =
    "--- a/p/a.py\n+++ b/p/a.py\n@@ -2,3 +2,3 @@ def f():\n two\n-three\n+THREE\n four\n";

fn tree(text: &str) -> Files {
    Files::from([("p/a.py".to_owned(), text.as_bytes().to_vec())])
}

fn applied(diff: &FaultDiff, text: &str) -> Result<String, DiffError> {
    diff.apply(&tree(text))
        .map(|files| String::from_utf8(files["p/a.py"].clone()).unwrap())
}

#[test]
fn a_hunk_applies_at_its_line_and_nowhere_else() {
    let diff = FaultDiff::parse(DIFF).unwrap();
    assert_eq!(
        applied(&diff, "one\ntwo\nthree\nfour\n").unwrap(),
        "one\ntwo\nTHREE\nfour\n"
    );
    let shifted = applied(&diff, "zero\none\ntwo\nthree\nfour\n").unwrap_err();
    assert_eq!(
        shifted.to_string(),
        "does not apply to p/a.py: line 2 of the file is `one`, the diff expects `two`"
    );
    let context = applied(&diff, "one\nTwo\nthree\nfour\n").unwrap_err();
    assert!(matches!(context, DiffError::Mismatch { line: 2, .. }));
}

#[test]
fn carriage_returns_and_missing_line_feeds_are_refused_by_line() {
    let refused = |text: &str| FaultDiff::parse(text).unwrap_err().to_string();
    assert!(refused(&DIFF.replace('\n', "\r\n")).starts_with("line 1: ends in a carriage return"));
    assert!(refused(DIFF.trim_end()).starts_with("line 7: the last line has no line feed"));
    assert!(
        refused(&format!("{DIFF}\\ No newline at end of file\n"))
            .starts_with("line 8: a file without a last line feed")
    );
    let diff = FaultDiff::parse(DIFF).unwrap();
    assert!(
        applied(&diff, "one\r\ntwo\r\n")
            .unwrap_err()
            .to_string()
            .contains("carriage returns")
    );
    assert!(
        applied(&diff, "one\ntwo")
            .unwrap_err()
            .to_string()
            .contains("no last line feed")
    );
}

#[test]
fn new_files_removed_files_renames_and_prose_are_refused() {
    for text in [
        "--- /dev/null\n+++ b/p/a.py\n@@ -0,0 +1 @@\n+x\n",
        "--- a/p/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        "--- a/p/a.py\n+++ b/p/b.py\n@@ -1 +1 @@\n-x\n+y\n",
        "--- a/../a.py\n+++ b/../a.py\n@@ -1 +1 @@\n-x\n+y\n",
        "this breaks the clip\n--- a/p/a.py\n+++ b/p/a.py\n@@ -1 +1 @@\n-x\n+y\n",
        "",
    ] {
        assert!(FaultDiff::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn lines_that_no_hunk_counts_and_hunks_that_change_nothing_are_refused() {
    let refused = |text: &str| FaultDiff::parse(text).unwrap_err().to_string();
    for text in [
        format!("{DIFF}+five\n"),
        format!("{DIFF}-five\n five\n\n"),
        DIFF.replace("+THREE\n", "+THREE\n+THREE and a half\n"),
        DIFF.replace("-2,3 +2,3", "-0,0 +0,0"),
    ] {
        refused(&text);
    }
    assert!(refused(&format!("{DIFF}+5\n+6\n")).contains("2 lines belong to no hunk"));
    let idle = "--- a/p/a.py\n+++ b/p/a.py\n@@ -1,2 +1,2 @@\n one\n two\n";
    assert!(refused(idle).contains("changes nothing in p/a.py"));
}

#[test]
fn between_trees_that_are_no_plain_text_there_is_no_diff() {
    let broken = Files::from([("p/a.py".to_owned(), b"one \xff\n".to_vec())]);
    assert_eq!(FaultDiff::between(&tree("one\n"), &broken), None);
    assert_eq!(FaultDiff::between(&tree("one\n"), &tree("two")), None);
    assert!(FaultDiff::between(&tree("one\n"), &tree("two\n")).is_some());
}

#[test]
fn the_reverse_diff_is_what_patch_undoes_the_edit_with() {
    let diff = FaultDiff::parse(DIFF).unwrap();
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("p")).unwrap();
    std::fs::write(place.path().join("p/a.py"), "one\ntwo\nTHREE\nfour\n").unwrap();
    let mut patch = Command::new("patch")
        .args(["-p1", "--fuzz=0", "-s"])
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(
        &mut patch.stdin.take().unwrap(),
        diff.reversed().to_string().as_bytes(),
    )
    .unwrap();
    assert!(patch.wait().unwrap().success());
    assert_eq!(
        std::fs::read_to_string(place.path().join("p/a.py")).unwrap(),
        "one\ntwo\nthree\nfour\n"
    );
}

fn lines() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-c]{0,2}", 0..12)
        .prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn applying_and_reversing_gives_back_the_file(old in lines(), new in lines()) {
        prop_assume!(old != new && !old.is_empty() && !new.is_empty());
        let text = diffy::create_patch(&old, &new)
            .to_string()
            .replacen("--- original", "--- a/p/a.py", 1)
            .replacen("+++ modified", "+++ b/p/a.py", 1);
        let diff = FaultDiff::parse(&text).unwrap();
        prop_assert_eq!(&applied(&diff, &old).unwrap(), &new);
        prop_assert_eq!(applied(&diff.reversed(), &new).unwrap(), old);
        prop_assert_eq!(FaultDiff::parse(&diff.to_string()).unwrap(), diff);
    }
}

#[test]
fn faulty_lines_are_those_put_in_and_the_edges_of_a_gap() {
    let diff = FaultDiff::parse(DIFF).unwrap();
    assert_eq!(diff.faulty_lines(), [("p/a.py", 3)]);
    let text =
        "--- a/p/a.py\n+++ b/p/a.py\n@@ -1,5 +1,5 @@\n one\n-two\n three\n four\n+five\n six\n";
    let diff = FaultDiff::parse(text).unwrap();
    assert_eq!(
        diff.faulty_lines(),
        [("p/a.py", 1), ("p/a.py", 2), ("p/a.py", 4)]
    );
}
