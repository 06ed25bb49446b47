//! Knows simple statements in Python and how to take one away whole.
//! Must not know expressions.
//! Start at `Walk::statement`.

use tree_sitter::Node;

use super::{Operator, Walk, named};

impl<'a> Walk<'a> {
    /// Deletes a simple statement; one that is alone in its block gives way to `pass`.
    pub(super) fn statement(&mut self, node: Node<'a>) {
        let simple = matches!(
            node.kind(),
            "expression_statement"
                | "return_statement"
                | "assert_statement"
                | "raise_statement"
                | "delete_statement"
                | "break_statement"
                | "continue_statement"
        );
        let Some(block) = node
            .parent()
            .filter(|parent| simple && matches!(parent.kind(), "block" | "module"))
        else {
            return;
        };
        if is_text(node) {
            return;
        }
        if block.kind() == "block" && named(block).count() == 1 {
            self.add(node.byte_range(), "pass", Operator::DeleteStatement);
            return;
        }
        let start = self.text[..node.start_byte()]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let end = self.text[node.end_byte()..]
            .find('\n')
            .map_or(self.text.len(), |newline| node.end_byte() + newline + 1);
        let alone = self.text[start..node.start_byte()].trim().is_empty() && {
            let rest = self.text[node.end_byte()..end].trim();
            rest.is_empty() || rest.starts_with('#')
        };
        let span = if alone { start..end } else { node.byte_range() };
        self.add(span, "", Operator::DeleteStatement);
    }
}

/// Whether a statement is a text and nothing else: a docstring.
fn is_text(node: Node<'_>) -> bool {
    node.kind() == "expression_statement"
        && named(node).all(|child| matches!(child.kind(), "string" | "concatenated_string"))
}
