"""What an argument must look like, and how a refusal names it with both shapes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalxrl.refusals import InputError, NotFiniteError, ShapeError

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

_FLOAT = np.dtype(np.float64)

MOST_DRAWS = 100_000_000
"""No more draws, resamples or sessions than this in one call: their results are held in memory."""


class Sessions(TypedDict):
    """Tidy arrays with names for numbers, as the compiled half takes them."""

    score: Floats
    method: Numbers
    malfunction: Numbers
    block: Numbers | None
    methods: list[str]
    malfunctions: list[str]
    blocks: list[str]


def rank(name: str, values: ArrayLike) -> int:
    """Give the number of dimensions; lists of unequal lengths have none."""
    try:
        return np.ndim(values)
    except ValueError as error:
        raise ShapeError(f"{name} has lists of unequal lengths: NaN stands for an absent session") from error


def _floats(name: str, values: ArrayLike) -> Floats:
    """Widen to contiguous float64; text, dates and complex numbers are no scores, nor is what a mask hides."""
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array; leave the masked entries out")
    try:
        array = np.asarray(values)
        if array.dtype.kind in "fiubO":
            return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} is not an array of numbers: {error}") from error
    raise InputError(f"{name} is not an array of numbers: its type is {array.dtype}")


def _finite(name: str, array: Floats, *, nan: bool) -> Floats:
    wrong = np.isinf(array) if nan else ~np.isfinite(array)
    if wrong.any():
        place = [int(axis[0]) for axis in np.nonzero(wrong)]
        raise NotFiniteError(f"{name} holds a value that is not finite, at {place}")
    return array


def _ready(values: ArrayLike) -> Floats | None:
    """Give an array that needs no change: the usual case, where looking closer would cost more than a short test."""
    if type(values) is not np.ndarray or values.dtype != _FLOAT or values.ndim != 1 or not values.flags.c_contiguous:
        return None
    array: Floats = values
    return array if np.isfinite(array).all() else None


def sample(name: str, values: ArrayLike, *, nan: bool = False) -> Floats:
    """Give a contiguous 1-D array of finite float64; float32 is widened, NaN passes only where it is named."""
    ready = _ready(values)
    if ready is not None:
        return ready
    if rank(name, values) != 1:
        raise ShapeError(f"{name} has shape {np.shape(values)}, but one dimension, (sessions,), is needed")
    array = _floats(name, values)
    return _finite(name, array, nan=nan)


def like(name: str, values: ArrayLike, other: str, shape: tuple[int, ...]) -> Floats:
    """Give an array of the shape of another argument; one number stands for all."""
    rank(name, values)
    array = _floats(name, values)
    if np.shape(values) not in (shape, (1,), ()):
        raise ShapeError(f"{name} has shape {np.shape(values)}, but {other} has shape {shape}")
    return np.ascontiguousarray(np.broadcast_to(array.reshape(np.shape(values)), shape))


def labels(name: str, values: ArrayLike, other: str, shape: tuple[int, ...]) -> tuple[Numbers, list[str]]:
    """Number the labels of sessions in order of their names as text."""
    rank(name, values)
    array = np.asarray(values)
    if array.shape != shape:
        raise ShapeError(f"{name} has shape {array.shape}, but {other} has shape {shape}")
    texts = _texts(name, array)
    names, numbers = np.unique(texts, return_inverse=True)
    return np.ascontiguousarray(numbers, dtype=np.int64), [str(label) for label in names]


def _texts(name: str, array: NDArray[Any]) -> NDArray[np.str_]:
    absent = array.dtype.kind == "f" and np.isnan(array).any()
    if array.dtype.kind == "O":
        absent = any(value is None or value != value for value in array.ravel())
    if absent:
        raise InputError(f"{name} holds a label that is absent (None or NaN)")
    return array.astype(np.str_)


def budgets(name: str, values: ArrayLike, other: str, shape: tuple[int, ...]) -> list[str]:
    """Give the budget of each session as a word: a whole number from 0 below 2**64, or ``unlimited``."""
    rank(name, values)
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array; leave the masked entries out")
    # As objects, so that a number beside a word stays a number.
    array = np.asarray(values, dtype=object)
    if array.shape != shape:
        raise ShapeError(f"{name} has shape {array.shape}, but {other} has shape {shape}")
    return [_budget(name, value, place) for place, value in enumerate(array)]


def _budget(name: str, value: object, place: int) -> str:
    if isinstance(value, str) and (value == "unlimited" or (value.isascii() and value.isdecimal())):
        return str(value)
    if isinstance(value, float | np.floating) and value.is_integer():
        value = int(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < 2**64:
        return str(int(value))
    raise InputError(f"{name} holds {value!r}, at [{place}], which is neither a whole number from 0 nor 'unlimited'")


def _axis(name: str, values: ArrayLike | None, length: int, letter: str) -> list[str]:
    """Name the entries of an axis; without names they are numbered so that their order is that of the axis."""
    if values is None:
        width = len(str(max(length - 1, 0)))
        return [f"{letter}{index:0{width}}" for index in range(length)]
    array = np.asarray(values)
    if array.shape != (length,):
        raise ShapeError(f"{name} has shape {array.shape}, but its axis of score has shape {(length,)}")
    names = [str(label) for label in _texts(name, array)]
    if len(set(names)) != length:
        raise InputError(f"{name} names two entries of its axis alike")
    return names


def sessions(
    score: ArrayLike,
    method: ArrayLike | None,
    malfunction: ArrayLike | None,
    block: ArrayLike | None = None,
) -> Sessions:
    """Check tidy arrays against each other, or lay ``array[method, malfunction, replication]`` out as such."""
    if rank("score", score) == 3:
        return _laid_out(score, method, malfunction, block)
    scores = sample("score", score)
    if method is None or malfunction is None:
        missing = "method" if method is None else "malfunction"
        raise InputError(
            f"{missing} is absent, but score has shape {scores.shape}: give the labels of its sessions, or "
            "score as [method, malfunction, replication]"
        )
    if scores.size == 0:
        raise InputError("score has no session")
    methods, method_names = labels("method", method, "score", scores.shape)
    malfunctions, malfunction_names = labels("malfunction", malfunction, "score", scores.shape)
    blocks, block_names = (None, []) if block is None else labels("block", block, "score", scores.shape)
    return Sessions(
        score=scores,
        method=methods,
        malfunction=malfunctions,
        block=blocks,
        methods=method_names,
        malfunctions=malfunction_names,
        blocks=block_names,
    )


def _laid_out(
    score: ArrayLike, method: ArrayLike | None, malfunction: ArrayLike | None, block: ArrayLike | None
) -> Sessions:
    array = _finite("score", _floats("score", score), nan=True)
    there = ~np.isnan(array)
    if not there.any():
        raise InputError("score has no session")
    numbers = np.nonzero(there)
    names = [_axis("method", method, array.shape[0], "m"), _axis("malfunction", malfunction, array.shape[1], "k")]
    blocks = None if block is None else _axis("block", block, array.shape[2], "b")
    return Sessions(
        score=np.ascontiguousarray(array[there]),
        method=np.ascontiguousarray(numbers[0], dtype=np.int64),
        malfunction=np.ascontiguousarray(numbers[1], dtype=np.int64),
        block=None if blocks is None else np.ascontiguousarray(numbers[2], dtype=np.int64),
        methods=names[0],
        malfunctions=names[1],
        blocks=blocks or [],
    )


def count(name: str, value: int, *, least: int = 1, most: int = MOST_DRAWS) -> int:
    """Give a whole number within its range; a float, even a whole one, is none."""
    try:
        number = operator.index(value)
    except TypeError as error:
        raise InputError(f"{name} {value!r} is not a whole number") from error
    if isinstance(value, bool | np.bool_) or not least <= number <= most:
        raise InputError(f"{name} {value} is not a whole number from {least} to {most}")
    return number


def real(name: str, value: float) -> float:
    """Give a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} {value!r} is not a number") from error
    if not np.isfinite(number):
        raise NotFiniteError(f"{name} {value} is not finite")
    return number


def open_share(name: str, value: float) -> float:
    """Give a number strictly between 0 and 1."""
    number = real(name, value)
    if not 0.0 < number < 1.0:
        raise InputError(f"{name} {value} is not strictly between 0 and 1")
    return number


def word(name: str, value: str) -> str:
    """Give the name of a method."""
    if not isinstance(value, str):
        raise InputError(f"{name} {value!r} is not the name of a method")
    return value


def effect(value: str | float) -> str:
    """Give an effect as the compiled half reads it: ``2sd``, or a score difference, a number or its text."""
    return value if isinstance(value, str) else repr(real("effect", value))


def one_of(name: str, value: str, words: Sequence[str]) -> str:
    """Give a word of a list."""
    if value not in words:
        raise InputError(f"{name} {value!r} is not offered: {', '.join(words)}")
    return value


def seed(value: int | str) -> int | str:
    """Give a seed: a whole number from 0 below 2**64, or the 64 hexadecimal digits of a run's root seed."""
    if isinstance(value, str):
        if len(value) != 64 or not all(digit in "0123456789abcdef" for digit in value):
            raise InputError(f"seed {value!r} is neither a whole number nor 64 hexadecimal digits")
        return value
    return count("seed", value, least=0, most=2**64 - 1)
