//! Knows arithmetic in Python: signs, summands, factors and indices.
//! Must not know truth, calls or names.
//! Start at `Walk::binary`.

use tree_sitter::Node;

use super::{Operator, Walk, children, field_of, negative_literal};

impl<'a> Walk<'a> {
    /// Swaps the operator, and drops either operand of a sum, difference, product or quotient.
    pub(super) fn binary(&mut self, node: Node<'a>) {
        let (Some(left), Some(sign), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("operator"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let (other, swap) = match sign.kind() {
            "+" => ("-", Operator::PlusMinus),
            "-" => ("+", Operator::PlusMinus),
            "*" => ("/", Operator::TimesOver),
            "/" => ("*", Operator::TimesOver),
            "&" | "|" => return self.elementwise(node, sign),
            _ => return,
        };
        self.add(sign.byte_range(), other, swap);
        let (first, second) = (self.text_of(left), self.text_of(right));
        let without_left = match sign.kind() {
            "-" => format!("-{second}"),
            "/" => format!("1 / {second}"),
            _ => second.to_owned(),
        };
        self.add(node.byte_range(), first, Operator::DropTerm);
        self.add(node.byte_range(), without_left, Operator::DropTerm);
    }

    /// Swaps `+=` and `-=`, `*=` and `/=`.
    pub(super) fn augmented(&mut self, node: Node<'a>) {
        let Some(sign) = node.child_by_field_name("operator") else {
            return;
        };
        let (other, swap) = match sign.kind() {
            "+=" => ("-=", Operator::PlusMinus),
            "-=" => ("+=", Operator::PlusMinus),
            "*=" => ("/=", Operator::TimesOver),
            "/=" => ("*=", Operator::TimesOver),
            _ => return,
        };
        self.add(sign.byte_range(), other, swap);
    }

    /// Moves each index, and each bound of a slice, by one. Literals are left to the numeric operators.
    pub(super) fn index(&mut self, node: Node<'a>) {
        for index in children(node).filter(|child| field_of(node, *child) == Some("subscript")) {
            if index.kind() == "slice" {
                for bound in children(index).filter(Node::is_named) {
                    self.shift(bound);
                }
            } else {
                self.shift(index);
            }
        }
    }

    fn shift(&mut self, index: Node<'a>) {
        let fixed = matches!(
            index.kind(),
            "integer" | "float" | "string" | "none" | "ellipsis" | "true" | "false" | "comment"
        );
        if fixed || negative_literal(index).is_some() {
            return;
        }
        let text = self.text_of(index);
        let bare = matches!(
            index.kind(),
            "identifier"
                | "attribute"
                | "call"
                | "subscript"
                | "binary_operator"
                | "unary_operator"
                | "parenthesized_expression"
        );
        let text = if bare {
            text.to_owned()
        } else {
            format!("({text})")
        };
        self.add(index.byte_range(), format!("{text} + 1"), Operator::IndexUp);
        self.add(
            index.byte_range(),
            format!("{text} - 1"),
            Operator::IndexDown,
        );
    }
}
