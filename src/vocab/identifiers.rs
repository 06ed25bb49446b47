//! Knows how the ids of environments, malfunctions, dossiers, methods and coders are spelt.
//! Must not know which of them exist on disk.
//! Start at `identifier!`, the one definition behind all of them.

use serde::{Deserialize, Serialize};

/// A text that is not a valid id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} id `{text}` must match {pattern}")]
pub struct IdError {
    /// What the id was meant to name.
    pub kind: &'static str,
    /// The text as given.
    pub text: String,
    /// The rule it breaks.
    pub pattern: &'static str,
}

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $pattern:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks the spelling.
            ///
            /// # Errors
            /// The rule that the text breaks.
            pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                let valid: fn(&str) -> bool = $valid;
                if valid(&text) {
                    Ok(Self(text))
                } else {
                    Err(IdError { kind: $kind, text, pattern: $pattern })
                }
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }
    };
}

fn of(text: &str, allowed: fn(char) -> bool) -> bool {
    !text.is_empty()
        && text.len() <= 80
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(allowed)
}

fn dashed(text: &str) -> bool {
    of(text, |c| {
        c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
    })
}

identifier!(
    /// An environment, e.g. `treasure_grid`.
    EnvironmentId, "environment", "[a-z][a-z0-9_]*",
    |text| of(text, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
);
identifier!(
    /// A malfunction, e.g. `treasure-grid-reward-clip`; seen by maintainers only.
    MalfunctionId, "malfunction", "[a-z][a-z0-9-]*", dashed
);
identifier!(
    /// A dossier folder, e.g. `reward-decomposition`.
    DossierId, "dossier", "[a-z][a-z0-9-]*", dashed
);
identifier!(
    /// An arm of an experiment: a reserved id, a dossier id, or dossier ids joined by `+` in sorted order.
    MethodId, "method", "[a-z][a-z0-9-]* joined by + in sorted order",
    |text| {
        let parts: Vec<&str> = text.split('+').collect();
        parts.iter().all(|part| dashed(part)) && parts.is_sorted_by(|a, b| a < b)
    }
);
identifier!(
    /// A coder as the plan labels it, e.g. `search`.
    CoderLabel, "coder", "[a-z][a-z0-9-]*", dashed
);
identifier!(
    /// A name that carries no meaning: 12 hexadecimal digits.
    Opaque, "opaque", "12 hexadecimal digits",
    |text| text.len() == 12 && text.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase())
);

impl Opaque {
    /// Draws the name from a seed, so that equal seeds give equal names.
    #[must_use]
    pub fn from_seed(seed: &super::Seed) -> Self {
        Self(hex::encode(&seed.bytes()[..6]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coalition_is_spelt_in_sorted_order_only() {
        assert!(MethodId::new("counterfactual+saliency").is_ok());
        assert!(MethodId::new("saliency+counterfactual").is_err());
        assert!(MethodId::new("saliency+saliency").is_err());
        assert!(MethodId::new("saliency+").is_err());
    }

    #[test]
    fn ids_that_could_leave_their_folder_are_refused() {
        for text in ["", "..", "a/b", "A", "a b", "-a", "1a", "a\n"] {
            assert!(MalfunctionId::new(text).is_err(), "{text:?}");
            assert!(EnvironmentId::new(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_bad_id_names_itself_and_the_rule() {
        let error = EnvironmentId::new("Grid").unwrap_err();
        assert_eq!(
            error.to_string(),
            "environment id `Grid` must match [a-z][a-z0-9_]*"
        );
    }
}
