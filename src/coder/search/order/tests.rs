use proptest::prelude::*;

use super::*;
use crate::vocab::{RootSeed, SeedName};

fn seed(number: u64) -> Seed {
    RootSeed::weak(number).derive(&SeedName::new("search/x"))
}

fn files(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(path, text)| ((*path).into(), (*text).into()))
        .collect()
}

const TRAINER: &str = "\
def collect(setting, training, draws):
    actors, batch = play(training, draws, setting.params, setting.env)
    reward = jnp.clip(setting.hyper.reward_scale * (batch.components @ setting.weights), -1, 1)
    return actors, batch, reward


def gae(reward, value, next_value, terminated, truncated, hyper):
    delta = reward + hyper.gamma * next_value * (1 - terminated) - value
    carry_on = hyper.gamma * hyper.gae_lambda * (1 - terminated)
    return delta, carry_on
";
const CONFIG: &str = "\
[hyper]
learning_rate = 3e-3
gamma = 0.6
gae_lambda = 0.95

[params]
slip = 0.05
pit = -5.0
horizon = 10
";

fn tree() -> BTreeMap<String, String> {
    files(&[("p/agents/ppo.py", TRAINER), ("p/grid/config.toml", CONFIG)])
}

#[test]
fn a_quoted_line_of_the_configuration_puts_the_edit_that_restores_it_first() {
    let query = "The discount is too small. In p/grid/config.toml, table hyper, the line must read: gamma = 0.99";
    let order = candidates(&tree(), query, &seed(0));
    let first = &order.ordered[0];
    assert_eq!(
        first.apply(&tree()).unwrap(),
        CONFIG.replace("gamma = 0.6", "gamma = 0.99")
    );
}

#[test]
fn a_quoted_line_of_code_puts_the_edit_that_restores_it_among_the_first_three() {
    let query = "The training reward is squashed. In p/agents/ppo.py, collect, the line must read: \
                 reward = setting.hyper.reward_scale * (batch.components @ setting.weights)";
    let order = candidates(&tree(), query, &seed(0)).ordered;
    let clean = TRAINER.replace("jnp.clip(", "").replace(", -1, 1)", "");
    let rank = order
        .iter()
        .position(|c| c.apply(&tree()).as_ref() == Some(&clean));
    assert!(rank.is_some_and(|rank| rank < 3), "{rank:?}");
}

#[test]
fn numbers_of_the_query_are_tried_on_the_lines_it_speaks_of_only() {
    let order = candidates(
        &tree(),
        "gamma should be 0.97 in the configuration",
        &seed(0),
    )
    .ordered;
    let quoted: Vec<&Candidate> = order
        .iter()
        .filter(|c| c.operator == Operator::QueryNumber)
        .collect();
    assert!(
        quoted
            .iter()
            .any(|c| c.before == "0.6" && c.after == "0.97")
    );
    assert!(quoted.iter().all(|c| c.after.contains("0.97")));
    assert!(
        candidates(&tree(), "", &seed(0))
            .ordered
            .iter()
            .all(|c| c.operator != Operator::QueryNumber)
    );
}

#[test]
fn without_a_query_the_seed_draws_the_order() {
    let (one, same, other) = (
        candidates(&tree(), "", &seed(1)),
        candidates(&tree(), "", &seed(1)),
        candidates(&tree(), "", &seed(2)),
    );
    assert_eq!(one, same);
    assert_ne!(one, other);
    assert!(one.ordered.iter().all(|candidate| candidate.score == 0.0));
    let sorted = |order: &Order| {
        let mut texts: Vec<String> = order
            .ordered
            .iter()
            .filter_map(|c| c.apply(&tree()))
            .collect();
        texts.sort();
        texts
    };
    assert_eq!(sorted(&one), sorted(&other));
}

#[test]
fn no_line_has_more_than_three_of_the_first_fifty() {
    for query in ["", "gamma = 0.99 reward"] {
        let order = candidates(&tree(), query, &seed(3)).ordered;
        let mut lines: BTreeMap<(&str, usize), usize> = BTreeMap::new();
        let first = order.len().min(FIRST).min(lines_of(&order) * PER_LINE);
        for candidate in &order[..first] {
            *lines.entry((&candidate.path, candidate.line)).or_default() += 1;
        }
        assert!(lines.values().all(|count| *count <= PER_LINE), "{query:?}");
    }
}

