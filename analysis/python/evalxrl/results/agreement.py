"""What the agreement of two raters looks like."""

from __future__ import annotations

from typing import NamedTuple

from evalxrl.results.values import Interval, NotComputed


class Kappa(NamedTuple):
    """Cohen's kappa of a table of verdicts.

    ``standard_error`` is the asymptotic one, ``null_standard_error`` that under independence, ``kappa_max`` the largest
    kappa that the margins allow (unweighted), ``normal`` is κ ± z·SE, not clipped.
    """

    weights: str
    verdicts: int
    observed_agreement: float
    chance_agreement: float
    kappa: float
    standard_error: float | NotComputed
    null_standard_error: float | NotComputed
    kappa_max: float | NotComputed
    normal: Interval | NotComputed
    flags: list[str]


class Agreement(NamedTuple):
    """Kappa of paired verdicts with a percentile bootstrap interval over items or clusters, within [−1, 1]."""

    table: list[list[int]]
    kappa: Kappa
    clusters: int | None
    interval: Interval | NotComputed
    resamples: int
    undefined_resamples: int
