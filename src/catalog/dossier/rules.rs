//! Knows the rules a dossier keeps beyond its manifest: papers, lengths, verdict words, names shared with others.
//! Must not know how a tool runs.
//! Start at `check_all`.

use std::collections::{BTreeMap, BTreeSet};

use crate::vocab::EnvironmentId;

use super::super::{Problem, Problems};
use super::{Dossier, Packaging};

/// Words that pass a verdict; no golden output of a tool holds one.
pub(super) const VERDICT_WORDS: [&str; 10] = [
    "because",
    "cause",
    "caused",
    "bug",
    "fault",
    "wrong",
    "fix",
    "repair",
    "malfunction",
    "should",
];

/// Checks every dossier, and all of them against each other.
pub(in super::super) fn check_all(
    dossiers: &[Dossier],
    environments: &[&EnvironmentId],
    problems: &mut Problems,
) {
    let mut owners: BTreeMap<&str, Vec<&Dossier>> = BTreeMap::new();
    for dossier in dossiers {
        for tool in &dossier.tools {
            owners.entry(&tool.name).or_default().push(dossier);
        }
    }
    for dossier in dossiers {
        check_papers(dossier, problems);
        check_lengths(dossier, problems);
        check_golden(dossier, problems);
        let manifest = format!("dossiers/{}/dossier.toml", dossier.id);
        for environment in &dossier.environments {
            if !environments.contains(&environment) {
                let known: Vec<&str> = environments.iter().map(|id| id.as_str()).collect();
                problems.push(Problem::new(
                    &manifest,
                    "environments",
                    format!("`{environment}` is not known"),
                    format!("write some of {}", known.join(", ")),
                ));
            }
        }
        let mut own: BTreeSet<&str> = BTreeSet::new();
        for tool in &dossier.tools {
            let name = tool.name.as_str();
            let other = owners[name]
                .iter()
                .find(|owner| owner.method != dossier.method);
            let twice = (!own.insert(name)).then_some(&dossier);
            if let Some(other) = other.or(twice) {
                problems.push(Problem::new(
                    &manifest,
                    format!("tool `{name}`"),
                    format!("bears the name of a tool of {}", other.id),
                    "rename one of them: tool names are unique over all methods",
                ));
            }
        }
        if dossier.packaging != Packaging::Default
            && !dossiers.iter().any(|other| other.id == dossier.method)
        {
            problems.push(Problem::new(
                &manifest,
                "method",
                format!(
                    "there is no dossier `{}` in default packaging",
                    dossier.method
                ),
                "add it first",
            ));
        }
        if dossier.code().is_empty() {
            problems.push(Problem::new(
                format!("dossiers/{}", dossier.id),
                "",
                "has neither src/ nor tools/",
                "put the code of the tools there",
            ));
        }
    }
}

fn check_papers(dossier: &Dossier, problems: &mut Problems) {
    let place = format!("dossiers/{}", dossier.id);
    for (path, bytes) in &dossier.files {
        if !path.starts_with("papers/") {
            continue;
        }
        let mut broken = |wrong: String, remedy: &str| {
            problems.push(Problem::new(&place, path, wrong, remedy));
        };
        let text = std::str::from_utf8(bytes).ok();
        let Some(text) = text.filter(|text| !is_document(text)) else {
            broken(
                "is a binary document".into(),
                "cite the paper and summarise it in Markdown",
            );
            continue;
        };
        if !path.ends_with(".md") {
            broken(
                "is not Markdown".into(),
                "summarise the paper in a .md file",
            );
        }
        if !dossier.papers.iter().any(|paper| paper.file == *path) {
            broken(
                "is not listed".into(),
                "list it under papers in dossier.toml",
            );
        }
        let count = words(text);
        if !(300..=600).contains(&count) {
            broken(
                format!("has {count} words"),
                "write a summary of 300 to 600 words",
            );
        }
    }
    for paper in &dossier.papers {
        if !dossier.files.contains_key(&paper.file) || !paper.file.starts_with("papers/") {
            problems.push(Problem::new(
                format!("{place}/dossier.toml"),
                "papers",
                format!("`{}` is not a file below papers/", paper.file),
                "write the summary or remove the entry",
            ));
        }
    }
}

/// Whether a text is a document of another kind: a PDF may be plain ASCII, and a zero byte is UTF-8.
fn is_document(text: &str) -> bool {
    text.contains('\0')
        || ["%PDF", "%!PS", "{\\rtf"]
            .iter()
            .any(|mark| text.starts_with(mark))
}

fn check_lengths(dossier: &Dossier, problems: &mut Problems) {
    let place = format!("dossiers/{}", dossier.id);
    let (most, papers, examples) = match dossier.packaging {
        Packaging::Minimal => (300, false, 0),
        Packaging::Default => (1500, true, 1),
        Packaging::Rich => (4000, true, 3),
    };
    let mut broken = |field: &str, wrong: String, remedy: String| {
        problems.push(Problem::new(&place, field, wrong, remedy));
    };
    let packaging = dossier.packaging.as_str();
    match dossier.files.get("README.md") {
        None => broken("README.md", "is missing".into(), "write it".into()),
        Some(bytes) => {
            let count = words(&String::from_utf8_lossy(bytes));
            if count > most {
                let remedy = format!("write at most {most} for packaging {packaging}");
                broken("README.md", format!("has {count} words"), remedy);
            } else if count == 0 {
                broken("README.md", "is empty".into(), "write it".into());
            }
        }
    }
    if papers == dossier.papers.is_empty() {
        let (wrong, remedy) = if papers {
            ("cites no paper", "summarise at least one")
        } else {
            ("ships papers", "leave them to the other packagings")
        };
        broken("papers", wrong.into(), remedy.into());
    }
    let found = dossier
        .files
        .keys()
        .filter(|path| path.starts_with("examples/"))
        .count();
    if found != examples {
        let remedy = format!("ship exactly {examples} for packaging {packaging}");
        broken("examples", format!("holds {found} files"), remedy);
    }
}

fn check_golden(dossier: &Dossier, problems: &mut Problems) {
    for (path, bytes) in dossier.golden() {
        let text = String::from_utf8_lossy(&bytes);
        for word in verdict_words(&text) {
            problems.push(Problem::new(
                format!("dossiers/{}", dossier.id),
                &path,
                format!("holds the verdict word `{word}`"),
                "let the tool describe, not diagnose",
            ));
        }
    }
}

/// The verdict words that a tool's output holds.
pub(super) fn verdict_words(output: &str) -> Vec<&'static str> {
    let lower = output.to_lowercase();
    let found: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    VERDICT_WORDS
        .into_iter()
        .filter(|word| found.contains(word))
        .collect()
}

fn words(text: &str) -> usize {
    text.split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_word_counts_as_a_whole_word_only() {
        assert_eq!(
            verdict_words("The default suffix is prefixed."),
            Vec::<&str>::new()
        );
        assert_eq!(verdict_words("This should be a Bug."), ["bug", "should"]);
    }
}
