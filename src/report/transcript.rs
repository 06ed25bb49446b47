//! Knows how the lines of a transcript are laid out on a page of their own.
//! Must not know what a coder is, nor trust any text of a session.
//! Start at `TranscriptPage::of`.

use serde::Serialize;
use serde_json::Value;

use super::run::SessionRow;
use crate::store::TranscriptLine;

/// Longest text shown of one field, characters; the transcript file holds the rest.
const LONGEST: usize = 20_000;

/// One transcript, ready for its template.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TranscriptPage {
    session: String,
    outcome: &'static str,
    detail: Option<String>,
    note: Option<String>,
    lines: Vec<LineView>,
}

#[derive(Debug, Clone, Serialize)]
struct LineView {
    n: u64,
    at: String,
    kind: String,
    fields: Vec<FieldView>,
}

#[derive(Debug, Clone, Serialize)]
struct FieldView {
    name: String,
    text: String,
    /// Many lines or a long one: set apart.
    block: bool,
}

impl TranscriptPage {
    pub(super) fn of(row: &SessionRow, lines: &[TranscriptLine]) -> Self {
        Self {
            session: row.key.to_string(),
            outcome: row.outcome.as_str(),
            detail: row.detail.clone(),
            note: row.note.clone(),
            lines: lines
                .iter()
                .map(|line| LineView {
                    n: line.n,
                    at: format!("{:.1}", line.at),
                    kind: kind(line),
                    fields: fields(&line.data),
                })
                .collect(),
        }
    }
}

fn kind(line: &TranscriptLine) -> String {
    match serde_json::to_value(line.kind) {
        Ok(Value::String(word)) => word.replace('_', " "),
        _ => format!("{:?}", line.kind),
    }
}

fn fields(data: &Value) -> Vec<FieldView> {
    match data {
        Value::Object(map) => map.iter().map(|(name, value)| field(name, value)).collect(),
        Value::Null => Vec::new(),
        other => vec![field("", other)],
    }
}

fn field(name: &str, value: &Value) -> FieldView {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Object(_) | Value::Array(_) => format!("{value:#}"),
        other => other.to_string(),
    };
    let count = text.chars().count();
    let text = if count > LONGEST {
        let head: String = text.chars().take(LONGEST).collect();
        format!(
            "{head}\n… {} more characters in transcript.jsonl",
            count - LONGEST
        )
    } else {
        text
    };
    FieldView {
        name: name.to_owned(),
        block: text.contains('\n') || text.len() > 100,
        text,
    }
}
