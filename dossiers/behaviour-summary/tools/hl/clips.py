"""One clip as a block of a report."""

from __future__ import annotations

import argparse
from typing import Any

import jax
import numpy as np

from highlights import selection
from highlights.importance import percentile
from hl.ranked import Ranked, action_values
from xrl_common.actions import name_of
from xrl_common.estimates import Estimate
from xrl_common.features import one, state_columns
from xrl_common.outcome import brief, facts
from xrl_common.report import Settings
from xrl_common.tables import Column, number, table


def write(
    settings: Settings, wanted: argparse.Namespace, ranked: Ranked, row: int, title: str
) -> tuple[list[str], Any]:
    """The lines of the clip around a ranked state, and its numbers."""
    trace, subject = ranked.trace, settings.subject
    episode, centre = int(ranked.episodes[row]), int(ranked.times[row])
    steps = selection.clip(centre, int(trace.lengths[episode]), wanted.l)
    states = jax.tree.map(lambda leaf: leaf[episode, steps.start : steps.stop], trace.states)
    values = action_values(settings, wanted.q_source, states).means
    true = facts(settings.simulator, states)
    actions = [name_of(subject, trace.actions[episode, t]) for t in steps]
    rewards = trace.rewards[episode, steps.start : steps.stop]
    predicates = [[name for name, flags in true.items() if flags[i]] for i in range(len(steps))]
    importance = Estimate(float(ranked.importance.values[row]), float(ranked.importance.errors[row]))
    share = percentile(ranked.importance.values, importance.mean)
    told = f"{number(importance.mean)} ({number(importance.se)})"
    lines = [f"{title}   episode {episode}   t {centre}   importance {told}   percentile {share}"]
    seen = trace.observations[episode, steps.start : steps.stop]
    named = state_columns(subject, trace, [one(states, i) for i in range(len(steps))], seen)
    lines += table(
        Column("t", [str(t) for t in steps]),
        [
            *(column for column in named if list(column.cells) != [f"t={t}" for t in steps]),
            Column("action", actions),
            *(Column(name, [float(x) for x in rewards[:, c]]) for c, name in enumerate(settings.simulator.components)),
            Column("q low", [float(q.min()) for q in values]),
            Column("q high", [float(q.max()) for q in values]),
            Column("predicates", [brief(names) for names in predicates]),
        ],
    )
    numbers = {
        "episode": episode,
        "t": centre,
        "state": subject.state_to_json(one(trace.states, episode, centre)),
        "importance": importance,
        "percentile": share,
        "steps": list(steps),
        "actions": actions,
        "rewards": {name: rewards[:, c] for c, name in enumerate(settings.simulator.components)},
        "q_low": values.min(axis=1),
        "q_high": values.max(axis=1),
        "predicates": predicates,
    }
    return lines, numbers


def near(settings: Settings, ranked: Ranked, pairs: int = 4000, states: int = 1000) -> tuple[Any, float, int]:
    """The rule of diversity for ranked rows, its distance, and the number of pairs that the distance came from."""
    trace, subject = ranked.trace, settings.subject
    visited = np.argwhere(trace.alive)
    generator = settings.simulator.generator("diversity")
    some = generator.permutation(len(visited))[:states]
    if len(some) * (len(some) - 1) // 2 <= pairs:
        first, second = np.triu_indices(len(some), 1)
    else:
        first = generator.integers(len(some), size=pairs)
        second = (first + generator.integers(1, len(some), size=pairs)) % len(some)

    def at(index: int) -> Any:  # noqa: ANN401
        return one(trace.states, *visited[some[index]])

    apart = [subject.distance(at(a), at(b)) for a, b in zip(first, second, strict=True)]
    least = selection.threshold(np.array(apart))

    def rule(row: int, kept: int) -> bool:
        pair = (one(trace.states, int(ranked.episodes[i]), int(ranked.times[i])) for i in (row, kept))
        apart = subject.distance(*pair)
        return apart < least or apart == 0

    return rule, least, len(apart)
