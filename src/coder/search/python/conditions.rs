//! Knows truth in Python: comparisons, `and`, `or`, `not`, and their elementwise kin `&`, `|`, `~`.
//! Must not know numbers or names.
//! Start at `Walk::condition`.

use tree_sitter::Node;

use super::{Operator, Walk, children, named};

impl<'a> Walk<'a> {
    /// Swaps each operator of a chain of comparisons.
    pub(super) fn comparison(&mut self, node: Node<'a>) {
        for sign in children(node) {
            let other = match sign.kind() {
                "<" => "<=",
                "<=" => "<",
                ">" => ">=",
                ">=" => ">",
                "==" => "!=",
                "!=" => "==",
                _ => continue,
            };
            self.add(sign.byte_range(), other, Operator::Comparison);
        }
    }

    /// Swaps `and` and `or`, and negates each operand.
    pub(super) fn boolean(&mut self, node: Node<'a>) {
        if let Some(sign) = node.child_by_field_name("operator") {
            let other = if sign.kind() == "and" { "or" } else { "and" };
            self.add(sign.byte_range(), other, Operator::AndOr);
        }
        for operand in ["left", "right"] {
            if let Some(operand) = node.child_by_field_name(operand) {
                self.negate(operand);
            }
        }
    }

    /// Drops `not`.
    pub(super) fn negation(&mut self, node: Node<'a>) {
        if let Some(argument) = node.child_by_field_name("argument") {
            self.add(node.byte_range(), self.text_of(argument), Operator::DropNot);
        }
    }

    /// Drops `~`.
    pub(super) fn unary(&mut self, node: Node<'a>) {
        let operator = node.child_by_field_name("operator");
        if let (Some("~"), Some(argument)) = (
            operator.map(|operator| operator.kind()),
            node.child_by_field_name("argument"),
        ) {
            self.add(node.byte_range(), self.text_of(argument), Operator::DropNot);
        }
    }

    /// Negates what a statement or expression branches on.
    pub(super) fn condition(&mut self, node: Node<'a>) {
        let condition = match node.kind() {
            "conditional_expression" => named(node).nth(1),
            "if_clause" | "assert_statement" => named(node).next(),
            _ => node.child_by_field_name("condition"),
        };
        if let Some(condition) = condition {
            self.negate(condition);
        }
    }

    /// Swaps `&` and `|`, and negates each operand elementwise.
    pub(super) fn elementwise(&mut self, node: Node<'a>, sign: Node<'a>) {
        let other = if sign.kind() == "&" { "|" } else { "&" };
        self.add(sign.byte_range(), other, Operator::AndOr);
        for operand in ["left", "right"] {
            if let Some(operand) = node.child_by_field_name(operand)
                && operand.kind() != "unary_operator"
            {
                let text = format!("~({})", self.text_of(operand));
                let simple = matches!(
                    operand.kind(),
                    "identifier" | "attribute" | "call" | "subscript" | "parenthesized_expression"
                );
                let text = if simple {
                    format!("~{}", self.text_of(operand))
                } else {
                    text
                };
                self.add(operand.byte_range(), text, Operator::AddNot);
            }
        }
    }

    fn negate(&mut self, operand: Node<'a>) {
        let text = self.text_of(operand);
        let after = match operand.kind() {
            // Its negation is the operator `DropNot`, or that of its own operands.
            "not_operator" | "boolean_operator" => return,
            "conditional_expression" | "lambda" | "named_expression" => format!("not ({text})"),
            _ => format!("not {text}"),
        };
        self.add(operand.byte_range(), after, Operator::AddNot);
    }
}
