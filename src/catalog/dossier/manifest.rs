//! Knows `dossier.toml`, field by field, with the rules that need nothing else.
//! Must not know the other files of a dossier.
//! Start at `read`.

use serde::Deserialize;

use crate::vocab::{DossierId, EnvironmentId};

use super::super::fields::Fields;
use super::super::folder::Folder;
use super::super::{Problem, Problems};
use super::{Dossier, Packaging, Paper, Tool};

/// Members of the environment contract that a dossier may need.
const CONTRACT: [&str; 6] = [
    "reset_to",
    "components",
    "names",
    "predicates",
    "distance",
    "json",
];

/// Commands that a coder finds in every workspace, which a tool would hide.
const TAKEN: [&str; 14] = [
    "score", "submit", "python", "python3", "sh", "bash", "env", "ls", "cat", "grep", "find",
    "tar", "sed", "timeout",
];

/// Bytes of the longest name of a command.
const LONGEST: usize = 64;

/// What is wrong with a text that would act on a terminal.
const CONTROLS: &str = "holds a control character";

/// The regime in which a dossier can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Access {
    White,
    Black,
}

/// Reads a dossier whose folder is already in memory.
pub(in super::super) fn read(
    name: &str,
    place: &str,
    folder: Folder,
    problems: &mut Problems,
) -> Option<Dossier> {
    let manifest = format!("{place}/dossier.toml");
    let Some(bytes) = folder.files.get("dossier.toml") else {
        problems.push(Problem::new(
            manifest,
            "",
            "is missing",
            "write it, or run `evalxrl new dossier NAME`",
        ));
        return None;
    };
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut fields = Fields::of_file(&manifest, &text, problems)?;
    let id: Option<DossierId> = fields.required("id", &format!("\"{name}\""), problems);
    let method: Option<DossierId> = fields.required("method", "the id of the method", problems);
    let packaging = fields.required(
        "packaging",
        "\"default\", \"minimal\" or \"rich\"",
        problems,
    );
    let version: Option<String> =
        fields.required("version", "a version such as \"1.0.0\"", problems);
    let title: Option<String> = fields.required("title", "a title", problems);
    let authors: Option<Vec<String>> = fields.required("authors", "a list of names", problems);
    let licence: Option<String> = fields.required("licence", "an SPDX expression", problems);
    let papers: Option<Vec<Paper>> =
        fields.required("papers", "a list of { file, citation }", problems);
    let environments: Option<Vec<EnvironmentId>> =
        fields.required("environments", "a list of environment ids", problems);
    let needs: Option<Vec<String>> = fields.required("needs", "a list of needs", problems);
    let access: Option<Vec<Access>> =
        fields.optional("access", "a list of \"white\", \"black\"", problems);
    let tables = fields.tables("tool", problems);
    let lists_none = tables.is_empty();
    let mut tools = Vec::new();
    for table in tables {
        tools.extend(read_tool(table, problems));
    }
    let mut broken = |field: &str, wrong: String, remedy: &str| {
        problems.push(Problem::new(&manifest, field, wrong, remedy));
    };
    if Dossier::RESERVED.contains(&name) {
        let wrong = format!("`{name}` is an arm that every experiment has");
        broken("id", wrong, "choose another name");
    }
    let citations = papers.iter().flatten().map(|paper| &paper.citation);
    for (field, list) in [
        ("title", title.iter().collect::<Vec<_>>()),
        ("authors", authors.iter().flatten().collect()),
        ("papers", citations.collect()),
    ] {
        if list.iter().any(|text| text.chars().any(char::is_control)) {
            broken(field, CONTROLS.into(), "write plain text");
        }
    }
    if let Some(id) = id.as_ref().filter(|id| id.as_str() != name) {
        let wrong = format!("`{id}` is not the name of its folder");
        broken("id", wrong, &format!("write \"{name}\""));
    }
    if let (Some(id), Some(method), Some(packaging)) = (&id, &method, packaging) {
        check_packaging(id, method, packaging, &mut broken);
    }
    if let Some(version) = version.as_ref().filter(|text| !is_semantic(text)) {
        broken(
            "version",
            format!("`{version}` is no semantic version"),
            "write \"1.0.0\"",
        );
    }
    if let Some(licence) = licence.as_ref().filter(|text| !is_spdx(text)) {
        broken(
            "licence",
            format!("`{licence}` is no SPDX expression"),
            "write \"Apache-2.0\"",
        );
    }
    for (field, list) in [
        ("title", title.as_slice()),
        ("authors", authors.as_deref().unwrap_or(&[])),
    ] {
        if list.iter().any(|text| text.trim().is_empty()) {
            broken(field, "is empty".into(), "write it");
        }
    }
    if authors.as_ref().is_some_and(Vec::is_empty) {
        broken(
            "authors",
            "names nobody".into(),
            "name the authors of the dossier",
        );
    }
    if environments.as_ref().is_some_and(Vec::is_empty) {
        broken(
            "environments",
            "is empty".into(),
            "list the environments it works on",
        );
    }
    for need in needs.iter().flatten() {
        let package = need
            .strip_prefix("python:")
            .is_some_and(|name| !name.is_empty());
        if !package && !CONTRACT.contains(&need.as_str()) {
            let remedy = format!("write {} or python:<distribution>", CONTRACT.join(", "));
            broken("needs", format!("`{need}` is not known"), &remedy);
        }
    }
    if access.as_ref().is_some_and(Vec::is_empty) {
        broken(
            "access",
            "is empty".into(),
            "remove it or write [\"white\"]",
        );
    }
    if lists_none {
        broken(
            "tool",
            "lists no tool".into(),
            "write [[tool]] at least once",
        );
    }
    fields.finish(problems);
    let hash = folder.hash();
    // The folder's name, if it can: further defects are then told where they are.
    let id = DossierId::new(name).ok().or(id);
    Some(Dossier {
        id: id?,
        method: method?,
        packaging: packaging?,
        version: version?,
        title: title?,
        authors: authors?,
        licence: licence?,
        papers: papers?,
        environments: environments?,
        needs: needs?,
        tools,
        files: folder.files,
        hash,
    })
}

