"""Decomposed Q-learning on a table, and the rule that looks like it but is not.

A table holds a deterministic world: `successor[s, a]` is the next state (the number of states stands for the
end), `rewards[s, a, c]` the reward of component c.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Bootstrap = Callable[[np.ndarray], np.ndarray]
"""Q of the next states (s, a, next action, c) -> the values bootstrapped from (s, a, c)."""


def drq(
    successor: np.ndarray, rewards: np.ndarray, gamma: float, alpha: float = 1.0, sweeps: int = 10_000
) -> np.ndarray:
    """Q_c(s, a), (states, actions, components), under the joint greedy policy.

    a+ = argmax_a sum_c Q_c(s', a);  Q_c(s, a) <- Q_c(s, a) + alpha (r_c + gamma Q_c(s', a+) - Q_c(s, a)).
    Sweeps all pairs at once until nothing changes or `sweeps` are done.
    """

    def joint(after: np.ndarray) -> np.ndarray:
        best = after.sum(axis=3).argmax(axis=2)
        return np.take_along_axis(after, best[:, :, None, None], axis=2)[:, :, 0]

    return _iterate(successor, rewards, gamma, alpha, sweeps, joint)


def separate_maxima(
    successor: np.ndarray, rewards: np.ndarray, gamma: float, alpha: float = 1.0, sweeps: int = 10_000
) -> np.ndarray:
    """The inconsistent rule (HRA): each component bootstraps from its own best action.

    Its components describe policies that no single agent follows; their sum is an upper bound of Q*.
    """
    return _iterate(successor, rewards, gamma, alpha, sweeps, lambda after: after.max(axis=2))


def _iterate(
    successor: np.ndarray, rewards: np.ndarray, gamma: float, alpha: float, sweeps: int, bootstrap: Bootstrap
) -> np.ndarray:
    end = np.zeros((1, *rewards.shape[1:]))
    q = np.zeros(rewards.shape)
    for _ in range(sweeps):
        after = np.concatenate([q, end])[successor]
        new = q + alpha * (rewards + gamma * bootstrap(after) - q)
        if np.array_equal(new, q):
            break
        q = new
    return q
