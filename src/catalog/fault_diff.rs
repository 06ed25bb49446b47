//! Knows unified diffs: reading, writing, reversing, and applying at the stated line with no fuzz and no offset.
//! Must not know which edits a malfunction may make.
//! Start at `FaultDiff::parse`.

use diffy::patch_set::{ParseOptions, PatchSet};

use super::folder::Files;

/// Why a text is no usable diff, or does not fit a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// The text is not what `diff -u` writes.
    #[error("line {line}: {what}")]
    Malformed {
        /// Line of the diff, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// The diff as a whole cannot be read.
    #[error("is not a unified diff: {0}")]
    Unreadable(String),
    /// A file that the diff changes is not in the tree.
    #[error("changes {0}, which is not there")]
    Missing(String),
    /// A file that the diff changes is not plain text with line feeds.
    #[error("changes {path}, which {what}")]
    NotText {
        /// The file.
        path: String,
        /// Why it is not plain text.
        what: &'static str,
    },
    /// A hunk does not fit.
    #[error(
        "does not apply to {path}: line {line} of the file is `{found}`, the diff expects `{expected}`"
    )]
    Mismatch {
        /// The file.
        path: String,
        /// Line of the file, from 1.
        line: usize,
        /// What the diff expects there.
        expected: String,
        /// What is there; empty at the end of the file.
        found: String,
    },
}

/// What a line of a hunk does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Stays.
    Keep,
    /// Is taken out.
    Remove,
    /// Is put in.
    Add,
}

/// A line of a hunk, without its line feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkLine {
    /// What it does.
    pub edit: Edit,
    /// Its text.
    pub text: String,
}

/// A run of neighbouring lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line in the old file, from 1.
    pub old_start: usize,
    /// First line in the new file, from 1.
    pub new_start: usize,
    /// Its lines.
    pub lines: Vec<HunkLine>,
}

impl Hunk {
    fn count(&self, without: Edit) -> usize {
        self.lines
            .iter()
            .filter(|line| line.edit != without)
            .count()
    }
}

/// The changes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// The file, without the prefix `a/`.
    pub path: String,
    /// Its hunks in order.
    pub hunks: Vec<Hunk>,
}

/// A diff of existing text files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultDiff {
    /// Changed files in order.
    pub files: Vec<FileDiff>,
}

impl FaultDiff {
    /// Reads what `diff -u` or `git diff` writes, headers `--- a/PATH` and `+++ b/PATH`, line feeds only.
    ///
    /// # Errors
    /// The first line that is not so.
    pub fn parse(text: &str) -> Result<Self, DiffError> {
        check_lines(text)?;
        let mut files: Vec<FileDiff> = Vec::new();
        for parsed in PatchSet::parse(text, ParseOptions::unidiff()) {
            let parsed = parsed.map_err(|error| DiffError::Unreadable(error.to_string()))?;
            let patch = parsed
                .patch()
                .as_text()
                .ok_or_else(|| DiffError::Unreadable("a binary change".to_owned()))?;
            let path = plain_path(patch.original(), "a/")?;
            let other = plain_path(patch.modified(), "b/")?;
            if path != other {
                return Err(DiffError::Unreadable(format!(
                    "it renames {path} to {other}"
                )));
            }
            if files.iter().any(|file| file.path == path) {
                return Err(DiffError::Unreadable(format!("it names {path} twice")));
            }
            let hunks: Vec<Hunk> = patch.hunks().iter().map(hunk).collect();
            let edits = |hunk: &Hunk| hunk.lines.iter().any(|line| line.edit != Edit::Keep);
            if !hunks.iter().any(edits) {
                return Err(DiffError::Unreadable(format!(
                    "it changes nothing in {path}"
                )));
            }
            files.push(FileDiff { path, hunks });
        }
        let diff = Self { files };
        // Lines after a hunk are passed over in reading, and what somebody wrote there would be lost.
        let written = diff.to_string();
        let count = |text: &str| text.split_terminator('\n').count();
        let lost = count(text).saturating_sub(count(&written));
        if lost > 0 {
            return Err(DiffError::Unreadable(format!(
                "{lost} lines belong to no hunk; a head `@@ … @@` counts too few"
            )));
        }
        Ok(diff)
    }

