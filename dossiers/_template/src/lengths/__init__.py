"""How long episodes are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Summary:
    """Lengths of the episodes that ended in one way."""

    count: int
    mean: float
    shortest: int
    longest: int


def summarise(lengths: np.ndarray) -> Summary:
    """Count, mean, minimum and maximum; zeros where there is no episode."""
    if len(lengths) == 0:
        return Summary(0, 0.0, 0, 0)
    return Summary(len(lengths), float(np.mean(lengths)), int(np.min(lengths)), int(np.max(lengths)))
