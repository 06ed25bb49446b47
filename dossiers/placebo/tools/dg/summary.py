"""Digests of five clips spread over 20 episodes."""

from __future__ import annotations

import argparse

import numpy as np

from dg.rows import columns, rolled_out, states_of
from digests import spread
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, table

EPISODES = 20
SHOWN = 8


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per clip; clips are spread evenly over the visited states, in order."""
    trace = settings.simulator.episodes(settings.count(EPISODES, least=5))
    word, odd, states = rolled_out(settings, wanted.q_source, trace, np.arange(len(trace.lengths)))
    visited = np.argwhere(trace.alive)
    estimator = f"{word} k {wanted.k} l {wanted.l} episodes {len(trace.lengths)} states {states}"
    head = settings.header(estimator, nonfinite=odd)
    reports, row = [], 0
    for place, middle in enumerate(spread(len(visited), wanted.k), start=1):
        episode, centre = (int(x) for x in visited[middle])
        steps = range(max(centre - wanted.l, 0), min(centre + wanted.l, int(trace.lengths[episode]) - 1) + 1)
        rows = list(range(row, row + len(steps)))
        row += len(steps)
        shown, found = columns(settings, rows, states_of(trace, episode, steps), SHOWN)
        lines = [f"clip {place}   episode {episode}   t {centre}   rows {rows[0]} to {rows[-1]}"]
        lines += table(Column("t", [str(t) for t in steps]), shown)
        numbers = {"episode": episode, "t": centre, "steps": list(steps), "rows": rows, "digests": found}
        reports.append(Report([*head, *lines] if place == 1 else lines, numbers))
    return reports
