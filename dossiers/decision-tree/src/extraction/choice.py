"""Which of several students is kept: successive halving on the return."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

FIRST = 10
LAST = 50


def best(count: int, returns: Callable[[int, int], np.ndarray]) -> int:
    """The student kept out of `count`; `returns(student, episodes)` plays that many common episodes.

    Each round plays every student left, first 10 episodes and twice as many after each halving; the better half
    stays, of equal ones the later, which was fitted to more data. The last pair plays 50.
    """
    left, episodes = list(range(count)), FIRST
    while len(left) > 1:
        played = LAST if len(left) == 2 else min(episodes, LAST)
        means = {student: float(np.mean(returns(student, played))) for student in left}
        left = sorted(left, key=lambda student: (-means[student], -student))[: (len(left) + 1) // 2]
        episodes *= 2
    return left[0]
