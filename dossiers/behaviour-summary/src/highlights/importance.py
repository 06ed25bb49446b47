"""How much the choice of an action matters in a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MEASURES = ("range", "second", "entropy")


@dataclass(frozen=True)
class Importance:
    """One number per state, its standard error, and the ends of the action values it came from; all (S,)."""

    values: np.ndarray
    errors: np.ndarray
    low: np.ndarray
    high: np.ndarray


def of_values(samples: np.ndarray, measure: str) -> Importance:
    """Importance from action values of N rollouts (S, A, N) that share their noise between actions.

    range: max Q - min Q. second: max Q - the second largest Q. The error is that of the paired difference of the two
    actions. Equal values take the action listed first. Whole numbers of any width are taken as real ones.
    """
    samples = np.asarray(samples, np.float64)
    means = samples.mean(axis=2)
    order = np.argsort(-means, axis=1, kind="stable")
    best, other = order[:, 0], order[:, 1 if measure == "second" else -1]
    rows = np.arange(len(means))
    with np.errstate(invalid="ignore"):
        apart = samples[rows, best] - samples[rows, other]
    count = samples.shape[2]
    errors = apart.std(axis=1, ddof=1) / np.sqrt(count) if count > 1 else np.zeros(len(means))
    return Importance(apart.mean(axis=1), errors, means.min(axis=1), means.max(axis=1))


def percentile(values: np.ndarray, value: float) -> int:
    """Share of values that do not exceed one, in whole per cent."""
    return round(100 * float(np.mean(values <= value)))
