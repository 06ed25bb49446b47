"""The visited states of some episodes with their importance."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import jax
import numpy as np

from highlights.importance import Importance, of_values
from xrl_common.actions import probe_sets
from xrl_common.arguments import Source
from xrl_common.estimates import ScalarQ, nonfinite, scalar_q
from xrl_common.report import Settings
from xrl_common.simulation import Trace
from xrl_common.subject import Tree

EPISODES = 20
ROLLOUTS = 32
MOST = 1000
"""States that are ranked at most; where more were visited, every 2nd, 4th, 8th ... step of an episode is."""


@dataclass(frozen=True)
class Ranked:
    """States of a trace by (episode, step), each with its importance."""

    trace: Trace
    episodes: np.ndarray
    times: np.ndarray
    importance: Importance
    stride: int
    word: str
    """The estimator as a header names it."""
    nonfinite: int


def rank(settings: Settings, wanted: argparse.Namespace, trace: Trace, lanes: np.ndarray) -> Ranked:
    """Ranks what some lanes of a trace visited."""
    stride = 1
    while np.count_nonzero(trace.alive[lanes]) > MOST * stride:
        stride *= 2
    alive = trace.alive[lanes, ::stride]
    rows, steps = np.nonzero(alive)
    episodes, times = lanes[rows], steps * stride
    states = jax.tree.map(lambda leaf: leaf[episodes, times], trace.states)
    values = action_values(settings, wanted.q_source, states)
    importance = of_values(values.samples, "range" if wanted.importance == "entropy" else wanted.importance)
    odd = nonfinite(values.samples)
    if wanted.importance == "entropy":
        certainty = -entropies(settings, trace.observations[episodes, times])
        importance = Importance(certainty, np.zeros(len(certainty)), importance.low, importance.high)
        odd += nonfinite(certainty)
    return Ranked(trace, episodes, times, importance, stride, values.word, odd)


def action_values(settings: Settings, source: Source, states: Tree) -> ScalarQ:
    """Q over the probe sets of many states."""
    probes = probe_sets(settings.simulator, states)
    rollouts = settings.count(ROLLOUTS, least=4)
    return scalar_q(settings.simulator, states, probes, rollouts, settings.gamma, source)


def entropies(settings: Settings, observations: np.ndarray) -> np.ndarray:
    """Entropy of the policy at observations, (S,)."""
    policy = settings.subject.policy
    return np.asarray(jax.jit(policy.entropy)(policy.agent, observations), np.float64)
