"""What H3 looks like."""

from __future__ import annotations

from typing import NamedTuple

from evalxrl.results.values import NotComputed, PValue


class HarmedCell(NamedTuple):
    """A discovery of the primary test of H3."""

    method: str
    malfunction: str


class Pairing(NamedTuple):
    """How the sessions of a cell pair with those of its baseline by block; the others are counted and left out."""

    pairs: int
    unmatched: int
    baseline_unmatched: int


class HarmTest(NamedTuple):
    """One one-sided test (less) of a cell; ``p_adjusted`` is Benjamini–Hochberg over the planned cells, per test.

    ``discovery`` means adjusted p ≤ q and a negative lift; only the ``primary`` test decides.
    """

    test: str
    primary: bool
    p: PValue | NotComputed
    p_adjusted: float | NotComputed
    discovery: bool
    flags: list[str]


class HarmCell(NamedTuple):
    """One cell against the baseline of its malfunction; ``lift`` is on the raw scale, winsorised."""

    method: str
    malfunction: str
    sessions: int
    baseline_sessions: int
    lift: float | NotComputed
    unequal_sessions: bool
    pairing: Pairing | NotComputed
    tests: list[HarmTest]

    def test(self, name: str) -> HarmTest:
        """Find a test by name, such as ``permutation_mean``; ``KeyError`` where it is not among ``tests``."""
        for test in self.tests:
            if test.test == name:
                return test
        raise KeyError(name)


class ZeroedCell(NamedTuple):
    """The primary test of a cell with every missing planned session set to 0."""

    method: str
    malfunction: str
    sessions: int
    baseline_sessions: int
    lift: float | NotComputed
    p: PValue | NotComputed
    p_adjusted: float | NotComputed
    discovery: bool


class MissingAsZero(NamedTuple):
    """Sensitivity of H3 to missing sessions."""

    harmed: list[HarmedCell]
    cells: list[ZeroedCell]


class Harm(NamedTuple):
    """H3 over all planned cells.

    ``verdict`` is ``harm_found``, ``no_harm_found`` or ``not_testable``; ``cells_needed`` is the fewest cells that
    could be discoveries together.
    """

    q: float
    planned_cells: int
    tested_cells: int
    verdict: str
    harmed: list[HarmedCell]
    cells_needed: int | NotComputed
    cells: list[HarmCell]
    missing_as_zero: MissingAsZero | NotComputed
    warnings: list[str]
