"""Comparisons of dossiers: ablation, Shapley values, tool calls until submission, budget curves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from evalxrl import _arguments, _evalxrl
from evalxrl._reading import read
from evalxrl.refusals import InputError, ShapeError
from evalxrl.results.dossiers import Ablation, PlannedCurve, Shapley, ShapleyValues, StratumCurves, ToolCalls
from evalxrl.results.values import NotComputed


def ablation(
    score: ArrayLike,
    method: ArrayLike | None = None,
    malfunction: ArrayLike | None = None,
    *,
    pairs: Sequence[tuple[str, str]],
    q: float = 0.05,
    winsor_floor: float = -1.0,
    confidence: float = 0.95,
    resamples: int = 50_000,
    exact_limit: int = 5_000_000,
    permutations: int = 99_999,
    seed: int | str,
) -> Ablation | NotComputed:
    """Compare rich with minimal dossiers: δ_k = c_rich,k − c_minimal,k over common malfunctions, on both scales.

    Two readings. Fixed malfunctions: a stratified bootstrap interval of the mean of δ_k over sessions. Malfunctions
    as a sample: sign flip (Fisher 1935) and signed ranks (Wilcoxon 1945) of δ_k, two-sided, adjusted over ``pairs``
    (Benjamini and Hochberg 1995).

    ``pairs``: (rich, minimal) labels of ``method``. Arrays of raw scores as in ``aggregate``.

    Raises ``InputError``. No declared pair is ``NotComputed``.

    >>> methods = ["saliency-rich"] * 4 + ["saliency-minimal"] * 4
    >>> malfunctions = ["walls", "walls", "doors", "doors"] * 2
    >>> scores = [0.5, 0.75, 0.25, 0.5, 0.25, 0.5, 0.25, 0.25]
    >>> found = ablation(
    ...     scores, methods, malfunctions, pairs=[("saliency-rich", "saliency-minimal")], resamples=99, seed=1
    ... )
    >>> found.pairs[0].raw.fixed_malfunctions.estimate
    0.1875
    """
    declared = [_pair(pair) for pair in pairs]
    plan = json.dumps(
        {
            "ablation_pairs": declared,
            "q": _arguments.real("q", q),
            "winsor_floor": _arguments.real("winsor_floor", winsor_floor),
            "confidence": _arguments.open_share("confidence", confidence),
            "resamples": _arguments.count("resamples", resamples),
            "exact_limit_two_sample": _arguments.count("exact_limit", exact_limit, least=0, most=2**63 - 1),
            "permutations_two_sample": _arguments.count("permutations", permutations),
        }
    )
    tidy = _arguments.sessions(score, method, malfunction)
    found: Ablation | NotComputed = read(Ablation | NotComputed, _evalxrl.ablation(tidy, plan, _arguments.seed(seed)))
    return found


def _pair(pair: tuple[str, str]) -> tuple[str, str]:
    if isinstance(pair, str) or len(pair) != 2:
        raise InputError(f"pairs holds {pair!r}, which is no (rich, minimal)")
    return str(pair[0]), str(pair[1])


@overload
def shapley(score: ArrayLike, method: None = None, malfunction: None = None) -> ShapleyValues: ...


@overload
def shapley(
    score: ArrayLike,
    method: ArrayLike,
    malfunction: ArrayLike,
    *,
    baseline: str = "no-method",
    winsor_floor: float = -1.0,
    confidence: float = 0.95,
    resamples: int = 50_000,
    seed: int | str,
) -> Shapley: ...


def shapley(
    score: ArrayLike,
    method: ArrayLike | None = None,
    malfunction: ArrayLike | None = None,
    *,
    baseline: str = "no-method",
    winsor_floor: float = -1.0,
    confidence: float = 0.95,
    resamples: int = 50_000,
    seed: int | str | None = None,
) -> ShapleyValues | Shapley:
    """Divide the value of a joint dossier among its methods.

    φ_i = Σ_{S∌i} |S|!(n−|S|−1)!/n!·[v(S∪{i}) − v(S)] (Shapley 1953), exact over all coalitions, n ≤ 12.

    Alone, ``score`` is the game: shape (2^n,), v by bitmask, bit i = player i, v[0] the baseline; nothing is random.
    With labels, ``score`` are raw scores of shape (sessions,): a method ``a+b`` is the coalition of a and b in any
    order, ``baseline`` the empty one, v(S) the mean over common malfunctions of its cell means; each φ has a
    stratified bootstrap and a t interval (Satterthwaite 1946), and ``seed`` is needed.

    Raises ``CoalitionError``, which lists every missing coalition, and ``InputError``.

    >>> shapley([0.0, 0.25, 0.5, 1.0]).values
    [0.375, 0.625]
    >>> shapley([0.1, 0.2], ["a", "a+b"], ["walls", "walls"], seed=1)
    Traceback (most recent call last):
        ...
    evalxrl.refusals.CoalitionError: coalitions of a, b without sessions: no-method, b
    """
    if method is None and malfunction is None:
        values = _arguments.sample("score", score)
        found: ShapleyValues = read(ShapleyValues, _evalxrl.shapley_values(values))
        return found
    if seed is None:
        raise InputError("seed is needed with labels, since the intervals are drawn")
    plan = json.dumps(
        {
            "winsor_floor": _arguments.real("winsor_floor", winsor_floor),
            "confidence": _arguments.open_share("confidence", confidence),
            "resamples": _arguments.count("resamples", resamples),
        }
    )
    tidy = _arguments.sessions(score, method, malfunction)
    text = _evalxrl.shapley(tidy, _arguments.word("baseline", baseline), plan, _arguments.seed(seed))
    of_methods: Shapley = read(Shapley, text)
    return of_methods


def tool_calls(
    score: ArrayLike,
    method: ArrayLike,
    malfunction: ArrayLike,
    calls: ArrayLike,
    *,
    outcome: ArrayLike | None = None,
    budget: int | None = None,
    baseline: str = "no-method",
    confidence: float = 0.95,
    resamples: int = 50_000,
    seed: int | str,
) -> ToolCalls | NotComputed:
    """Summarise tool calls until submission, a secondary outcome, right-censored at the budget τ.

    Share submitted; restricted mean = mean of min(T, τ) where a session that never submits counts τ (restricted mean
    survival time: Irwin 1949); median of T or "not reached"; difference from ``baseline`` with a stratified bootstrap
    interval and an exact two-sided rank-sum test with every "never" tied above all.

    All arrays: shape (sessions,). ``score``: raw scores; ``calls``: whole numbers from 0, NaN where absent;
    ``outcome``: ``submitted``, ``budget_spent``, ``gave_up``, ``agent_unserved`` or ``scoring_rejected`` (all but the
    first need a score of 0), everything submitted where absent; ``budget``: τ, else the largest number observed,
    flagged.

    Raises ``InputError``. Without tool calls, or without a common budget, ``NotComputed``.

    >>> found = tool_calls(
    ...     [0.5, 0.0, 0.25, 0.5],
    ...     ["saliency", "saliency", "no-method", "no-method"],
    ...     ["walls"] * 4,
    ...     [4, 10, 6, 8],
    ...     outcome=["submitted", "budget_spent", "submitted", "submitted"],
    ...     budget=10,
    ...     resamples=99,
    ...     seed=1,
    ... )
    >>> [(arm.method, arm.share_submitted.estimate, arm.restricted_mean.estimate) for arm in found.methods]
    [('no-method', 1.0, 7.0), ('saliency', 0.5, 7.0)]
    """
    tidy = _arguments.sessions(score, method, malfunction)
    text = _evalxrl.tool_calls(
        tidy,
        *_calls(tidy, outcome, calls),
        None if budget is None else _arguments.count("budget", budget),
        _arguments.word("baseline", baseline),
        _effort(confidence, resamples),
        _arguments.seed(seed),
    )
    found: ToolCalls | NotComputed = read(ToolCalls | NotComputed, text)
    return found


def budget_curve(
    score: ArrayLike,
    method: ArrayLike,
    malfunction: ArrayLike,
    calls: ArrayLike,
    *,
    outcome: ArrayLike | None = None,
    budget: int | None = None,
    baseline: str = "no-method",
    confidence: float = 0.95,
    resamples: int = 50_000,
    seed: int | str,
) -> StratumCurves:
    """Give the curve of mean scores submitted within t tool calls, at every t observed: a truncation of one run.

    B(t) = mean over cells of the mean over sessions of score·1[submitted and calls ≤ t], with a pointwise stratified
    band, and the area under it over [0, τ] divided by τ. It is not the behaviour of a coder who knew the smaller
    budget, and ``label`` says so.

    Arguments as in ``tool_calls``.

    Raises ``InputError``. What cannot exist is ``NotComputed`` in its place.

    >>> found = budget_curve([0.5, 0.25], ["a", "a"], ["walls", "walls"], [2, 4], budget=4, resamples=99, seed=1)
    >>> [(curve.scale, curve.calls, curve.means) for curve in found.curves if curve.scale == "raw"]
    [('raw', [2, 4], [0.25, 0.375])]
    """
    tidy = _arguments.sessions(score, method, malfunction)
    text = _evalxrl.budget_curve(
        tidy,
        *_calls(tidy, outcome, calls),
        None if budget is None else _arguments.count("budget", budget),
        _arguments.word("baseline", baseline),
        _effort(confidence, resamples),
        _arguments.seed(seed),
    )
    (found,) = read(list[StratumCurves], text)
    curves: StratumCurves = found
    return curves


def planned_budget_curve(
    score: ArrayLike,
    method: ArrayLike,
    malfunction: ArrayLike,
    invocations: ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 50_000,
    seed: int | str,
) -> list[PlannedCurve] | NotComputed:
    """Give each method's mean score by planned invocation budget, over runs of one coder that differ only in it.

    The mean over malfunctions of the cell means at each budget, with a stratified bootstrap interval over sessions,
    on both scales and on the malfunctions with sessions under every budget the method was planned with. Unlike the
    truncation of ``budget_curve``, the coder knew the budget.

    All arrays: shape (sessions,). ``score``: raw scores; ``invocations``: whole numbers from 0, or the word
    ``unlimited``. A method has a curve where it has two budgets or more; the reserved ``no-method``,
    ``cheat-oracle`` and ``optimal-repair``, which use no dossier, have none.

    Raises ``InputError``. Without two budgets it is ``NotComputed``.

    >>> scores, budgets = [0.25, 0.5, 0.5, 1.25], [4, 4, "unlimited", "unlimited"]
    >>> curves = planned_budget_curve(scores, ["saliency"] * 4, ["walls"] * 4, budgets, resamples=99, seed=1)
    >>> [(curve.scale, [(point.invocations, point.mean.estimate) for point in curve.points]) for curve in curves]
    [('clipped', [('4', 0.375), ('unlimited', 0.75)]), ('raw', [('4', 0.375), ('unlimited', 0.875)])]
    """
    tidy = _arguments.sessions(score, method, malfunction)
    budgets = _arguments.budgets("invocations", invocations, "score", tidy["score"].shape)
    text = _evalxrl.planned_budget_curve(tidy, budgets, _effort(confidence, resamples), _arguments.seed(seed))
    found: list[PlannedCurve] | NotComputed = read(list[PlannedCurve] | NotComputed, text)
    return found


def _effort(confidence: float, resamples: int) -> str:
    return json.dumps(
        {
            "confidence": _arguments.open_share("confidence", confidence),
            "resamples": _arguments.count("resamples", resamples),
        }
    )


def _calls(
    tidy: _arguments.Sessions, outcome: ArrayLike | None, calls: ArrayLike
) -> tuple[list[str], _arguments.Numbers]:
    """Give outcomes as words and tool calls as whole numbers, −1 where absent."""
    shape = tidy["score"].shape
    numbers = _arguments.sample("calls", calls, nan=True)
    if numbers.shape != shape:
        raise ShapeError(f"calls has shape {numbers.shape}, but score has shape {shape}")
    present = ~np.isnan(numbers)
    wrong = present & ~((numbers >= 0) & (numbers <= 2**53) & (numbers == np.floor(numbers)))
    if wrong.any():
        place = int(np.nonzero(wrong)[0][0])
        raise InputError(f"calls holds {numbers[place]}, at [{place}], which is no whole number from 0")
    whole = np.where(present, numbers, -1.0).astype(np.int64)
    if outcome is None:
        return ["submitted"] * shape[0], whole
    codes, names = _arguments.labels("outcome", outcome, "score", shape)
    return [names[code] for code in codes], whole
