"""What H2 looks like."""

from __future__ import annotations

from typing import NamedTuple

from evalxrl.results.values import Difference, Interval, NotComputed, PValue


class MalfunctionGap(NamedTuple):
    """The gap of the cheat oracle on one malfunction; its p-value (optimal > oracle) is descriptive."""

    malfunction: str
    optimal_mean: float
    oracle_mean: float
    gap: Difference
    p: PValue | NotComputed
    p_adjusted: float | NotComputed
    verdict: str


class OracleGap(NamedTuple):
    """H2 on one scale: optimal repair minus cheat oracle.

    ``verdict`` compares the percentile interval of ``gap`` with ``margin``: ``at_ceiling`` below, ``gap`` above, else
    ``undecided``. ``recovered_ratio`` is Σ mean(oracle)/Σ mean(optimal).
    """

    scale: str
    margin: float
    optimal_repair_assumed: bool
    gap: Difference
    recovered_ratio: Interval | NotComputed
    verdict: str
    malfunctions: list[MalfunctionGap]
    left_out: list[str]
