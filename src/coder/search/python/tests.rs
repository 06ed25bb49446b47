use super::*;

/// What the edits of one operator make of a text.
fn results(text: &str, operator: Operator) -> Vec<String> {
    let mut parser = parser();
    let source = Source::new(&mut parser, text);
    source
        .edits()
        .into_iter()
        .filter(|edit| edit.operator == operator)
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

/// The same for one statement of a function, the head left out.
fn inside(head: &str, statement: &str, operator: Operator) -> Vec<String> {
    let head = format!("def f({head}):\n    return ");
    results(&format!("{head}{statement}\n"), operator)
        .into_iter()
        .map(|text| text.trim_start_matches(head.as_str()).trim_end().to_owned())
        .collect()
}

#[test]
fn a_literal_with_its_sign_is_one_site() {
    assert_eq!(results("x = -1\n", Operator::Negate), ["x = 1\n"]);
    assert_eq!(results("x = -1\n", Operator::Double), ["x = -2\n"]);
    assert_eq!(results("x = y - 1\n", Operator::Negate), ["x = y - -1\n"]);
    assert_eq!(
        results("x = 0.9\n", Operator::TenthBelowOne),
        ["x = 0.99\n"]
    );
}

#[test]
fn every_comparison_of_a_chain_is_swapped() {
    assert_eq!(
        results("x = 0 <= y < 5\n", Operator::Comparison),
        ["x = 0 < y < 5\n", "x = 0 <= y <= 5\n"]
    );
    assert_eq!(
        results("x = a == b\n", Operator::Comparison),
        ["x = a != b\n"]
    );
    assert_eq!(
        results("x = a in b\n", Operator::Comparison),
        Vec::<String>::new()
    );
}

#[test]
fn signs_are_swapped_in_expressions_and_assignments() {
    assert_eq!(
        results("x = a + b - c\n", Operator::PlusMinus),
        ["x = a + b + c\n", "x = a - b - c\n"]
    );
    assert_eq!(results("x *= 2\n", Operator::TimesOver), ["x /= 2\n"]);
    assert_eq!(
        results("x = a @ b\n", Operator::TimesOver),
        Vec::<String>::new()
    );
}

#[test]
fn truth_is_turned() {
    assert_eq!(
        results("x = f(y, reverse=True)\n", Operator::Boolean),
        ["x = f(y, reverse=False)\n"]
    );
    assert_eq!(results("x = a and b\n", Operator::AndOr), ["x = a or b\n"]);
    assert_eq!(results("x = a | b\n", Operator::AndOr), ["x = a & b\n"]);
    assert_eq!(results("x = not a\n", Operator::DropNot), ["x = a\n"]);
    assert_eq!(
        results("x = ~(a | b)\n", Operator::DropNot),
        ["x = (a | b)\n"]
    );
    assert_eq!(
        results("if a is None:\n    b()\n", Operator::AddNot),
        ["if not a is None:\n    b()\n"]
    );
    assert_eq!(
        results("x = a if b else c\n", Operator::AddNot),
        ["x = a if not b else c\n"]
    );
    assert_eq!(
        results("x = a & b.c\n", Operator::AddNot),
        ["x = ~a & b.c\n", "x = a & ~b.c\n"]
    );
}

#[test]
fn a_call_gives_way_to_its_first_argument_or_receiver() {
    assert_eq!(
        results("r = jnp.clip(s * (c @ w), -1, 1)\n", Operator::Unwrap),
        ["r = s * (c @ w)\n", "r = jnp\n"]
    );
    assert_eq!(
        results(
            "import jax.numpy as jnp\nr = jnp.clip(a + b, -1, 1) * 2\n",
            Operator::Unwrap
        ),
        ["import jax.numpy as jnp\nr = (a + b) * 2\n"]
    );
    assert_eq!(
        results("r = a.clip(low, high)\n", Operator::Unwrap),
        ["r = low\n", "r = a\n"]
    );
    assert_eq!(
        results("r = f(*a)\n", Operator::Unwrap),
        Vec::<String>::new()
    );
}

#[test]
fn summands_and_factors_go_one_at_a_time() {
    assert_eq!(
        results("x = a + b * c\n", Operator::DropTerm),
        ["x = a\n", "x = b * c\n", "x = a + b\n", "x = a + c\n"]
    );
    assert_eq!(
        results("x = a - b / c\n", Operator::DropTerm),
        ["x = a\n", "x = -b / c\n", "x = a - b\n", "x = a - 1 / c\n"]
    );
}

#[test]
fn indices_and_bounds_move_by_one() {
    assert_eq!(
        results("x = a[i, :n]\n", Operator::IndexUp),
        ["x = a[i + 1, :n]\n", "x = a[i, :n + 1]\n"]
    );
    assert_eq!(
        results("x = a[i]\n", Operator::IndexDown),
        ["x = a[i - 1]\n"]
    );
    assert_eq!(results("x = a[-1]\n", Operator::Increment), ["x = a[0]\n"]);
    assert_eq!(
        results("x: list[y] = z\n", Operator::IndexUp),
        Vec::<String>::new()
    );
}

#[test]
fn extremes_change_places_as_names_and_as_attributes() {
    assert_eq!(
        results("x = min(a, b)\n", Operator::MinMax),
        ["x = max(a, b)\n"]
    );
    assert_eq!(
        results("x = jnp.argmax(a)\n", Operator::MinMax),
        ["x = jnp.argmin(a)\n"]
    );
    assert_eq!(
        results("x = jnp.minimum(a, b).mean()\n", Operator::MinMax),
        ["x = jnp.maximum(a, b).mean()\n"]
    );
}

#[test]
fn a_keyword_argument_goes_with_its_comma() {
    assert_eq!(
        results("f(a, k=1, m=2)\n", Operator::DropKeyword),
        ["f(a, m=2)\n", "f(a, k=1)\n"]
    );
    assert_eq!(results("f(k=1)\n", Operator::DropKeyword), ["f()\n"]);
    assert_eq!(
        results("f(\n    a,\n    k=1,\n)\n", Operator::DropKeyword),
        ["f(\n    a,\n)\n"]
    );
}

#[test]
fn a_name_gives_way_to_similar_names_of_its_function() {
    assert_eq!(
        inside(
            "terminated, truncated, value",
            "1 - truncated",
            Operator::Name
        ),
        ["1 - terminated", "1 - value"]
    );
    let many = "aa, ab, ac, ad, ae, af, zz";
    assert_eq!(
        inside(many, "aa", Operator::Name),
        ["ab", "ac", "ad", "ae", "af"]
    );
}

#[test]
fn an_attribute_gives_way_to_others_read_from_the_same_object() {
    assert_eq!(
        inside("batch", "batch.done, batch.reward", Operator::Name),
        ["batch.reward, batch.reward", "batch.done, batch.done"]
    );
}

#[test]
fn names_of_modules_and_other_functions_are_left_alone() {
    assert_eq!(
        results(
            "import numpy as np\ndef f(a):\n    return np.abs(g(1))\n",
            Operator::Name
        ),
        Vec::<String>::new()
    );
}

#[test]
fn a_simple_statement_goes_with_its_line() {
    assert_eq!(
        results(
            "def f(a):\n    \"\"\"Text.\"\"\"\n    a = a + 1  # more\n    return a\n",
            Operator::DeleteStatement
        ),
        [
            "def f(a):\n    \"\"\"Text.\"\"\"\n    return a\n",
            "def f(a):\n    \"\"\"Text.\"\"\"\n    a = a + 1  # more\n"
        ]
    );
    assert_eq!(
        results("if a:\n    b()\n", Operator::DeleteStatement),
        ["if a:\n    pass\n"]
    );
}

#[test]
fn annotations_texts_and_imports_are_no_sites() {
    let mut parser = parser();
    let text = "from a import b\nx: Literal[1]\n\"\"\"1 + 1\"\"\"\ny = \"2\"\n# 3 < 4\n";
    let source = Source::new(&mut parser, text);
    assert!(
        source
            .edits()
            .iter()
            .all(|edit| edit.operator == Operator::DeleteStatement)
    );
}

#[test]
fn a_broken_result_is_seen_without_parsing_anew() {
    let mut parser = parser();
    let text = "x = f(1)\ny = 2\n";
    let source = Source::new(&mut parser, text);
    let edit = |after: &str| Edit {
        span: 4..8,
        after: after.into(),
        operator: Operator::Unwrap,
        scope: Arc::from(""),
    };
    for (after, fine) in [("1", true), ("(1", false), (")", false), ("g(\n1)", true)] {
        let edited = [&text[..4], after, &text[8..]].concat();
        assert_eq!(
            source.parses_with(&mut parser, &edit(after), &edited),
            fine,
            "{after:?}"
        );
        assert_eq!(
            !parse(&mut parser, &edited).root_node().has_error(),
            fine,
            "{after:?}"
        );
    }
}
