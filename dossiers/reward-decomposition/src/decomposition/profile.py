"""When the reward comes: sums of each component within bins of a rollout (temporal decomposition)."""

from __future__ import annotations

import numpy as np

BINS = 12


def edges(steps: int, bins: int = BINS) -> np.ndarray:
    """Bounds of at most `bins` ranges of whole steps; range i holds edges[i] <= k < edges[i + 1]."""
    return np.unique(np.round(np.linspace(0, steps, bins + 1)).astype(int))


def binned(rewards: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Undiscounted sums (rollouts, bins, components) of rewards (rollouts, steps, components)."""
    rewards = rewards[:, : bounds[-1]].astype(np.float64)
    return np.add.reduceat(rewards, bounds[:-1], axis=1)
