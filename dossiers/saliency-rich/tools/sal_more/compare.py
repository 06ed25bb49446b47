"""Two agents side by side: what each depends on, in the states that the first one visits."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from attribution.rank import ranks, spearman
from sal import layout
from sal.networks import Networks
from sal.policy import RANKED, TINY, most_states
from sal.scores import perturb, sample
from sal.visits import visits
from sal_more import agents
from xrl_common.estimates import EPISODES, nonfinite
from xrl_common.report import Report, Settings
from xrl_common.subject import Subject
from xrl_common.tables import Column, number, table


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One table over groups, and how alike the two orders are."""
    subject, generator = settings.subject, settings.simulator.generator("last layer")
    first = agents.of_file(subject, wanted.a) if wanted.a else subject
    second = agents.of_file(subject, wanted.b) if wanted.b else agents.with_new_last_layer(first, generator)
    named = [wanted.a or "the agent of this workspace", wanted.b or "a with the last layer of its policy drawn anew"]
    return [report(settings, first, second, named)]


def report(settings: Settings, first: Subject, second: Subject, named: list[str]) -> Report:
    """The comparison of two agents of one environment, called `named` in the header."""
    simulator = replace(settings.simulator, subject=first)
    found = visits(simulator, simulator.episodes(EPISODES))
    trace = simulator.episodes(settings.count(RANKED, least=4))
    observations = trace.observations[sample(trace, most_states(settings), simulator.generator("states"))]
    networks = [Networks(first), Networks(second)]
    scores = [perturb(answers, observations, found.background, layout.slices(first)) for answers in networks]
    means = [score.actor.mean(axis=0) for score in scores]
    done = [answers.actions(simulator.acting, observations).reshape(len(observations), -1) for answers in networks]
    alike = float((done[0] == done[1]).all(axis=1).mean())
    correlation = spearman(*means)
    names = [group.name for group in layout.groups(first)]
    lines = layout.head(
        settings,
        (),
        f"episodes {len(trace.lengths)} states {len(observations)}  {found.word}",
        nonfinite(*(score.parts for score in scores)),
        tuple(f"{letter}: {name}" for letter, name in zip("ab", named, strict=True)),
    )
    columns = []
    for letter, mean in zip("ab", means, strict=True):
        columns += [
            Column(f"S {letter}", [float(value) for value in mean]),
            Column(f"share {letter}", [float(value) for value in mean / max(mean.sum(), TINY)]),
            Column(f"rank {letter}", [str(place) for place in ranks(mean)]),
        ]
    lines += table(Column("group", names), columns)
    lines.append(f"rank correlation {number(correlation)}   same action in {number(alike)} of the states")
    numbers = {
        "groups": names,
        "a": {"name": named[0], "actor": means[0], "rank": ranks(means[0])},
        "b": {"name": named[1], "actor": means[1], "rank": ranks(means[1])},
        "rank_correlation": correlation,
        "same_action": np.float64(alike),
        "states": len(observations),
    }
    return Report(lines, numbers)
