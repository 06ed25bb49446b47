"""Two continuations of one state beside each other: where they first differ, and where they are one again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

TOLERANCE = 1e-6
"""Distance up to which two states count as the same."""

CLOSE = 1e-3
"""Observations further apart than this share of their size belong to states that are not compared."""


def first_difference(one: np.ndarray, other: np.ndarray, common: int) -> tuple[int, list[int]] | None:
    """Step 1.. `common` at which a predicate differs for the first time, and which ones; none where none does.

    `one` and `other` are (steps + 1, predicates); row k holds after k steps.
    """
    for step in range(1, common + 1):
        differing = np.flatnonzero(one[step] != other[step])
        if len(differing):
            return step, differing.tolist()
    return None


def rejoining(
    one: np.ndarray, other: np.ndarray, common: int, distance: Callable[[int], float], first: int = 1
) -> int | None:
    """The first step from `first` to `common` after which both states are the same, none where they never are.

    `one` and `other` are observations (steps + 1, d); `distance(k)` compares the states after k steps and is asked
    only where the observations are close, since it is the dear part.
    """
    near = np.isclose(one, other, rtol=CLOSE, atol=CLOSE, equal_nan=True).all(axis=1)
    for step in range(first, common + 1):
        if near[step] and distance(step) <= TOLERANCE:
            return step
    return None


def order(
    changes: Sequence[float], rejoined: Sequence[int | None], places: Sequence[tuple[int, int, int]]
) -> list[int]:
    """Rows by decreasing |change|, then sooner re-joining (never last), then (episode, t, action).

    A change that is not a number counts as the largest. Changes are compared as tables print them, to three
    decimals, so that rounding of sums does not decide.
    """

    def key(row: int) -> tuple[float, float, tuple[int, int, int]]:
        size = abs(changes[row])
        back = rejoined[row]
        return (
            -np.inf if np.isnan(size) else -round(size, 3),
            np.inf if back is None else back,
            places[row],
        )

    return sorted(range(len(changes)), key=key)


def most_important(importance: np.ndarray, count: int) -> list[int]:
    """The steps of highest importance, in order of time; ties go to the earlier step, nan counts as highest."""
    ranked = np.argsort(-np.where(np.isnan(importance), np.inf, importance), kind="stable")
    return sorted(int(step) for step in ranked[:count])
