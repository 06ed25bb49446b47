"""Shapley values of a game between groups: exact over all coalitions, or by antithetic permutations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial, sqrt

import numpy as np

MOST = 10
"""Groups up to which every coalition is valued."""

PAIRS = 64
"""Pairs of a permutation and its reverse where there are more groups."""

Game = Callable[[np.ndarray], np.ndarray]
"""Coalitions (K, n) bool -> their values (K, R) float64: R draws of the same quantity, paired over coalitions."""


@dataclass(frozen=True)
class Shares:
    """What each group adds, for each of R draws."""

    columns: np.ndarray
    """(n, R)."""
    full: np.ndarray
    """Value of the coalition of all, (R,)."""
    empty: np.ndarray
    """Value of the coalition of none, (R,)."""
    spread: np.ndarray
    """Standard error of each share that comes from drawing permutations, (n,); zero where all coalitions are valued."""
    exact: bool


def all_coalitions(count: int) -> np.ndarray:
    """Every coalition of `count` groups, (2^count, count) bool; row r holds group i where bit i of r is set."""
    return (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(bool)


def attribute(game: Game, count: int, generator: np.random.Generator, pairs: int = PAIRS) -> Shares:
    """Shapley values of a game of `count` groups; `generator` is used above `MOST` groups alone."""
    return exact(game, count) if count <= MOST else permuted(game, count, generator, pairs)


def exact(game: Game, count: int) -> Shares:
    """phi_i = sum over C without i of |C|! (n - |C| - 1)! / n! [v(C and i) - v(C)], all 2^n coalitions."""
    values = np.asarray(game(all_coalitions(count)), np.float64)
    rows = np.arange(2**count)
    sizes = all_coalitions(count).sum(axis=1)
    weights = np.array([factorial(k) * factorial(count - k - 1) / factorial(count) for k in range(count)])
    columns = []
    for group in range(count):
        without = rows[(rows >> group & 1) == 0]
        with np.errstate(invalid="ignore"):
            gains = values[without + (1 << group)] - values[without]
        columns.append(weights[sizes[without]] @ gains)
    return Shares(np.stack(columns), values[-1], values[0], np.zeros(count), True)


def permuted(game: Game, count: int, generator: np.random.Generator, pairs: int = PAIRS) -> Shares:
    """The same from `pairs` random orders in which groups join, each also in reverse; at least two pairs."""
    forward = np.stack([generator.permutation(count) for _ in range(pairs)])
    orders = np.stack([forward, forward[:, ::-1]], axis=1).reshape(-1, count)
    joined = np.zeros((len(orders), count + 1, count), bool)
    for step in range(count):
        joined[:, step + 1] = joined[:, step]
        joined[np.arange(len(orders)), step + 1, orders[:, step]] = True
    coalitions, places = np.unique(joined.reshape(-1, count), axis=0, return_inverse=True)
    values = np.asarray(game(coalitions), np.float64)[places.reshape(len(orders), count + 1)]
    gains = np.empty((len(orders), count, values.shape[-1]))
    with np.errstate(invalid="ignore"):
        np.put_along_axis(gains, orders[:, :, None], np.diff(values, axis=1), axis=1)
    halves = gains.reshape(pairs, 2, count, -1).mean(axis=1)
    spread = halves.mean(axis=2).std(axis=0, ddof=1) / sqrt(pairs)
    return Shares(halves.mean(axis=0), values[0, -1], values[0, 0], spread, False)
