"""Monte-Carlo action values, component by component, and the numbers that go with them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from xrl_common.simulation import Simulator, Trace
from xrl_common.subject import Tree

EPSILON = 0.01
"""The share of the discounted sum that cutting a rollout may lose."""

ROLLOUTS = 256
EPISODES = 64


def horizon_of(gamma: float, steps_left: int) -> int:
    """H' = min(ceil(ln eps / ln gamma), steps left); all steps left when gamma is 1, one when it is 0."""
    if gamma >= 1.0:
        return steps_left
    if gamma <= 0.0:
        return min(1, steps_left)
    return min(math.ceil(math.log(EPSILON) / math.log(gamma)), steps_left)


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error, sd / sqrt(n) with n - 1 in the denominator of the sd."""

    mean: float
    se: float


def estimate(samples: np.ndarray) -> Estimate:
    """Mean and standard error of independent draws."""
    samples = np.asarray(samples, np.float64)
    count = len(samples)
    spread = float(np.std(samples, ddof=1)) if count > 1 else 0.0
    return Estimate(float(np.mean(samples)), spread / math.sqrt(count))


@dataclass(frozen=True)
class VectorQ:
    """Discounted component sums of N rollouts for each probed action."""

    components: tuple[str, ...]
    samples: np.ndarray
    """(actions, N, components), float64."""
    limit: int
    """Steps per rollout, H'."""
    trace: Trace

    @property
    def rollouts(self) -> int:
        """N."""
        return self.samples.shape[1]

    @property
    def totals(self) -> np.ndarray:
        """Mean of the summed components per action, (actions,)."""
        return self.samples.sum(axis=2).mean(axis=1)

    def q(self, action: int, component: int) -> Estimate:
        """Q_c(s, a)."""
        return estimate(self.samples[action, :, component])

    def total(self, action: int) -> Estimate:
        """Q(s, a), the sum over components."""
        return estimate(self.samples[action].sum(axis=1))

    def difference(self, first: int, second: int, component: int) -> Estimate:
        """Q_c(s, a) - Q_c(s, b) with the error of the paired differences."""
        return estimate(self.samples[first, :, component] - self.samples[second, :, component])

    def total_difference(self, first: int, second: int) -> Estimate:
        """Q(s, a) - Q(s, b) with the error of the paired differences."""
        return estimate((self.samples[first] - self.samples[second]).sum(axis=1))


def vector_q(simulator: Simulator, state: Tree, actions: np.ndarray, rollouts: int, gamma: float) -> VectorQ:
    """Q_c(s, a) for each of `actions`: a forced at the first step, the policy after, common noise."""
    left = max(simulator.subject.horizon - int(state.t), 0)
    limit = horizon_of(gamma, left)
    trace = simulator.rollouts(state, actions, rollouts, limit)
    sums = trace.discounted(gamma)
    return VectorQ(
        components=simulator.components,
        samples=sums.reshape(len(actions), rollouts, -1),
        limit=limit,
        trace=trace,
    )


def nonfinite(*arrays: np.ndarray) -> int:
    """How many entries are nan or infinite."""
    return int(sum(np.count_nonzero(~np.isfinite(array)) for array in arrays))
