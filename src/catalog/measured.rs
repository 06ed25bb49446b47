//! Knows how a generated file of measurements is read: its TOML, and that every number is one.
//! Must not know what was measured.
//! Start at `read_measured`.

use serde::de::DeserializeOwned;

/// The one figure that may be infinite: agents of a kind that are all equal have no error.
const UNBOUNDED: &str = "gap_over_error";

/// Reads a document; else where it is wrong, and how.
pub(super) fn read_measured<T: DeserializeOwned>(text: &str) -> Result<T, (String, String)> {
    let unreadable = |error: toml::de::Error| {
        let line = error
            .span()
            .map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        let wrong = format!("cannot be read: {}", error.message());
        (format!("line {line}"), wrong)
    };
    let table: toml::Table = text.parse().map_err(unreadable)?;
    if let Some(field) = no_number(&toml::Value::Table(table)) {
        return Err((field, "is not a finite number".to_owned()));
    }
    toml::from_str(text).map_err(unreadable)
}

/// The path of a number that is none.
fn no_number(value: &toml::Value) -> Option<String> {
    let below = |key: &str, value: &toml::Value| {
        let allowed = key == UNBOUNDED && value.as_float() == Some(f64::INFINITY);
        let path = no_number(value).filter(|_| !allowed)?;
        let dot = if path.is_empty() || path.starts_with('[') {
            ""
        } else {
            "."
        };
        Some(format!("{key}{dot}{path}"))
    };
    match value {
        toml::Value::Float(number) => (!number.is_finite()).then(String::new),
        toml::Value::Array(list) => list
            .iter()
            .enumerate()
            .find_map(|(index, value)| below(&format!("[{index}]"), value)),
        toml::Value::Table(table) => table.iter().find_map(|(key, value)| below(key, value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_none_is_told_by_its_path_and_an_error_by_its_line() {
        let refused = |text: &str| read_measured::<toml::Table>(text).unwrap_err();
        let told = |text: &str| refused(text).0;
        assert_eq!(told("a = nan\n"), "a");
        assert_eq!(told("[m.x]\na = 1\nb = [1.0, inf]\n"), "m.x.b[1]");
        assert_eq!(told("[[r]]\na = 1\n[[r]]\na = -inf\n"), "r[1].a");
        assert_eq!(told("gap_over_error = nan\n"), "gap_over_error");
        assert_eq!(told("a = 1\nb\n"), "line 2");
        assert!(read_measured::<toml::Table>("gap_over_error = inf\na = 1.5\n").is_ok());
    }
}
