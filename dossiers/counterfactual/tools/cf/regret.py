"""How often, and where, some other action would have earned more."""

from __future__ import annotations

import argparse
import math

import numpy as np

from cf import layout
from cf.places import recorded
from deviation.deviate import alternatives, deviate
from deviation.regret import best_change, clear_gain, row
from xrl_common.estimates import EPISODES, nonfinite
from xrl_common.outcome import facts
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, number, table

ROLLOUTS = 32
EXAMINED = 1024
"""Visited steps that are looked at."""

AT_ONCE = 128
"""States that are simulated together, which bounds the memory."""


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The 64 episodes, once."""
    return [regret(settings, wanted.h, wanted.x)]


def regret(settings: Settings, h: int, share: float) -> Report:
    """Per predicate: steps, the share of them with a clear gain, and its mean."""
    simulator = settings.simulator
    rollouts = settings.count(ROLLOUTS, least=2)
    trace = simulator.episodes(EPISODES)
    finite = trace.returns[np.isfinite(trace.returns)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    least = share * (high - low)
    visited = np.argwhere(trace.alive)
    most = min(round(settings.share * EXAMINED), len(visited))
    examined = np.sort(simulator.generator("regret").choice(len(visited), most, replace=False))
    places = [recorded(trace, int(episode), int(t)) for episode, t in visited[examined]]
    gains, best, odd = [], [], 0
    for first in range(0, len(places), AT_ONCE):
        some = places[first : first + AT_ONCE]
        tried, _ = alternatives(simulator, some)
        continued, _ = deviate(simulator, some, tried, h, rollouts, 1.0)
        odd += nonfinite(*(entry.sums for entry in continued))
        for entry in continued:
            changes = [entry.change(other) for other in range(1, len(entry.actions))]
            gains.append(clear_gain(changes, least))
            best.append(best_change(changes))
    true = {name: values[trace.alive] for name, values in facts(simulator, trace.states).items()}
    true["all steps"] = np.ones(len(visited), bool)
    rows = {name: row(values, values[examined], np.array(gains), np.array(best)) for name, values in true.items()}
    lines = layout.head(
        settings,
        (f"episodes {EPISODES}", f"h {h}", f"x {number(least)} ({100 * share:g} % of returns {_span(low, high)})"),
        f"N={rollouts}",
        odd,
    )
    lines += table(
        Column("predicate", list(rows)),
        [
            Column("visited", [str(entry.visited) for entry in rows.values()]),
            Column("examined", [str(entry.examined) for entry in rows.values()]),
            Column("share", [_or_dash(entry.share) for entry in rows.values()]),
            Column("mean gain", [_or_dash(entry.gain) for entry in rows.values()]),
            Column("best dR", [_or_dash(entry.best) for entry in rows.values()]),
        ],
    )
    numbers = {"h": h, "rollouts": rollouts, "least_gain": least, "returns": [low, high], "nonfinite": odd}
    return Report(lines, {**numbers, "predicates": rows})


def _or_dash(value: float) -> str:
    return "-" if math.isnan(value) else number(value)


def _span(low: float, high: float) -> str:
    return f"{number(low)}..{number(high)}"
