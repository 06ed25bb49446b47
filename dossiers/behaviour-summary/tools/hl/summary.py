"""The clips around the states that matter most."""

from __future__ import annotations

import argparse

import numpy as np

from highlights import selection
from hl import clips
from hl.ranked import EPISODES, rank
from xrl_common.report import Report, Settings
from xrl_common.simulation import Trace
from xrl_common.tables import number


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """Ranks the states of 20 episodes and shows the clips around the first few."""
    return summarise(settings, wanted, settings.simulator.episodes(settings.count(EPISODES, least=5)))


def summarise(settings: Settings, wanted: argparse.Namespace, trace: Trace) -> list[Report]:
    """The summary of the episodes of a trace, one block per clip."""
    ranked = rank(settings, wanted, trace, np.arange(len(trace.lengths)))
    rule, told = None, []
    if wanted.div:
        rule, least, pairs = clips.near(settings, ranked)
        told = [f"clips at a distance of at least {number(least)}: percentile {selection.PERCENTILE} of {pairs} pairs"]
    chosen = selection.choose(
        ranked.importance.values, ranked.episodes, ranked.times, wanted.k, wanted.l + wanted.gap, rule
    )
    if len(chosen) < wanted.k:
        told.append(f"{len(chosen)} of {wanted.k} clips: no further state lies far enough from those shown")
    if np.ptp(ranked.importance.values) == 0:
        told.append("every ranked state has the same importance: clips follow the order of episodes and steps")
    if ranked.stride > 1:
        told.append(f"one step in {ranked.stride} of an episode is ranked")
    estimator = (
        f"{ranked.word} importance {wanted.importance} k {wanted.k} l {wanted.l} gap {wanted.gap} "
        f"episodes {len(trace.lengths)}"
    )
    head = settings.header(estimator, nonfinite=ranked.nonfinite, remarks=tuple(told))
    reports = []
    for place, row in enumerate(chosen, start=1):
        lines, numbers = clips.write(settings, wanted, ranked, row, f"clip {place}")
        reports.append(Report([*head, *lines] if place == 1 else lines, numbers))
    return reports
