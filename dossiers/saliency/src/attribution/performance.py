"""Expected return when one state is acted in with less knowledge, also where it is visited again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BLOCKS = 16
"""Groups of rollouts left out in turn for a standard error."""


@dataclass(frozen=True)
class Excursions:
    """N runs of H steps from a state for each of its A actions, under the policy after the first step."""

    rewards: np.ndarray
    """(A, N, H) discounted, zero from the step of the first return to the state on."""
    returns: np.ndarray
    """(A, N) step of the first return to the state, 0 where there is none."""
    gamma: float

    def __getitem__(self, runs: np.ndarray) -> Excursions:
        """The runs with these numbers."""
        return Excursions(self.rewards[:, runs], self.returns[:, runs], self.gamma)

    @property
    def revisits(self) -> bool:
        """Whether any run came back."""
        return bool(self.returns.any())


def excursions(rewards: np.ndarray, alive: np.ndarray, back: np.ndarray, gamma: float) -> Excursions:
    """Cuts runs (A, N, H) at their first return; `back` says before which steps the state is there again."""
    back = back & alive
    back[:, :, 0] = False
    returned = back.any(axis=2)
    first = np.where(returned, back.argmax(axis=2), 0)
    steps = np.arange(rewards.shape[2])
    inside = alive & (~returned[:, :, None] | (steps < first[:, :, None]))
    discounted = np.where(inside, rewards.astype(np.float64) * gamma**steps, 0.0)
    return Excursions(discounted, first, gamma)


def values(runs: Excursions, policies: np.ndarray) -> np.ndarray:
    """Expected return of each way of acting in the state, policies (K, A) -> (K,).

    Without returns to the state: sum over a of pi(a) Q(s, a). With them, over the h steps left,

        v_h = sum over a of pi(a) [ R_a(h) + sum over t <= h of P_a(return at t) gamma^t v_(h-t) ]
    """
    if not runs.revisits:
        return policies @ runs.rewards.sum(axis=2).mean(axis=1)
    horizon = runs.rewards.shape[2]
    collected = np.concatenate([np.zeros((len(runs.rewards), 1)), runs.rewards.mean(axis=1).cumsum(axis=1)], axis=1)
    steps = np.arange(horizon + 1)
    back = np.stack([np.bincount(row, minlength=horizon + 1) for row in runs.returns]) / runs.returns.shape[1]
    back[:, 0] = 0.0
    own = policies @ collected
    again = policies @ (back * runs.gamma**steps)
    found = np.zeros((len(policies), horizon + 1))
    for left in range(1, horizon + 1):
        found[:, left] = own[:, left] + (again[:, 1 : left + 1] * found[:, left - 1 :: -1][:, :left]).sum(axis=1)
    return found[:, horizon]


def jackknife(runs: Excursions, policies: np.ndarray) -> np.ndarray:
    """`values`, then the same without each block of runs in turn, (K, 1 + J); J is 0 where all runs are alike."""
    whole = values(runs, policies)
    count = runs.returns.shape[1]
    alike = np.array_equal(runs.rewards, np.broadcast_to(runs.rewards[:, :1], runs.rewards.shape))
    if count < 2 or (alike and np.array_equal(runs.returns, np.broadcast_to(runs.returns[:, :1], runs.returns.shape))):
        return whole[:, None]
    blocks = np.array_split(np.arange(count), min(BLOCKS, count))
    without = [values(runs[np.setdiff1d(np.arange(count), block)], policies) for block in blocks]
    return np.stack([whole, *without], axis=1)


def jackknife_error(columns: np.ndarray) -> np.ndarray:
    """Standard error of column 0 of (..., 1 + J) from the others; zero where there are none."""
    left_out = columns[..., 1:]
    count = left_out.shape[-1]
    if count < 2:
        return np.zeros(columns.shape[:-1])
    apart = left_out - left_out.mean(axis=-1, keepdims=True)
    return np.sqrt((count - 1) / count * (apart**2).sum(axis=-1))
