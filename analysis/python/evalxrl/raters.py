"""Agreement of two raters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evalxrl import _arguments, _evalxrl
from evalxrl._reading import read
from evalxrl.refusals import InputError, ShapeError
from evalxrl.results.agreement import Agreement, Kappa
from evalxrl.results.values import NotComputed

_WEIGHTS = ("unweighted", "linear", "quadratic")


def kappa(table: ArrayLike, *, weights: str = "unweighted", level: float = 0.95) -> Kappa | NotComputed:
    """Give Cohen's kappa of a table of counts: κ = 1 − Σw·o/Σw·e.

    Disagreement weighs 1 (``unweighted``, Cohen 1960), |i−j| (``linear``) or (i−j)² (``quadratic``, Cohen 1968);
    standard errors of Fleiss, Cohen and Everitt (1969). Fewer than 60 verdicts are flagged: too few to inform.

    ``table``: shape (categories, categories), whole numbers; row the first rater's verdict, column the second's, in
    order of the categories.

    Raises ``InputError``. Where chance alone leaves no disagreement, ``NotComputed``.

    >>> found = kappa([[7, 0, 2], [2, 9, 6], [4, 1, 9]])
    >>> round(found.kappa, 12), round(found.standard_error, 12)
    (0.441860465116, 0.111176265708)
    >>> round(kappa([[7, 0, 2], [2, 9, 6], [4, 1, 9]], weights="quadratic").kappa, 12)
    0.365384615385
    """
    _arguments.one_of("weights", weights, _WEIGHTS)
    counts = _counts(table)
    found: Kappa | NotComputed = read(
        Kappa | NotComputed, _evalxrl.kappa(counts, weights, _arguments.open_share("level", level))
    )
    return found


def _counts(table: ArrayLike) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    _arguments.rank("table", table)
    given = np.asarray(table)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.shape[0] < 1:
        raise ShapeError(f"table has shape {given.shape}, but (categories, categories) is needed")
    whole = given.dtype.kind in "iuf" and bool(np.all((given >= 0) & (given <= 2**40) & (given == np.floor(given))))
    if not whole:
        raise InputError("table holds a value that is no whole number from 0 to 2**40")
    return np.ascontiguousarray(given, dtype=np.uint64)


def agreement(
    first: ArrayLike,
    second: ArrayLike,
    cluster: ArrayLike | None = None,
    *,
    categories: ArrayLike | None = None,
    weights: str = "unweighted",
    level: float = 0.95,
    resamples: int = 50_000,
    seed: int | str,
) -> Agreement | NotComputed:
    """Give Cohen's kappa of paired verdicts, with a percentile bootstrap interval over items or over clusters.

    The interval lies within [−1, 1]; resamples without a kappa are dropped and counted, more than 5 % flagged. See
    ``kappa`` for the equations and their source.

    ``first``, ``second``: shape (items,), the verdicts of two raters on the same items. ``cluster``: shape (items,),
    where one rater gives several verdicts. ``categories``: the verdicts in their order, for weights; else sorted
    (numbers by value, texts by letters).

    Raises ``InputError``. Where chance alone leaves no disagreement, ``NotComputed``.

    >>> found = agreement(["yes", "no", "yes", "no"], ["yes", "no", "no", "no"], resamples=99, seed=1)
    >>> found.table, found.kappa.kappa
    ([[2, 0], [1, 1]], 0.5)
    """
    _arguments.one_of("weights", weights, _WEIGHTS)
    verdicts = [_verdicts("first", first), _verdicts("second", second)]
    shape = verdicts[0].shape
    if verdicts[1].shape != shape:
        raise ShapeError(f"second has shape {verdicts[1].shape}, but first has shape {shape}")
    if verdicts[0].size == 0:
        raise InputError("first holds no verdict")
    order = _order(verdicts, categories)
    codes = [np.array([order[verdict] for verdict in rater.tolist()], dtype=np.int64) for rater in verdicts]
    clusters = None if cluster is None else _arguments.labels("cluster", cluster, "first", shape)[0]
    text = _evalxrl.agreement(
        codes[0],
        codes[1],
        clusters,
        weights,
        _arguments.open_share("level", level),
        _arguments.count("resamples", resamples),
        _arguments.seed(seed),
    )
    found: Agreement | NotComputed = read(Agreement | NotComputed, text)
    return found


def _verdicts(name: str, values: ArrayLike) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    if _arguments.rank(name, values) != 1:
        raise ShapeError(f"{name} has shape {np.shape(values)}, but one dimension, (items,), is needed")
    array = np.asarray(values)
    if array.dtype.kind not in "iubU":
        texts = np.array([str(value) for value in array.tolist() if value is not None and value == value])
        if texts.shape != array.shape:
            raise InputError(f"{name} holds a verdict that is absent (None or NaN)")
        return array if array.dtype.kind == "f" else texts.astype(np.str_)
    return array


def _order(
    verdicts: list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]], categories: ArrayLike | None
) -> dict[object, int]:
    first_is_text, second_is_text = (rater.dtype.kind == "U" for rater in verdicts)
    if first_is_text != second_is_text:
        raise InputError("one of first and second holds text and the other numbers")
    seen = np.unique(np.concatenate(verdicts)).tolist()
    listed = seen if categories is None else _verdicts("categories", categories).tolist()
    if len(set(listed)) != len(listed):
        raise InputError("categories names a verdict twice")
    unknown = [verdict for verdict in seen if verdict not in listed]
    if unknown:
        raise InputError(f"categories lacks the verdicts {', '.join(map(repr, unknown))}")
    return {verdict: position for position, verdict in enumerate(listed)}
