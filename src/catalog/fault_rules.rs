//! Knows what the diff of a malfunction may change, and that it fits the clean source forwards and back.
//! Must not know how a diff is read.
//! Start at `check`.

use super::fault_diff::{Edit, FaultDiff};
use super::folder::Files;
use super::malfunction::Class;
use super::{Problem, Problems};
use crate::vocab::EnvironmentId;

/// Most added, and most removed, lines of one fault.
const MOST_LINES: usize = 6;

/// Checks limits, folders, comments, syntax, application and the oracle's mention of what is changed.
pub(super) fn check(
    place: &str,
    environment: &EnvironmentId,
    class: Class,
    diff: &FaultDiff,
    clean: &Files,
    problems: &mut Problems,
) {
    let mut broken = |field: &str, wrong: String, remedy: &str| {
        problems.push(Problem::new(place, field, wrong, remedy));
    };
    let most = if class == Class::Composite {
        2 * MOST_LINES
    } else {
        MOST_LINES
    };
    for (edit, word) in [(Edit::Add, "adds"), (Edit::Remove, "removes")] {
        let count = diff.lines(edit).count();
        if count > most {
            let remedy = format!("{word} at most {most} lines: make the fault smaller");
            broken("", format!("{word} {count} lines"), &remedy);
        }
    }
    let environment = format!("evalxrl_envs/{environment}/");
    let allowed = [
        environment.as_str(),
        "evalxrl_envs/agents/",
        "evalxrl_envs/core/",
        "evalxrl_envs/serving/",
    ];
    for file in &diff.files {
        if !allowed.iter().any(|folder| file.path.starts_with(folder)) {
            let remedy = format!("change files below {} only", allowed.join(", "));
            broken(
                &file.path,
                "lies outside the permitted folders".into(),
                &remedy,
            );
        }
    }
    let removed: Vec<&str> = diff.lines(Edit::Remove).map(|(_, text)| text).collect();
    for (path, line) in diff.lines(Edit::Add) {
        if let Some(comment) = comment_of(line)
            && !removed.iter().any(|old| old.contains(comment))
        {
            let wrong = format!("adds the comment `{comment}`");
            broken(
                path,
                wrong,
                "let the fault speak for itself: remove the comment",
            );
        }
        if line.ends_with([' ', '\t']) {
            broken(
                path,
                format!("adds `{line}` with white space at its end"),
                "remove the white space",
            );
        }
    }
    match diff.apply(clean) {
        Err(error) => broken(
            "",
            error.to_string(),
            "make the diff anew against the clean source, without fuzz or offset",
        ),
        Ok(faulty) => {
            if faulty == *clean {
                let remedy = "write a fault, or remove the folder";
                broken("", "changes nothing".into(), remedy);
            }
            match diff.reversed().apply(&faulty) {
                Ok(back) if back == *clean => {}
                Ok(_) => broken(
                    "",
                    "does not reverse to the clean source".into(),
                    "make it anew",
                ),
                Err(error) => {
                    broken("", format!("does not reverse: {error}"), "make it anew");
                }
            }
            for file in &diff.files {
                if let Some(wrong) = syntax_fault(&file.path, &faulty[&file.path]) {
                    broken(&file.path, wrong, "write a fault that still imports");
                }
            }
        }
    }
}

/// Checks that the oracle text names each changed file and quotes each line as it must read again.
pub(super) fn check_oracle(place: &str, oracle: &str, diff: &FaultDiff, problems: &mut Problems) {
    for file in &diff.files {
        if !oracle.contains(&file.path) {
            problems.push(Problem::new(
                place,
                "oracle",
                format!("does not name {}, which the diff changes", file.path),
                "name file, function and correct line",
            ));
        }
    }
    for (path, line) in diff.lines(Edit::Remove) {
        let line = line.trim();
        if !line.is_empty() && !oracle.contains(line) {
            problems.push(Problem::new(
                place,
                "oracle",
                format!("does not quote the correct line `{line}` of {path}"),
                "quote it as it must read",
            ));
        }
    }
}

/// The comment of a line of Python or TOML, `#` inside quotes excepted.
fn comment_of(line: &str) -> Option<&str> {
    let mut quote = None;
    let mut escaped = false;
    for (index, character) in line.char_indices() {
        match (quote, character) {
            (Some(_), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), _) if character == open && !escaped => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            (None, '#') => return Some(&line[index..]),
            _ => {}
        }
        escaped = false;
    }
    None
}

/// What is wrong with the syntax of a changed file, if anything.
fn syntax_fault(path: &str, bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    if path.ends_with(".toml") {
        return text
            .parse::<toml::Table>()
            .err()
            .map(|error| format!("is no longer TOML: {}", error.message()));
    }
    if !path.ends_with(".py") {
        return None;
    }
    let mut parser = tree_sitter::Parser::new();
    let language = tree_sitter_python::LANGUAGE.into();
    if let Err(error) = parser.set_language(&language) {
        return Some(format!("cannot be parsed: {error}"));
    }
    let tree = parser.parse(text.as_bytes(), None)?;
    tree.root_node()
        .has_error()
        .then(|| "is no longer Python".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_inside_quotes_is_no_comment() {
        assert_eq!(comment_of("x = '#'"), None);
        assert_eq!(comment_of("x = \"a\\\"#\""), None);
        assert_eq!(comment_of("x = '#'  # why"), Some("# why"));
    }

    #[test]
    fn broken_syntax_is_seen_in_python_and_toml() {
        assert_eq!(syntax_fault("a.py", b"x = (1 + 2)\n"), None);
        assert!(syntax_fault("a.py", b"x = (1 + \n").is_some());
        assert!(syntax_fault("a.toml", b"x = = 1\n").is_some());
    }
}
