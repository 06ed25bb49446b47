"""Set differences between runs of the fact and of the foil."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from deviation.contrast import Meeting, differences, endings, meetings, met


def test_a_run_meets_what_holds_at_a_step_it_took_or_at_its_end() -> None:
    truth = np.zeros((2, 3, 2), bool)
    truth[0, 2, 0] = truth[1, 1, 0] = True
    alive = np.array([[True, True, False], [True, True, True]])
    last = np.array([[False, True], [False, False]])
    assert met(truth, alive, last).tolist() == [[False, True], [True, False]]


tables = arrays(bool, (6, 3))


@given(tables, tables)
def test_counts_are_those_of_sets_of_runs(fact: np.ndarray, foil: np.ndarray) -> None:
    for column, row in enumerate(meetings(("a", "b", "c"), fact, foil)):
        one, other = set(np.flatnonzero(fact[:, column])), set(np.flatnonzero(foil[:, column]))
        assert row == Meeting("abc"[column], len(one), len(other), len(one - other), len(other - one))


@given(tables, tables)
def test_the_set_differences_are_relative_complements(fact: np.ndarray, foil: np.ndarray) -> None:
    names = ("a", "b", "c")
    only_fact, only_foil = differences(meetings(names, fact, foil))
    one = {name for name, column in zip(names, fact.T, strict=True) if column.any()}
    other = {name for name, column in zip(names, foil.T, strict=True) if column.any()}
    assert set(only_fact) == one - other
    assert set(only_foil) == other - one


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("xyz")), min_size=1))
def test_every_run_ends_once(pairs: list[tuple[str, str]]) -> None:
    fact, foil = zip(*pairs, strict=True)
    rows = endings(fact, foil)
    assert sum(row.fact for row in rows) == sum(row.foil for row in rows) == len(pairs)
    assert sum(row.only_fact for row in rows) == sum(row.only_foil for row in rows) == sum(a != b for a, b in pairs)
    assert [row.fact for row in rows] == sorted((row.fact for row in rows), reverse=True)
