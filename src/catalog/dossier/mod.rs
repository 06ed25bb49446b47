//! Knows a dossier: its manifest, what of it a coder sees, and what its tools run from.
//! Must not know how files are placed or tools are called.
//! Start at `Dossier`.

mod archive;
mod manifest;
mod rules;
mod tool_rules;

use serde::{Deserialize, Serialize};

use crate::vocab::{DossierId, EnvironmentId};

use super::folder::{Files, Folder};

pub use archive::DossierArchive;
pub(super) use manifest::read;
pub(super) use rules::check_all;
pub use tool_rules::{ToolCall, ToolRun, check_tools};

/// How much of a method a dossier shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Packaging {
    /// README with guidance, papers, one example, most tools.
    Default,
    /// A short README and the two main tools.
    Minimal,
    /// Everything.
    Rich,
}

impl Packaging {
    /// The word used in manifests.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Minimal => "minimal",
            Self::Rich => "rich",
        }
    }
}

/// A paper that a dossier cites and summarises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The summary, relative to the dossier.
    pub file: String,
    /// The citation.
    pub citation: String,
}

/// A command-line tool of a dossier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tool {
    /// The command on PATH, unique over all methods.
    pub name: String,
    /// Program and first arguments; with nothing added it is the default invocation.
    pub argv: Vec<String>,
    /// One line on what it does.
    pub help: String,
    /// After so many seconds it is killed.
    pub timeout_s: u64,
}

/// A dossier of the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct Dossier {
    /// Its id, the name of its folder.
    pub id: DossierId,
    /// The method it packages, shared by all packagings.
    pub method: DossierId,
    /// How much of it.
    pub packaging: Packaging,
    /// Raised by any change of a tool's output.
    pub version: String,
    /// The only name a coder sees.
    pub title: String,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// Its licence, an SPDX expression.
    pub licence: String,
    /// Papers it cites.
    pub papers: Vec<Paper>,
    /// Environments it can be used on.
    pub environments: Vec<EnvironmentId>,
    /// Contract members and packages it needs.
    pub needs: Vec<String>,
    /// Its tools in order.
    pub tools: Vec<Tool>,
    /// Every file by path relative to its folder.
    pub files: Files,
    /// Hash of the folder, and of the default packaging's source where that is used.
    pub hash: String,
}

impl Dossier {
    /// Ids that name arms without a dossier.
    pub const RESERVED: [&str; 3] = ["no-method", "cheat-oracle", "optimal-repair"];

    /// What a coder sees: README, papers, examples.
    #[must_use]
    pub fn visible(&self) -> Files {
        self.below(|path| {
            path == "README.md" || path.starts_with("papers/") || path.starts_with("examples/")
        })
    }

    /// What its tools run from: `src/` and `tools/`.
    #[must_use]
    pub fn code(&self) -> Files {
        self.below(|path| path.starts_with("src/") || path.starts_with("tools/"))
    }

    /// Outputs of its tools that its tests hold on to.
    #[must_use]
    pub fn golden(&self) -> Files {
        self.below(|path| path.starts_with("tests/golden/"))
    }

    fn below(&self, keeps: impl Fn(&str) -> bool) -> Files {
        self.files
            .iter()
            .filter(|(path, _)| keeps(path))
            .map(|(path, bytes)| (path.clone(), bytes.clone()))
            .collect()
    }

    fn has_source(&self) -> bool {
        self.files.keys().any(|path| path.starts_with("src/"))
    }

    /// Takes over the source and tools of the default packaging when this one ships no source; its own files stay.
    fn inherit(&mut self, default: &Folder) {
        for (path, bytes) in &default.files {
            if path.starts_with("src/") || path.starts_with("tools/") {
                self.files
                    .entry(path.clone())
                    .or_insert_with(|| bytes.clone());
            }
        }
        let joined = format!("{} {}", self.hash, default.hash());
        self.hash = blake3::hash(joined.as_bytes()).to_hex().to_string();
    }
}

/// Lets `minimal` and `rich` packagings without `src/` use source and tools of the default packaging.
pub(super) fn inherit_source(dossiers: &mut [Dossier]) {
    let defaults: Vec<(DossierId, Folder)> = dossiers
        .iter()
        .filter(|dossier| dossier.packaging == Packaging::Default)
        .map(|dossier| {
            let folder = Folder {
                files: dossier.files.clone(),
                executable: Vec::new(),
            };
            (dossier.method.clone(), folder)
        })
        .collect();
    for dossier in dossiers {
        if dossier.packaging == Packaging::Default || dossier.has_source() {
            continue;
        }
        if let Some((_, folder)) = defaults
            .iter()
            .find(|(method, _)| *method == dossier.method)
        {
            dossier.inherit(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dossier(id: &str, packaging: Packaging, files: &[(&str, &str)]) -> Dossier {
        let files: Files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect();
        let folder = Folder {
            files: files.clone(),
            executable: Vec::new(),
        };
        Dossier {
            id: id.parse().unwrap(),
            method: "method".parse().unwrap(),
            packaging,
            version: "1.0.0".into(),
            title: "Method".into(),
            authors: vec!["somebody".into()],
            licence: "Apache-2.0".into(),
            papers: Vec::new(),
            environments: Vec::new(),
            needs: Vec::new(),
            tools: Vec::new(),
            hash: folder.hash(),
            files,
        }
    }

    #[test]
    fn a_packaging_without_source_runs_the_code_of_the_default_and_keeps_its_own_tools() {
        let default = [
            ("README.md", "long"),
            ("src/method.py", "method"),
            ("tools/m.py", "tool"),
        ];
        let rich = [("README.md", "longer"), ("tools/more.py", "another tool")];
        let mut all = [
            dossier("method", Packaging::Default, &default),
            dossier("method-rich", Packaging::Rich, &rich),
        ];
        let before = all[1].hash.clone();
        inherit_source(&mut all);
        let code: Vec<String> = all[1].code().into_keys().collect();
        assert_eq!(code, ["src/method.py", "tools/m.py", "tools/more.py"]);
        assert_eq!(all[1].files["README.md"], b"longer");
        assert_eq!(all[0].code().len(), 2);
        assert_ne!(all[1].hash, before);
    }

    #[test]
    fn a_packaging_with_source_of_its_own_takes_nothing_over() {
        let mut all = [
            dossier("method", Packaging::Default, &[("tools/m.py", "tool")]),
            dossier("method-rich", Packaging::Rich, &[("src/own.py", "own")]),
        ];
        inherit_source(&mut all);
        assert_eq!(all[1].code().len(), 1);
    }
}
