"""Monte-Carlo action values, component by component, and the numbers that go with them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import numpy as np

from xrl_common.arguments import Source
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


@dataclass(frozen=True)
class BatchQ:
    """Discounted component sums of N rollouts for each probed action of each of many states."""

    components: tuple[str, ...]
    samples: np.ndarray
    """(states, actions, N, components), float64."""
    limits: np.ndarray
    """Steps per rollout, H' of each state, (states,)."""

    @property
    def totals(self) -> np.ndarray:
        """Mean of the summed components, (states, actions)."""
        return self.samples.sum(axis=3).mean(axis=2)


@dataclass(frozen=True)
class ScalarQ:
    """One action value per state, action and rollout, and how a header names its source."""

    samples: np.ndarray
    """(states, actions, N), float64; N is 1 where there is no chance in it."""
    word: str

    @property
    def means(self) -> np.ndarray:
        """(states, actions)."""
        return self.samples.mean(axis=2)

    def difference(self, state: int, first: int, second: int) -> Estimate:
        """Q(s, a) - Q(s, b) with the error of the paired differences."""
        return estimate(self.samples[state, first] - self.samples[state, second])


def limits_of(simulator: Simulator, states: Tree, gamma: float) -> np.ndarray:
    """H' of each state (leading axis)."""
    left = np.maximum(simulator.subject.horizon - np.asarray(states.t), 0)
    return np.array([horizon_of(gamma, int(steps)) for steps in left], np.int32)


def batch_q(simulator: Simulator, states: Tree, actions: np.ndarray, rollouts: int, gamma: float) -> BatchQ:
    """Q_c(s, a) of many states (leading axis) and their actions (S, A, ...); as `vector_q`, with no trace."""
    limits = limits_of(simulator, states, gamma)
    return BatchQ(simulator.components, simulator.sums(states, actions, rollouts, gamma, limits), limits)


def scalar_q(
    simulator: Simulator,
    states: Tree,
    actions: np.ndarray,
    rollouts: int,
    gamma: float,
    source: Source = Source.SIMULATOR,
) -> ScalarQ:
    """Q(s, a) of many states (leading axis) and their actions (S, A, ...) from one of the three sources.

    Simulator: Monte-Carlo sums. Critic: r + gamma V(s') of one simulated step, V = 0 after the end. Log-policy:
    log pi(a | s), which re-expresses the policy and says nothing of its worth.
    """
    if source is Source.LOG_POLICY:
        return ScalarQ(_log_policy(simulator, states, actions), "Q log-policy")
    if source is Source.CRITIC:
        return ScalarQ(_critic(simulator, states, actions, rollouts, gamma), f"Q critic N={rollouts}")
    values = batch_q(simulator, states, actions, rollouts, gamma)
    longest = int(values.limits.max(initial=0))
    return ScalarQ(values.samples.sum(axis=3), f"Q simulator N={rollouts} H={longest}")


def _log_policy(simulator: Simulator, states: Tree, actions: np.ndarray) -> np.ndarray:
    policy = simulator.subject.policy
    seen = np.repeat(simulator.observe(states), actions.shape[1], axis=0)
    flat = actions.reshape(len(seen), *actions.shape[2:])
    logs = jax.jit(policy.log_prob)(policy.agent, seen, flat)
    return np.asarray(logs, np.float64).reshape(*actions.shape[:2], 1)


def _critic(simulator: Simulator, states: Tree, actions: np.ndarray, rollouts: int, gamma: float) -> np.ndarray:
    count, probes = actions.shape[:2]

    def repeated(leaf: np.ndarray) -> np.ndarray:
        return np.repeat(leaf, probes * rollouts, axis=0)

    flat = np.repeat(actions.reshape(count * probes, *actions.shape[2:]), rollouts, axis=0)
    numbers = np.tile(np.arange(rollouts), count * probes)
    trace = simulator.fresh(jax.tree.map(repeated, states), flat, numbers, 1)
    policy = simulator.subject.policy
    after = np.asarray(jax.jit(policy.value)(policy.agent, simulator.observe(trace.finals)), np.float64)
    value = np.where(trace.terminated.any(axis=1), 0.0, after)
    return (trace.returns + gamma * value).reshape(count, probes, rollouts)


def nonfinite(*arrays: np.ndarray) -> int:
    """How many entries are nan or infinite."""
    return int(sum(np.count_nonzero(~np.isfinite(array)) for array in arrays))
