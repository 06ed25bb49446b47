"""The loop of VIPER: states of the teacher, then of the students, always labelled by the teacher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from extraction.trees import Tree, fit
from extraction.weights import normalised, uniform

EPISODES = 10
ADDED = 200
SHARE = 0.8


@dataclass(frozen=True)
class Data:
    """States with what the teacher does in them."""

    observations: np.ndarray
    actions: np.ndarray
    spreads: np.ndarray
    """max Q - min Q, (S,); the weights before they are normalised."""

    def joined(self, other: Data) -> Data:
        """Both together."""
        return Data(*(np.concatenate(pair) for pair in zip(self.columns, other.columns, strict=True)))

    def only(self, rows: np.ndarray) -> Data:
        """Some of the states."""
        return Data(*(column[rows] for column in self.columns))

    @property
    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The three arrays."""
        return self.observations, self.actions, self.spreads


Collect = Callable[[Tree | None, int], Data]
"""(student or the teacher, iteration) -> at most 200 new states."""


@dataclass(frozen=True)
class Grown:
    """One iteration: its tree, and the states held out of its fit."""

    tree: Tree
    held_out: Data


def grow(
    collect: Collect,
    iterations: int,
    depth: int,
    seed: int,
    continuous: bool,
    features: Sequence[int] | None = None,
) -> tuple[list[Grown], Data]:
    """The student of every iteration, and all data gathered."""
    generator = np.random.default_rng([seed, 9])
    students: list[Grown] = []
    data: Data | None = None
    for iteration in range(iterations):
        new = collect(students[-1].tree if students else None, iteration)
        data = new if data is None else data.joined(new)
        students.append(_fitted(data, depth, seed, continuous, features, generator))
    assert data is not None
    return students, data


def _fitted(
    data: Data,
    depth: int,
    seed: int,
    continuous: bool,
    features: Sequence[int] | None,
    generator: np.random.Generator,
) -> Grown:
    """The tree of one iteration on a random 80 % of the data."""
    order = generator.permutation(len(data.observations))
    kept = order[: max(round(SHARE * len(order)), 1)]
    out = order[len(kept) :] if len(kept) < len(order) else kept
    weights = uniform(len(kept)) if continuous else normalised(data.spreads[kept])
    tree = fit(data.observations[kept], data.actions[kept], weights, depth, seed, continuous, features)
    return Grown(tree, data.only(out))
