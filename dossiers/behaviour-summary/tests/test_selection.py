"""The order of states, the gaps between clips, and importance from action values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import F6
from highlights.importance import of_values, percentile
from highlights.selection import choose, clip, threshold

STATES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 60), st.integers(0, 5)), min_size=1, max_size=60, unique=True
)


@given(STATES, st.integers(1, 6), st.integers(0, 25))
def test_no_two_chosen_states_of_an_episode_are_nearer_than_asked_and_none_passed_over_would_fit(
    states: list[tuple[int, int, int]], count: int, apart: int
) -> None:
    episodes, times, values = (np.array(column) for column in zip(*states, strict=True))
    chosen = choose(values, episodes, times, count, apart)

    def close(a: int, b: int) -> bool:
        return episodes[a] == episodes[b] and abs(times[a] - times[b]) < apart

    assert len(set(chosen)) == len(chosen) <= count
    assert not any(close(a, b) for i, a in enumerate(chosen) for b in chosen[:i])
    ranks = [(-values[row], episodes[row], times[row]) for row in chosen]
    assert ranks == sorted(ranks)
    for row in set(range(len(states))) - set(chosen):
        better = [
            kept for kept, rank in zip(chosen, ranks, strict=True) if rank < (-values[row], episodes[row], times[row])
        ]
        assert len(better) == count or any(close(row, kept) for kept in better)


def test_constant_importance_keeps_the_order_of_episodes_and_steps() -> None:
    episodes, times = np.array([1, 0, 0, 1]), np.array([0, 50, 0, 50])
    assert choose(np.zeros(4), episodes, times, 3, 20) == [2, 1, 0]


def test_a_rule_of_nearness_passes_states_over() -> None:
    chosen = choose(np.arange(6.0), np.arange(6), np.zeros(6), 3, 0, lambda row, kept: abs(row - kept) < 2)
    assert chosen == [5, 3, 1]


def test_a_clip_is_cut_at_the_ends_of_its_episode() -> None:
    assert list(clip(2, 40, 3)) == [0, 1, 2, 3, 4, 5]
    assert list(clip(38, 40, 3)) == [35, 36, 37, 38, 39]
    assert list(clip(0, 1, 10)) == [0]


def test_importance_is_the_range_or_the_lead_and_its_error_is_paired() -> None:
    noise = np.random.default_rng(0).normal(size=50)
    samples = np.stack([3 + noise, 1 + noise, -2 + noise])[None]
    spread, lead = of_values(samples, "range"), of_values(samples, "second")
    assert (spread.values[0], lead.values[0]) == pytest.approx((5, 2))
    assert (spread.errors[0], lead.errors[0]) == pytest.approx((0, 0), abs=1e-9)
    assert (spread.high[0] - spread.low[0]) == pytest.approx(5)
    loose = of_values(np.random.default_rng(1).normal(size=(1, 2, 100)), "range")
    assert 0.05 < loose.errors[0] < 0.3


def test_unsigned_values_do_not_wrap_round() -> None:
    samples = np.array([[[10, 30], [20, 10]]], np.uint8)
    assert of_values(samples, "range").values[0] == 5
    assert of_values(samples[:, :, :1], "range").values[0] == 10
    assert choose(np.array([0, 10, 20], np.uint8), np.arange(3), np.zeros(3), 3) == [2, 1, 0]


def test_values_that_are_not_finite_come_last() -> None:
    samples = np.array([[[1.0], [np.nan]], [[1.0], [2.0]], [[3.0], [3.0]]])
    values = of_values(samples, "range").values
    assert np.isnan(values[0]) and choose(values, np.arange(3), np.zeros(3), 3) == [1, 2, 0]


def test_mirrored_states_are_two_kinds() -> None:
    cells = [(0, 1), (1, 0), (0, 1)]

    def near(row: int, kept: int) -> bool:
        return F6.distance(F6.at(cells[row]), F6.at(cells[kept])) < 1.414

    assert choose(np.zeros(3), np.arange(3), np.zeros(3), 3, 0, near) == [0, 1]


def test_percentiles_and_thresholds() -> None:
    assert percentile(np.array([1.0, 2.0, 3.0, 4.0]), 3.0) == 75
    assert threshold(np.arange(101.0)) == 3
    assert threshold(np.array([])) == 0
