"""Macro-actions: maximal runs of steps that do the same thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from xrl_common import actions
from xrl_common.subject import Subject

CLOSE = 0.125
"""A continuous action goes on while every axis stays this near its first value, as a share of the range."""


@dataclass(frozen=True)
class Run:
    """Steps `first` to `last`, both included, counted from the first one of the sequence."""

    first: int
    last: int

    @property
    def count(self) -> int:
        """Number of steps."""
        return self.last - self.first + 1

    def text(self, name: str, start: int = 0) -> str:
        """`step 2 right` or `steps 0-1 down x2`; `start` is the number of the first step of the sequence."""
        first, last = self.first + start, self.last + start
        return f"step {first} {name}" if self.count == 1 else f"steps {first}-{last} {name} x{self.count}"


def runs(taken: Sequence[np.ndarray], alike: Callable[[np.ndarray, np.ndarray], bool], truth: np.ndarray) -> list[Run]:
    """Cuts a sequence of actions wherever an action or a predicate differs from those of the current run's first step.

    `taken` holds one action per step, `truth` (steps, predicates) what holds before each; none of it with (steps, 0).
    """
    found: list[Run] = []
    first = 0
    for step in range(1, len(taken) + 1):
        ends = step == len(taken)
        if ends or not alike(taken[first], taken[step]) or not np.array_equal(truth[first], truth[step]):
            found.append(Run(first, step - 1))
            first = step
    return found if len(taken) else []


def alike(subject: Subject) -> Callable[[np.ndarray, np.ndarray], bool]:
    """Whether two actions count as one: equal ones, continuous ones up to an eighth of the range on every axis."""
    if actions.kind(subject) is not actions.Kind.CONTINUOUS:
        return actions.same
    low, high = actions.bounds(subject)

    def near(one: np.ndarray, other: np.ndarray) -> bool:
        gap = np.abs(np.clip(one, low, high) - np.clip(other, low, high))
        return bool(np.all(gap <= CLOSE * (high - low)) or np.array_equal(one, other, equal_nan=True))

    return near


def name(subject: Subject, taken: np.ndarray) -> str:
    """How a run of actions (steps, ...) is written: its one action, or the mean of continuous ones, clipped."""
    if actions.kind(subject) is actions.Kind.CONTINUOUS:
        return actions.name_of(subject, np.clip(taken, *actions.bounds(subject)).mean(axis=0))
    return actions.name_of(subject, taken[0])
