"""Digests of a whole episode."""

from __future__ import annotations

import argparse

from dg.rows import columns, states_of
from xrl_common.actions import name_of
from xrl_common.estimates import EPISODES
from xrl_common.failure import usage
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, number, table

SHOWN = 5


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One row per step, with the action and the digests of the state before it."""
    trace = settings.simulator.episodes(EPISODES)
    episode = wanted.episode
    if episode >= EPISODES:
        raise usage(f"--episode {episode}: episodes are 0..{EPISODES - 1}")
    steps = range(int(trace.lengths[episode]))
    shown, found = columns(settings, list(steps), states_of(trace, episode, steps), SHOWN)
    told = f"episode {episode}  steps {len(steps)}  return {number(float(trace.returns[episode]))}  episodes {EPISODES}"
    lines = settings.header(told)
    actions = [name_of(settings.subject, trace.actions[episode, t]) for t in steps]
    lines += table(Column("t", [str(t) for t in steps]), [Column("action", actions), *shown])
    return [Report(lines, {"episode": episode, "actions": actions, "digests": found})]
