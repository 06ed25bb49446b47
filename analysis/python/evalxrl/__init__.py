"""The statistics of EvalXRL for NumPy users.

Scores enter tidy, one entry per session: ``score``, ``method``, ``malfunction`` of equal length.
Every function with a random part takes the required keyword ``seed``. A result that cannot exist
is a ``NotComputed`` with its reason; input that contradicts itself is a ``ValueError``.
"""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import ArrayLike

from evalxrl import _arguments, _evalxrl
from evalxrl.results import (
    Adjusted,
    Attainability,
    Gap,
    Harm,
    Interaction,
    Interval,
    NotComputed,
    OracleGap,
    PValue,
    RepairScores,
    Welch,
    read,
)

__all__ = [
    "Adjusted",
    "Attainability",
    "Gap",
    "Harm",
    "Interaction",
    "Interval",
    "NotComputed",
    "OracleGap",
    "PValue",
    "RepairScores",
    "Welch",
    "admit",
    "attainability",
    "benjamini_hochberg",
    "harm",
    "interaction",
    "interval",
    "oracle_gap",
    "rank_sum",
    "repair_score",
    "two_sample_permutation",
    "welch",
]


def repair_score(post: ArrayLike, clean: ArrayLike, broken: ArrayLike) -> RepairScores:
    """Score sessions: (post − broken)/(clean − broken); clean and broken may be one number each."""
    posts = _arguments.sample("post", np.atleast_1d(np.asarray(post, dtype=np.float64)))
    references = []
    for name, values in (("clean", clean), ("broken", broken)):
        array = _arguments.sample(name, np.atleast_1d(np.asarray(values, dtype=np.float64)))
        if array.shape not in (posts.shape, (1,)):
            raise ValueError(f"{name} has shape {array.shape}, but post has shape {posts.shape}")
        references.append(np.ascontiguousarray(np.broadcast_to(array, posts.shape)))
    raw, clipped = _evalxrl.repair_score(posts, references[0], references[1])
    return RepairScores(np.array(raw), np.array(clipped))


def admit(clean: ArrayLike, broken: ArrayLike, min_gap: float, *, standard_errors: float = 5.0) -> Gap:
    """Admit a malfunction from one performance per training seed; ``ValueError`` says why not."""
    arrays = _arguments.sample("clean", clean), _arguments.sample("broken", broken)
    return Gap(*_evalxrl.admit(*arrays, min_gap, standard_errors))


def interval(
    score: ArrayLike,
    cell: ArrayLike | None = None,
    *,
    kind: str = "percentile",
    level: float = 0.95,
    resamples: int = 50_000,
    indices: ArrayLike | None = None,
    seed: int,
) -> Interval | NotComputed:
    """Give an interval of the mean of cell means, sessions resampled within their cell.

    ``kind`` is ``percentile``, ``basic``, ``bca``, or ``student_t`` (one cell, no resampling).
    ``indices[b, i]``, if given, is the position of the session to take instead of session i.
    """
    scores = _arguments.sample("score", score)
    if not 0.0 < level < 1.0:
        raise ValueError(f"level {level} is not strictly between 0 and 1")
    if cell is None:
        numbers = np.zeros(scores.shape, dtype=np.int64)
    else:
        numbers, _ = _arguments.labels("cell", cell, scores)
    result: Interval | NotComputed
    if kind == "student_t":
        if numbers.any():
            raise ValueError("kind 'student_t' takes one cell")
        text = _evalxrl.student_t(scores, level)
    else:
        given = None
        if indices is not None:
            given = np.ascontiguousarray(indices, dtype=np.int64)
            if given.ndim != 2 or given.shape[1] != scores.shape[0]:
                raise ValueError(f"indices has shape {given.shape}, but (resamples, {scores.shape[0]}) is needed")
        text = _evalxrl.bootstrap_interval(scores, numbers, kind, level, resamples, given, seed)
    result = read(Interval | NotComputed, json.loads(text))
    return result


def interaction(
    score: ArrayLike,
    method: ArrayLike,
    malfunction: ArrayLike,
    *,
    alpha: float = 0.05,
    permutations: int = 9_999,
    resamples: int = 50_000,
    exact_limit: int = 1_000_000,
    seed: int,
) -> Interaction | NotComputed:
    """Test H1 on scores as they are: decomposition, literal and wild tests, structure."""
    plan = {
        "alpha": alpha,
        "permutations": permutations,
        "resamples": resamples,
        "exact_limit_h1": exact_limit,
    }
    tidy = _arguments.sessions(score, method, malfunction)
    text = _evalxrl.interaction(tidy, json.dumps(plan), seed)
    result: Interaction | NotComputed = read(Interaction | NotComputed, json.loads(text))
    return result


