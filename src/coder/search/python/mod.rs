//! Knows how Python source is read: a syntax tree, its sites, and the edits of every operator at each.
//! Must not know files, configuration or ranking.
//! Start at `Source::edits`.

mod calls;
mod conditions;
mod expressions;
mod names;
mod statements;

use std::ops::Range;
use std::sync::Arc;

use tree_sitter::{InputEdit, Node, Parser, Point, Tree};

use super::candidate::{Edit, Operator};
use super::number::Number;
use names::Scope;

/// A Python text with its syntax tree.
pub(super) struct Source<'a> {
    text: &'a str,
    tree: Tree,
    /// First byte of each line.
    starts: Vec<usize>,
}

/// A parser of Python.
pub(super) fn parser() -> Parser {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_python::LANGUAGE.into())
        .expect("the grammar is built for this version of the library");
    parser
}

/// First byte of each line of a text.
pub(super) fn line_starts(text: &str) -> Vec<usize> {
    let newlines = text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(newlines).collect()
}

/// The syntax tree of a text.
pub(super) fn parse(parser: &mut Parser, text: &str) -> Tree {
    parser
        .parse(text, None)
        .expect("a parser with a language and without a time limit always gives a tree")
}

impl<'a> Source<'a> {
    /// Reads a text; errors in it are no obstacle.
    pub(super) fn new(parser: &mut Parser, text: &'a str) -> Self {
        Self {
            text,
            tree: parse(parser, text),
            starts: line_starts(text),
        }
    }

    /// Every edit of every site, in order of the tree.
    pub(super) fn edits(&self) -> Vec<Edit> {
        let root = self.tree.root_node();
        let mut walk = Walk {
            text: self.text,
            modules: names::imported(self.text, root),
            scope: Arc::from(""),
            names: None,
            found: Vec::new(),
        };
        walk.visit(root);
        walk.found
    }

    /// The span of every function and class with its name, outer ones first.
    pub(super) fn scopes(&self) -> Vec<(Range<usize>, Arc<str>)> {
        let mut found = Vec::new();
        let mut open = vec![self.tree.root_node()];
        while let Some(node) = open.pop() {
            if ["function_definition", "class_definition"].contains(&node.kind())
                && let Some(name) = node.child_by_field_name("name")
            {
                found.push((node.byte_range(), Arc::from(&self.text[name.byte_range()])));
            }
            open.extend((0..node.child_count()).filter_map(|at| node.child(at)));
        }
        found.sort_by_key(|(span, _): &(Range<usize>, _)| (span.start, usize::MAX - span.end));
        found
    }

    /// Whether the text with an edit made parses without an error.
    pub(super) fn parses_with(&self, parser: &mut Parser, edit: &Edit, edited: &str) -> bool {
        let start = self.point(edit.span.start);
        let mut tree = self.tree.clone();
        tree.edit(&InputEdit {
            start_byte: edit.span.start,
            old_end_byte: edit.span.end,
            new_end_byte: edit.span.start + edit.after.len(),
            start_position: start,
            old_end_position: self.point(edit.span.end),
            new_end_position: match edit.after.rfind('\n') {
                None => Point {
                    row: start.row,
                    column: start.column + edit.after.len(),
                },
                Some(newline) => Point {
                    row: start.row + edit.after.matches('\n').count(),
                    column: edit.after.len() - newline - 1,
                },
            },
        });
        parser
            .parse(edited, Some(&tree))
            .is_some_and(|tree| !tree.root_node().has_error())
    }

    fn point(&self, at: usize) -> Point {
        let row = self.starts.partition_point(|start| *start <= at) - 1;
        Point {
            row,
            column: at - self.starts[row],
        }
    }
}

