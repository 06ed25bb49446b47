//! Knows what exists on disk: environments, malfunctions with their references, dossiers; and every rule they keep.
//! Must not know sandboxes, coders, plans or scores; it reads files and writes none.
//! Start at `Catalog::load`.

mod archive;
mod candidates;
mod census;
mod dossier;
mod environment;
mod fault_diff;
mod fault_rules;
mod fields;
mod folder;
mod load;
mod malfunction;
mod measured;
mod overview;
mod problem;
mod references;
mod secrecy;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::vocab::{DossierId, EnvironmentId, MalfunctionId};

pub use archive::{Caps, Entries, EntryFlaw, entries, pack};
pub use candidates::{
    CANDIDATES, Candidate, CandidateEdit, CandidateFigures, Candidates, EditError, Rung, Tunable,
    edit_hash,
};
pub use dossier::{
    Dossier, DossierArchive, Packaging, Paper, Tool, ToolCall, ToolRun, check_tools,
};
pub use environment::{ActionKind, Environment, PACKAGE, SERVING, served_hash, training_hash};
pub use fault_diff::{DiffError, Edit, FaultDiff, FileDiff, Hunk, HunkLine};
pub use fields::Fields;
pub use folder::{Files, Folder, hash_files};
pub use malfunction::{Class, Malfunction, Target};
pub use overview::OVERVIEW;
pub use problem::{Problem, Problems};
pub use references::{REFERENCES, Reference, ReferenceState, References};
pub use secrecy::Secrets;

/// An id that the catalogue does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {kind} is called `{id}`; {hint}")]
pub struct UnknownId {
    /// What was looked for.
    pub kind: &'static str,
    /// The id.
    pub id: String,
    /// The nearest known id, or where to see all.
    pub hint: String,
}

/// Everything the benchmark consists of, as it lies on disk.
#[derive(Debug, Clone)]
pub struct Catalog {
    root: PathBuf,
    environments: BTreeMap<EnvironmentId, Environment>,
    malfunctions: BTreeMap<MalfunctionId, Malfunction>,
    dossiers: BTreeMap<DossierId, Dossier>,
    shared: Files,
    references: References,
    candidates: BTreeMap<EnvironmentId, Candidates>,
    figures: BTreeMap<EnvironmentId, CandidateFigures>,
}

impl Catalog {
    /// Reads the repository below `root`.
    ///
    /// # Errors
    /// Every defect of every manifest, diff and dossier.
    pub fn load(root: &Path) -> Result<Self, Problems> {
        let (catalog, problems) = Self::survey(root);
        problems.into_result().map(|()| catalog)
    }

    /// Reads what can be read, and tells every defect beside it.
    #[must_use]
    pub fn survey(root: &Path) -> (Self, Problems) {
        load::survey(root, None)
    }

    /// Reads the repository as it would be if this folder stood in `dossiers/` under this name.
    #[must_use]
    pub fn survey_with(root: &Path, name: &DossierId, folder: &Folder) -> (Self, Problems) {
        load::survey(root, Some((name, folder)))
    }

    /// The repository root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Environments in order of id.
    pub fn environments(&self) -> impl Iterator<Item = &Environment> {
        self.environments.values()
    }

    /// Malfunctions in order of id.
    pub fn malfunctions(&self) -> impl Iterator<Item = &Malfunction> {
        self.malfunctions.values()
    }

    /// Dossiers in order of id.
    pub fn dossiers(&self) -> impl Iterator<Item = &Dossier> {
        self.dossiers.values()
    }

    /// The environment of this id.
    ///
    /// # Errors
    /// There is none.
    pub fn environment(&self, id: &EnvironmentId) -> Result<&Environment, UnknownId> {
        find(&self.environments, "environment", id)
    }

    /// The malfunction of this id.
    ///
    /// # Errors
    /// There is none.
    pub fn malfunction(&self, id: &MalfunctionId) -> Result<&Malfunction, UnknownId> {
        find(&self.malfunctions, "malfunction", id)
    }

    /// The dossier of this id.
    ///
    /// # Errors
    /// There is none.
    pub fn dossier(&self, id: &DossierId) -> Result<&Dossier, UnknownId> {
        find(&self.dossiers, "dossier", id)
    }

