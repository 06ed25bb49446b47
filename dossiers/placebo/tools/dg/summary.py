"""Digests of a few clips spread over 20 episodes."""

from __future__ import annotations

import argparse

import numpy as np

from dg import rows, trial
from digests import spread
from xrl_common.features import one
from xrl_common.report import Report, Settings


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per clip; clips are spread evenly over the visited states, in order."""
    tried = trial.run(settings)
    trace, visited = tried.trace, np.argwhere(tried.trace.alive)
    head = settings.header(f"{tried.word} k {wanted.k} l {wanted.l}", nonfinite=tried.nonfinite)
    clips = [_clip(trace.lengths, *visited[middle], wanted.l) for middle in spread(len(visited), wanted.k)]
    titles, first = [], 0
    for place, (episode, centre, steps) in enumerate(clips, start=1):
        last = first + len(steps) - 1
        titles.append(f"clip {place}   episode {episode}   t {centre}   rows {first} to {last}")
        first = last + 1
    count = rows.groups(settings, [*head, *titles], [str(row) for row in range(first)], len(clips))
    reports, row = [], 0
    for place, (episode, centre, steps) in enumerate(clips, start=1):
        numbered = list(range(row, row + len(steps)))
        row += len(steps)
        found = rows.digests(settings, numbered, [one(trace.states, episode, t) for t in steps])
        lines = [titles[place - 1], *rows.lines("row", [str(n) for n in numbered], found, count)]
        numbers = {"episode": episode, "t": centre, "steps": list(steps), "rows": numbered, "digests": found}
        reports.append(Report([*head, *lines] if place == 1 else lines, numbers))
    return reports


def _clip(lengths: np.ndarray, episode: int, centre: int, reach: int) -> tuple[int, int, range]:
    steps = range(max(int(centre) - reach, 0), min(int(centre) + reach, int(lengths[episode]) - 1) + 1)
    return int(episode), int(centre), steps