/// A walk over the tree of one text.
struct Walk<'a> {
    text: &'a str,
    /// Names that imports bind: never receivers of a method.
    modules: std::collections::BTreeSet<&'a str>,
    /// The innermost enclosing function or class.
    scope: Arc<str>,
    /// Names of the outermost enclosing function.
    names: Option<Scope<'a>>,
    found: Vec<Edit>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, node: Node<'a>) {
        match node.kind() {
            // Neither annotations nor texts nor imports act at run time in a way that an operator could mend.
            "type"
            | "string"
            | "comment"
            | "import_statement"
            | "import_from_statement"
            | "future_import_statement"
            | "global_statement"
            | "nonlocal_statement" => return,
            "function_definition" | "class_definition" => return self.visit_definition(node),
            "integer" | "float" => self.number(node, node.byte_range()),
            "unary_operator" => {
                if let Some(literal) = negative_literal(node) {
                    return self.number(literal, node.byte_range());
                }
                self.unary(node);
            }
            "true" => self.add(node.byte_range(), "False", Operator::Boolean),
            "false" => self.add(node.byte_range(), "True", Operator::Boolean),
            "comparison_operator" => self.comparison(node),
            "binary_operator" => self.binary(node),
            "augmented_assignment" => self.augmented(node),
            "boolean_operator" => self.boolean(node),
            "not_operator" => self.negation(node),
            "if_statement"
            | "elif_clause"
            | "while_statement"
            | "if_clause"
            | "conditional_expression"
            | "assert_statement" => self.condition(node),
            "subscript" => self.index(node),
            "call" => self.call(node),
            "keyword_argument" => self.keyword(node),
            "identifier" => self.identifier(node),
            "attribute" => self.attribute(node),
            _ => {}
        }
        self.statement(node);
        self.visit_children(node);
    }

    fn visit_children(&mut self, node: Node<'a>) {
        for child in children(node) {
            // The name of a keyword argument and of an attribute is no variable.
            let field = field_of(node, child);
            let bare = matches!(
                (node.kind(), field),
                ("keyword_argument", Some("name"))
                    | ("attribute", Some("attribute"))
                    | ("class_definition", Some("superclasses" | "name"))
                    | ("function_definition", Some("name" | "return_type"))
            );
            if !bare {
                self.visit(child);
            }
        }
    }

    fn visit_definition(&mut self, node: Node<'a>) {
        let name = node
            .child_by_field_name("name")
            .map_or("", |name| self.text_of(name));
        let outer = std::mem::replace(&mut self.scope, Arc::from(name));
        let begins = node.kind() == "function_definition" && self.names.is_none();
        if begins {
            self.names = Some(Scope::of(self.text, node, &self.modules));
        }
        self.visit_children(node);
        if begins {
            self.names = None;
        }
        self.scope = outer;
    }

    fn number(&mut self, literal: Node<'a>, span: Range<usize>) {
        let Some(mut number) = Number::parse(self.text_of(literal)) else {
            return;
        };
        if span.start < literal.start_byte() {
            number.value = -number.value;
        }
        for (operator, after) in number.variants() {
            self.add(span.clone(), after, operator);
        }
    }

    fn add(&mut self, span: Range<usize>, after: impl Into<String>, operator: Operator) {
        self.found.push(Edit {
            span,
            after: after.into(),
            operator,
            scope: Arc::clone(&self.scope),
        });
    }

    fn text_of(&self, node: Node<'_>) -> &'a str {
        &self.text[node.byte_range()]
    }
}

/// The literal of `-1`, which is one site with its sign.
fn negative_literal(node: Node<'_>) -> Option<Node<'_>> {
    let operator = node.child_by_field_name("operator")?;
    let argument = node.child_by_field_name("argument")?;
    (operator.kind() == "-" && matches!(argument.kind(), "integer" | "float")).then_some(argument)
}

fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    (0..node.child_count()).filter_map(move |i| node.child(i))
}

fn named(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    children(node).filter(|child| child.is_named() && !child.is_extra())
}

fn field_of<'tree>(node: Node<'tree>, child: Node<'tree>) -> Option<&'tree str> {
    (0..node.child_count())
        .find(|i| node.child(*i) == Some(child))
        .and_then(|i| node.field_name_for_child(i))
}

#[cfg(test)]
pub(super) mod tests;
