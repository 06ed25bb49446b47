//! Knows that sessions made under different conditions are never put into one table.
//! Must not know which conditions a record holds; `rows` names them.
//! Start at `refuse_mixed`.

use std::collections::{BTreeMap, BTreeSet};

use super::run::SessionRow;

/// One field in which sessions differ that must not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "sessions of {scope} differ in {field}: `{first}` in {first_session}, `{other}` in {other_session}"
)]
pub struct Mixed {
    /// The field of the record.
    pub field: String,
    /// Within what it must be equal.
    pub scope: String,
    /// A value.
    pub first: String,
    /// A session with that value.
    pub first_session: String,
    /// Another value.
    pub other: String,
    /// A session with the other value.
    pub other_session: String,
}

/// Finds every field in which sessions differ, one entry per field; empty where they may be reported together.
pub(super) fn refuse_mixed(sessions: &[SessionRow]) -> Vec<Mixed> {
    let mut seen: BTreeMap<(&str, &str), (&str, &SessionRow)> = BTreeMap::new();
    let mut named: BTreeSet<&str> = BTreeSet::new();
    let mut mixed = Vec::new();
    for session in sessions {
        for condition in &session.conditions {
            let (field, scope) = (condition.field.as_str(), condition.scope.as_str());
            let (first, holder) = *seen
                .entry((field, scope))
                .or_insert((condition.value.as_str(), session));
            if first != condition.value && named.insert(field) {
                mixed.push(Mixed {
                    field: field.to_owned(),
                    scope: scope.to_owned(),
                    first: first.to_owned(),
                    first_session: holder.key.to_string(),
                    other: condition.value.clone(),
                    other_session: session.key.to_string(),
                });
            }
        }
    }
    mixed
}
