"""Which states a summary shows: the most important ones, apart in time and, if wanted, apart in kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

CLIPS = 5
REACH = 10
GAP = 10
PERCENTILE = 3
"""Of the distances between visited states; a diverse summary shows no two states nearer than that."""


def choose(
    importance: np.ndarray,
    episodes: np.ndarray,
    times: np.ndarray,
    count: int = CLIPS,
    apart: int = REACH + GAP,
    near: Callable[[int, int], bool] | None = None,
) -> list[int]:
    """Rows of at most `count` states in decreasing importance (all arrays (S,)).

    Ties go by episode, then by time. A state nearer than `apart` steps to a chosen state of the same episode is passed
    over, and so is one for which `near(row, chosen row)` holds.
    """
    chosen: list[int] = []
    for row in np.lexsort((times, episodes, -np.asarray(importance, np.float64))):
        if len(chosen) == count:
            break
        close = (episodes[row] == episodes[kept] and abs(int(times[row]) - int(times[kept])) < apart for kept in chosen)
        if any(close) or (near is not None and any(near(int(row), kept) for kept in chosen)):
            continue
        chosen.append(int(row))
    return chosen


def clip(time: int, length: int, reach: int = REACH) -> range:
    """Steps from `time` - reach to `time` + reach inclusive, cut at the ends of an episode of `length` steps."""
    return range(max(time - reach, 0), min(time + reach, length - 1) + 1)


def threshold(distances: np.ndarray) -> float:
    """What counts as near, from distances between visited states."""
    return float(np.percentile(distances, PERCENTILE)) if len(distances) else 0.0
