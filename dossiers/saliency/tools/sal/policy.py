"""Which groups of entries the networks depend on over the states that the agent visits."""

from __future__ import annotations

import argparse

import numpy as np

from attribution.rank import ranks
from sal import layout
from sal.networks import Networks
from sal.scores import Scores, perturb, sample
from sal.visits import visits
from xrl_common import actions
from xrl_common.actions import Kind, kind
from xrl_common.arguments import SCALES
from xrl_common.estimates import EPISODES, nonfinite
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, table

RANKED = 32
"""Episodes whose states are perturbed."""

STATES = 512
"""States perturbed, at most."""

TINY = 1e-300


def most_states(settings: Settings) -> int:
    """How many states are perturbed at most: networks cost the same in every environment, so the budget alone tells."""
    return round(SCALES[settings.budget] * STATES)


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One table over groups; by action one column for each action, head or axis."""
    simulator, subject = settings.simulator, settings.subject
    networks = Networks(subject)
    found = visits(simulator, simulator.episodes(EPISODES))
    trace = simulator.episodes(settings.count(RANKED, least=4))
    episodes, times = sample(trace, most_states(settings), simulator.generator("states"))
    observations = trace.observations[episodes, times]
    scores = perturb(networks, observations, found.background, layout.slices(subject))
    names = [group.name for group in layout.groups(subject)]
    actor, critic = scores.actor.mean(axis=0), scores.critic.mean(axis=0)
    spread = scores.actor.std(axis=0, ddof=1) if len(observations) > 1 else np.zeros(len(names))
    order = ranks(actor)
    lines = layout.head(
        settings,
        (),
        f"episodes {len(trace.lengths)} states {len(observations)} of {int(trace.alive.sum())}  {found.word}",
        nonfinite(scores.parts, scores.critic),
    )
    numbers = {
        "groups": names,
        "actor": actor,
        "sd": spread,
        "critic": critic,
        "rank": order,
        "states": len(observations),
        "background": len(found.background.weights),
    }
    if wanted.by_action:
        columns, told = _by_action(settings, networks, trace.actions[episodes, times], scores)
        lines += table(Column("group", names), columns)
        return [Report(lines, numbers | {"by_action": told})]
    lines += table(
        Column("group", names),
        [
            Column("S actor", [float(value) for value in actor]),
            Column("sd", [float(value) for value in spread]),
            Column("share", [float(value) for value in actor / max(actor.sum(), TINY)]),
            Column("S critic", [float(value) for value in critic]),
            Column("rank", [str(place) for place in order]),
        ],
    )
    return [Report(lines, numbers)]


def _by_action(
    settings: Settings, networks: Networks, taken: np.ndarray, scores: Scores
) -> tuple[list[Column], dict[str, np.ndarray]]:
    """Discrete: mean S_actor of the states in which each action was taken. Otherwise: the part of each head or axis."""
    if kind(settings.subject) is Kind.DISCRETE:
        columns, told = [], {}
        for action, name in enumerate(networks.names):
            rows = taken == action
            means = scores.actor[rows].mean(axis=0) if rows.any() else np.full(scores.actor.shape[1], np.nan)
            cells = [float(value) for value in means] if rows.any() else ["-"] * len(means)
            columns.append(Column(f"{actions.short(name)} ({int(rows.sum())})", cells))
            told[name] = means
        return columns, told
    each = {name: scores.parts[:, :, place].sum(axis=2).mean(axis=0) for name, place in networks.parts}
    return [Column(name, [float(value) for value in values]) for name, values in each.items()], each
