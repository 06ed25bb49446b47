//! Knows the folder of localisation records: what the texts of dossiers say about the place of faults, without a coder.
//! Must not know how a text is measured.
//! Start at `LocalisationFolder`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::atomic;
use super::directory::{StoreError, Versioned, io, pretty, read_json};
use crate::vocab::{DossierId, MalfunctionId};

/// One call of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolText {
    /// The tool.
    pub name: String,
    /// Exit code; none when it was killed at its limit.
    pub code: Option<i32>,
    /// Wall clock, seconds.
    pub seconds: f64,
    /// Bytes it printed.
    pub bytes: u64,
}

/// A line of the fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultyLine {
    /// The file, relative to the workspace root.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// Share of the other lines that stand lower, equals counting half.
    pub percentile: f64,
}

/// What one dossier's printed text says about the place of one fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalisationRecord {
    /// `evalxrl.localisation/1`.
    pub format: String,
    /// What is broken.
    pub malfunction: MalfunctionId,
    /// Whose tools were called.
    pub dossier: DossierId,
    /// Hash of all that decides the record.
    pub inputs: String,
    /// The calls.
    pub tools: Vec<ToolText>,
    /// Distinct tokens of the text.
    pub query_tokens: u64,
    /// Lines that were ranked.
    pub lines: u64,
    /// The lines of the fault.
    pub faulty: Vec<FaultyLine>,
    /// Mean percentile of the faulty lines: 1 is first, ½ is chance.
    pub percentile: f64,
}

/// A folder with one record per pair of malfunction and dossier.
#[derive(Debug, Clone)]
pub struct LocalisationFolder {
    root: PathBuf,
}

impl LocalisationFolder {
    /// The folder of this path; it need not exist yet.
    #[must_use]
    pub fn open(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Makes the folder where there is none.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make(&self) -> Result<(), StoreError> {
        std::fs::create_dir_all(&self.root).map_err(|error| io(&self.root, error))
    }

    /// The file of a pair.
    #[must_use]
    pub fn path_of(&self, malfunction: &MalfunctionId, dossier: &DossierId) -> PathBuf {
        self.root
            .join(malfunction.as_str())
            .join(format!("{dossier}.json"))
    }

    /// The record of a pair, if there is one.
    ///
    /// # Errors
    /// The file cannot be read or is no such record.
    pub fn read(
        &self,
        malfunction: &MalfunctionId,
        dossier: &DossierId,
    ) -> Result<Option<LocalisationRecord>, StoreError> {
        self.read_file(&self.path_of(malfunction, dossier))
    }

    /// Replaces the record of a pair, whole or not at all.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, record: &LocalisationRecord) -> Result<(), StoreError> {
        let path = self.path_of(&record.malfunction, &record.dossier);
        let bytes = pretty(&path, record)?;
        atomic::publish(&path, &bytes).map_err(|error| io(&path, error))
    }

    /// Every record, by malfunction and dossier; none when there is no folder.
    ///
    /// # Errors
    /// A file cannot be read or is no such record.
    pub fn all(&self) -> Result<Vec<LocalisationRecord>, StoreError> {
        let mut records = Vec::new();
        if !self.root.is_dir() {
            return Ok(records);
        }
        let files = walkdir::WalkDir::new(&self.root).min_depth(2).max_depth(2);
        for entry in files.sort_by_file_name() {
            let entry = entry.map_err(|error| io(&self.root, error.into()))?;
            let path = entry.path();
            if entry.file_type().is_file() && path.extension().is_some_and(|end| end == "json") {
                records.extend(self.read_file(path)?);
            }
        }
        Ok(records)
    }

    fn read_file(&self, path: &Path) -> Result<Option<LocalisationRecord>, StoreError> {
        let Some(record) = read_json::<LocalisationRecord>(path)? else {
            return Ok(None);
        };
        let named = self.path_of(&record.malfunction, &record.dossier);
        let misplaced = (named != path).then(|| {
            let (malfunction, dossier) = (&record.malfunction, &record.dossier);
            format!(
                "malfunction, dossier: a record of {malfunction} and {dossier} has another place"
            )
        });
        match misplaced.or_else(|| wrong(&record)) {
            Some(wrong) => Err(StoreError::Malformed {
                path: path.to_owned(),
                error: serde::de::Error::custom(wrong),
            }),
            None => Ok(Some(record)),
        }
    }
}

impl Versioned for LocalisationRecord {
    const FORMAT: &'static str = "evalxrl.localisation/1";
    fn format(&self) -> &str {
        &self.format
    }
}

/// What is wrong with the numbers of a record, if anything is.
fn wrong(record: &LocalisationRecord) -> Option<String> {
    let lines = record
        .faulty
        .iter()
        .map(|line| ("faulty.percentile", line.percentile));
    lines
        .chain([("percentile", record.percentile)])
        .find(|(_, value)| !(0.0..=1.0).contains(value))
        .map(|(field, value)| format!("{field}: {value} is not within 0 and 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> LocalisationRecord {
        LocalisationRecord {
            format: LocalisationRecord::FORMAT.to_owned(),
            malfunction: "treasure-grid-x".parse().unwrap(),
            dossier: "saliency".parse().unwrap(),
            inputs: "abc".to_owned(),
            tools: Vec::new(),
            query_tokens: 3,
            lines: 10,
            faulty: Vec::new(),
            percentile: 0.75,
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_an_absent_folder_is_empty() {
        let place = tempfile::tempdir().unwrap();
        let folder = LocalisationFolder::open(&place.path().join("localisation"));
        assert_eq!(folder.all().unwrap(), []);
        let record = record();
        folder.write(&record).unwrap();
        let read = folder.read(&record.malfunction, &record.dossier).unwrap();
        assert_eq!(read, Some(record.clone()));
        assert_eq!(folder.all().unwrap(), [record]);
    }

    #[test]
    fn a_record_that_cannot_be_is_refused_with_its_file_and_field() {
        let place = tempfile::tempdir().unwrap();
        let folder = LocalisationFolder::open(place.path());
        let mut record = record();
        record.percentile = 1.5;
        folder.write(&record).unwrap();
        let error = folder.all().unwrap_err().to_string();
        assert!(error.contains("treasure-grid-x/saliency.json"), "{error}");
        assert!(error.contains("percentile: 1.5"), "{error}");
    }

    #[test]
    fn a_record_in_the_place_of_another_is_refused_and_other_files_are_passed_over() {
        let place = tempfile::tempdir().unwrap();
        let folder = LocalisationFolder::open(place.path());
        let record = record();
        folder.write(&record).unwrap();
        let own = folder.path_of(&record.malfunction, &record.dossier);
        std::fs::write(own.with_extension("txt"), "a remark").unwrap();
        assert_eq!(folder.all().unwrap().len(), 1);
        std::fs::copy(&own, own.with_file_name("placebo.json")).unwrap();
        let error = folder.all().unwrap_err().to_string();
        assert!(error.contains("placebo.json"), "{error}");
        assert!(error.contains("has another place"), "{error}");
    }

    #[test]
    fn a_field_that_nobody_knows_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let folder = LocalisationFolder::open(place.path());
        let record = record();
        folder.write(&record).unwrap();
        let path = folder.path_of(&record.malfunction, &record.dossier);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("query_tokens", "tokens")).unwrap();
        let error = folder.all().unwrap_err().to_string();
        assert!(
            error.contains("saliency.json") && error.contains("tokens"),
            "{error}"
        );
    }
}
