"""Weights, the choice of a student, trees as arrays and as text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from extraction import choice, weights
from extraction.text import conditions, lines
from extraction.trees import Player, fit


@given(st.lists(st.lists(st.floats(-100, 100), min_size=3, max_size=3), min_size=1, max_size=40))
def test_weights_sum_to_one_and_follow_the_spread(rows: list[list[float]]) -> None:
    values = np.array(rows)
    found = weights.normalised(weights.spread(values))
    assert abs(found.sum() - 1) <= 1e-9
    assert np.all(found >= 0)
    spread = values.max(axis=1) - values.min(axis=1)
    if spread.sum() > 0:
        assert found * 1.01 * len(found) == pytest.approx(spread / spread.mean() + 0.01)


def test_equal_values_weigh_every_state_alike_and_values_that_are_not_finite_count_nothing() -> None:
    assert weights.normalised(weights.spread(np.ones((5, 4)))) == pytest.approx(np.full(5, 0.2))
    assert weights.spread(np.array([[np.nan, 1.0], [2.0, 0.0]])).tolist() == [0.0, 2.0]


def test_halving_keeps_the_best_and_plays_it_most() -> None:
    played: dict[int, int] = {}

    def returns(student: int, episodes: int) -> np.ndarray:
        played[student] = episodes
        return np.full(episodes, -abs(student - 13.0))

    assert choice.best(20, returns) == 13
    assert played[13] == 50
    assert min(played.values()) == 10
    assert choice.best(1, returns) == 0


def test_ties_go_to_the_latest() -> None:
    assert choice.best(8, lambda student, episodes: np.zeros(episodes)) == 7


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 8), st.booleans())
def test_arrays_act_as_the_fitted_tree_does_also_under_the_compiler(seed: int, depth: int, several: bool) -> None:
    generator = np.random.default_rng(seed)
    seen = generator.normal(size=(120, 3)).astype(np.float32)
    actions = generator.integers(0, 3, size=(120, 2) if several else 120).astype(np.int32)
    tree = fit(seen, actions, weights.uniform(120), depth, 0, continuous=False)
    model = DecisionTreeClassifier(max_depth=depth, criterion="entropy", ccp_alpha=1e-4, random_state=0)
    model.fit(seen, actions, sample_weight=weights.uniform(120))
    fresh = np.concatenate([seen, generator.normal(size=(80, 3)).astype(np.float32)])
    assert np.array_equal(tree.act(fresh), model.predict(fresh))
    compiled, _ = Player()(tree.arrays, (), None, fresh, None, None)
    assert np.array_equal(compiled, tree.act(fresh))
    assert (tree.depth, tree.leaves) == (model.get_depth(), model.get_n_leaves())


def test_a_regression_tree_predicts_every_axis() -> None:
    seen = np.linspace(0, 1, 50, dtype=np.float32)[:, None]
    high = (seen[:, 0] > 0.5).astype(np.float32)
    actions = np.stack([2 * high, -high], axis=1)
    tree = fit(seen, actions, weights.uniform(50), 3, 0, continuous=True)
    assert np.allclose(tree.act(seen), actions)
    assert tree.leaves == 2


def test_only_the_features_asked_for_are_used() -> None:
    seen = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    actions = (seen[:, 0] > 0).astype(np.int32)
    tree = fit(seen, actions, weights.uniform(200), 3, 0, continuous=False, features=[1, 3])
    assert set(tree.feature[: tree.count]) <= {-1, 1, 3}


def test_text_joins_questions_about_one_entry_and_counts_the_states_of_each_leaf() -> None:
    line = np.linspace(-1, 1, 201, dtype=np.float32)
    seen = np.stack([line, np.zeros(201, np.float32)], axis=1)
    actions = np.where(line <= -0.205, 0, np.where(line > 0.605, 2, 1)).astype(np.int32)
    tree = fit(seen, actions, weights.uniform(201), 4, 0, continuous=False)
    told = lines(tree, ["velocity", "angle"], lambda action: "abc"[int(action)], lambda x: f"{x:.3f}")
    if tree.threshold[0] < 0:
        assert told[1].split() == ["velocity", ">", "-0.205", "and", "<=", "0.605", "b", "n", "81"]
    assert [part.split()[-3] for part in told if " n " in part] == ["a", "b", "c"]
    assert sum(int(part.split()[-1]) for part in told if " n " in part) == 201
    way = tree.way(np.array([0.7, 0.5], np.float32))
    assert conditions(tree, way, ["velocity", "angle"], lambda x: f"{x:.1f}")[-1] == "velocity >  0.6"


def test_a_tree_without_a_question_says_what_it_always_does() -> None:
    tree = fit(np.zeros((9, 2), np.float32), np.full(9, 2, np.int32), weights.uniform(9), 3, 0, continuous=False)
    assert lines(tree, ["a", "b"], str, str) == ["always   2   n 9"]
