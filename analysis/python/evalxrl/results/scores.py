"""What repair scores, gaps and families of p-values look like."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class RepairScores(NamedTuple):
    """Scores of sessions, un-clipped and limited to [0, 1]; unit-free, 0 = as broken, 1 = as clean."""

    raw: Floats
    clipped: Floats


class Gap(NamedTuple):
    """An admitted gap between clean and broken performance, with its standard error, in units of performance."""

    value: float
    standard_error: float


class Adjusted(NamedTuple):
    """Adjusted p-values (NaN where absent) and which of them are rejected; two arrays of the shape of the input."""

    p: Floats
    rejected: NDArray[np.bool_]


class Attainability(NamedTuple):
    """What the smallest p-value of a test allows in a family of cells.

    ``p_min = 1/arrangements``; so many as ``cells_needed`` cells must reach it together to be rejected; ``state`` is
    ``one_cell``, ``several_cells`` or ``not_testable``; with ``sessions_for_one_cell`` sessions in both arms one
    suffices.
    """

    test: str
    sessions: int
    baseline_sessions: int
    cells: int
    cells_of_this_size: int
    arrangements: int | None
    p_min: float
    cells_needed: int
    state: str
    sessions_for_one_cell: int
