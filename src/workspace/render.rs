//! Knows how a broken source tree, an agent and dossier files become the files of one sandbox.
//! Must not know which malfunction or method they belong to: names inside are opaque.
//! Start at `render`.

use std::collections::BTreeMap;

use crate::vocab::Opaque;

/// A set of files by path.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// One file to place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Relative to the folder it is placed in.
    pub path: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// Permission bits.
    pub mode: u32,
}

/// A dossier's files and tools, as the catalog tells them.
#[derive(Debug, Clone)]
pub struct DossierFiles {
    /// The name the coder sees.
    pub title: String,
    /// README, papers and examples, by path.
    pub readable: Tree,
    /// `src/` and `tools/`, by path.
    pub code: Tree,
    /// Its tools.
    pub tools: Vec<ToolCommand>,
}

/// A tool as its manifest declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCommand {
    /// The command on PATH.
    pub name: String,
    /// Program and first arguments.
    pub argv: Vec<String>,
    /// One line.
    pub help: String,
    /// Time limit, seconds.
    pub timeout_seconds: u64,
}

/// What to render.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The pruned package with the fault applied, paths from the workspace root.
    pub source: &'a Tree,
    /// The parameter file handed out; absent while the agent is being trained.
    pub agent: Option<&'a [u8]>,
    /// The training seed of the agent.
    pub train_seed: u64,
    /// The text of `BRIEF.md`; absent while the agent is being trained.
    pub brief: Option<&'a str>,
    /// Dossiers with the opaque folder each is placed under.
    pub dossiers: &'a [(Opaque, DossierFiles)],
    /// The package that all dossier tools share, paths below its parent.
    pub shared_code: &'a Tree,
    /// A warm compilation cache, paths below the workspace root.
    pub compiled: &'a Tree,
}

/// A dossier once placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The name the coder sees.
    pub title: String,
    /// The opaque folder in the workspace root.
    pub name: Opaque,
    /// Its tools.
    pub tools: Vec<ToolCommand>,
    /// Folders for `PYTHONPATH`, relative to the method place, most specific first.
    pub python_path: Vec<String>,
}

/// The files of one sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Below the home folder; the coder's own.
    pub home: Vec<File>,
    /// Below the method place; readable by everybody, owned by `method`.
    pub method: Vec<File>,
    /// The dossiers, in order.
    pub dossiers: Vec<Folder>,
    /// What a submission is compared with: agent and package as handed out.
    pub handed_out: Tree,
}

/// The fixed place of the agent's parameters.
pub const PARAMETERS: &str = "agent/parameters.safetensors";

/// The command that retrains the agent.
pub const TRAIN: &str = "sh train.sh";

/// The command that serves the agent on the loopback address.
pub const SERVE: &str = "sh serve.sh";

/// Places everything under names that carry no meaning.
#[must_use]
pub fn render(request: &Request<'_>) -> Rendered {
    let mut rendered = Rendered {
        handed_out: request.source.clone(),
        ..Rendered::default()
    };
    let mut home = |path: String, bytes: Vec<u8>, mode: u32| {
        rendered.home.push(File { path, bytes, mode });
    };
    for (path, bytes) in request.source.iter().chain(request.compiled) {
        home(path.clone(), bytes.clone(), 0o644);
    }
    let train = format!(
        "#!/bin/sh\nexec python3 -m evalxrl_envs train --seed {} --device cpu \"$@\"\n",
        request.train_seed
    );
    let serve = "#!/bin/sh\nexec python3 -m evalxrl_envs serve --agent agent/parameters.safetensors \
                 --host 127.0.0.1 --port 7777 --device cpu \"$@\"\n";
    home("train.sh".to_owned(), train.into_bytes(), 0o755);
    home("serve.sh".to_owned(), serve.as_bytes().to_vec(), 0o755);
    if let Some(brief) = request.brief {
        home("BRIEF.md".to_owned(), brief.as_bytes().to_vec(), 0o644);
    }
    if let Some(agent) = request.agent {
        home(PARAMETERS.to_owned(), agent.to_vec(), 0o644);
        rendered
            .handed_out
            .insert(PARAMETERS.to_owned(), agent.to_vec());
    }
    for (name, dossier) in request.dossiers {
        for (path, bytes) in &dossier.readable {
            rendered.home.push(File {
                path: format!("{name}/{path}"),
                bytes: bytes.clone(),
                mode: 0o644,
            });
        }
        for (path, bytes) in &dossier.code {
            rendered.method.push(File {
                path: format!("{name}/{path}"),
                bytes: bytes.clone(),
                mode: 0o644,
            });
        }
        rendered.dossiers.push(Folder {
            title: dossier.title.clone(),
            name: name.clone(),
            tools: dossier.tools.clone(),
            python_path: vec![
                format!("{name}/src"),
                format!("{name}/tools"),
                "lib".to_owned(),
            ],
        });
    }
    if request
        .dossiers
        .iter()
        .any(|(_, dossier)| !dossier.tools.is_empty())
    {
        for (path, bytes) in request.shared_code {
            rendered.method.push(File {
                path: format!("lib/{path}"),
                bytes: bytes.clone(),
                mode: 0o644,
            });
        }
    }
    rendered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> Tree {
        paths
            .iter()
            .map(|path| ((*path).to_owned(), path.as_bytes().to_vec()))
            .collect()
    }

    fn dossier() -> DossierFiles {
        DossierFiles {
            title: "Reward decomposition".to_owned(),
            readable: tree(&["README.md", "papers/a.md"]),
            code: tree(&["src/rdx.py", "tools/main.py"]),
            tools: vec![ToolCommand {
                name: "rdx-audit".to_owned(),
                argv: vec!["python".to_owned()],
                help: "audit".to_owned(),
                timeout_seconds: 60,
            }],
        }
    }

    fn paths(files: &[File]) -> Vec<&str> {
        files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn readable_parts_go_to_the_coder_and_code_to_the_method_user() {
        let name = Opaque::new("0123456789ab").unwrap();
        let rendered = render(&Request {
            source: &tree(&["evalxrl_envs/a.py"]),
            agent: Some(b"weights"),
            train_seed: 5,
            brief: Some("brief"),
            dossiers: &[(name, dossier())],
            shared_code: &tree(&["xrl_common/__init__.py"]),
            compiled: &tree(&[".cache/xla/one"]),
        });
        assert_eq!(
            paths(&rendered.home),
            [
                "evalxrl_envs/a.py",
                ".cache/xla/one",
                "train.sh",
                "serve.sh",
                "BRIEF.md",
                PARAMETERS,
                "0123456789ab/README.md",
                "0123456789ab/papers/a.md"
            ]
        );
        assert_eq!(
            paths(&rendered.method),
            [
                "0123456789ab/src/rdx.py",
                "0123456789ab/tools/main.py",
                "lib/xrl_common/__init__.py"
            ]
        );
        assert_eq!(rendered.handed_out.len(), 2);
    }

    #[test]
    fn without_tools_there_is_nothing_for_the_method_user() {
        let mut oracle = dossier();
        oracle.tools.clear();
        oracle.code.clear();
        let rendered = render(&Request {
            source: &tree(&["evalxrl_envs/a.py"]),
            agent: None,
            train_seed: 5,
            brief: None,
            dossiers: &[(Opaque::new("0123456789ab").unwrap(), oracle)],
            shared_code: &tree(&["xrl_common/__init__.py"]),
            compiled: &Tree::new(),
        });
        assert!(rendered.method.is_empty());
    }
}
