"""Tests of two samples and of paired differences; rank correlation of pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evalxrl import _arguments, _evalxrl
from evalxrl._reading import read
from evalxrl.results.samples import RankCorrelation, SignedRank, SignFlip, Welch
from evalxrl.results.values import NotComputed, PValue

_SIDES = ("less", "greater", "two_sided")
_MOST = 2**63 - 1


def two_sample_permutation(
    method: ArrayLike,
    baseline: ArrayLike,
    *,
    statistic: str = "mean",
    alternative: str = "less",
    exact_limit: int = 5_000_000,
    draws: int = 99_999,
    seed: int | str,
) -> PValue | NotComputed:
    """Test two unpaired samples over all C(N + N0, N) assignments of the pooled scores, identity included.

    ``statistic`` is ``mean`` (difference of means, the primary of H3) or ``welch`` (t with unequal variances);
    ``alternative`` is about ``method`` against ``baseline``: ``less``, ``greater``, ``two_sided`` = min(1, 2·min of
    both). Beyond ``exact_limit`` assignments, ``draws`` of them: p = (count + 1)/(draws + 1). Ties at the observed
    sum are counted to 1e-9 relative. Source: Fisher's randomisation test, as in Pitman (1937).

    ``method``, ``baseline``: shapes (N,) and (N0,), one unit.

    Raises ``InputError``. An empty arm is ``NotComputed``.

    >>> p = two_sample_permutation([0.1, 0.2, 0.15], [0.5, 0.6, 0.7], seed=1)
    >>> p.value, p.exact, p.count, p.total
    (0.05, True, 1, 20)
    """
    arms = _arguments.sample("method", method), _arguments.sample("baseline", baseline)
    _arguments.one_of("statistic", statistic, ("mean", "welch"))
    _arguments.one_of("alternative", alternative, _SIDES)
    effort = _arguments.count("exact_limit", exact_limit, least=0, most=_MOST), _arguments.count("draws", draws)
    found = _evalxrl.two_sample_permutation(*arms, statistic, alternative, *effort, _arguments.seed(seed))
    return NotComputed(found) if isinstance(found, str) else PValue(*found)


def welch(method: ArrayLike, baseline: ArrayLike) -> Welch | NotComputed:
    """Compare two means with unequal variances: t = d/sqrt(s²/N + s0²/N0), Satterthwaite degrees of freedom.

    ``p_less`` is P(T ≤ t), for the alternative mean(method) < mean(baseline). Source: Welch (1947).

    ``method``, ``baseline``: shapes (N,) and (N0,), N and N0 at least 2, one unit.

    Raises ``InputError``. Fewer than two sessions in an arm, or no variation in both, is ``NotComputed``.

    >>> found = welch([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])
    >>> round(found.difference, 12), round(found.df, 12), round(found.p_less, 6)
    (-0.3, 4.0, 0.010656)
    """
    found = _evalxrl.welch(_arguments.sample("method", method), _arguments.sample("baseline", baseline))
    return NotComputed(found) if isinstance(found, str) else Welch(*found)


def rank_sum(method: ArrayLike, baseline: ArrayLike, *, alternative: str = "less") -> PValue | NotComputed:
    """Test two unpaired samples by ranks (Mann and Whitney 1947), exact whatever the ties.

    Every assignment of the pooled midranks is counted by sums of subsets. ``alternative`` as in
    ``two_sample_permutation``.

    ``method``, ``baseline``: shapes (N,) and (N0,).

    Raises ``InputError``. An empty arm, or more than 10^38 assignments, is ``NotComputed``; beyond 64 bits the
    p-value has no ``count`` and ``total``.

    >>> p = rank_sum([0.1, 0.2, 0.2], [0.2, 0.6, 0.7])
    >>> p.count, p.total
    (3, 20)
    """
    arms = _arguments.sample("method", method), _arguments.sample("baseline", baseline)
    _arguments.one_of("alternative", alternative, _SIDES)
    found = _evalxrl.rank_sum(*arms, alternative)
    return NotComputed(found) if isinstance(found, str) else PValue(*found)


def signed_rank(difference: ArrayLike, *, zeros: str = "wilcox") -> SignedRank | NotComputed:
    """Test paired differences by signed ranks (Wilcoxon 1945), exact over all 2^n signs whatever the ties.

    ``zeros`` = ``wilcox`` drops zero differences before ranking, ``pratt`` (Pratt 1959) ranks them and drops their
    ranks. ``less`` is P(W⁺ ≤ w), for differences below 0. Beyond 40 pairs a normal approximation, flagged.

    ``difference``: shape (pairs,), method minus baseline of the same block.

    Raises ``InputError``. No pair at all is ``NotComputed``; no non-zero one gives p = 1, flagged.

    >>> found = signed_rank([-0.1, -0.2, -0.3, -0.05, -0.4, -0.15])
    >>> found.w_plus, found.less.count, found.less.total
    (0.0, 1, 64)
    """
    _arguments.one_of("zeros", zeros, ("wilcox", "pratt"))
    text = _evalxrl.signed_rank(_arguments.sample("difference", difference), zeros)
    found: SignedRank | NotComputed = read(SignedRank | NotComputed, text)
    return found


def sign_flip(
    difference: ArrayLike, *, exact_limit: int = 5_000_000, draws: int = 99_999, seed: int | str
) -> SignFlip | NotComputed:
    """Test the mean of paired differences over all 2^n signs, or ``draws`` of them beyond ``exact_limit``.

    Source: Fisher's randomisation test of paired data (The Design of Experiments, 1935).

    ``difference``: shape (pairs,), method minus baseline of the same block.

    Raises ``InputError``. No pair is ``NotComputed``.

    >>> found = sign_flip([-0.1, -0.2, -0.3, -0.05, -0.4, 0.15], seed=1)
    >>> found.less.count, found.less.total
    (5, 64)
    """
    values = _arguments.sample("difference", difference)
    effort = _arguments.count("exact_limit", exact_limit, least=0, most=_MOST), _arguments.count("draws", draws)
    text = _evalxrl.sign_flip(values, *effort, _arguments.seed(seed))
    found: SignFlip | NotComputed = read(SignFlip | NotComputed, text)
    return found


def rank_correlation(
    first: ArrayLike,
    second: ArrayLike,
    cluster: ArrayLike | None = None,
    *,
    level: float = 0.95,
    resamples: int = 50_000,
    seed: int | str,
) -> RankCorrelation | NotComputed:
    """Give Spearman's ρ, the product-moment correlation of midranks, with a percentile bootstrap interval.

    A resample draws as many clusters as there are, with replacement, takes all their pairs and ranks them anew; those
    without a ρ are dropped and counted. Fewer than ten clusters are flagged. Source: Spearman (1904); Davison and
    Hinkley (1997), section 3.8.

    ``first``, ``second``: shape (pairs,), any units. ``cluster``: shape (pairs,), what pairs belong to together, e.g.
    the malfunction of a cell; else each pair is one.

    Raises ``InputError``. Fewer than three pairs, or a value that is the same in all, is ``NotComputed``.

    >>> found = rank_correlation([1, 2, 3, 4, 5], [5, 6, 7, 8, 7], resamples=99, seed=1)
    >>> round(found.coefficient, 10), found.clusters
    (0.8207826817, 5)
    """
    pairs = _arguments.sample("first", first)
    others = _arguments.like("second", second, "first", pairs.shape)
    members = np.arange(pairs.size) if cluster is None else cluster
    text = _evalxrl.rank_correlation(
        pairs,
        others,
        _arguments.labels("cluster", members, "first", pairs.shape)[0],
        _arguments.open_share("level", level),
        _arguments.count("resamples", resamples),
        _arguments.seed(seed),
    )
    found: RankCorrelation | NotComputed = read(RankCorrelation | NotComputed, text)
    return found
