//! Knows what the edits of candidates must be: each fits the clean source, and each rung is a fault of its own.
//! Must not know how candidates are written.
//! Start at `check`.

use std::collections::BTreeMap;

use super::super::environment::Environment;
use super::super::folder::Files;
use super::super::{Problem, Problems, fault_rules};
use super::{CANDIDATES, Candidate, Candidates, edit_hash};

/// Checks every rung against the clean source, with the rules of a malfunction's diff.
pub(in crate::catalog) fn check(
    candidates: &Candidates,
    environment: &Environment,
    problems: &mut Problems,
) {
    let place = format!("{CANDIDATES}/{}.toml", candidates.environment);
    for candidate in &candidates.list {
        if single_texts(&place, candidate, &environment.source, problems) {
            rungs(&place, candidate, environment, problems);
        }
    }
}

/// Checks that each `from` is in its clean file once; whether all are.
fn single_texts(
    place: &str,
    candidate: &Candidate,
    clean: &Files,
    problems: &mut Problems,
) -> bool {
    let before = problems.list().len();
    for edit in &candidate.edits {
        let mut broken = |wrong: String, remedy: &str| {
            problems.push(Problem::new(place, &candidate.entry, wrong, remedy));
        };
        let Some(bytes) = clean.get(&edit.file) else {
            let wrong = format!("changes {}, which a workspace does not hold", edit.file);
            broken(wrong, "name a file of the clean source, from evalxrl_envs/");
            continue;
        };
        let count = String::from_utf8_lossy(bytes).matches(&edit.from).count();
        if count != 1 {
            let shown: String = edit.from.trim().chars().take(60).collect();
            let wrong = format!("`{shown}` occurs {count} times in {}, not once", edit.file);
            broken(
                wrong,
                "quote the clean file, with enough around it to be found once",
            );
        }
    }
    problems.list().len() == before
}

fn rungs(place: &str, candidate: &Candidate, environment: &Environment, problems: &mut Problems) {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for strength in &candidate.ladder {
        let field = format!("{} {strength}", candidate.entry)
            .trim_end()
            .to_owned();
        let mut broken = |wrong: String, remedy: &str| {
            problems.push(Problem::new(place, &field, wrong, remedy));
        };
        let tree = match candidate.apply(strength, &environment.source) {
            Ok(tree) => tree,
            Err(error) => {
                broken(error.to_string(), "let the edits of one file lie apart");
                continue;
            }
        };
        let diff = match candidate.diff(strength, &environment.source) {
            Ok(Some(diff)) => diff,
            Ok(None) | Err(_) => {
                broken(
                    "changes nothing, or makes no plain text".into(),
                    "write another text in `to`",
                );
                continue;
            }
        };
        let edit = edit_hash(&environment.source, &tree);
        if let Some(other) = seen.insert(edit, strength) {
            let remedy = "use {strength} in `to`, or shorten the ladder";
            broken(format!("is the same fault as strength `{other}`"), remedy);
        }
        let mut found = Problems::none();
        fault_rules::check(
            place,
            &environment.id,
            candidate.class,
            &diff,
            &environment.source,
            &mut found,
        );
        for problem in found.list() {
            let wrong = format!("{} {}", problem.field, problem.wrong);
            let wrong = wrong.trim_start().to_owned();
            problems.push(Problem::new(place, &field, wrong, &problem.remedy));
        }
    }
}
