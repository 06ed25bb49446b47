"""The nearest value of one feature at which an agent acts differently: a scan, then bisection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

POINTS = 33
"""Values tried over the observed range of a feature."""

PRECISION = 1e-4
"""Width at which bisection ends, as a share of the range."""

Differs = Callable[[np.ndarray], np.ndarray]
"""Observations (B, d) -> (B,) bool: whether the agent acts differently from the way it acts in the state."""


@dataclass(frozen=True)
class Flip:
    """A feature and the nearest value that flips the action."""

    feature: int
    value: float
    """In the state."""
    flipped: float
    range: float
    """Width of the observed range, stretched to hold the value."""

    @property
    def share(self) -> float:
        """How far away it is, as a share of the range."""
        return abs(self.flipped - self.value) / self.range


def nearest_flips(observation: np.ndarray, low: np.ndarray, high: np.ndarray, differs: Differs) -> list[Flip | None]:
    """Per feature the nearest flipping value, none where no tried value flips.

    `observation`, `low` and `high` are (d,) float32; one feature is changed at a time. Scans 33 points, then
    bisects between the nearest one that differs and its neighbour towards the value. Where the point two
    precisions nearer flips too (several flips within one gap), the search goes on from there, so that in the
    end the value flips and the one two precisions nearer does not.
    """
    value = observation.astype(np.float64)
    low, high = np.minimum(low, value), np.maximum(high, value)
    width = high - low
    grids = [np.linspace(low[i], high[i], POINTS) if width[i] > 0 else np.zeros(0) for i in range(len(value))]
    rows = [(i, point) for i, grid in enumerate(grids) for point in grid]
    answers = _ask(observation, rows, differs)
    brackets: dict[int, tuple[float, float]] = {}
    for i, grid in enumerate(grids):
        hits = [point for (feature, point), hit in zip(rows, answers, strict=True) if feature == i and hit]
        if hits:
            reached = min(hits, key=lambda point, i=i: (abs(point - value[i]), point))
            brackets[i] = (_neighbour(grid, value[i], reached), float(reached))
    flipped = _bisect(observation, value, width, brackets, differs)
    return [Flip(i, float(value[i]), flipped[i], float(width[i])) if i in flipped else None for i in range(len(value))]


def _neighbour(grid: np.ndarray, value: float, reached: float) -> float:
    """The tried point next to `reached` on the way to the value, or the value itself where it is nearer."""
    between = [point for point in grid if min(value, reached) < point < max(value, reached)]
    return float(min(between, key=lambda point: abs(point - reached))) if between else float(value)


def _bisect(
    observation: np.ndarray,
    value: np.ndarray,
    width: np.ndarray,
    brackets: dict[int, tuple[float, float]],
    differs: Differs,
) -> dict[int, float]:
    """Narrows (same, different) of all features at once until each is settled."""
    open_, settled = dict(brackets), {}
    while open_:
        halves = {i: (same + other) / 2 for i, (same, other) in open_.items()}
        narrow = [i for i, (same, other) in open_.items() if _narrow(same, other, width[i])]
        for i in narrow:
            same, other = open_[i]
            halves[i] = _towards(value[i], other, 2 * PRECISION * width[i])
        answers = _ask(observation, list(halves.items()), differs)
        for (i, point), hit in zip(halves.items(), answers, strict=True):
            same, other = open_[i]
            if i not in narrow:
                open_[i] = (same, point) if hit else (point, other)
            elif hit and np.float32(point) != np.float32(other):
                open_[i] = (float(value[i]), point)
            else:
                settled[i] = other
                del open_[i]
    return settled


def _narrow(same: float, other: float, width: float) -> bool:
    """Whether the bracket is as small as asked, or as small as the numbers of a network allow."""
    middle = np.float32((same + other) / 2)
    return abs(other - same) <= PRECISION * width or middle in (np.float32(same), np.float32(other))


def _towards(value: float, point: float, step: float) -> float:
    """`point` moved towards the value by a step, not beyond it."""
    return value if abs(point - value) <= step else point - np.sign(point - value) * step


def _ask(observation: np.ndarray, rows: list[tuple[int, float]], differs: Differs) -> np.ndarray:
    batch = np.repeat(observation[None].astype(np.float32), len(rows), axis=0)
    for row, (feature, point) in enumerate(rows):
        batch[row, feature] = point
    return differs(batch) if rows else np.zeros(0, bool)
