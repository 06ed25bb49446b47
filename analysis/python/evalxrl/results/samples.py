"""What tests of two samples and of paired differences, and rank correlations, look like."""

from __future__ import annotations

from typing import NamedTuple

from evalxrl.results.values import Interval, NotComputed, PValue


class Welch(NamedTuple):
    """Two means compared with unequal variances; ``df`` are Satterthwaite's, ``p_less`` is one-sided."""

    difference: float
    standard_error: float
    df: float
    p_less: float


class SignedRank(NamedTuple):
    """Wilcoxon's signed rank test of paired differences, exact over all signs.

    ``zeros`` is the rule used, ``pairs`` all differences given, ``n`` the non-zero ones; ``w_plus`` and ``w_minus`` are
    the rank sums of positive and negative differences; ``flags`` holds ``no_non_zero_difference`` or
    ``normal_approximation``.
    """

    zeros: str
    pairs: int
    n: int
    w_plus: float
    w_minus: float
    less: PValue
    greater: PValue
    two_sided: PValue
    flags: list[str]


class SignFlip(NamedTuple):
    """The sign-flip test of the mean of paired differences."""

    pairs: int
    mean: float
    less: PValue
    greater: PValue
    two_sided: PValue


class RankCorrelation(NamedTuple):
    """Spearman's ρ of pairs, with a percentile bootstrap interval over whole clusters."""

    coefficient: float
    pairs: int
    clusters: int
    interval: Interval | NotComputed
    resamples: int
    undefined_resamples: int
