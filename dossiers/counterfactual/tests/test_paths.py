"""First differences, re-joining, the order of deviations, and the steps that matter most."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deviation import paths

NEVER = None


def test_the_first_step_at_which_a_predicate_differs_and_which_ones() -> None:
    one, other = np.zeros((5, 3), bool), np.zeros((5, 3), bool)
    other[0, 0] = True
    other[3, 1:] = True
    assert paths.first_difference(one, other, 4) == (3, [1, 2])
    assert paths.first_difference(one, other, 2) is None


def test_states_rejoin_at_the_first_step_of_no_distance_after_the_deviation() -> None:
    apart = [0.0, 1.0, 0.5, 1e-7, 0.0]
    seen = np.zeros((5, 2))
    assert paths.rejoining(seen, seen, 4, lambda step: apart[step]) == 3
    assert paths.rejoining(seen, seen, 2, lambda step: apart[step]) is None


def test_states_that_look_different_are_not_compared() -> None:
    one, other = np.zeros((4, 2)), np.zeros((4, 2))
    other[1:3] = 1.0
    asked = []

    def distance(step: int) -> float:
        asked.append(step)
        return 0.0

    assert paths.rejoining(one, other, 3, distance) == 3
    assert asked == [3]


rows = st.lists(
    st.tuples(
        st.one_of(st.floats(-9, 9), st.just(float("nan"))),
        st.one_of(st.none(), st.integers(1, 5)),
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)),
    ),
    max_size=12,
)


@given(rows)
def test_rows_go_by_size_then_sooner_rejoining_then_place(entries: list) -> None:
    order = paths.order([e[0] for e in entries], [e[1] for e in entries], [e[2] for e in entries])
    assert sorted(order) == list(range(len(entries)))
    sorted_ = [entries[index] for index in order]
    for (one, back, place), (two, later, other) in pairwise(sorted_):
        sizes = [np.inf if np.isnan(size) else round(abs(size), 3) for size in (one, two)]
        backs = [np.inf if step is None else step for step in (back, later)]
        assert (-sizes[0], backs[0], place) <= (-sizes[1], backs[1], other)


def test_the_most_important_steps_come_in_order_of_time_and_ties_go_to_the_earlier() -> None:
    assert paths.most_important(np.array([1.0, 5.0, 3.0, 5.0, 3.0]), 3) == [1, 2, 3]
    assert paths.most_important(np.array([1.0, np.nan, 3.0]), 1) == [1]
    assert paths.most_important(np.array([1.0]), 9) == [0]
