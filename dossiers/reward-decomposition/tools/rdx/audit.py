"""What each reward component contributes to an episode."""

from __future__ import annotations

import argparse

import numpy as np

from xrl_common.estimates import EPISODES, estimate, nonfinite
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, table


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """Runs whole episodes from the start."""
    return [audit(settings, settings.count(EPISODES, least=8))]


def audit(settings: Settings, episodes: int) -> Report:
    """Mean, discounted mean, share of the summed sizes, smallest and largest step, per component."""
    trace = settings.simulator.episodes(episodes)
    steps = trace.rewards[trace.alive].astype(np.float64)
    scalar = trace.reward[trace.alive].astype(np.float64)
    sums = trace.rewards.sum(axis=1, dtype=np.float64)
    discounted = trace.discounted(settings.gamma)
    sizes = np.abs(steps).sum(axis=0)
    shares = sizes / sizes.sum() if sizes.sum() else np.zeros_like(sizes)
    components = settings.simulator.components
    means = [estimate(column) for column in sums.T]
    discounts = [estimate(column) for column in discounted.T]
    odd = nonfinite(trace.rewards)
    lines = settings.header(f"episodes {episodes}", nonfinite=odd)
    lines += table(
        Column("component", [*components, "total"]),
        [
            Column("mean", [*means, estimate(sums.sum(axis=1))]),
            Column("discounted mean", [*discounts, estimate(discounted.sum(axis=1))]),
            Column("share", [*(float(share) for share in shares), float(shares.sum())]),
            Column("min", [float(value) for value in [*steps.min(axis=0), scalar.min()]]),
            Column("max", [float(value) for value in [*steps.max(axis=0), scalar.max()]]),
        ],
    )
    rows = {
        name: {
            "mean": means[c],
            "discounted_mean": discounts[c],
            "share": shares[c],
            "min": steps[:, c].min(),
            "max": steps[:, c].max(),
        }
        for c, name in enumerate(components)
    }
    return Report(lines, {"episodes": episodes, "nonfinite": odd, "components": rows})
