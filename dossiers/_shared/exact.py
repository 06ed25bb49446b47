"""Exact answers of the tabular worlds by dynamic programming, in NumPy and float64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fixtures import World


@dataclass(frozen=True)
class Solution:
    """Component values under a policy."""

    v: np.ndarray
    """(cells, components)."""
    q: np.ndarray
    """(cells, 4, components)."""


def dynamics(world: World, slip: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Transition probabilities (cells, 4, cells) without the end, and mean rewards (cells, 4, components)."""
    cells = len(world.cells)
    moves = np.concatenate([np.eye(cells), np.zeros((1, cells))])[world.successor]
    uniform = moves.mean(axis=1, keepdims=True)
    mean = world.rewards.mean(axis=1, keepdims=True)
    return (1 - slip) * moves + slip * uniform, (1 - slip) * world.rewards + slip * mean


def evaluate(world: World, policy: np.ndarray, slip: float = 0.0, steps: int | None = None) -> Solution:
    """Values of a policy table (cells, 4): over `steps` steps, or without an end."""
    moves, rewards = dynamics(world, slip)
    expected = np.einsum("sa,sac->sc", policy, rewards)
    chain = world.gamma * np.einsum("sa,sat->st", policy, moves)
    if steps is None:
        v = np.linalg.solve(np.eye(len(chain)) - chain, expected)
        return Solution(v, rewards + world.gamma * np.einsum("sat,tc->sac", moves, v))
    v = np.zeros_like(expected)
    for _ in range(steps - 1):
        v = expected + chain @ v
    q = rewards + world.gamma * np.einsum("sat,tc->sac", moves, v)
    return Solution(np.einsum("sa,sac->sc", policy, q), q)


def optimal_q(world: World, slip: float = 0.0) -> np.ndarray:
    """Q* of the summed reward, (cells, 4), by value iteration until nothing changes."""
    moves, rewards = dynamics(world, slip)
    scalar = rewards.sum(axis=2)
    q = np.zeros_like(scalar)
    while True:
        new = scalar + world.gamma * moves @ q.max(axis=1)
        if np.array_equal(new, q):
            return q
        q = new


def greedy(q: np.ndarray) -> np.ndarray:
    """The policy that takes the first of the best actions."""
    return np.eye(q.shape[1])[q.argmax(axis=1)]


def uniform_over_best(q: np.ndarray) -> np.ndarray:
    """The policy that is uniform over the best actions."""
    best = np.isclose(q, q.max(axis=1, keepdims=True))
    return best / best.sum(axis=1, keepdims=True)


def uniform(world: World) -> np.ndarray:
    """The policy that ignores the cell."""
    return np.full((len(world.cells), 4), 0.25)


def occupancy(world: World, policy: np.ndarray) -> np.ndarray:
    """Share of time spent in each cell under a policy that always reaches the end, (cells,)."""
    moves, _ = dynamics(world)
    start = np.zeros(len(world.cells))
    start[list(world.starts)] = 1 / len(world.starts)
    visits = np.linalg.solve(np.eye(len(start)) - np.einsum("sa,sat->ts", policy, moves), start)
    return visits / visits.sum()