    /// The diff from one tree to another with the same files; `None` when nothing differs or a file is no plain text.
    #[must_use]
    pub fn between(clean: &Files, broken: &Files) -> Option<Self> {
        let mut text = String::new();
        for (path, old) in clean {
            let Some(new) = broken.get(path).filter(|new| *new != old) else {
                continue;
            };
            let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
                return None;
            };
            let patch = diffy::create_patch(old, new).to_string();
            let hunks = patch.splitn(3, '\n').nth(2).unwrap_or_default();
            text.push_str(&format!("--- a/{path}\n+++ b/{path}\n{hunks}"));
        }
        // Read back, so that it is written in the one form that reading gives.
        match Self::parse(&text) {
            Ok(diff) if !diff.files.is_empty() => Some(diff),
            _ => None,
        }
    }

    /// The diff that undoes this one.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let turn = |line: &HunkLine| HunkLine {
            edit: match line.edit {
                Edit::Keep => Edit::Keep,
                Edit::Remove => Edit::Add,
                Edit::Add => Edit::Remove,
            },
            text: line.text.clone(),
        };
        let files = self
            .files
            .iter()
            .map(|file| FileDiff {
                path: file.path.clone(),
                hunks: file
                    .hunks
                    .iter()
                    .map(|hunk| Hunk {
                        old_start: hunk.new_start,
                        new_start: hunk.old_start,
                        lines: hunk.lines.iter().map(turn).collect(),
                    })
                    .collect(),
            })
            .collect();
        Self { files }
    }

    /// Applies every hunk exactly at its stated line; a tree that differs anywhere there is refused.
    ///
    /// # Errors
    /// The first place that does not fit.
    pub fn apply(&self, tree: &Files) -> Result<Files, DiffError> {
        let mut result = tree.clone();
        for file in &self.files {
            let bytes = tree
                .get(&file.path)
                .ok_or_else(|| DiffError::Missing(file.path.clone()))?;
            let changed = file.apply(text_of(&file.path, bytes)?)?;
            result.insert(file.path.clone(), changed.into_bytes());
        }
        Ok(result)
    }

    /// Where the fault lies in the broken tree, by path and line from 1: each line that it put in, and where it only took
    /// lines away the lines on both sides of the gap.
    #[must_use]
    pub fn faulty_lines(&self) -> Vec<(&str, usize)> {
        let mut found = Vec::new();
        for file in &self.files {
            for hunk in &file.hunks {
                let mut next = hunk.new_start;
                for run in hunk
                    .lines
                    .chunk_by(|a, b| (a.edit == Edit::Keep) == (b.edit == Edit::Keep))
                {
                    let added = run.iter().filter(|line| line.edit == Edit::Add).count();
                    let kept = run.iter().filter(|line| line.edit == Edit::Keep).count();
                    let lines = match (added, kept) {
                        (0, 0) => next.saturating_sub(1).max(1)..next + 1,
                        _ => next..next + added,
                    };
                    found.extend(lines.map(|line| (file.path.as_str(), line)));
                    next += added + kept;
                }
            }
        }
        found
    }

    /// Lines that the diff takes out or puts in, with their file.
    pub fn lines(&self, edit: Edit) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().flat_map(move |file| {
            file.hunks
                .iter()
                .flat_map(|hunk| &hunk.lines)
                .filter(move |line| line.edit == edit)
                .map(|line| (file.path.as_str(), line.text.as_str()))
        })
    }
}

impl FileDiff {
    fn apply(&self, text: &str) -> Result<String, DiffError> {
        let old: Vec<&str> = text.split_terminator('\n').collect();
        let mut new: Vec<&str> = Vec::with_capacity(old.len());
        let mut at = 0;
        for hunk in &self.hunks {
            // A hunk without old lines names the line before it.
            let start = if hunk.count(Edit::Add) == 0 {
                hunk.old_start
            } else {
                hunk.old_start.saturating_sub(1)
            };
            if start < at || start > old.len() {
                return Err(self.mismatch(start, "", &old));
            }
            new.extend(&old[at..start]);
            at = start;
            for line in &hunk.lines {
                if line.edit == Edit::Add {
                    new.push(&line.text);
                    continue;
                }
                if old.get(at) != Some(&line.text.as_str()) {
                    return Err(self.mismatch(at, &line.text, &old));
                }
                if line.edit == Edit::Keep {
                    new.push(&line.text);
                }
                at += 1;
            }
        }
        new.extend(&old[at..]);
        let mut result = new.join("\n");
        if !new.is_empty() {
            result.push('\n');
        }
        Ok(result)
    }

