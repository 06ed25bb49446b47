"""What a program is judged on: histories of the agent's episodes, and what a program does in them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from programs.program import Action, Constant, Linear, Program, Test, Words

Head = tuple[tuple[float, ...], tuple[tuple[tuple[int, float], ...], ...]]
"""Biases of a head's categories, and of each its weights as pairs of feature and number."""


@dataclass(frozen=True)
class Histories:
    """One row per visited state."""

    truths: np.ndarray
    """(M, predicates) 0 or 1."""
    seen: np.ndarray
    """(M, d), the observation."""
    before: np.ndarray
    """(M, d), the observation one step earlier; the same where there is none."""
    summed: np.ndarray
    """(M, d), sum of the observations of the episode so far, this one included."""
    count: np.ndarray
    """(M,), how many these are."""
    wanted: np.ndarray
    """(M, heads or axes), what the agent does there."""

    @cached_property
    def entries(self) -> np.ndarray:
        """Predicates, then features, (M, p + d)."""
        return np.concatenate([self.truths, self.seen], axis=1)

    @cached_property
    def _features(self) -> np.ndarray:
        return self.seen.astype(np.float64)

    @cached_property
    def _known(self) -> dict[Head, np.ndarray]:
        return {}

    def preferred(self, head: Head) -> np.ndarray:
        """The category that one head of a linear action prefers, (M,); kept, as programs of a search share heads."""
        known = self._known.get(head)
        if known is None:
            bias, rows = head
            used = sorted({feature for row in rows for feature, _ in row})
            dense = np.zeros((len(rows), len(used)))
            for category, row in enumerate(rows):
                for feature, weight in row:
                    dense[category, used.index(feature)] += weight
            known = (self._features[:, used] @ dense.T + np.array(bias)).argmax(axis=1).astype(np.int16)
            self._known[head] = known
        return known

    def joined(self, other: Histories, most: int) -> Histories:
        """Both together, the newest `most`."""
        return Histories(
            *(np.concatenate([getattr(self, f.name), getattr(other, f.name)])[-most:] for f in fields(self))
        )


def holds(test: Test, entries: np.ndarray) -> np.ndarray:
    """Where a test holds, (M,) bool."""
    return entries[:, test.entry] > test.number if test.above else entries[:, test.entry] < test.number


def act(program: Program, histories: Histories, words: Words) -> np.ndarray:
    """What a program does, (M, heads or axes)."""
    entries = histories.entries
    left = np.ones(len(entries), bool)
    done = np.zeros(histories.wanted.shape, np.float64)
    for rule in program.rules:
        here = left.copy()
        for test in rule.tests:
            here &= holds(test, entries)
        if here.any():
            done[here] = acts(rule.action, histories, words)[here]
        left &= ~here
    if left.any():
        done[left] = acts(program.rest, histories, words)[left]
    return done


def acts(action: Action, histories: Histories, words: Words) -> np.ndarray:
    """What one action does everywhere, (M, heads or axes)."""
    if isinstance(action, Constant):
        return np.tile(np.array(action.values), (len(histories.seen), 1))
    if isinstance(action, Linear):
        heads = zip(action.bias, action.weights, strict=True)
        return np.stack([histories.preferred(head) for head in heads], axis=1).astype(np.float64)
    columns = []
    for c, low, high in zip(action.axes, words.low, words.high, strict=True):
        here = histories.seen[:, c.feature].astype(np.float64)
        total = histories.summed[:, c.feature] - c.target * histories.count
        change = here - histories.before[:, c.feature]
        columns.append(np.clip(c.k0 + c.kp * (here - c.target) + c.ki * total + c.kd * change, low, high))
    return np.stack(columns, axis=1)


def distances(done: np.ndarray, wanted: np.ndarray, words: Words) -> np.ndarray:
    """Per row: share of heads that differ, or mean squared error in units of the range, (M,)."""
    if not words.continuous:
        return (done != wanted).mean(axis=1)
    span = np.array(words.high) - np.array(words.low)
    return (((done - wanted) / span) ** 2).mean(axis=1)


def distance(program: Program, histories: Histories, words: Words) -> float:
    """Mean of `distances`."""
    return float(distances(act(program, histories, words), histories.wanted, words).mean())


def agreement(program: Program, histories: Histories, words: Words) -> float:
    """Share of rows with the agent's action; for continuous actions, within .05 of the range on every axis."""
    done = act(program, histories, words)
    if not words.continuous:
        return float((done == histories.wanted).all(axis=1).mean())
    span = np.array(words.high) - np.array(words.low)
    return float((np.abs(done - histories.wanted) <= 0.05 * span).all(axis=1).mean())
