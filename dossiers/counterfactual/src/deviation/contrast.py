"""What two ways of acting meet on the way and how they end, as sets (fact and foil)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Meeting:
    """One thing that runs may meet, counted over pairs of runs that share their noise."""

    name: str
    fact: int
    """Runs of the fact that meet it."""
    foil: int
    only_fact: int
    """Pairs in which the fact meets it and the foil does not."""
    only_foil: int


def met(truth: np.ndarray, alive: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Which runs meet which predicates at all, (runs, predicates).

    `truth` (runs, steps, predicates) before each step, `alive` (runs, steps), `last` (runs, predicates) at the end.
    """
    return (truth & alive[:, :, None]).any(axis=1) | last


def meetings(names: Sequence[str], fact: np.ndarray, foil: np.ndarray) -> list[Meeting]:
    """One row per predicate from which runs meet it, (runs, predicates) each."""
    return [
        Meeting(
            name,
            int(fact[:, column].sum()),
            int(foil[:, column].sum()),
            int((fact[:, column] & ~foil[:, column]).sum()),
            int((foil[:, column] & ~fact[:, column]).sum()),
        )
        for column, name in enumerate(names)
    ]


def endings(fact: Sequence[str], foil: Sequence[str]) -> list[Meeting]:
    """One row per outcome, the commonest under the fact first; ties by name."""
    counted = Counter(fact)
    every = sorted({*fact, *foil}, key=lambda name: (-counted[name], name))
    return [
        Meeting(
            name,
            counted[name],
            sum(end == name for end in foil),
            sum(one == name != other for one, other in zip(fact, foil, strict=True)),
            sum(other == name != one for one, other in zip(fact, foil, strict=True)),
        )
        for name in every
    ]


def differences(rows: Sequence[Meeting]) -> tuple[list[str], list[str]]:
    """The set differences: what only the fact meets in any run, and what only the foil meets."""
    return (
        [row.name for row in rows if row.fact and not row.foil],
        [row.name for row in rows if row.foil and not row.fact],
    )
