"""The small results that the others are made of: an absent one, an interval, a p-value, a difference."""

from __future__ import annotations

from typing import NamedTuple


class NotComputed(NamedTuple):
    """A result that cannot exist for sound input, with its reason as a lower-case fragment.

    >>> NotComputed("one method only").not_computed
    'one method only'
    """

    not_computed: str


class Interval(NamedTuple):
    """An estimate with a two-sided interval, in the unit of the estimate.

    ``level`` is the nominal coverage; ``method`` is ``percentile``, ``basic``, ``bca``, ``student_t``, ``welch`` or the
    name of another construction; ``flags`` say what a reader must know before trusting the ends.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    flags: list[str]


class Estimated(NamedTuple):
    """An estimate that exists whether or not an interval can be given for it."""

    estimate: float
    interval: Interval | NotComputed


class PValue(NamedTuple):
    """A p-value with the integers behind it.

    Exact: ``value = count/total`` over all arrangements, the identity included. Monte Carlo:
    ``value = (count + 1)/(total + 1)`` over ``total`` draws, with its standard error. Of a distribution function:
    neither ``count`` nor ``total``.
    """

    value: float
    exact: bool
    count: int | None  # type: ignore[assignment]  # a tuple's own method is of no use here
    total: int | None
    monte_carlo_error: float | None


class Difference(NamedTuple):
    """A difference of means of cells over ``malfunctions`` malfunctions, in score units.

    ``percentile`` is the stratified bootstrap interval, ``welch`` the one of normal theory with unequal variances;
    both are absent where an arm has one session in some cell.
    """

    estimate: float
    malfunctions: int
    percentile: Interval | NotComputed
    welch: Interval | NotComputed
