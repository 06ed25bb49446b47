"""Digests of consecutive states of the agent's episodes."""

from __future__ import annotations

import argparse

import numpy as np

from dg import rows, trial
from xrl_common.estimates import EPISODES
from xrl_common.failure import usage
from xrl_common.features import one
from xrl_common.report import Report, Settings


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One row per step from the first of an episode on; where an episode ends, the rows go on in the next."""
    if wanted.episode >= EPISODES:
        raise usage(f"--episode {wanted.episode}: episodes are 0..{EPISODES - 1}")
    trace, tried = settings.simulator.episodes(EPISODES), trial.run(settings)
    visited = np.argwhere(trace.alive)
    steps = visited[visited[:, 0] >= wanted.episode][: wanted.rows]
    found = rows.digests(settings, range(len(steps)), [one(trace.states, *step) for step in steps])
    head = settings.header(f"{tried.word} from episode {wanted.episode} on", nonfinite=tried.nonfinite)
    names = [str(row) for row in range(len(steps))]
    shown = rows.lines("row", names, found, rows.groups(settings, head, names))
    return [Report([*head, *shown], {"episode": wanted.episode, "rows": list(range(len(steps))), "digests": found})]
