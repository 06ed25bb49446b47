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
    whole = sum(len(steps) for _, _, steps in clips)
    reports, row = [], 0
    for place, (episode, centre, steps) in enumerate(clips, start=1):
        numbered = list(range(row, row + len(steps)))
        row += len(steps)
        found = rows.digests(settings, numbered, [one(trace.states, episode, t) for t in steps])
        lines = [f"clip {place}   episode {episode}   t {centre}   rows {numbered[0]} to {numbered[-1]}"]
        lines += rows.lines("row", [str(n) for n in numbered], found, whole)
        numbers = {"episode": episode, "t": centre, "steps": list(steps), "rows": numbered, "digests": found}
        reports.append(Report([*head, *lines] if place == 1 else lines, numbers))
    return reports


def _clip(lengths: np.ndarray, episode: int, centre: int, reach: int) -> tuple[int, int, range]:
    steps = range(max(int(centre) - reach, 0), min(int(centre) + reach, int(lengths[episode]) - 1) + 1)
    return int(episode), int(centre), steps
