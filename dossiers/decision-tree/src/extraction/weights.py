"""How much a state counts when a tree is fitted."""

from __future__ import annotations

import numpy as np


def spread(values: np.ndarray) -> np.ndarray:
    """max Q - min Q over the actions of each state (S, A), (S,); 0 where that is not finite."""
    apart = values.max(axis=1) - values.min(axis=1)
    return np.where(np.isfinite(apart), apart, 0.0)


FLOOR = 0.01
"""Added to every weight, as a share of their mean: states in which nothing depends on the action still count a little,
so that the tree is like the agent there too once the decisive states are told apart."""


def normalised(spreads: np.ndarray) -> np.ndarray:
    """Weights of sum 1 in proportion to `spreads` (S,) above a small floor; uniform where all are zero."""
    raised = spreads + FLOOR * spreads.mean()
    total = raised.sum()
    return raised / total if total > 0 else uniform(len(spreads))


def uniform(count: int) -> np.ndarray:
    """Every state alike, (S,)."""
    return np.full(count, 1.0 / count)
