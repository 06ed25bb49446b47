"""Where another action would have earned more: the largest clear gain of each state, summed up by predicate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xrl_common.estimates import Estimate

ERRORS = 2.0
"""A gain counts where it exceeds this many of its standard errors."""


@dataclass(frozen=True)
class Row:
    """The regret among the states in which something holds."""

    visited: int
    """Steps of the episodes in which it holds."""
    examined: int
    """Those of them that were looked at."""
    share: float
    """Of the examined ones, those with a clear gain; nan where none was examined."""
    gain: float
    """Mean over those with one of their largest clear gain; nan where there is none."""
    best: float
    """Mean over all examined of the change by the best of the others; nan where none was examined."""


def clear_gain(changes: list[Estimate], least: float) -> float:
    """The largest change that exceeds both `least` and two standard errors, 0 where none does."""
    clear = [change.mean for change in changes if change.mean > least and change.mean > ERRORS * change.se]
    return max(clear, default=0.0)


def best_change(changes: list[Estimate]) -> float:
    """The largest change, clear or not; nan where there is no other action."""
    return max((change.mean for change in changes), default=float("nan"))


def row(holds_visited: np.ndarray, holds_examined: np.ndarray, gains: np.ndarray, best: np.ndarray) -> Row:
    """Sums up the gains and best changes (examined,) of the states in which something holds."""
    among = gains[holds_examined]
    clear = among[among > 0]
    return Row(
        visited=int(holds_visited.sum()),
        examined=len(among),
        share=float(np.mean(among > 0)) if len(among) else float("nan"),
        gain=float(clear.mean()) if len(clear) else float("nan"),
        best=float(best[holds_examined].mean()) if len(among) else float("nan"),
    )
