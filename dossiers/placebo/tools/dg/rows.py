"""Rows of digests as columns of a table."""

from __future__ import annotations

import jax
import numpy as np

from digests import cells
from xrl_common.actions import probe_sets
from xrl_common.arguments import Source
from xrl_common.estimates import scalar_q
from xrl_common.features import one
from xrl_common.report import Settings
from xrl_common.simulation import Trace
from xrl_common.subject import Tree
from xrl_common.tables import Column

ROLLOUTS = 32
MOST = 1000


def columns(
    settings: Settings, rows: list[int], states: list[Tree], count: int
) -> tuple[list[Column], list[list[str]]]:
    """`count` columns of digests, one row per state, and the same by row."""
    documents = [settings.subject.state_to_json(state) for state in states]
    found = [cells(settings.seed, row, document, count) for row, document in zip(rows, documents, strict=True)]
    return [Column(f"digest {i}", [row[i] for row in found]) for i in range(count)], found


def rolled_out(settings: Settings, source: Source, trace: Trace, lanes: np.ndarray) -> tuple[str, int, int]:
    """Runs the rollouts of the visited states of some lanes; the estimator, the states, and values not finite."""
    stride = 1
    while np.count_nonzero(trace.alive[lanes]) > MOST * stride:
        stride *= 2
    rows, steps = np.nonzero(trace.alive[lanes, ::stride])
    states = jax.tree.map(lambda leaf: leaf[lanes[rows], steps * stride], trace.states)
    return (*of_states(settings, source, states), len(rows))


def of_states(settings: Settings, source: Source, states: Tree) -> tuple[str, int]:
    """Runs the rollouts of some states; the estimator, and how many values were not finite."""
    simulator, rollouts = settings.simulator, settings.count(ROLLOUTS, least=4)
    values = scalar_q(simulator, states, probe_sets(simulator, states), rollouts, settings.gamma, source)
    return values.word, int(np.count_nonzero(~np.isfinite(values.samples)))


def states_of(trace: Trace, episode: int, steps: range) -> list[Tree]:
    """The states of some steps of an episode."""
    return [one(trace.states, episode, t) for t in steps]