    /// The clean source of an environment as a workspace holds it, paths from `evalxrl_envs/`.
    ///
    /// # Errors
    /// There is no such environment.
    pub fn source(&self, id: &EnvironmentId) -> Result<&Files, UnknownId> {
        Ok(&self.environment(id)?.source)
    }

    /// The Python package that all dossiers share, paths from `xrl_common/`.
    #[must_use]
    pub fn shared(&self) -> &Files {
        &self.shared
    }

    /// Whether a malfunction of this identifier has a folder, be it sound or not.
    #[must_use]
    pub fn has_folder(&self, id: &MalfunctionId) -> bool {
        self.root.join("malfunctions").join(id.as_str()).is_dir()
    }

    /// The references as written.
    #[must_use]
    pub fn references(&self) -> &References {
        &self.references
    }

    /// Candidates in order of their environments.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidates> {
        self.candidates.values()
    }

    /// What was measured of the candidates of an environment.
    #[must_use]
    pub fn candidate_figures(&self, environment: &EnvironmentId) -> CandidateFigures {
        let none = || CandidateFigures::none(environment.clone());
        self.figures.get(environment).cloned().unwrap_or_else(none)
    }

    /// Defects of candidates against the clean source of their environments; apart from loading, since no session uses them.
    #[must_use]
    pub fn check_candidates(&self) -> Problems {
        let mut problems = Problems::none();
        for (id, candidates) in &self.candidates {
            if let Some(environment) = self.environments.get(id) {
                candidates::check(candidates, environment, &mut problems);
            }
        }
        problems.sorted()
    }

    /// What the references say of a malfunction.
    #[must_use]
    pub fn reference(&self, malfunction: &Malfunction) -> ReferenceState<'_> {
        let Some(environment) = self.environments.get(&malfunction.environment) else {
            return ReferenceState::Missing;
        };
        match self.references.state(malfunction, environment) {
            ReferenceState::Fresh(row) if !self.references.has_gaps_of(malfunction, row) => {
                ReferenceState::Stale("a half was measured again since")
            }
            state => state,
        }
    }

    /// Manifests whose `min_gap` is not the bound of their fresh references; measuring comes first, so loading bears them.
    #[must_use]
    pub fn stray_bounds(&self) -> Problems {
        let mut problems = Problems::none();
        for malfunction in self.malfunctions.values() {
            if let ReferenceState::Fresh(row) = self.reference(malfunction)
                && (row.min_gap() - malfunction.min_gap).abs() > 1e-9
            {
                problems.push(Problem::new(
                    format!("malfunctions/{}/malfunction.toml", malfunction.id),
                    "min_gap",
                    format!("{} is not the bound of the references", malfunction.min_gap),
                    format!("write {:?}", row.min_gap()),
                ));
            }
        }
        problems
    }

    /// Defects of the catalogue as a whole: floor pairs, what composites are made of.
    #[must_use]
    pub fn census(&self) -> Problems {
        census::check(self)
    }

    /// Hash of everything a session could use.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |kind: &str, id: &str, hash: &str| {
            hasher.update(format!("{kind} {id} {hash}\n").as_bytes());
        };
        for (id, environment) in &self.environments {
            add("environment", id.as_str(), &environment.hash);
        }
        for (id, malfunction) in &self.malfunctions {
            add("malfunction", id.as_str(), &malfunction.hash);
        }
        for (id, dossier) in &self.dossiers {
            add("dossier", id.as_str(), &dossier.hash);
        }
        add("shared", "xrl_common", &hash_files(&self.shared));
        hasher.finalize().to_hex().to_string()
    }

    /// Words and texts that no coder may see.
    #[must_use]
    pub fn secrets(&self) -> Secrets {
        Secrets::of(self.malfunctions.values())
    }
}

fn find<'a, I: Ord + std::fmt::Display, T>(
    map: &'a BTreeMap<I, T>,
    kind: &'static str,
    id: &I,
) -> Result<&'a T, UnknownId> {
    map.get(id).ok_or_else(|| {
        let id = id.to_string();
        let nearest = map
            .keys()
            .map(|known| {
                let known = known.to_string();
                (strsim::damerau_levenshtein(&known, &id), known)
            })
            .min();
        let hint = match nearest {
            Some((distance, known)) if distance <= 1 + id.len() / 3 => {
                format!("did you mean `{known}`?")
            }
            _ => format!("`evalxrl list {kind}s` shows all"),
        };
        UnknownId { kind, id, hint }
    })
}