    fn mismatch(&self, at: usize, expected: &str, old: &[&str]) -> DiffError {
        DiffError::Mismatch {
            path: self.path.clone(),
            line: at + 1,
            expected: expected.to_owned(),
            found: old.get(at).copied().unwrap_or_default().to_owned(),
        }
    }
}

impl std::fmt::Display for FaultDiff {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for file in &self.files {
            writeln!(formatter, "--- a/{0}\n+++ b/{0}", file.path)?;
            for hunk in &file.hunks {
                writeln!(
                    formatter,
                    "@@ -{},{} +{},{} @@",
                    hunk.old_start,
                    hunk.count(Edit::Add),
                    hunk.new_start,
                    hunk.count(Edit::Remove),
                )?;
                for line in &hunk.lines {
                    let sign = match line.edit {
                        Edit::Keep => ' ',
                        Edit::Remove => '-',
                        Edit::Add => '+',
                    };
                    writeln!(formatter, "{sign}{}", line.text)?;
                }
            }
        }
        Ok(())
    }
}

/// Every line must be a header, a hunk head or a hunk line, and end in a plain line feed.
fn check_lines(text: &str) -> Result<(), DiffError> {
    let malformed = |line: usize, what: &str| {
        Err(DiffError::Malformed {
            line,
            what: what.to_owned(),
        })
    };
    if !text.is_empty() && !text.ends_with('\n') {
        return malformed(text.lines().count(), "the last line has no line feed");
    }
    for (index, line) in text.split_terminator('\n').enumerate() {
        if line.ends_with('\r') {
            return malformed(index + 1, "ends in a carriage return; use line feeds only");
        }
        if line.starts_with('\\') {
            return malformed(
                index + 1,
                "a file without a last line feed cannot be changed",
            );
        }
        // An empty line is an empty line that stays: some writers drop its space.
        let starts = ["--- ", "+++ ", "@@ ", " ", "+", "-"];
        if !line.is_empty() && !starts.iter().any(|start| line.starts_with(start)) {
            return malformed(
                index + 1,
                "is no header `--- a/…`, `+++ b/…`, no `@@ … @@` and no line of a hunk",
            );
        }
    }
    Ok(())
}

fn plain_path(header: Option<&str>, prefix: &str) -> Result<String, DiffError> {
    let header = header.unwrap_or_default();
    let path = header.strip_prefix(prefix).ok_or_else(|| {
        DiffError::Unreadable(format!("its header names `{header}`, not {prefix}PATH"))
    })?;
    let odd = path
        .split('/')
        .any(|part| part.is_empty() || part == "." || part == "..");
    if odd {
        return Err(DiffError::Unreadable(format!(
            "its header names the path `{path}`"
        )));
    }
    Ok(path.to_owned())
}

fn hunk(parsed: &diffy::Hunk<'_, str>) -> Hunk {
    let lines = parsed
        .lines()
        .iter()
        .map(|line| {
            let (edit, text) = match line {
                diffy::Line::Context(text) => (Edit::Keep, text),
                diffy::Line::Delete(text) => (Edit::Remove, text),
                diffy::Line::Insert(text) => (Edit::Add, text),
            };
            HunkLine {
                edit,
                text: text.strip_suffix('\n').unwrap_or(text).to_owned(),
            }
        })
        .collect();
    Hunk {
        old_start: parsed.old_range().start(),
        new_start: parsed.new_range().start(),
        lines,
    }
}

fn text_of<'a>(path: &str, bytes: &'a [u8]) -> Result<&'a str, DiffError> {
    let not_text = |what| DiffError::NotText {
        path: path.to_owned(),
        what,
    };
    let text = std::str::from_utf8(bytes).map_err(|_| not_text("is not UTF-8 text"))?;
    if text.contains('\0') {
        return Err(not_text("is not text"));
    }
    if text.contains('\r') {
        return Err(not_text("has carriage returns; convert it to line feeds"));
    }
    if !text.is_empty() && !text.ends_with('\n') {
        return Err(not_text("has no last line feed; add one"));
    }
    Ok(text)
}

#[cfg(test)]
#[path = "fault_diff_tests.rs"]
mod tests;
