//! Knows which names a Python function binds and which attributes it reads.
//! Must not know what any name stands for.
//! Start at `Scope::of`.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::{Operator, Walk, children, field_of, named};

/// How many similar names a name may give way to.
const NEAREST: usize = 5;

/// The names of one outermost function, nested functions included.
pub(super) struct Scope<'a> {
    bound: BTreeSet<&'a str>,
    /// By the text of the object, the attributes read from it.
    attributes: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Scope<'a> {
    /// Collects the names of a function.
    pub(super) fn of(text: &'a str, function: Node<'a>, modules: &BTreeSet<&'a str>) -> Self {
        let mut scope = Self {
            bound: BTreeSet::new(),
            attributes: BTreeMap::new(),
        };
        // Its own name is bound around it, not in it.
        children(function)
            .filter(|child| field_of(function, *child) != Some("name"))
            .for_each(|child| scope.collect(text, child));
        scope.bound.retain(|name| !modules.contains(name));
        scope
            .attributes
            .retain(|object, _| !modules.contains(object));
        scope
    }

    fn collect(&mut self, text: &'a str, node: Node<'a>) {
        if node.kind() == "identifier" && is_binding(node) {
            self.bound.insert(&text[node.byte_range()]);
        }
        if let ("attribute", Some(object), Some(name)) = (
            node.kind(),
            node.child_by_field_name("object"),
            node.child_by_field_name("attribute"),
        ) {
            self.attributes
                .entry(&text[object.byte_range()])
                .or_default()
                .insert(&text[name.byte_range()]);
        }
        children(node).for_each(|child| self.collect(text, child));
    }
}

impl<'a> Walk<'a> {
    /// Replaces a use of a name of this function by similar ones, and swaps `min` and `max`.
    pub(super) fn identifier(&mut self, node: Node<'a>) {
        self.extreme(node);
        let Some(scope) = &self.names else {
            return;
        };
        let name = self.text_of(node);
        if scope.bound.contains(name) && !is_binding(node) {
            let others = nearest(name, &scope.bound);
            self.replace(node, others);
        }
    }

    /// Replaces an attribute by similar ones that the function reads from the same object.
    pub(super) fn attribute(&mut self, node: Node<'a>) {
        let (Some(object), Some(name)) = (
            node.child_by_field_name("object"),
            node.child_by_field_name("attribute"),
        ) else {
            return;
        };
        self.extreme(name);
        let read = self
            .names
            .as_ref()
            .and_then(|scope| scope.attributes.get(self.text_of(object)));
        if let Some(read) = read {
            let others = nearest(self.text_of(name), read);
            self.replace(name, others);
        }
    }

    fn replace(&mut self, node: Node<'a>, others: Vec<&'a str>) {
        for other in others {
            self.add(node.byte_range(), other, Operator::Name);
        }
    }
}

/// The names that imports bind anywhere in a text.
pub(super) fn imported<'a>(text: &'a str, root: Node<'a>) -> BTreeSet<&'a str> {
    fn walk<'a>(text: &'a str, node: Node<'a>, found: &mut BTreeSet<&'a str>) {
        if matches!(node.kind(), "import_statement" | "import_from_statement") {
            for child in children(node).filter(|child| field_of(node, *child) == Some("name")) {
                let name = child.child_by_field_name("alias").unwrap_or(child);
                let whole = &text[name.byte_range()];
                found.insert(whole.split('.').next().unwrap_or(whole));
            }
        } else {
            children(node).for_each(|child| walk(text, child, found));
        }
    }
    let mut found = BTreeSet::new();
    walk(text, root, &mut found);
    found
}

fn nearest<'a>(name: &str, names: &BTreeSet<&'a str>) -> Vec<&'a str> {
    let mut others: Vec<(usize, &str)> = names
        .iter()
        .filter(|other| **other != name)
        .map(|other| (strsim::levenshtein(name, other), *other))
        .collect();
    others.sort_unstable();
    others.truncate(NEAREST);
    others.into_iter().map(|(_, other)| other).collect()
}

/// Whether an identifier is bound where it stands: a parameter, a target, a name given by `as`, `def` or `:=`.
fn is_binding(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else {
        return false;
    };
    match (parent.kind(), field_of(parent, node)) {
        (
            "parameters"
            | "lambda_parameters"
            | "typed_parameter"
            | "list_splat_pattern"
            | "dictionary_splat_pattern"
            | "as_pattern_target",
            _,
        )
        | ("default_parameter" | "typed_default_parameter" | "named_expression", Some("name"))
        | ("function_definition", Some("name"))
        | ("assignment" | "for_statement" | "for_in_clause", Some("left")) => true,
        ("pattern_list" | "tuple_pattern" | "list_pattern", _) => named(parent).any(|n| n == node),
        _ => false,
    }
}
