"""RDX and MSX: the published definitions against brute force and worked examples."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from decomposition.explanation import difference, minimal_sufficient


@pytest.mark.parametrize(
    ("delta", "d", "reasons", "v", "objections"),
    [
        ((5, -1, -2, 1), 3, {0}, 0, {2}),
        ((3, 3, -2, -3.5), 5.5, {0, 1}, 3, {3}),
        ((1, 1, 1, -2.5), 2.5, {0, 1, 2}, 2, {3}),
        ((10, -4, -5, 0.5), 9, {0}, 0, {2}),
        ((2, 0, 0), 0, {0}, 0, set()),
    ],
)
def test_worked_examples(delta: tuple[float, ...], d: float, reasons: set, v: float, objections: set) -> None:
    got = minimal_sufficient(delta)
    assert (got.disadvantage, set(got.reasons), got.slack, set(got.objections)) == (d, reasons, v, objections)
    assert not got.reasons_tied
    assert not got.objections_tied


def test_a_slack_equal_to_the_losses_lists_all_of_them_as_tied() -> None:
    got = minimal_sufficient((3, 3, -3))
    assert (got.reasons, got.objections, got.objections_tied) == ((0, 1), (2,), True)


def test_gains_equal_to_losses_list_all_gains_as_tied() -> None:
    got = minimal_sufficient((2, 1, -3))
    assert (set(got.reasons), got.reasons_tied) == ({0, 1}, True)


def test_no_difference_at_all_explains_nothing() -> None:
    got = minimal_sufficient((0, 0))
    assert (got.disadvantage, got.reasons, got.slack, got.objections) == (0, (), 0, ())


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_difference_that_is_not_finite_explains_nothing(odd: float) -> None:
    got = minimal_sufficient((1, odd, -2))
    assert (got.reasons, got.objections) == ((), ())
    assert math.isnan(got.disadvantage)
    assert math.isnan(got.slack)


def test_equal_values_keep_the_order_of_the_components() -> None:
    assert minimal_sufficient((1, 4, 4, -2)).reasons == (1,)


def test_the_pair_is_exchanged_where_its_sum_is_negative() -> None:
    assert difference([1, 0], [0, 3]) == ([-1, 3], True)
    assert difference([0, 3], [1, 0]) == ([-1, 3], False)


def _smallest(values: dict[int, float], threshold: float) -> set[int]:
    """By trying every subset: the smallest above the threshold, of those the largest sum."""
    for size in range(len(values) + 1):
        above = [m for m in combinations(values, size) if sum(values[c] for c in m) > threshold]
        if above:
            return set(max(above, key=lambda m: sum(values[c] for c in m)))
    return set(values)


def test_taking_the_largest_first_equals_brute_force_on_2000_random_vectors() -> None:
    generator = np.random.default_rng(0)
    mismatches = 0
    for _ in range(2000):
        delta = generator.normal(size=generator.integers(2, 7))
        delta = (delta * np.sign(delta.sum())).tolist()
        gains = {c: x for c, x in enumerate(delta) if x > 0}
        losses = {c: -x for c, x in enumerate(delta) if x < 0}
        d = sum(losses.values())
        reasons = _smallest(gains, d) if losses else {max(gains, key=gains.__getitem__)}
        v = sum(gains[c] for c in reasons) - min(gains[c] for c in reasons)
        objections = _smallest(losses, v) if losses else set()
        got = minimal_sufficient(delta)
        mismatches += (set(got.reasons), set(got.objections)) != (reasons, objections)
        assert got.slack == pytest.approx(v)
    assert mismatches == 0