fn lines_of(order: &[Candidate]) -> usize {
    order
        .iter()
        .map(|c| (c.path.as_str(), c.line))
        .collect::<BTreeSet<_>>()
        .len()
}

#[test]
fn the_cap_cuts_the_end_of_the_order_and_leaves_no_file_out() {
    let many: String = (0..900).map(|i| format!("x{i} = {i}.5\n")).collect();
    let files = files(&[
        ("p/a.py", &many),
        ("p/z.py", "y = 7\n"),
        ("p/grid/config.toml", CONFIG),
    ]);
    let order = candidates(&files, "y = 8", &seed(0));
    assert!(order.found > CAP);
    assert_eq!(order.ordered.len(), CAP);
    assert_eq!(order.ordered[0].path, "p/z.py");
    let blind = candidates(&files, "", &seed(0)).ordered;
    assert!(
        blind
            .iter()
            .any(|candidate| candidate.path == "p/grid/config.toml")
    );
}

#[test]
fn only_source_and_configuration_are_searched() {
    let searched = ["p/a.py", "p/grid/config.toml", "config.toml"];
    let left = [
        "p/grid/environment.toml",
        "p/a.pyc",
        "agent/parameters.safetensors",
        "BRIEF.md",
    ];
    assert!(searched.iter().all(|path| is_searched(path)));
    assert!(!left.iter().any(|path| is_searched(path)));
}

/// Expressions of a small Python.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("alpha".to_owned()),
        Just("beta".to_owned()),
        Just("batch.done".to_owned()),
        (-20i32..20).prop_map(|n| n.to_string()),
        (0.0f64..2.0).prop_map(|x| format!("{x:.3}")),
        Just("True".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (
                pair.clone(),
                prop::sample::select(vec!["+", "-", "*", "/", "<", "==", "and", "&"])
            )
                .prop_map(|((a, b), sign)| format!("({a}) {sign} ({b})")),
            pair.clone()
                .prop_map(|(a, b)| format!("jnp.minimum({a}, {b}, axis=-1)")),
            pair.clone().prop_map(|(a, b)| format!("alpha[{a}, :{b}]")),
            pair.prop_map(|(a, b)| format!("({a} if {b} else not {a})")),
            inner.prop_map(|a| format!("[{a} for beta in alpha]")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_candidate_parses_differs_and_can_be_taken_back(
        expressions in prop::collection::vec(expression(), 1..4),
        query in "[a-z0-9. ]{0,20}",
        number in 0u64..4,
    ) {
        let body: String = expressions.iter().map(|e| format!("    alpha = {e}\n")).collect();
        let source = format!("import jax.numpy as jnp\n\n\ndef f(alpha, beta, batch):\n{body}    return alpha\n");
        let files = files(&[("p/a.py", &source), ("p/grid/config.toml", CONFIG)]);
        let order = candidates(&files, &query, &seed(number));
        prop_assert!(order.ordered.len() <= CAP && order.ordered.len() <= order.found);
        let mut made = HashSet::new();
        let mut parser = python::parser();
        for candidate in &order.ordered {
            let edited = candidate.apply(&files).unwrap();
            prop_assert_ne!(&edited, &files[&candidate.path]);
            prop_assert!(made.insert((candidate.path.clone(), edited.clone())));
            if is_config(&candidate.path) {
                prop_assert!(config::parses(&edited));
            } else {
                prop_assert!(!python::parse(&mut parser, &edited).root_node().has_error(), "{}", edited);
            }
            let end = candidate.start + candidate.after.len();
            let back = [&edited[..candidate.start], &candidate.before, &edited[end..]].concat();
            prop_assert_eq!(&back, &files[&candidate.path]);
        }
        prop_assert_eq!(&order, &candidates(&files, &query, &seed(number)));
    }
}
