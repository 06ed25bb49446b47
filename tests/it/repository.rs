//! Knows how to make a small sound repository on disk, for tests to spoil.
//! Must not know any rule.
//! Start at `Repository::sound`.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made ends the test"
)]

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A repository in a temporary folder.
pub(crate) struct Repository {
    folder: TempDir,
}

pub(crate) const MALFUNCTION: &str = "toy-grid-weak-pay";

const MANIFEST: &str = r#"id = "toy-grid-weak-pay"
environment = "toy_grid"
version = 1
class = "reward-imbalance"
held_out = false
target = "environment"
taxonomy = "none"
summary = "The treasure pays a tenth. The scored reward is untouched."
oracle = "In evalxrl_envs/toy_grid/environment.py, reward, the pay is too small. Write `    return 10 * here` and retrain."
causal = ["The agent ignores the treasure."]
not_causal = ["Episodes are long."]
min_gap = 5.0
expected_to_reveal = ["small-method"]
expected_to_mislead = ["no-method"]
"#;

const DIFF: &str = "--- a/evalxrl_envs/toy_grid/environment.py
+++ b/evalxrl_envs/toy_grid/environment.py
@@ -1,3 +1,3 @@
 def reward(here):
     # What a step pays.
-    return 10 * here
+    return 1 * here
";

const DOSSIER: &str = r#"id = "small-method"
method = "small-method"
packaging = "default"
version = "1.0.0"
title = "Small method"
authors = ["Somebody"]
licence = "Apache-2.0"
papers = [{ file = "papers/somebody-2020.md", citation = "Somebody, Something, 2020" }]
environments = ["toy_grid"]
needs = ["names"]

[[tool]]
name = "small-look"
argv = ["python", "-m", "small"]
help = "looks at the agent"
timeout_s = 60
"#;

impl Repository {
    /// One environment, one malfunction with fresh references, one dossier; no defect.
    pub(crate) fn sound() -> Self {
        let repository = Self {
            folder: TempDir::new().unwrap(),
        };
        let package = "envs/evalxrl_envs";
        repository.write(&format!("{package}/__init__.py"), "");
        repository.write(&format!("{package}/__main__.py"), "import sys\n");
        repository.write(&format!("{package}/agents/ppo.py"), "GAMMA = 0.99\n");
        repository.write(&format!("{package}/serving/server.py"), "SCALE = 1\n");
        repository.environment("toy_grid");
        repository.malfunction(MALFUNCTION, |text| text, |text| text);
        repository.dossier("small-method", |text| text);
        repository
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }

    pub(crate) fn environment(&self, id: &str) {
        let folder = format!("envs/evalxrl_envs/{id}");
        self.write(
            &format!("{folder}/environment.toml"),
            format!(
                "format = \"evalxrl.environment/1\"\nid = \"{id}\"\ntitle = \"Toy\"\n\
                 summary = \"A toy.\"\nhorizon = 5\naction = \"discrete\"\n\
                 default_action = 0\nreturn_floor = -1.0\n"
            ),
        );
        self.write(
            &format!("{folder}/config.toml"),
            "[hyper]\nlearning_rate = 3e-3\ngamma = 0.99\nentropy_coefficient = 0\n",
        );
        self.write(
            &format!("{folder}/environment.py"),
            "def reward(here):\n    # What a step pays.\n    return 10 * here\n",
        );
    }

    /// Writes a malfunction made from the sound one by changing its manifest and its diff.
    pub(crate) fn malfunction(
        &self,
        id: &str,
        manifest: impl Fn(String) -> String,
        diff: impl Fn(String) -> String,
    ) {
        let folder = format!("malfunctions/{id}");
        let text = MANIFEST.replace(MALFUNCTION, id);
        self.write(&format!("{folder}/malfunction.toml"), manifest(text));
        self.write(&format!("{folder}/fault.diff"), diff(DIFF.to_owned()));
        self.write(
            &format!("{folder}/README.md"),
            "small-method should reveal it, no-method mislead.\n",
        );
    }

    /// Writes a dossier made from the sound one by changing its manifest.
    pub(crate) fn dossier(&self, id: &str, manifest: impl Fn(String) -> String) {
        let folder = format!("dossiers/{id}");
        let text = DOSSIER
            .replace("small-method", id)
            .replace("small-look", &format!("{id}-look"));
        self.write(&format!("{folder}/dossier.toml"), manifest(text));
        self.write(&format!("{folder}/README.md"), "Look at the agent.\n");
        let summary = "word ".repeat(350);
        self.write(&format!("{folder}/papers/somebody-2020.md"), summary);
        self.write(&format!("{folder}/examples/one.md"), "An example.\n");
        self.write(
            &format!("{folder}/tools/small/__main__.py"),
            "print('seen')\n",
        );
    }
}
