//! Knows what makes one session another session, and condenses it into one hash.
//! Must not know how a session is played.
//! Start at `SessionContent`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::vocab::{BundleMode, RootSeed, SeedName, SessionKey};

use super::experiment::SandboxKind;
use super::limits::RunLimits;
use super::{Access, PlannedCoder};

/// Everything that can change what happens in a session.
#[derive(Serialize)]
pub(super) struct SessionContent<'a> {
    pub(super) key: &'a SessionKey,
    pub(super) environment: &'a str,
    pub(super) malfunction: &'a str,
    pub(super) dossiers: BTreeMap<&'a str, &'a str>,
    pub(super) shared: Option<&'a str>,
    pub(super) images: &'a BTreeMap<String, String>,
    pub(super) coder: &'a PlannedCoder,
    pub(super) sandbox: SandboxKind,
    pub(super) access: Access,
    pub(super) bundle: BundleMode,
    pub(super) limits: &'a RunLimits,
    pub(super) scoring_episodes: u32,
    pub(super) seeds: BTreeMap<String, String>,
}

/// BLAKE3 of the content as JSON with sorted keys and no white space, as hexadecimal digits.
pub(super) fn hash(content: &SessionContent<'_>) -> String {
    let value = serde_json::to_value(content)
        .expect("the content holds strings, finite numbers and maps with string keys");
    let mut text = String::new();
    write_canonical(&value, &mut text);
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// The seeds a session depends on, by name.
pub(super) fn seeds(
    root: &RootSeed,
    names: impl IntoIterator<Item = SeedName>,
) -> BTreeMap<String, String> {
    names
        .into_iter()
        .map(|name| (name.as_str().to_owned(), root.derive(&name).hex()))
        .collect()
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            text.push('{');
            for (index, (key, value)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::String(key.clone()).to_string());
                text.push(':');
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(values) => {
            text.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_canonical(value, text);
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_has_sorted_keys_at_every_depth() {
        let value: Value = serde_json::from_str(r#"{"b":[{"d":1,"c":"\n"}],"a":null}"#).unwrap();
        let mut text = String::new();
        write_canonical(&value, &mut text);
        assert_eq!(text, r#"{"a":null,"b":[{"c":"\n","d":1}]}"#);
    }
}
