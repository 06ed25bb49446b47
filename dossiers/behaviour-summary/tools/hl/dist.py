"""How importance is spread over the states of 20 episodes."""

from __future__ import annotations

import argparse

import numpy as np

from hl.ranked import EPISODES, rank
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, table

BINS = 20
BAR = 30


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One histogram of twenty bins of equal width; values that are not finite are left out and counted."""
    trace = settings.simulator.episodes(settings.count(EPISODES, least=5))
    ranked = rank(settings, wanted, trace, np.arange(len(trace.lengths)))
    finite = ranked.importance.values[np.isfinite(ranked.importance.values)]
    counts, edges = np.histogram(finite if len(finite) else np.zeros(1), bins=BINS)
    told = (f"one step in {ranked.stride} of an episode is ranked",) if ranked.stride > 1 else ()
    estimator = f"{ranked.word} importance {wanted.importance} episodes {len(trace.lengths)} states {len(finite)}"
    lines = settings.header(estimator, nonfinite=ranked.nonfinite, remarks=told)
    tallest = max(int(counts.max()), 1)
    lines += table(
        Column("bin", [str(i) for i in range(BINS)]),
        [
            Column("from", [float(x) for x in edges[:-1]]),
            Column("to", [float(x) for x in edges[1:]]),
            Column("states", [str(int(n)) for n in counts]),
            Column("share", [float(n / max(counts.sum(), 1)) for n in counts]),
            Column("", ["#" * round(BAR * int(n) / tallest) or "." for n in counts]),
        ],
    )
    quantiles = np.quantile(finite, [0, 0.25, 0.5, 0.75, 1]) if len(finite) else np.full(5, np.nan)
    return [Report(lines, {"edges": edges, "counts": counts, "quartiles": quantiles, "states": len(finite)})]
