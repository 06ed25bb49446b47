"""How much the networks change when a group of entries is replaced, over many states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attribution import masking
from attribution.masking import Answers, Background
from xrl_common.simulation import Trace

AT_ONCE = 64
"""States perturbed at once."""


@dataclass(frozen=True)
class Scores:
    """Perturbation scores of S states and n groups."""

    parts: np.ndarray
    """Half the mean squared change of each number before V, (S, n, k)."""
    critic: np.ndarray
    """The same of V, (S, n)."""

    @property
    def actor(self) -> np.ndarray:
        """Summed over the numbers, (S, n)."""
        return self.parts.sum(axis=2)


def perturb(answers: Answers, observations: np.ndarray, background: Background, groups: list[slice]) -> Scores:
    """Scores of observations (S, d): each group takes each background value in turn."""
    found = []
    for first in range(0, len(observations), AT_ONCE):
        rows = observations[first : first + AT_ONCE]
        each = [masking.replaced_changes(answers, rows, background, entries) for entries in groups]
        found.append(np.stack([np.einsum("sbk,b->sk", changes, background.weights) for changes in each], axis=1))
    whole = np.concatenate(found)
    return Scores(whole[:, :, :-1], whole[:, :, -1])


def sample(trace: Trace, count: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Episodes and steps of at most `count` visited states, in order, (S,) each."""
    visited = np.argwhere(trace.alive)
    if len(visited) > count:
        visited = visited[np.sort(generator.choice(len(visited), count, replace=False))]
    return visited[:, 0], visited[:, 1]
