"""The trial that precedes every output: rollouts from the visited states of some episodes, whatever acts first."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from xrl_common.actions import probe_sets
from xrl_common.estimates import batch_q, nonfinite
from xrl_common.report import Settings
from xrl_common.simulation import Trace

EPISODES = 20
ROLLOUTS = 32
MOST = 1000
"""States that are tried at most; where more were visited, every 2nd, 4th, 8th ... step of an episode is."""


@dataclass(frozen=True)
class Trial:
    """The episodes, and what was tried in them."""

    trace: Trace
    word: str
    """As a header tells it."""
    nonfinite: int


def run(settings: Settings) -> Trial:
    """Tries the probe set of each visited state; the sums of all rollouts are looked at for values not finite."""
    simulator, rollouts = settings.simulator, settings.count(ROLLOUTS, least=4)
    trace = simulator.episodes(settings.count(EPISODES, least=5))
    stride = 1
    while np.count_nonzero(trace.alive) > MOST * stride:
        stride *= 2
    episodes, steps = np.nonzero(trace.alive[:, ::stride])
    states = jax.tree.map(lambda leaf: leaf[episodes, steps * stride], trace.states)
    tried = batch_q(simulator, states, probe_sets(simulator, states), rollouts, settings.gamma)
    longest = int(tried.limits.max(initial=0))
    word = f"rollouts N={rollouts} H={longest} episodes {len(trace.lengths)}"
    return Trial(trace, word, nonfinite(tried.samples))
