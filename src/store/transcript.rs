//! Knows `transcript.jsonl`: one JSON document per line, flushed to disk line by line.
//! Must not know what a coder is.
//! Start at `Transcript::create`.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line after the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranscriptLine {
    /// Number of the line, from 1.
    pub n: u64,
    /// Seconds since the repair began.
    pub at: f64,
    /// What happened.
    pub kind: Event,
    /// The details of this kind.
    pub data: Value,
}

/// The kinds of line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// What the coder was told.
    Prompt,
    /// A shell command.
    Command,
    /// What it printed.
    Output,
    /// A dossier tool was called.
    ToolCall,
    /// What it printed.
    ToolResult,
    /// The `score` tool was called and answered.
    Score,
    /// A submission was accepted.
    Submit,
    /// A submission was refused.
    Rejected,
    /// A budget ran out.
    Limit,
    /// Processes were left behind and killed.
    Stray,
    /// A remark of the scaffold.
    Note,
    /// The session ended.
    End,
}

/// A transcript that is being written.
#[derive(Debug)]
pub struct Transcript {
    file: File,
    lines: u64,
}

impl Transcript {
    /// Begins a transcript; an older one at that path is replaced.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(path: &Path, header: &Value) -> std::io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut transcript = Self {
            file: File::create(path)?,
            lines: 0,
        };
        transcript.line(header)?;
        Ok(transcript)
    }

    /// Adds one line and forces it to disk.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn add(&mut self, at: f64, kind: Event, data: Value) -> std::io::Result<()> {
        self.lines += 1;
        let line = TranscriptLine {
            n: self.lines,
            at,
            kind,
            data,
        };
        self.line(&serde_json::to_value(line).map_err(std::io::Error::other)?)
    }

    fn line(&mut self, value: &Value) -> std::io::Result<()> {
        let mut bytes = serde_json::to_vec(value).map_err(std::io::Error::other)?;
        bytes.push(b'\n');
        self.file.write_all(&bytes)?;
        self.file.sync_data()
    }
}

/// Reads a transcript's lines after the header; a last line without newline (a crash) is dropped.
///
/// # Errors
/// The file cannot be read, or a whole line is not a transcript line.
pub fn read_transcript(path: &Path) -> std::io::Result<Vec<TranscriptLine>> {
    let text = std::fs::read_to_string(path)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole
        .lines()
        .skip(1)
        .map(|line| {
            serde_json::from_str(line)
                .map_err(|error| std::io::Error::other(format!("{}: {error}", path.display())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_cut_by_a_crash_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let mut transcript =
            Transcript::create(&path, &json!({"format": "evalxrl.transcript/1"})).unwrap();
        transcript
            .add(0.5, Event::Command, json!({"text": "ls"}))
            .unwrap();
        transcript
            .add(0.7, Event::Output, json!({"text": "a"}))
            .unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let lines = read_transcript(&path).unwrap();
            assert!(lines.len() <= 2);
            assert!(
                lines
                    .iter()
                    .enumerate()
                    .all(|(index, line)| line.n == index as u64 + 1)
            );
        }
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(read_transcript(&path).unwrap().len(), 2);
    }
}
