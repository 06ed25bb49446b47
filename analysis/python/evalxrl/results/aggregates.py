"""What aggregates of a method over malfunctions, profiles and lifts look like."""

from __future__ import annotations

from typing import NamedTuple

from evalxrl.results.values import Difference, Estimated, NotComputed


class Profile(NamedTuple):
    """Shares above each threshold, with a pointwise band from one set of resamples."""

    thresholds: list[float]
    shares: list[float]
    low: list[float] | NotComputed
    high: list[float] | NotComputed
    level: float
    flags: list[str]


class Profiles(NamedTuple):
    """Both profiles of a set of cells: share of sessions, and share of malfunctions by cell mean."""

    score: Profile
    average_score: Profile


class MethodProfiles(NamedTuple):
    """Both profiles of one method."""

    method: str
    profiles: Profiles | NotComputed


class MethodAggregates(NamedTuple):
    """The aggregates of one method on one scale, each malfunction with equal weight."""

    method: str
    role: str
    scale: str
    malfunctions: int
    mean: Estimated | NotComputed
    median: Estimated | NotComputed
    iqm: Estimated | NotComputed
    optimality_gap: Estimated | NotComputed
    score_profile: Profile | NotComputed
    average_score_profile: Profile | NotComputed


class Improvement(NamedTuple):
    """The probability that a session of ``first`` scores above one of ``second``, over common malfunctions."""

    first: str
    second: str
    scale: str
    malfunctions: int
    probability: Estimated | NotComputed


class Aggregates(NamedTuple):
    """The aggregates of every method and the probabilities of improvement, on both scales."""

    methods: list[MethodAggregates]
    improvements: list[Improvement]

    def of(self, method: str, scale: str = "clipped") -> MethodAggregates:
        """Find the aggregates of a method on a scale; ``KeyError`` where there are none."""
        for found in self.methods:
            if (found.method, found.scale) == (method, scale):
                return found
        raise KeyError((method, scale))


class CellLift(NamedTuple):
    """The lift of one cell over the baseline, and its difference from the cheat oracle."""

    malfunction: str
    lift: Difference | NotComputed
    over_oracle: Difference | NotComputed


class MethodLift(NamedTuple):
    """The lift of one method: its mean over malfunctions where both cells have sessions, and each cell's own."""

    method: str
    role: str
    scale: str
    mean: Difference | NotComputed
    malfunctions: list[CellLift]


class MethodComparison(NamedTuple):
    """Mean of first − second over common malfunctions."""

    first: str
    second: str
    scale: str
    difference: Difference | NotComputed


class Lifts(NamedTuple):
    """Lifts over the baseline and methods against each other, on one scale."""

    methods: list[MethodLift]
    comparisons: list[MethodComparison]

    def of(self, method: str) -> MethodLift:
        """Find the lift of a method; ``KeyError`` where there is none."""
        for found in self.methods:
            if found.method == method:
                return found
        raise KeyError(method)
