//! Knows the numbers and booleans of a TOML file, arrays and inline tables included.
//! Must not know which keys a trainer reads.
//! Start at `edits`.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::candidate::{Edit, Operator};
use super::number::Number;

/// Every edit of every number and boolean; none when the text is no TOML.
pub(super) fn edits(text: &str) -> Vec<Edit> {
    let mut found = Vec::new();
    if let Ok(root) = DeTable::parse(text) {
        walk_tables(root.get_ref(), &Arc::from(""), &mut |value, scope| {
            walk_value(text, value, scope, &mut found);
        });
    }
    found
}

/// The span of every value with the table that holds it; none when the text is no TOML.
pub(super) fn scopes(text: &str) -> Vec<(Range<usize>, Arc<str>)> {
    let mut found = Vec::new();
    if let Ok(root) = DeTable::parse(text) {
        walk_tables(root.get_ref(), &Arc::from(""), &mut |value, scope| {
            found.push((value.span(), Arc::clone(scope)));
        });
    }
    found
}

/// Whether a text is TOML.
pub(super) fn parses(text: &str) -> bool {
    DeTable::parse(text).is_ok()
}

/// Meets every value that is no table, with the dotted name of the table it is in.
fn walk_tables<'a>(
    table: &DeTable<'a>,
    scope: &Arc<str>,
    meet: &mut dyn FnMut(&Spanned<DeValue<'a>>, &Arc<str>),
) {
    for (key, value) in table {
        if let DeValue::Table(inner) = value.get_ref() {
            let name = if scope.is_empty() {
                Arc::from(key.get_ref().as_ref())
            } else {
                Arc::from(format!("{scope}.{}", key.get_ref()))
            };
            walk_tables(inner, &name, meet);
        } else {
            meet(value, scope);
        }
    }
}

fn walk_value(text: &str, value: &Spanned<DeValue<'_>>, scope: &Arc<str>, found: &mut Vec<Edit>) {
    let span = value.span();
    let mut add = |operator, after: String| {
        found.push(Edit {
            span: span.clone(),
            after,
            operator,
            scope: Arc::clone(scope),
        });
    };
    match value.get_ref() {
        DeValue::Integer(_) | DeValue::Float(_) => {
            let number = text.get(span.clone()).and_then(Number::parse);
            for (operator, after) in number.iter().flat_map(|number| number.variants()) {
                add(operator, after);
            }
        }
        DeValue::Boolean(truth) => add(Operator::Boolean, (!truth).to_string()),
        DeValue::Array(items) => {
            for item in items.iter() {
                walk_value(text, item, scope, found);
            }
        }
        DeValue::Table(inner) => walk_tables(inner, scope, &mut |value, scope| {
            walk_value(text, value, scope, found);
        }),
        DeValue::String(_) | DeValue::Datetime(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(text: &str) -> Vec<String> {
        edits(text)
            .into_iter()
            .map(|edit| {
                [
                    &text[..edit.span.start],
                    &edit.after,
                    &text[edit.span.end..],
                ]
                .concat()
            })
            .collect()
    }

    #[test]
    fn numbers_booleans_and_arrays_are_sites_and_strings_are_not() {
        let results = results("[hyper]\non = true\nname = \"x1\"\nwidths = [64, 32]\n");
        assert!(
            results.contains(&"[hyper]\non = false\nname = \"x1\"\nwidths = [64, 32]\n".to_owned())
        );
        assert!(
            results.contains(&"[hyper]\non = true\nname = \"x1\"\nwidths = [64, 320]\n".to_owned())
        );
        assert!(
            results
                .iter()
                .all(|text| text.contains("\"x1\"") && parses(text))
        );
    }

    #[test]
    fn a_site_is_known_by_its_table() {
        let found = edits("top = 1\n[params]\nslip = 0.05\n[a.b]\nx = 2\n");
        let scopes: std::collections::BTreeSet<&str> =
            found.iter().map(|edit| &*edit.scope).collect();
        assert_eq!(Vec::from_iter(scopes), ["", "a.b", "params"]);
    }

    #[test]
    fn signs_and_exponents_belong_to_the_number() {
        let results = results("[params]\npit = -5.0\nrate = 3e-3\n");
        assert!(results.contains(&"[params]\npit = 5.0\nrate = 3e-3\n".to_owned()));
        assert!(results.contains(&"[params]\npit = -5.0\nrate = 0.03\n".to_owned()));
    }

    #[test]
    fn what_is_no_toml_has_no_sites() {
        assert_eq!(edits("x = \n"), []);
    }
}
