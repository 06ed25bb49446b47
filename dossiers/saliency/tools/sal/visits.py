"""The states that the agent visits: the background, and how often each observation occurs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attribution import conditional
from attribution.masking import Background
from xrl_common.simulation import Simulator, Trace

BACKGROUND = 64
"""Visited states in the background; fewer where fewer differ."""

COUNTED = 512
"""Different observations up to which their occupancy is counted."""


@dataclass(frozen=True)
class Visits:
    """What was observed in a number of episodes."""

    seen: np.ndarray
    """Every visit in order, (V, d)."""
    distinct: np.ndarray
    """Each different observation once, (U, d)."""
    counts: np.ndarray
    """Visits of each, (U,)."""
    background: Background
    episodes: int

    @property
    def finite(self) -> bool:
        """Whether observations are so few that they can be counted."""
        return len(self.distinct) <= COUNTED

    @property
    def word(self) -> str:
        """How a header names the background."""
        background = self.background
        return f"background {'all ' if background.complete else ''}{len(background.weights)} states"

    def occupancy(self, observation: np.ndarray) -> conditional.Table:
        """What may stand for a partly known observation (d,): all that was counted, or the background.

        An observation that was never visited counts as one visit.
        """
        deviations = self.seen.astype(np.float64).std(axis=0)
        if not self.finite:
            return conditional.table(self.background.observations, self.background.weights, deviations)
        distinct, counts = self.distinct, self.counts
        if not conditional.same(distinct, observation).all(axis=1).any():
            distinct, counts = np.concatenate([distinct, observation[None]]), np.append(counts, 1)
        return conditional.table(distinct, counts / counts.sum(), deviations)


def visits(simulator: Simulator, trace: Trace) -> Visits:
    """Counts the observations of a trace and draws the background."""
    seen = trace.observations[trace.alive] + np.float32(0)
    distinct, counts = np.unique(seen, axis=0, return_counts=True)
    if len(distinct) <= BACKGROUND:
        background = Background(distinct, counts / counts.sum(), True)
    else:
        chosen = np.sort(simulator.generator("background").choice(len(seen), BACKGROUND, replace=False))
        background = Background(seen[chosen], np.full(BACKGROUND, 1 / BACKGROUND), False)
    return Visits(seen, distinct, counts, background, len(trace.lengths))
