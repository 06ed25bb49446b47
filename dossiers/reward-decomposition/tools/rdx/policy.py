"""Discounted value of each component at the start, under the policy and under uniform actions."""

from __future__ import annotations

import argparse

import numpy as np

from xrl_common.estimates import EPISODES, Estimate, estimate, nonfinite
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, table


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """Runs whole episodes from the start, twice."""
    return [values_at_start(settings, settings.count(EPISODES, least=8))]


def values_at_start(settings: Settings, episodes: int) -> Report:
    """V_c at the starts: means over the same resets for both columns."""
    simulator = settings.simulator
    under = {
        "policy": simulator.episodes(episodes).discounted(settings.gamma),
        "uniform": simulator.episodes(episodes, uniform=True).discounted(settings.gamma),
    }
    odd = nonfinite(*under.values())
    lines = settings.header(f"V simulator episodes {episodes}", nonfinite=odd)
    lines += table(
        Column("component", [*simulator.components, "total"]),
        [Column(f"V({name})", _column(values)) for name, values in under.items()],
    )
    components = {
        name: dict(zip([*simulator.components, "total"], _column(values), strict=True))
        for name, values in under.items()
    }
    return Report(lines, {"episodes": episodes, "nonfinite": odd, **components})


def _column(values: np.ndarray) -> list[Estimate]:
    return [*(estimate(column) for column in values.T), estimate(values.sum(axis=1))]
