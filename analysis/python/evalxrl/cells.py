"""Statistics of cells: intervals, aggregates over malfunctions, profiles, probabilities of improvement."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evalxrl import _arguments, _evalxrl
from evalxrl._reading import read
from evalxrl.refusals import InputError, ShapeError
from evalxrl.results.aggregates import Aggregates, MethodProfiles, Profiles
from evalxrl.results.values import Estimated, Interval, NotComputed

_SCALES = ("clipped", "raw", "raw_unwinsorised")
_STATISTICS = ("mean", "median", "iqm", "optimality_gap")
_KINDS = ("percentile", "basic", "bca")

THRESHOLDS = tuple(step / 20 for step in range(21))
"""The thresholds τ of profiles unless others are given: 0, 0.05, …, 1."""


def interval(
    score: ArrayLike,
    cell: ArrayLike | None = None,
    *,
    statistic: str = "mean",
    target: float = 1.0,
    kind: str = "percentile",
    over: str = "sessions",
    level: float = 0.95,
    resamples: int = 50_000,
    indices: ArrayLike | None = None,
    seed: int | str,
) -> Interval | NotComputed:
    """Give an interval of a statistic over cells, sessions resampled with replacement within their cell.

    ``statistic``: ``mean`` or ``median`` of the cell means, ``iqm`` (interquartile mean, cells weighted alike; for
    equal numbers of sessions that of Agarwal et al. 2021), ``optimality_gap`` = mean over cells of γ − min(score, γ),
    γ = ``target``. ``kind``: ``percentile``, ``basic`` = [2θ̂ − q_hi, 2θ̂ − q_lo], ``bca`` (Efron 1987, stratified
    jackknife), or ``student_t`` for the mean of one cell: c ± t(N−1)·s/√N. ``over = "malfunctions"`` resamples the
    cells as well.

    ``score``: shape (sessions,) with ``cell`` labels of the same shape (one cell where absent), or ``[malfunction,
    replication]`` with NaN for absent sessions, each row a cell. ``indices[b, i]``, if given: the position of the
    session of the same cell to take instead of session i, so that the resamples are yours.

    Raises ``InputError``. One session in a cell has no interval: ``NotComputed``. All resamples equal: flagged.

    >>> found = interval([[0.1, 0.3], [0.5, 0.9]], indices=[[0, 0, 2, 2], [0, 1, 2, 3], [1, 1, 3, 3]], seed=1)
    >>> round(found.estimate, 12), round(found.low, 12), round(found.high, 12)
    (0.45, 0.3075, 0.5925)
    >>> interval([0.25, 0.5, 0.75], kind="student_t", seed=1).estimate
    0.5
    """
    scores, cells = cells_of(score, cell)
    confidence = _arguments.open_share("level", level)
    root = _arguments.seed(seed)
    _arguments.one_of("statistic", statistic, _STATISTICS)
    _arguments.one_of("kind", kind, (*_KINDS, "student_t"))
    _arguments.one_of("over", over, ("sessions", "malfunctions"))
    if kind == "student_t":
        if cells.any() or statistic != "mean" or indices is not None:
            raise InputError("kind 'student_t' takes the mean of one cell, and no indices")
        return _interval(_evalxrl.student_t(scores, confidence))
    draws = _arguments.count("resamples", resamples)
    options = json.dumps({"kind": kind, "over": over, "level": confidence, "resamples": draws})
    gamma = _arguments.real("target", target)
    if indices is None:
        return _interval(_evalxrl.interval(scores, cells, statistic, gamma, options, root))
    if over != "sessions":
        raise InputError("indices go with over = 'sessions'")
    given = _positions(indices, scores.shape[0])
    return _interval(_evalxrl.interval_from(scores, cells, statistic, gamma, options, given))


def _interval(text: str) -> Interval | NotComputed:
    found: Interval | NotComputed = read(Interval | NotComputed, text)
    return found


def cells_of(score: ArrayLike, cell: ArrayLike | None) -> tuple[_arguments.Floats, _arguments.Numbers]:
    """Give the scores of sessions with the number of the cell of each; rows of a 2-D array are cells."""
    if _arguments.rank("score", score) == 2:
        if cell is not None:
            raise ShapeError(f"score has shape {np.shape(score)}: its rows are the cells, so cell must be absent")
        tidy = _arguments.sessions(np.asanyarray(score)[np.newaxis], None, None)
        rows = np.unique(tidy["malfunction"], return_inverse=True)[1]
        return tidy["score"], np.ascontiguousarray(rows, dtype=np.int64)
    scores = _arguments.sample("score", score)
    if cell is None:
        return scores, np.zeros(scores.shape, dtype=np.int64)
    return scores, _arguments.labels("cell", cell, "score", scores.shape)[0]


def _positions(indices: ArrayLike, sessions: int) -> _arguments.Numbers:
    _arguments.rank("indices", indices)
    given = np.asarray(indices)
    if given.ndim != 2 or given.shape[1] != sessions:
        raise ShapeError(f"indices has shape {given.shape}, but (resamples, {sessions}) is needed")
    if given.dtype.kind not in "iu" or given.shape[0] == 0:
        raise InputError(f"indices of type {given.dtype} and shape {given.shape} hold no positions")
    return np.ascontiguousarray(given, dtype=np.int64)


def aggregate(
    score: ArrayLike,
    method: ArrayLike | None = None,
    malfunction: ArrayLike | None = None,
    *,
    target: float = 1.0,
    thresholds: Sequence[float] = THRESHOLDS,
    winsor_floor: float = -1.0,
    confidence: float = 0.95,
    resamples: int = 50_000,
    seed: int | str,
) -> Aggregates:
    """Give every method's aggregates over its malfunctions, on the clipped and the raw scale.

    Mean and median of the cell means, interquartile mean, optimality gap (γ = ``target``), both profiles at
    ``thresholds``, and the probability of improvement of each pair of explanation methods and of each over the
    baseline; definitions of Agarwal et al. (2021), each malfunction with equal weight. Stratified percentile intervals.

    ``score``: raw scores, shape (sessions,) with labels ``method`` and ``malfunction``, or
    ``[method, malfunction, replication]`` with NaN for absent sessions and labels that name its axes.

    Raises ``InputError``. What cannot exist is ``NotComputed`` in its place.

    >>> scores = [0.25, 0.5, 0.5, 1.25]
    >>> found = aggregate(scores, ["saliency"] * 4, ["walls", "walls", "doors", "doors"], resamples=999, seed=1)
    >>> found.of("saliency", "raw").mean.estimate, found.of("saliency", "clipped").mean.estimate
    (0.625, 0.5625)
    """
    plan = json.dumps(
        {
            "optimality_target": _arguments.real("target", target),
            "profile_thresholds": _arguments.sample("thresholds", thresholds).tolist(),
            "winsor_floor": _arguments.real("winsor_floor", winsor_floor),
            "confidence": _arguments.open_share("confidence", confidence),
            "resamples": _arguments.count("resamples", resamples),
        }
    )
    tidy = _arguments.sessions(score, method, malfunction)
    found: Aggregates = read(Aggregates, _evalxrl.aggregates(tidy, plan, _arguments.seed(seed)))
    return found


def probability_of_improvement(
    score: ArrayLike,
    method: ArrayLike | None = None,
    malfunction: ArrayLike | None = None,
    *,
    first: str,
    second: str,
    scale: str = "raw_unwinsorised",
    winsor_floor: float = -1.0,
    kind: str = "percentile",
    over: str = "sessions",
    level: float = 0.95,
    resamples: int = 50_000,
    seed: int | str,
) -> Estimated | NotComputed:
    """Give the probability that a session of ``first`` scores above one of ``second``.

    Mean over common malfunctions of (#{x > y} + ½#{x = y})/(N_xk·N_yk) (Agarwal et al. 2021; Mann and Whitney 1947),
    with a stratified bootstrap interval. That of (X, Y) and that of (Y, X) sum to 1.

    Arrays and ``scale`` as in ``interaction``; ``first`` and ``second`` are labels of ``method``.

    Raises ``InputError`` where a method has no session. No common malfunction is ``NotComputed``.

    >>> scores = [0.5, 0.7, 0.4, 0.5]
    >>> found = probability_of_improvement(
    ...     scores, ["a", "a", "b", "b"], ["walls"] * 4, first="a", second="b", resamples=99, seed=1
    ... )
    >>> found.estimate
    0.875
    """
    _arguments.one_of("scale", scale, _SCALES)
    options = json.dumps(
        {
            "kind": _arguments.one_of("kind", kind, _KINDS),
            "over": _arguments.one_of("over", over, ("sessions", "malfunctions")),
            "level": _arguments.open_share("level", level),
            "resamples": _arguments.count("resamples", resamples),
        }
    )
    tidy = _arguments.sessions(score, method, malfunction)
    floor = _arguments.real("winsor_floor", winsor_floor)
    text = _evalxrl.probability_of_improvement(tidy, first, second, scale, floor, options, _arguments.seed(seed))
    found: Estimated | NotComputed = read(Estimated | NotComputed, text)
    return found


def performance_profile(
    score: ArrayLike,
    method: ArrayLike | None = None,
    malfunction: ArrayLike | None = None,
    *,
    thresholds: Sequence[float] = THRESHOLDS,
    scale: str = "raw_unwinsorised",
    winsor_floor: float = -1.0,
    level: float = 0.95,
    resamples: int = 50_000,
    seed: int | str,
) -> list[MethodProfiles]:
    """Give both profiles of every method, sorted by method.

    At τ the score profile is the mean over malfunctions of the share of sessions above τ (strictly), the average-score
    profile the share of malfunctions with a cell mean above τ (Agarwal et al. 2021; Dolan and Moré 2002). The
    pointwise bands of both come from one set of stratified resamples.

    Arrays and ``scale`` as in ``interaction``; ``thresholds``: shape (thresholds,), in score units.

    Raises ``InputError``.

    >>> scores = [0.25, 0.75, 0.5, 1.0]
    >>> found = performance_profile(
    ...     scores, ["a"] * 4, ["walls", "walls", "doors", "doors"], thresholds=[0.5], resamples=99, seed=1
    ... )
    >>> found[0].profiles.score.shares, found[0].profiles.average_score.shares
    ([0.5], [0.5])
    """
    _arguments.one_of("scale", scale, _SCALES)
    tidy = _arguments.sessions(score, method, malfunction)
    text = _evalxrl.performance_profile(
        tidy,
        scale,
        _arguments.real("winsor_floor", winsor_floor),
        _arguments.sample("thresholds", thresholds).tolist(),
        _arguments.open_share("level", level),
        _arguments.count("resamples", resamples),
        _arguments.seed(seed),
    )
    profiles: list[Profiles | NotComputed] = read(list[Profiles | NotComputed], text)
    return [MethodProfiles(*pair) for pair in zip(tidy["methods"], profiles, strict=True)]
