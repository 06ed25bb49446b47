//! Knows which candidate undoes a fault, for whoever holds the clean files: reports, never a coder.
//! Must not know faults, diffs or malfunctions; it is handed the clean text of the changed files.
//! Start at `rank_of`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::de::{DeTable, DeValue};
use tree_sitter::Node;

use super::candidate::Candidate;
use super::number::{Number, shown};
use super::python;

/// The rank, from 1, of the first candidate that makes `files` read as `restored`; `None` when no single edit does.
///
/// `restored` holds the clean text of every file that differs. Texts are compared as Python or TOML means them:
/// layout, comments, redundant brackets and the spelling of numbers do not count.
#[must_use]
pub fn rank_of(
    candidates: &[Candidate],
    files: &BTreeMap<String, String>,
    restored: &BTreeMap<String, String>,
) -> Option<usize> {
    let mut changed = restored.iter().filter(|(path, clean)| {
        files.get(*path).map(|text| meaning(path, text)) != Some(meaning(path, clean))
    });
    let (path, clean) = changed.next()?;
    if changed.next().is_some() {
        return None;
    }
    let wanted = meaning(path, clean);
    candidates
        .iter()
        .position(|candidate| {
            candidate.path == *path
                && candidate
                    .apply(files)
                    .is_some_and(|text| meaning(path, &text) == wanted)
        })
        .map(|index| index + 1)
}

/// A text that is equal for two files exactly when they mean the same.
fn meaning(path: &str, text: &str) -> String {
    let mut out = String::new();
    if path.ends_with(".toml") {
        match DeTable::parse(text) {
            Ok(root) => write_table(root.get_ref(), &mut out),
            Err(_) => out.push_str(text),
        }
    } else {
        let mut parser = python::parser();
        write_node(text, python::parse(&mut parser, text).root_node(), &mut out);
    }
    out
}

fn write_node(text: &str, node: Node<'_>, out: &mut String) {
    match node.kind() {
        "comment" => {}
        "parenthesized_expression" => {
            if let Some(inner) = (0..node.child_count())
                .filter_map(|i| node.child(i))
                .find(|child| child.is_named() && !child.is_extra())
            {
                write_node(text, inner, out);
            }
        }
        "integer" | "float" => match Number::parse(&text[node.byte_range()]) {
            Some(number) => out.push_str(&shown(number.value)),
            None => out.push_str(&text[node.byte_range()]),
        },
        "string" => out.push_str(&text[node.byte_range()]),
        _ if node.child_count() == 0 => out.push_str(&text[node.byte_range()]),
        kind => {
            let _ = write!(out, "({kind}");
            for child in (0..node.child_count()).filter_map(|i| node.child(i)) {
                if !is_last_comma(node, child) {
                    out.push(' ');
                    write_node(text, child, out);
                }
            }
            out.push(')');
        }
    }
}

/// The comma before a closing bracket of arguments says nothing.
fn is_last_comma(list: Node<'_>, child: Node<'_>) -> bool {
    list.kind() == "argument_list"
        && child.kind() == ","
        && child.next_sibling().is_some_and(|next| next.kind() == ")")
}

fn write_table(table: &DeTable<'_>, out: &mut String) {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.get_ref());
    out.push('{');
    for (key, value) in entries {
        let _ = write!(out, "{:?}=", key.get_ref());
        write_value(value.get_ref(), out);
        out.push(';');
    }
    out.push('}');
}

fn write_value(value: &DeValue<'_>, out: &mut String) {
    let number = match value {
        DeValue::Integer(integer) => Number::parse(&integer.to_string()),
        DeValue::Float(float) => Number::parse(float.as_str()),
        _ => None,
    };
    match (value, number) {
        (_, Some(number)) => out.push_str(&shown(number.value)),
        (DeValue::Table(table), _) => write_table(table, out),
        (DeValue::Array(items), _) => {
            out.push('[');
            for item in items.iter() {
                write_value(item.get_ref(), out);
                out.push(',');
            }
            out.push(']');
        }
        (DeValue::String(text), _) => {
            let _ = write!(out, "{text:?}");
        }
        (DeValue::Boolean(truth), _) => {
            let _ = write!(out, "{truth}");
        }
        (DeValue::Datetime(moment), _) => {
            let _ = write!(out, "{moment}");
        }
        (DeValue::Integer(integer), None) => out.push_str(integer.as_str()),
        (DeValue::Float(float), None) => out.push_str(float.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coder::search::candidates;
    use crate::vocab::{RootSeed, SeedName};

    fn rank(path: &str, broken: &str, clean: &str) -> Option<usize> {
        let files = BTreeMap::from([(path.to_owned(), broken.to_owned())]);
        let restored = BTreeMap::from([(path.to_owned(), clean.to_owned())]);
        let seed = RootSeed::weak(0).derive(&SeedName::new("search/x"));
        rank_of(&candidates(&files, "", &seed).ordered, &files, &restored)
    }

    #[test]
    fn an_edit_that_restores_the_meaning_is_found() {
        assert!(
            rank(
                "c/config.toml",
                "[h]\nrate = 0.03 # x\n",
                "[h]\nrate = 3e-3\n"
            )
            .is_some()
        );
        assert!(
            rank(
                "a.py",
                "def f(a, w):\n    r = jnp.clip(a + w, -1, 1) * 2\n    return r\n",
                "def f(a, w):\n    r = (a + w) * 2\n    return r\n"
            )
            .is_some()
        );
        assert!(
            rank(
                "a.py",
                "x = f(a, reverse=False)\n",
                "x = f(\n    a, reverse=True,\n)\n"
            )
            .is_some()
        );
    }

    #[test]
    fn a_fault_of_two_places_is_restored_by_no_single_edit() {
        assert_eq!(rank("a.py", "x = 2\ny = 2\n", "x = 4\ny = 4\n"), None);
        let of = |text: &str| {
            BTreeMap::from([
                ("a.py".to_owned(), text.to_owned()),
                ("b.py".to_owned(), text.to_owned()),
            ])
        };
        let files = of("x = 2\n");
        let seed = RootSeed::weak(0).derive(&SeedName::new("search/x"));
        let ordered = candidates(&files, "", &seed).ordered;
        assert_eq!(rank_of(&ordered, &files, &of("x = 4\n")), None);
    }

    #[test]
    fn files_that_already_agree_have_no_restoring_edit() {
        assert_eq!(rank("a.py", "x = 2\n", "x  =  2\n"), None);
    }

    #[test]
    fn brackets_that_matter_are_kept_apart() {
        assert_ne!(meaning("a.py", "(a + b) * c"), meaning("a.py", "a + b * c"));
        assert_eq!(meaning("a.py", "(a * b) + c"), meaning("a.py", "a * b + c"));
        assert_ne!(
            meaning("c.toml", "a = [1, 2]"),
            meaning("c.toml", "a = [2, 1]")
        );
        assert_eq!(
            meaning("c.toml", "a = 1e1\nb = 2"),
            meaning("c.toml", "b = 2\na = 10")
        );
    }
}
