//! Knows calls in Python: their function, arguments and receiver.
//! Must not know what any function does beyond its name.
//! Start at `Walk::call`.

use tree_sitter::Node;

use super::{Operator, Walk, named};

/// Functions that change places with their counterpart, as plain names and as attributes.
const EXTREMES: [(&str, &str); 3] = [("min", "max"), ("argmin", "argmax"), ("minimum", "maximum")];

impl<'a> Walk<'a> {
    /// Replaces a call by its first positional argument, and a method call by its receiver.
    pub(super) fn call(&mut self, node: Node<'a>) {
        let first = node
            .child_by_field_name("arguments")
            .filter(|arguments| arguments.kind() == "argument_list")
            .and_then(|arguments| named(arguments).next())
            .filter(|first| {
                !matches!(
                    first.kind(),
                    "keyword_argument" | "list_splat" | "dictionary_splat"
                )
            });
        let receiver = node
            .child_by_field_name("function")
            .filter(|function| function.kind() == "attribute")
            .and_then(|function| function.child_by_field_name("object"))
            .filter(|object| !self.modules.contains(root_name(self.text_of(*object))));
        for inner in [first, receiver].into_iter().flatten() {
            let text = self.text_of(inner);
            let after = if is_compound(inner) && !is_enclosed(node) {
                format!("({text})")
            } else {
                text.to_owned()
            };
            self.add(node.byte_range(), after, Operator::Unwrap);
        }
    }

    /// Drops a keyword argument with the comma that goes with it.
    pub(super) fn keyword(&mut self, node: Node<'a>) {
        let Some(list) = node.parent().filter(|list| list.kind() == "argument_list") else {
            return;
        };
        let arguments: Vec<Node<'_>> = named(list).collect();
        let Some(at) = arguments.iter().position(|argument| *argument == node) else {
            return;
        };
        let span = match (at.checked_sub(1), arguments.get(at + 1)) {
            (_, Some(next)) => node.start_byte()..next.start_byte(),
            (Some(before), None) => arguments[before].end_byte()..node.end_byte(),
            (None, None) => node.byte_range(),
        };
        self.add(span, "", Operator::DropKeyword);
    }

    /// Swaps `min` and `max` and their kin.
    pub(super) fn extreme(&mut self, name: Node<'a>) {
        let text = self.text_of(name);
        for (low, high) in EXTREMES {
            if text == low {
                self.add(name.byte_range(), high, Operator::MinMax);
            } else if text == high {
                self.add(name.byte_range(), low, Operator::MinMax);
            }
        }
    }
}

fn root_name(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    &text[..end]
}

/// Whether an expression could fall apart beside an operator.
fn is_compound(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "binary_operator"
            | "unary_operator"
            | "boolean_operator"
            | "not_operator"
            | "comparison_operator"
            | "conditional_expression"
            | "lambda"
            | "named_expression"
            | "await"
            | "integer"
            | "float"
    )
}

/// Whether whatever stands in a node's place is bounded by its surroundings.
fn is_enclosed(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        matches!(
            parent.kind(),
            "argument_list"
                | "assignment"
                | "augmented_assignment"
                | "expression_statement"
                | "keyword_argument"
                | "parenthesized_expression"
                | "return_statement"
                | "list"
                | "tuple"
                | "set"
                | "expression_list"
                | "pair"
                | "default_parameter"
                | "typed_default_parameter"
        ) || parent.kind() == "subscript" && parent.child_by_field_name("value") != Some(node)
    })
}
