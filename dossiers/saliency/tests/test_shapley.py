"""Shapley values of outputs: the laws they keep, closed forms, and another library's answer."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution import coalitions, masking
from attribution.masking import Background
from attribution.rank import ranks, spearman

COUNTS = st.integers(1, 6)
SEEDS = st.integers(0, 2**32 - 1)


def drawn(generator: np.random.Generator, rows: int, size: int) -> Background:
    return Background(generator.normal(size=(rows, size)).astype(np.float32), np.full(rows, 1 / rows), False)


def network(generator: np.random.Generator, size: int, unused: int | None = None) -> masking.Answers:
    """A small network whose entry `unused` has no weight; rows are answered one by one, whatever their place."""
    first, second = generator.normal(size=(size, 16)), generator.normal(size=(16, 3))
    if unused is not None:
        first[unused] = 0

    def answers(rows: np.ndarray) -> np.ndarray:
        return np.einsum("mh,hk->mk", np.tanh(np.einsum("md,dh->mh", rows.astype(np.float64), first)), second)

    return answers


def singles(size: int) -> list[slice]:
    return [slice(i, i + 1) for i in range(size)]


@settings(max_examples=40, deadline=None)
@given(COUNTS, SEEDS)
def test_shares_add_up_to_the_value_of_all_less_that_of_none(count: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(2**count, 5))
    shares = coalitions.exact(lambda chosen: values, count)
    assert shares.columns.sum(axis=0) == pytest.approx(values[-1] - values[0], abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(COUNTS, SEEDS)
def test_a_group_that_changes_nothing_gets_exactly_nothing(count: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    group = int(generator.integers(count))
    table = generator.normal(size=2**count)
    without = np.arange(2**count) & ~(1 << group)
    shares = coalitions.exact(lambda chosen: table[without][:, None], count)
    assert shares.columns[group, 0] == 0


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 6), SEEDS)
def test_groups_that_can_be_exchanged_get_the_same(count: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    weights = generator.normal(size=count)
    weights[1] = weights[0]
    curve = generator.normal(size=3)

    def game(chosen: np.ndarray) -> np.ndarray:
        total = chosen @ weights
        return (curve[0] * total + curve[1] * total**2 + np.sin(curve[2] * total))[:, None]

    phi = coalitions.exact(game, count).columns[:, 0]
    assert phi[0] == pytest.approx(phi[1], abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(COUNTS, SEEDS)
def test_shares_are_the_mean_gain_over_all_orders(count: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=2**count)
    gains = np.zeros(count)
    orders = list(itertools.permutations(range(count)))
    for order in orders:
        have = 0
        for group in order:
            gains[group] += values[have | 1 << group] - values[have]
            have |= 1 << group
    phi = coalitions.exact(lambda chosen: values[:, None], count).columns[:, 0]
    assert phi == pytest.approx(gains / len(orders), abs=1e-9)


def test_permutations_agree_with_the_exact_shares_within_their_error_and_leave_no_gap() -> None:
    generator = np.random.default_rng(3)
    answers, background = network(generator, 8), drawn(generator, 32, 8)
    x = generator.normal(size=8).astype(np.float32)
    game = masking.marginal_game(answers, x, background, singles(8), np.array([1.0, 0, 0]))
    exact, drew = coalitions.exact(game, 8), coalitions.permuted(game, 8, generator, 100)
    off = np.abs(drew.columns.mean(axis=1) - exact.columns.mean(axis=1))
    assert (off <= 4 * drew.spread + 1e-9).all()
    assert 0 < drew.spread.max() < 0.2
    assert drew.columns.sum(axis=0) == pytest.approx(drew.full - drew.empty, abs=1e-9)
    assert (exact.exact, drew.exact) == (True, False)


def test_more_than_ten_groups_are_left_to_permutations() -> None:
    weights = np.arange(12.0)
    shares = coalitions.attribute(lambda chosen: (chosen @ weights)[:, None], 12, np.random.default_rng(0), 4)
    assert not shares.exact
    assert shares.columns[:, 0] == pytest.approx(weights)


def test_a_linear_output_gives_weight_times_distance_from_the_mean() -> None:
    generator = np.random.default_rng(0)
    weights, background = generator.normal(size=(7, 2)), drawn(generator, 64, 7)
    x = generator.normal(size=7).astype(np.float32)
    groups = [slice(0, 3), slice(3, 4), slice(4, 7)]
    game = masking.marginal_game(lambda rows: rows @ weights, x, background, groups, np.array([0.0, 1.0]))
    phi = background.average(coalitions.exact(game, 3).columns)
    parts = weights[:, 1] * (x - background.mean)
    assert phi == pytest.approx([parts[group].sum() for group in groups], abs=1e-6)


def test_an_unused_entry_of_a_network_gets_exactly_nothing_by_every_score() -> None:
    generator = np.random.default_rng(1)
    answers, background = network(generator, 5, unused=2), drawn(generator, 64, 5)
    x = generator.normal(size=(3, 5)).astype(np.float32)
    game = masking.marginal_game(answers, x[0], background, singles(5), np.array([1.0, 2.0, 3.0]))
    phi = coalitions.exact(game, 5).columns
    assert (phi[2] == 0).all()
    assert phi[1].any()
    assert (masking.replaced_changes(answers, x, background, slice(2, 3)) == 0).all()
    assert masking.replaced_changes(answers, x, background, slice(1, 2)).all()


def test_duplicated_entries_get_equal_shares() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.normal(size=(4, 16)), generator.normal(size=(16, 1))
    first[3] = first[1]
    background = drawn(generator, 64, 4)
    background.observations[:, 3] = background.observations[:, 1]
    x = generator.normal(size=4).astype(np.float32)
    x[3] = x[1]
    game = masking.marginal_game(
        lambda rows: np.tanh(rows @ first) @ second, x, background, singles(4), np.array([1.0])
    )
    phi = background.average(coalitions.exact(game, 4).columns)
    assert phi[3] == pytest.approx(phi[1], abs=1e-6)
    scores = [masking.replaced_changes(lambda rows: rows @ first, x[None], background, i).sum() for i in (1, 3)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-6)


def test_the_shap_library_gives_the_same_values() -> None:
    shap = pytest.importorskip("shap")
    generator = np.random.default_rng(4)
    answers, background = network(generator, 6), drawn(generator, 64, 6)
    x = generator.normal(size=6).astype(np.float32)
    game = masking.marginal_game(answers, x, background, singles(6), np.array([0.0, 1.0, 0.0]))
    phi = background.average(coalitions.exact(game, 6).columns)
    masker = shap.maskers.Independent(background.observations.astype(np.float64), max_samples=64)
    explainer = shap.explainers.ExactExplainer(lambda rows: answers(rows)[:, 1], masker)
    assert explainer(x[None].astype(np.float64)).values[0] == pytest.approx(phi, abs=1e-5)


def test_perturbation_is_the_mean_over_the_whole_background_and_not_a_draw() -> None:
    generator = np.random.default_rng(5)
    weights, background = generator.normal(size=(3, 2)), drawn(generator, 64, 3)
    x = generator.normal(size=(1, 3)).astype(np.float32)
    changes = masking.replaced_changes(lambda rows: rows @ weights, x, background, slice(1, 2))
    apart = background.observations[:, 1].astype(np.float64) - x[0, 1]
    expected = 0.5 * (weights[1] ** 2).sum() * (apart**2).mean()
    assert background.average(changes[0].sum(axis=1)) == pytest.approx(expected, rel=1e-5)


def test_a_complete_background_has_no_error_and_a_drawn_one_that_of_its_mean() -> None:
    columns = np.array([[1.0, 3.0, 5.0, 7.0]])
    rows = np.zeros((4, 1), np.float32)
    assert Background(rows, np.full(4, 0.25), True).error(columns) == [0.0]
    error = Background(rows, np.full(4, 0.25), False).error(columns)
    assert error == pytest.approx([np.std(columns, ddof=1) / 2])


def test_ranks_go_by_size_and_equal_sizes_keep_their_order() -> None:
    assert ranks(np.array([1.0, -3.0, 1.0, np.nan])).tolist() == [2, 1, 3, 4]


def test_rank_correlation_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    generator = np.random.default_rng(6)
    for _ in range(20):
        one, other = generator.integers(1, 5, size=(2, 9)).astype(float)
        assert spearman(one, other) == pytest.approx(stats.spearmanr(one, other).statistic)
    assert np.isnan(spearman(np.ones(4), np.arange(4.0)))
