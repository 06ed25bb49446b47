"""Integrated gradients along the straight line from a baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

POINTS = 64
"""Midpoints of the line."""

Gradients = Callable[[np.ndarray], np.ndarray]
"""Observations (M, d) float32 -> the gradient of one number at each, (M, d) float64."""


def integrated(gradients: Gradients, observation: np.ndarray, baseline: np.ndarray, points: int = POINTS) -> np.ndarray:
    """phi_i = (x_i - b_i) times the mean of dF/dx_i over the midpoints of the line from b to x; (d,) float64."""
    shares = (np.arange(points) + 0.5) / points
    away = np.asarray(observation, np.float64) - baseline
    slopes = gradients((baseline + shares[:, None] * away).astype(np.float32))
    return away * slopes.mean(axis=0)


def by_group(values: np.ndarray, groups: Sequence[slice]) -> np.ndarray:
    """Sums of entries (d,) over groups, (n,)."""
    return np.array([values[entries].sum() for entries in groups])
