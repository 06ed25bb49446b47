"""Reward difference explanations (RDX) and minimal sufficient explanations (MSX).

RDX of actions a and b in a state: Delta_c = Q_c(s, a) - Q_c(s, b), one number per reward component.
MSX: the fewest positive components whose sum outweighs all the negative ones together, and the fewest
negative components without which the positive side would not all have been needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class MinimalExplanation:
    """An MSX; components are given by position, the largest share first."""

    disadvantage: float
    """d, the sum of |Delta_c| over the negative components."""
    reasons: tuple[int, ...]
    """MSX+."""
    reasons_tied: bool
    """No set exceeds d: `reasons` are all the candidates."""
    slack: float
    """v, the sum over MSX+ less its smallest member."""
    objections: tuple[int, ...]
    """MSX-."""
    objections_tied: bool
    """No set exceeds v: `objections` are all the candidates."""


def difference(first: Sequence[float], second: Sequence[float]) -> tuple[list[float], bool]:
    """Delta per component, and whether the pair was exchanged so that the sum is not negative."""
    delta = [a - b for a, b in zip(first, second, strict=True)]
    exchanged = sum(delta) < 0
    return ([-value for value in delta] if exchanged else delta), exchanged


def minimal_sufficient(delta: Sequence[float]) -> MinimalExplanation:
    """MSX+ and MSX- of an RDX whose sum is not negative.

    Taking the largest first is exact: among sets of one size, that one has the largest sum. Equal values
    keep the order of the components. An RDX that is not finite is explained by nothing, with d and v not a number.
    """
    if not all(map(math.isfinite, delta)):
        return MinimalExplanation(math.nan, (), False, math.nan, (), False)
    positive = _descending(delta, 1.0)
    negative = _descending(delta, -1.0)
    disadvantage = sum(-delta[c] for c in negative)
    if not negative:
        reasons, reasons_tied = positive[:1], False
    else:
        reasons, reasons_tied = _fewest(positive, [delta[c] for c in positive], disadvantage)
    needed = [delta[c] for c in reasons]
    slack = sum(needed) - min(needed, default=0.0)
    objections, objections_tied = _fewest(negative, [-delta[c] for c in negative], slack)
    return MinimalExplanation(disadvantage, reasons, reasons_tied, slack, objections, objections_tied)


def _descending(delta: Sequence[float], sign: float) -> tuple[int, ...]:
    """Components of one sign by decreasing size."""
    chosen = [c for c, value in enumerate(delta) if sign * value > 0]
    return tuple(sorted(chosen, key=lambda c: -sign * delta[c]))


def _fewest(candidates: tuple[int, ...], values: list[float], threshold: float) -> tuple[tuple[int, ...], bool]:
    """The shortest prefix whose sum exceeds the threshold; all, tied, where none does; none of none."""
    total = 0.0
    for count, value in enumerate(values, start=1):
        total += value
        if total > threshold:
            return candidates[:count], False
    return candidates, bool(candidates)
