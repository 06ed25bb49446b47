//! Knows how the folder of candidates is read: ladders that people write, and figures beside them.
//! Must not know the clean source.
//! Start at `survey`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::vocab::EnvironmentId;

use super::super::fields::Fields;
use super::super::malfunction::Class;
use super::super::{Problem, Problems};
use super::{CANDIDATES, Candidate, CandidateEdit, CandidateFigures, Candidates};

/// The format of a file of candidates.
const FORMAT: &str = "evalxrl.candidates/1";

/// What the folder holds, by environment.
type Read<T> = BTreeMap<EnvironmentId, T>;

/// Reads every file of the folder; an absent folder holds nothing.
pub(in crate::catalog) fn survey(
    root: &Path,
    problems: &mut Problems,
) -> (Read<Candidates>, Read<CandidateFigures>) {
    let (mut ladders, mut figures) = (BTreeMap::new(), BTreeMap::new());
    for name in names(root, problems) {
        let place = format!("{CANDIDATES}/{name}");
        let text = match std::fs::read_to_string(root.join(&place)) {
            Ok(text) => text,
            Err(error) => {
                let wrong = format!("cannot be read: {error}");
                problems.push(Problem::new(place, "", wrong, "make it readable"));
                continue;
            }
        };
        if name.ends_with(".figures.toml") {
            if let Some(read) = CandidateFigures::read(&place, &text, problems) {
                figures.insert(read.environment.clone(), read);
            }
        } else if let Some(folder) = name.strip_suffix(".toml") {
            if let Some(read) = candidates(folder, &place, &text, problems) {
                ladders.insert(read.environment.clone(), read);
            }
        } else {
            problems.push(Problem::new(place, "", "does not belong here", "remove it"));
        }
    }
    (ladders, figures)
}

/// Names of the files of the folder, sorted, without those that begin with a dot.
fn names(root: &Path, problems: &mut Problems) -> Vec<String> {
    let entries = match std::fs::read_dir(root.join(CANDIDATES)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            let wrong = error.to_string();
            problems.push(Problem::new(CANDIDATES, "", wrong, "make it readable"));
            return Vec::new();
        }
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names
}

fn candidates(name: &str, place: &str, text: &str, problems: &mut Problems) -> Option<Candidates> {
    let mut fields = Fields::of_file(place, text, problems)?;
    let format: Option<String> = fields.required("format", &format!("\"{FORMAT}\""), problems);
    if let Some(other) = format.filter(|format| format != FORMAT) {
        let wrong = format!("`{other}` is not known");
        problems.push(fields.problem("format", wrong, format!("write \"{FORMAT}\"")));
    }
    let environment: Option<EnvironmentId> =
        fields.required("environment", &format!("\"{name}\""), problems);
    if let Some(id) = environment.as_ref().filter(|id| id.as_str() != name) {
        let wrong = format!("`{id}` is not the name of the file");
        problems.push(fields.problem("environment", wrong, format!("write \"{name}\"")));
    }
    let mut seen = BTreeSet::new();
    let mut list = Vec::new();
    for table in fields.tables("candidate", problems) {
        let Some(candidate) = candidate(table, problems) else {
            continue;
        };
        if !seen.insert(candidate.entry.clone()) {
            problems.push(Problem::new(
                place,
                &candidate.entry,
                "is the name of two candidates",
                "name one of them otherwise, e.g. with a letter at its end",
            ));
        }
        list.push(candidate);
    }
    fields.finish(problems);
    Some(Candidates {
        environment: environment?,
        list,
    })
}

fn candidate(mut fields: Fields, problems: &mut Problems) -> Option<Candidate> {
    let entry: Option<String> = fields.required(
        "entry",
        "letters, digits and dashes, e.g. \"RC1\"",
        problems,
    );
    if let Some(entry) = &entry
        && (entry.is_empty() || !entry.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
    {
        let wrong = format!("`{entry}` is no name of a candidate");
        problems.push(fields.problem("entry", wrong, "write letters, digits and dashes"));
    }
    let classes = Class::ALL.map(Class::as_str).join(", ");
    let class: Option<Class> = fields.required("class", &format!("one of {classes}"), problems);
    if class == Some(Class::Composite) {
        let remedy = "write the halves as candidates, and the composite as a folder";
        problems.push(fields.problem("class", "`composite` has no ladder", remedy));
    }
    let what: Option<String> = fields.required("what", "what is broken", problems);
    if what.as_ref().is_some_and(|what| what.trim().is_empty()) {
        problems.push(fields.problem("what", "is empty", "write what is broken"));
    }
    let strengths = "a list of strengths, the weakest first";
    let ladder: Option<Vec<String>> = fields.required("ladder", strengths, problems);
    if let Some(ladder) = &ladder {
        let distinct: BTreeSet<&String> = ladder.iter().collect();
        if ladder.is_empty() || distinct.len() < ladder.len() {
            let remedy = "write each strength once, or [\"\"] when there is nothing to vary";
            problems.push(fields.problem("ladder", "is empty or repeats a strength", remedy));
        }
    }
    let quantities = "a list of \"learning_rate\", \"entropy_coefficient\", \"gamma\"";
    let skip = fields
        .optional("skip", quantities, problems)
        .unwrap_or_default();
    let declined = fields
        .optional(
            "declined",
            "why a strength that passes is not taken",
            problems,
        )
        .unwrap_or_default();
    let tables = fields.tables("edit", problems);
    if tables.is_empty() {
        let remedy = "write [[candidate.edit]] with file, from and to";
        problems.push(fields.problem("edit", "is missing", remedy));
    }
    let count = tables.len();
    let edits: Vec<CandidateEdit> = tables
        .into_iter()
        .filter_map(|table| edit(table, problems))
        .collect();
    fields.finish(problems);
    let candidate = Candidate {
        entry: entry?,
        class: class?,
        what: what?,
        ladder: ladder?,
        skip,
        declined,
        edits,
    };
    (candidate.edits.len() == count).then_some(candidate)
}

fn edit(mut fields: Fields, problems: &mut Problems) -> Option<CandidateEdit> {
    let file = fields.required("file", "a path from evalxrl_envs/", problems);
    let from: Option<String> = fields.required("from", "text of the clean file", problems);
    if from.as_ref().is_some_and(String::is_empty) {
        problems.push(fields.problem("from", "is empty", "write text of the clean file"));
    }
    let to = fields.required("to", "the text in its place", problems);
    fields.finish(problems);
    Some(CandidateEdit {
        file: file?,
        from: from?,
        to: to?,
    })
}
