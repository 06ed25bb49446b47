"""Observations in which some groups are known and the others are taken from the background."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Answers = Callable[[np.ndarray], np.ndarray]
"""Observations (M, d) float32 -> numbers (M, k) float64."""


@dataclass(frozen=True)
class Background:
    """Observations that stand for what is usual, with the share of each."""

    observations: np.ndarray
    """(B, d) float32."""
    weights: np.ndarray
    """(B,), sum 1."""
    complete: bool
    """Whether these are all there are, so that nothing was drawn."""

    @property
    def mean(self) -> np.ndarray:
        """(d,) float64."""
        return self.weights @ self.observations.astype(np.float64)

    def average(self, columns: np.ndarray) -> np.ndarray:
        """Mean of (..., B) over the background."""
        return columns @ self.weights

    def error(self, columns: np.ndarray) -> np.ndarray:
        """Standard error of `average` that comes from drawing the background; zero where it is complete."""
        count = columns.shape[-1]
        if self.complete or count < 2:
            return np.zeros(columns.shape[:-1])
        return columns.std(axis=-1, ddof=1) / np.sqrt(count)


def entries_of(coalitions: np.ndarray, groups: Sequence[slice], size: int) -> np.ndarray:
    """Which of `size` entries each coalition (K, n) knows, (K, d) bool."""
    known = np.zeros((len(coalitions), size), bool)
    for group, entries in enumerate(groups):
        known[:, entries] = coalitions[:, group, None]
    return known


def mixed(observation: np.ndarray, others: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(K, B, d): the observation (d,) where known (K, d), each of `others` (B, d) elsewhere."""
    return np.where(known[:, None], observation, others[None]).astype(np.float32)


def marginal_game(
    answers: Answers, observation: np.ndarray, background: Background, groups: Sequence[slice], readout: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """The game v(C) = mean over the background of readout . answers with the groups outside C taken from it.

    `readout` (k,) picks or weighs the numbers. A value has one draw per background observation, (K, B).
    """

    def game(coalitions: np.ndarray) -> np.ndarray:
        known = entries_of(coalitions, groups, len(observation))
        rows = mixed(observation, background.observations, known)
        return (answers(rows.reshape(-1, len(observation))) @ readout).reshape(rows.shape[:2])

    return game


def replaced_changes(
    answers: Answers, observations: np.ndarray, background: Background, entries: slice | int
) -> np.ndarray:
    """Half the squared change of each number when some entries are replaced, (S, B, k).

    `observations` (S, d); every background observation is used once for each of them, so that nothing is drawn.
    """
    rows = np.repeat(observations[:, None], len(background.weights), axis=1).astype(np.float32)
    rows[:, :, entries] = background.observations[None, :, entries]
    flat = answers(rows.reshape(-1, observations.shape[1]))
    return 0.5 * (flat.reshape(*rows.shape[:2], -1) - answers(observations)[:, None]) ** 2