fn check_packaging(
    id: &DossierId,
    method: &DossierId,
    packaging: Packaging,
    broken: &mut impl FnMut(&str, String, &str),
) {
    let named = match id.as_str().rsplit_once('-') {
        Some((_, "minimal")) => Packaging::Minimal,
        Some((_, "rich")) => Packaging::Rich,
        _ => Packaging::Default,
    };
    if named != packaging {
        let wrong = format!(
            "is `{}`, but the id `{id}` says `{}`",
            packaging.as_str(),
            named.as_str()
        );
        broken(
            "packaging",
            wrong,
            "end the id in -minimal or -rich exactly when packaging says so",
        );
    }
    let expected = match named {
        Packaging::Default => method.as_str().to_owned(),
        other => format!("{method}-{}", other.as_str()),
    };
    if id.as_str() != expected {
        let wrong = format!("`{method}` does not go with the id `{id}`");
        broken("method", wrong, "write the id without -minimal or -rich");
    }
}

fn read_tool(mut fields: Fields, problems: &mut Problems) -> Option<Tool> {
    let name: Option<String> = fields.required("name", "the name of a command", problems);
    let argv: Option<Vec<String>> =
        fields.required("argv", "a list of strings, program first", problems);
    let help: Option<String> = fields.required("help", "one line", problems);
    let timeout_s: Option<u64> =
        fields.required("timeout_s", "a whole number of seconds, 1 to 300", problems);
    if let Some(name) = name.as_ref().filter(|name| !is_command(name)) {
        problems.push(fields.problem(
            "name",
            format!("`{name}` is no plain command name"),
            "write at most 64 lower-case letters, digits and dashes, beginning with a letter",
        ));
    }
    if let Some(name) = name.as_ref().filter(|name| TAKEN.contains(&name.as_str())) {
        problems.push(fields.problem(
            "name",
            format!("`{name}` is a command that every workspace has"),
            "choose another name, e.g. with the method's name before it",
        ));
    }
    let texts = argv.iter().flatten();
    if texts.clone().any(|text| text.chars().any(char::is_control)) {
        problems.push(fields.problem("argv", CONTROLS, "write plain text"));
    }
    if argv.as_ref().is_some_and(Vec::is_empty) {
        problems.push(fields.problem("argv", "is empty", "write the program first"));
    }
    if let Some(help) = help
        .as_ref()
        .filter(|help| help.trim().is_empty() || help.chars().any(char::is_control))
    {
        problems.push(fields.problem(
            "help",
            format!("{help:?} is not one line of plain text"),
            "say in one line what it does",
        ));
    }
    if let Some(seconds) = timeout_s.filter(|seconds| !(1..=300).contains(seconds)) {
        problems.push(fields.problem(
            "timeout_s",
            format!("{seconds} is out of range"),
            "write a whole number of seconds, 1 to 300",
        ));
    }
    fields.finish(problems);
    Some(Tool {
        name: name?,
        argv: argv?,
        help: help?,
        timeout_s: timeout_s?,
    })
}

fn is_command(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && name.len() <= LONGEST
}

fn is_semantic(text: &str) -> bool {
    let (rest, build) = text.split_once('+').unwrap_or((text, "x"));
    let (core, stage) = rest.split_once('-').unwrap_or((rest, "x"));
    let parts: Vec<&str> = core.split('.').collect();
    let whole = |part: &&str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_digit())
            && (part.len() == 1 || !part.starts_with('0'))
    };
    let word = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    parts.len() == 3
        && parts.iter().all(whole)
        && stage.split('.').chain(build.split('.')).all(word)
}

fn is_spdx(text: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || ".-+()".contains(c))
    };
    !text.is_empty() && text.split(' ').all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_licences_and_commands_are_told_from_other_text() {
        assert!(is_semantic("1.0.0") && is_semantic("0.12.3-rc.1"));
        assert!(!is_semantic("1.0") && !is_semantic("v1.0.0") && !is_semantic("01.0.0"));
        assert!(is_semantic("1.0.0+a-b.7") && !is_semantic("1.0.0-") && !is_semantic("1.0.0-/.."));
        assert!(is_spdx("Apache-2.0") && is_spdx("MIT OR Apache-2.0"));
        assert!(!is_spdx("") && !is_spdx("see LICENSE, please"));
        assert!(is_command("rdx-audit") && !is_command(&"a".repeat(65)) && !is_command("a b"));
    }
}
