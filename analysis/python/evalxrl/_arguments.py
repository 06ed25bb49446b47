"""What an argument must look like, and how a refusal names it with both shapes."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Sessions(TypedDict):
    """Tidy arrays with names for numbers, as the compiled half takes them."""

    score: Floats
    method: Numbers
    malfunction: Numbers
    methods: list[str]
    malfunctions: list[str]


def sample(name: str, values: ArrayLike, *, nan: bool = False) -> Floats:
    """Give a contiguous 1-D array of finite float64; float32 is widened."""
    try:
        array = np.ascontiguousarray(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from error
    if np.ndim(values) != 1:
        shape = np.shape(values)
        raise ValueError(f"{name} has shape {shape}, but one dimension, (sessions,), is needed")
    if np.isinf(array).any() or (not nan and np.isnan(array).any()):
        raise ValueError(f"{name} holds a value that is not finite")
    return array


def labels(name: str, values: ArrayLike, score: Floats) -> tuple[Numbers, list[str]]:
    """Number the labels of sessions in order of their names."""
    array = np.asarray(values)
    if array.shape != score.shape:
        raise ValueError(f"{name} has shape {array.shape}, but score has shape {score.shape}")
    names, numbers = np.unique(array.astype(str), return_inverse=True)
    return np.ascontiguousarray(numbers, dtype=np.int64), [str(label) for label in names]


def sessions(score: ArrayLike, method: ArrayLike, malfunction: ArrayLike) -> Sessions:
    """Check tidy arrays against each other."""
    scores = sample("score", score)
    method_numbers, methods = labels("method", method, scores)
    malfunction_numbers, malfunctions = labels("malfunction", malfunction, scores)
    return Sessions(
        score=scores,
        method=method_numbers,
        malfunction=malfunction_numbers,
        methods=methods,
        malfunctions=malfunctions,
    )
