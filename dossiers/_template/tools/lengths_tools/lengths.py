"""How long episodes are, and how they end."""

from __future__ import annotations

import argparse

from lengths import summarise
from xrl_common.estimates import EPISODES
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, table


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """Runs whole episodes from the start."""
    episodes = settings.count(EPISODES)
    trace = settings.simulator.episodes(episodes)
    ended = trace.terminated.any(axis=1)
    summaries = {
        "terminated": summarise(trace.lengths[ended]),
        "truncated": summarise(trace.lengths[~ended]),
        "all": summarise(trace.lengths),
    }
    lines = settings.header(f"episodes {episodes}")
    lines += table(
        Column("ending", list(summaries)),
        [
            Column("episodes", [str(summary.count) for summary in summaries.values()]),
            Column("mean", [summary.mean for summary in summaries.values()]),
            Column("min", [str(summary.shortest) for summary in summaries.values()]),
            Column("max", [str(summary.longest) for summary in summaries.values()]),
        ],
    )
    return [Report(lines, {"episodes": episodes, "endings": summaries})]
