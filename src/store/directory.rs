//! Knows the layout of a run directory and reads and writes its files.
//! Must not know the content of a plan; it is handed canonical bytes.
//! Start at `RunDirectory::open`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{BlockRecord, LocalisationFolder, SessionRecord, atomic};
use crate::vocab::{HarnessFault, MalfunctionId, SessionKey};

/// A run directory that cannot be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another plan was frozen here.
    #[error("{path} holds another plan")]
    OtherPlan {
        /// The frozen plan.
        path: PathBuf,
    },
    /// There is no plan.
    #[error("{path} is not a run directory: it has no plan.json")]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A file is not of its format.
    #[error("{path}: {error}")]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        error: serde_json::Error,
    },
}

/// A harness failure of one attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// `evalxrl.attempt/1`.
    pub format: String,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// What failed.
    pub fault: HarnessFault,
    /// Wall clock until it failed, seconds.
    pub seconds: f64,
    /// USD spent.
    pub cost: f64,
}

/// A run directory.
#[derive(Debug, Clone)]
pub struct RunDirectory {
    root: PathBuf,
}

impl RunDirectory {
    /// Opens an existing run.
    ///
    /// # Errors
    /// There is no plan in it.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        let run = Self {
            root: root.to_owned(),
        };
        if run.plan_path().is_file() {
            Ok(run)
        } else {
            Err(StoreError::NotARun {
                path: root.to_owned(),
            })
        }
    }

    /// Freezes a plan into a new run directory.
    ///
    /// # Errors
    /// Another plan is there, or the folder cannot be written.
    pub fn create(root: &Path, plan: &[u8]) -> Result<Self, StoreError> {
        let run = Self {
            root: root.to_owned(),
        };
        let path = run.plan_path();
        if atomic::publish_once(&path, plan).map_err(|error| io(&path, error))? {
            Ok(run)
        } else {
            Err(StoreError::OtherPlan { path })
        }
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `plan.json`.
    #[must_use]
    pub fn plan_path(&self) -> PathBuf {
        self.root.join("plan.json")
    }

    /// The bytes of the frozen plan.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn plan(&self) -> Result<Vec<u8>, StoreError> {
        let path = self.plan_path();
        std::fs::read(&path).map_err(|error| io(&path, error))
    }

    /// The folder of a session.
    #[must_use]
    pub fn session(&self, key: &SessionKey) -> PathBuf {
        self.root.join("sessions").join(key.to_string())
    }

    /// The transcript of a session's current attempt.
    #[must_use]
    pub fn transcript(&self, key: &SessionKey) -> PathBuf {
        self.session(key).join("transcript.jsonl")
    }

    /// Whether a session is finished.
    #[must_use]
    pub fn is_finished(&self, key: &SessionKey) -> bool {
        self.session(key).join("session.json").is_file()
    }

    /// Whether a living worker holds a session.
    #[must_use]
    pub fn is_held(&self, key: &SessionKey) -> bool {
        super::lease::is_held(&self.session(key))
    }

    /// The record of a finished session.
    ///
    /// # Errors
    /// It is there but cannot be read or is malformed.
    pub fn record(&self, key: &SessionKey) -> Result<Option<SessionRecord>, StoreError> {
        read_json(&self.session(key).join("session.json"))
    }

    /// Publishes a record; false when another worker was first.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(&self, record: &SessionRecord) -> Result<bool, StoreError> {
        let path = self.session(&record.key).join("session.json");
        atomic::publish_once(&path, &pretty(&path, record)?).map_err(|error| io(&path, error))
    }

    /// Keeps a file beside the session's record.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, key: &SessionKey, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.session(key).join(name);
        atomic::publish(&path, bytes).map_err(|error| io(&path, error))
    }

    /// Harness failures of a session so far, in order.
    ///
    /// # Errors
    /// One is malformed.
    pub fn attempts(&self, key: &SessionKey) -> Result<Vec<Attempt>, StoreError> {
        let folder = self.session(key).join("attempts");
        let mut found = Vec::new();
        for number in 1.. {
            match read_json(&folder.join(format!("{number}.json")))? {
                Some(attempt) => found.push(attempt),
                None => break,
            }
        }
        Ok(found)
    }

    /// Keeps a harness failure and its transcript.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn failed(&self, key: &SessionKey, attempt: &Attempt) -> Result<(), StoreError> {
        let folder = self.session(key).join("attempts");
        let transcript = self.transcript(key);
        if transcript.is_file() {
            std::fs::create_dir_all(&folder).map_err(|error| io(&folder, error))?;
            let kept = folder.join(format!("{}.transcript.jsonl", attempt.attempt));
            std::fs::rename(&transcript, &kept).map_err(|error| io(&kept, error))?;
        }
        let path = folder.join(format!("{}.json", attempt.attempt));
        atomic::publish(&path, &pretty(&path, attempt)?).map_err(|error| io(&path, error))
    }

    /// The folder of a block.
    #[must_use]
    pub fn block_folder(&self, malfunction: &MalfunctionId, replication: u32) -> PathBuf {
        self.root
            .join("agents")
            .join(malfunction.as_str())
            .join(format!("r{replication:02}"))
    }

    /// A block that has been made.
    ///
    /// # Errors
    /// It is there but malformed.
    pub fn block(
        &self,
        malfunction: &MalfunctionId,
        replication: u32,
    ) -> Result<Option<BlockRecord>, StoreError> {
        read_json(
            &self
                .block_folder(malfunction, replication)
                .join("block.json"),
        )
    }

    /// Publishes a block: first its agent and log, then the record that makes them count.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish_block(
        &self,
        block: &BlockRecord,
        files: &[(&str, &[u8])],
    ) -> Result<(), StoreError> {
        let folder = self.block_folder(&block.malfunction, block.replication);
        for (name, bytes) in files {
            let path = folder.join(name);
            atomic::publish(&path, bytes).map_err(|error| io(&path, error))?;
        }
        let path = folder.join("block.json");
        atomic::publish(&path, &pretty(&path, block)?).map_err(|error| io(&path, error))
    }

    /// A file of a block, e.g. its parameters.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn block_file(
        &self,
        malfunction: &MalfunctionId,
        replication: u32,
        name: &str,
    ) -> Result<Vec<u8>, StoreError> {
        let path = self.block_folder(malfunction, replication).join(name);
        std::fs::read(&path).map_err(|error| io(&path, error))
    }

    /// The folder for what can be made again.
    #[must_use]
    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// What the texts of dossiers say by themselves about the faults of this run, where that was measured.
    #[must_use]
    pub fn localisation(&self) -> LocalisationFolder {
        LocalisationFolder::open(&self.root.join("localisation"))
    }

    /// Removes half-written files that a killed process left behind; their number.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn clear_partial(&self) -> Result<usize, StoreError> {
        let mut removed = 0;
        for entry in walkdir::WalkDir::new(&self.root) {
            let entry = entry.map_err(|error| io(&self.root, error.into()))?;
            let left_over = entry.file_name().to_string_lossy().starts_with(".partial-")
                && entry.file_type().is_file()
                && entry.metadata().is_ok_and(|metadata| {
                    metadata
                        .modified()
                        .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > super::lease::STALE))
                });
            if left_over {
                std::fs::remove_file(entry.path()).map_err(|error| io(entry.path(), error))?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

/// A document that names its kind and version.
pub(super) trait Versioned {
    /// The only format that is read.
    const FORMAT: &'static str;
    /// The format as the document names it.
    fn format(&self) -> &str;
}

impl Versioned for SessionRecord {
    const FORMAT: &'static str = "evalxrl.session/1";
    fn format(&self) -> &str {
        &self.format
    }
}

impl Versioned for BlockRecord {
    const FORMAT: &'static str = "evalxrl.block/1";
    fn format(&self) -> &str {
        &self.format
    }
}

impl Versioned for Attempt {
    const FORMAT: &'static str = "evalxrl.attempt/1";
    fn format(&self) -> &str {
        &self.format
    }
}

pub(super) fn io(path: &Path, error: std::io::Error) -> StoreError {
    StoreError::Io {
        path: path.to_owned(),
        error,
    }
}

pub(super) fn pretty<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>, StoreError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| StoreError::Malformed {
        path: path.to_owned(),
        error,
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

pub(super) fn read_json<T>(path: &Path) -> Result<Option<T>, StoreError>
where
    T: Versioned + for<'de> Deserialize<'de>,
{
    let malformed = |error| StoreError::Malformed {
        path: path.to_owned(),
        error,
    };
    match std::fs::read(path) {
        Ok(bytes) => {
            let value: T = serde_json::from_slice(&bytes).map_err(malformed)?;
            if value.format() == T::FORMAT {
                return Ok(Some(value));
            }
            let wrong = format!("format is `{}`, not `{}`", value.format(), T::FORMAT);
            Err(malformed(serde::de::Error::custom(wrong)))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io(path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_another_version_is_malformed_and_names_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::create(folder.path(), b"{}").unwrap();
        let malfunction = MalfunctionId::new("treasure-grid-x").unwrap();
        let block = serde_json::json!({
            "format": "evalxrl.block/2", "malfunction": malfunction, "replication": 0, "seed": "train/x/0",
            "passed_over": 0, "agent": "00", "episodes": "00", "p_clean": 1.0,
            "p_clean_standard_error": 0.0, "p_broken": [0.0], "source": "00", "seconds": 1.0,
        });
        let path = run.block_folder(&malfunction, 0).join("block.json");
        atomic::publish(&path, block.to_string().as_bytes()).unwrap();
        let error = run.block(&malfunction, 0).unwrap_err().to_string();
        assert!(
            error.contains("block.json") && error.contains("evalxrl.block/2"),
            "{error}"
        );
    }
}
