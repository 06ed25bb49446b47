"""The episodes of lowest return, each around the state of it that matters most."""

from __future__ import annotations

import argparse

import numpy as np

from highlights import selection
from hl import clips
from hl.ranked import rank
from xrl_common.estimates import EPISODES, estimate
from xrl_common.failure import usage
from xrl_common.outcome import outcomes
from xrl_common.report import Report, Settings
from xrl_common.states import by_return
from xrl_common.tables import number


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per episode, the lowest return first; episodes are those of `--worst` in every tool."""
    if wanted.k > EPISODES:
        raise usage(f"--k {wanted.k}: there are {EPISODES} episodes")
    trace = settings.simulator.episodes(EPISODES)
    lanes = by_return(trace)[: wanted.k]
    ranked = rank(settings, wanted, trace, lanes)
    ends = outcomes(settings.simulator, trace)
    mean = estimate(trace.returns)
    told = [f"return of all: {number(mean.mean)} ({number(mean.se)})"]
    if ranked.stride > 1:
        told.append(f"one step in {ranked.stride} of an episode is ranked")
    estimator = f"{ranked.word} importance {wanted.importance} k {wanted.k} l {wanted.l} episodes {EPISODES}"
    head = settings.header(estimator, nonfinite=ranked.nonfinite, remarks=tuple(told))
    reports = []
    for place, lane in enumerate(lanes, start=1):
        own = np.flatnonzero(ranked.episodes == lane)
        values = ranked.importance.values[own]
        row = int(own[selection.choose(values, ranked.episodes[own], ranked.times[own], 1)[0]])
        lines, numbers = clips.write(settings, wanted, ranked, row, f"worst {place}")
        lines[1:1] = [
            f"return {number(float(trace.returns[lane]))}   end {ends[lane].text}",
            "   ".join(["last step", *(f"{name} {number(paid)}" for name, paid in ends[lane].components.items())]),
        ]
        numbers = {"return": float(trace.returns[lane]), "outcome": ends[lane], **numbers}
        reports.append(Report([*head, *lines] if place == 1 else lines, numbers))
    return reports
