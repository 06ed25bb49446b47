"""The course of one episode: which groups of entries the policy's networks depend on, step by step."""

from __future__ import annotations

import argparse

import numpy as np

from attribution.rank import ranks
from sal import layout
from sal.networks import Networks
from sal.scores import perturb
from sal.visits import visits
from xrl_common import actions
from xrl_common.estimates import EPISODES, nonfinite
from xrl_common.failure import usage
from xrl_common.report import Report, Settings
from xrl_common.states import by_return
from xrl_common.tables import Column, number, table

ROWS = 40
"""Steps shown unless told otherwise, at most."""

TOP = 3
"""Groups named per step."""

TINY = 1e-300


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One row per step of the episode, or every few steps."""
    simulator, subject = settings.simulator, settings.subject
    trace = simulator.episodes(EPISODES)
    episode = int(by_return(trace)[0]) if wanted.episode is None else wanted.episode
    if episode >= len(trace.lengths):
        raise usage(f"--episode {episode}: episodes are 0..{len(trace.lengths) - 1}")
    length = int(trace.lengths[episode])
    every = wanted.every or max(-(-length // ROWS), 1)
    times = np.arange(0, length, every)
    found = visits(simulator, trace)
    observations = trace.observations[episode, times]
    scores = perturb(Networks(subject), observations, found.background, layout.slices(subject))
    names = [group.name for group in layout.groups(subject)]
    orders = np.stack([np.argsort(ranks(row)) for row in scores.actor])
    lines = layout.head(
        settings,
        (f"episode {episode} steps {length} return {number(float(trace.returns[episode]))}",),
        f"method perturb  {found.word}",
        nonfinite(scores.parts, scores.critic),
        (f"one step in {every}",) if every > 1 else (),
    )
    done = [actions.name_of(subject, action) for action in trace.actions[episode, times]]
    whole = scores.actor.sum(axis=1)
    shares = scores.actor / np.maximum(whole, TINY)[:, None]
    columns = [layout.texts("action", done), Column("S actor", [float(value) for value in whole])]
    for place, heading in enumerate(("first", "second", "third")[: min(TOP, len(names))]):
        cells = [
            f"{names[order[place]]} {number(float(row[order[place]]))}"
            for order, row in zip(orders, shares, strict=True)
        ]
        columns.append(layout.texts(heading, cells))
    lines += table(Column("t", [str(time) for time in times]), columns)
    numbers = {
        "episode": episode,
        "length": length,
        "return": float(trace.returns[episode]),
        "groups": names,
        "t": times,
        "actions": done,
        "actor": scores.actor,
        "critic": scores.critic,
    }
    return [Report(lines, numbers)]