def oracle_gap(
    score: ArrayLike,
    method: ArrayLike,
    malfunction: ArrayLike,
    *,
    oracle: str = "cheat-oracle",
    optimal: str = "optimal-repair",
    margin: float = 0.10,
    confidence: float = 0.95,
    resamples: int = 50_000,
    seed: int,
) -> OracleGap | NotComputed:
    """Measure H2 on scores as they are: how far the oracle stays below an optimal repair."""
    plan = {"oracle_gap_margin": margin, "confidence": confidence, "resamples": resamples}
    tidy = _arguments.sessions(score, method, malfunction)
    text = _evalxrl.oracle_gap(tidy, oracle, optimal, json.dumps(plan), seed)
    result: OracleGap | NotComputed = read(OracleGap | NotComputed, json.loads(text))
    return result


def harm(
    score: ArrayLike,
    method: ArrayLike,
    malfunction: ArrayLike,
    *,
    baseline: str = "no-method",
    q: float = 0.05,
    winsor_floor: float = -1.0,
    exact_limit: int = 5_000_000,
    permutations: int = 99_999,
    seed: int,
) -> Harm | NotComputed:
    """Test H3 on raw scores; every method × malfunction seen counts as a planned cell."""
    plan = {
        "q": q,
        "winsor_floor": winsor_floor,
        "exact_limit_two_sample": exact_limit,
        "permutations_two_sample": permutations,
    }
    tidy = _arguments.sessions(score, method, malfunction)
    text = _evalxrl.harm(tidy, baseline, json.dumps(plan), seed)
    result: Harm | NotComputed = read(Harm | NotComputed, json.loads(text))
    return result


def benjamini_hochberg(p: ArrayLike, *, q: float = 0.05, m_planned: int | None = None) -> Adjusted:
    """Adjust a family of p-values; NaN marks an absent member, which stays absent."""
    adjusted, rejected = _evalxrl.benjamini_hochberg(_arguments.sample("p", p, nan=True), q, m_planned)
    return Adjusted(np.array(adjusted, dtype=np.float64), np.array(rejected, dtype=np.bool_))


def two_sample_permutation(
    method: ArrayLike,
    baseline: ArrayLike,
    *,
    statistic: str = "mean",
    alternative: str = "less",
    exact_limit: int = 5_000_000,
    draws: int = 99_999,
    seed: int,
) -> PValue | NotComputed:
    """Test two samples over all assignments, or ``draws`` of them beyond ``exact_limit``."""
    if draws < 1:
        raise ValueError(f"draws {draws} is not a whole number from 1")
    text = _evalxrl.two_sample_permutation(
        _arguments.sample("method", method),
        _arguments.sample("baseline", baseline),
        statistic,
        alternative,
        exact_limit,
        draws,
        seed,
    )
    result: PValue | NotComputed = read(PValue | NotComputed, json.loads(text))
    return result


def welch(method: ArrayLike, baseline: ArrayLike) -> Welch | NotComputed:
    """Compare two means with unequal variances; ``p_less`` is one-sided."""
    found = _evalxrl.welch(_arguments.sample("method", method), _arguments.sample("baseline", baseline))
    return NotComputed(found) if isinstance(found, str) else Welch(*found)


def rank_sum(method: ArrayLike, baseline: ArrayLike) -> PValue | NotComputed:
    """Test two samples by ranks (Mann–Whitney, less), exact whatever the ties."""
    text = _evalxrl.rank_sum(_arguments.sample("method", method), _arguments.sample("baseline", baseline))
    result: PValue | NotComputed = read(PValue | NotComputed, json.loads(text))
    return result


def attainability(
    sessions: int,
    baseline_sessions: int | None = None,
    *,
    cells: int,
    q: float = 0.05,
    test: str = "permutation",
) -> Attainability:
    """Tell how many cells of a family must be harmed before a test can find any."""
    other = sessions if baseline_sessions is None else baseline_sessions
    if min(sessions, other, cells) < 1:
        raise ValueError("sessions, baseline_sessions and cells are whole numbers from 1")
    if not 0.0 < q < 1.0:
        raise ValueError(f"q {q} is not strictly between 0 and 1")
    text = _evalxrl.attainability(test, sessions, other, cells, q)
    result: Attainability = read(Attainability, json.loads(text))
    return result
