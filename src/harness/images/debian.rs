//! Knows how to make a root file system from Debian packages where no image registry answers.
//! Must not name a mirror: the packages come from where this machine's own come from.
//! Start at `make`.

use std::fs;
use std::path::{Path, PathBuf};

use super::{failed, host};
use crate::vocab::{FaultKind, HarnessFault};

/// The release whose Python is 3.11.
const RELEASE: &str = "bookworm";

/// Writes a root file system with these packages to a tar file.
pub(super) async fn make(packages: &[String], target: &Path) -> Result<(), HarnessFault> {
    let program = find("mmdebstrap").ok_or_else(|| {
        HarnessFault::new(
            FaultKind::ImageMissing,
            "no image registry answers and mmdebstrap is not installed; install it (and run as root) or load the base image",
        )
    })?;
    let include = format!("--include={}", packages.join(","));
    let target = target.display().to_string();
    let mut arguments = vec![
        "--variant=minbase",
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
        &include,
        RELEASE,
        &target,
    ];
    let sources = own_sources(Path::new("/etc/apt"));
    let staged = tempfile::Builder::new()
        .suffix(".sources")
        .tempfile()
        .map_err(|error| failed("writing package sources", error))?;
    let path = staged.path().display().to_string();
    // Without an entry for this release mmdebstrap takes the distribution's own default.
    if !sources.is_empty() {
        fs::write(staged.path(), sources)
            .map_err(|error| failed("writing package sources", error))?;
        arguments.push(&path);
    }
    host("making the Debian base", &program, &arguments).await?;
    Ok(())
}

/// The entries of this machine's package sources for the release.
fn own_sources(configuration: &Path) -> String {
    let mut files = vec![configuration.join("sources.list")];
    if let Ok(entries) = fs::read_dir(configuration.join("sources.list.d")) {
        files.extend(entries.flatten().map(|entry| entry.path()));
    }
    files.sort();
    let mut stanzas = Vec::new();
    for file in files {
        // A file that is not readable names no source.
        let text = fs::read_to_string(&file).unwrap_or_default();
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("sources") => stanzas.extend(of_release(&text)),
            Some("list") => stanzas.extend(text.lines().filter_map(from_line)),
            _ => {}
        }
    }
    stanzas.join("\n\n")
}

fn is_release(suite: &str) -> bool {
    [RELEASE, "bookworm-updates", "bookworm-security"].contains(&suite)
}

/// The stanzas of a file in field form that serve the release from the main component.
fn of_release(text: &str) -> Vec<String> {
    let field = |stanza: &str, name: &str| {
        stanza
            .lines()
            .find_map(|line| line.strip_prefix(name).map(str::to_owned))
            .unwrap_or_default()
    };
    let without_comments: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    without_comments
        .join("\n")
        .split("\n\n")
        .filter(|stanza| {
            field(stanza, "Suites:").split_whitespace().any(is_release)
                && field(stanza, "Components:")
                    .split_whitespace()
                    .any(|name| name == "main")
        })
        .map(|stanza| stanza.trim().to_owned())
        .collect()
}

/// A line in the older form, in field form.
fn from_line(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("deb ")?.trim();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(more) => more.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace();
    let (address, suite) = (words.next()?, words.next()?);
    if !is_release(suite) || !words.any(|component| component == "main") {
        return None;
    }
    let signed = options
        .split_whitespace()
        .find_map(|option| option.strip_prefix("signed-by="))
        .map_or(String::new(), |key| format!("\nSigned-By: {key}"));
    Some(format!(
        "Types: deb\nURIs: {address}\nSuites: {suite}\nComponents: main{signed}"
    ))
}

/// A program in the places of system programs.
fn find(name: &str) -> Option<PathBuf> {
    ["/usr/bin", "/usr/sbin", "/usr/local/bin"]
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_entries_of_the_release_and_its_main_component_are_taken() {
        let text = "Types: deb\n# why\nURIs: mirror:one\nSuites: bookworm bookworm-updates\nComponents: main\n\n\
                    Types: deb\nURIs: mirror:two\nSuites: nodistro\nComponents: main\n\n\
                    Types: deb\nURIs: mirror:three\nSuites: bookworm\nComponents: extra\n";
        assert_eq!(
            of_release(text),
            ["Types: deb\nURIs: mirror:one\nSuites: bookworm bookworm-updates\nComponents: main"]
        );
    }

    #[test]
    fn an_entry_of_one_line_is_understood_with_its_key() {
        let line =
            "deb [arch=amd64 signed-by=/usr/share/keyrings/k.gpg] mirror:one bookworm main contrib";
        assert_eq!(
            from_line(line).as_deref(),
            Some(
                "Types: deb\nURIs: mirror:one\nSuites: bookworm\nComponents: main\nSigned-By: /usr/share/keyrings/k.gpg"
            )
        );
        assert_eq!(from_line("deb mirror:one trixie main"), None);
        assert_eq!(from_line("# deb mirror:one bookworm main"), None);
    }
}
