"""States in which the tree and the agent part."""

from __future__ import annotations

import argparse

import numpy as np

from extraction.weights import spread
from viper.student import JUDGED, ROLLOUTS, checked_depth, continuous, features, grown, visited
from xrl_common.actions import name_of, own_actions, probe_sets
from xrl_common.estimates import batch_q
from xrl_common.features import apart_columns, one, state_columns
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, table

ROWS = 20
RANKED = 400
"""States at most of which the weight is estimated."""


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One table of at most 20 rows, the largest weight first."""
    asked, depth = features(settings, wanted), checked_depth(wanted.depth)
    student = grown(settings, depth, wanted.iterations, asked)
    simulator, subject = settings.simulator, settings.subject
    trace = simulator.episodes(JUDGED)
    rows = np.argwhere(trace.alive)
    some = rows[np.sort(simulator.generator("differ").permutation(len(rows))[: 5 * RANKED])]
    states, seen = visited(trace, some)
    own, given = own_actions(simulator, states), student.tree.act(seen)
    apart = np.abs(own.astype(np.float64) - given).reshape(len(own), -1)
    parted = np.flatnonzero(apart.max(axis=1) > (0.05 if continuous(settings) else 0))[:RANKED]
    share = float(np.mean(apart.max(axis=1) > (0.05 if continuous(settings) else 0)))
    weights = _weights(settings, *visited(trace, some[parted])) if len(parted) else np.zeros(0)
    order = parted[np.argsort(-weights, kind="stable")[:ROWS]]
    ranked = np.sort(weights)[::-1][:ROWS]
    told = f"{student.word}  iterations {student.iterations}, kept {student.iteration}  states {len(some)}"
    lines = settings.header(told, remarks=(f"tree and agent part in {share:.3f} of the states",))
    if len(order):
        picked = [one(states, int(row)) for row in order]
        lines += table(
            Column("episode", [str(int(some[row][0])) for row in order]),
            [
                Column("t", [str(int(some[row][1])) for row in order]),
                *state_columns(subject, trace, picked, seen[order]),
                *apart_columns(subject, own[order], given[order], ("agent", "tree")),
                Column("weight", [float(weight) for weight in ranked]),
            ],
        )
    numbers = {
        "share": share,
        "rows": [
            {
                "episode": int(some[row][0]),
                "t": int(some[row][1]),
                "state": subject.state_to_json(one(states, int(row))),
                "agent": name_of(subject, own[row]),
                "tree": name_of(subject, given[row]),
                "weight": weight,
            }
            for row, weight in zip(order, ranked, strict=True)
        ],
    }
    return [Report(lines, numbers)]


def _weights(settings: Settings, states: object, seen: np.ndarray) -> np.ndarray:
    """max Q - min Q of each state, (S,)."""
    simulator = settings.simulator
    probes = probe_sets(simulator, states)
    return spread(batch_q(simulator, states, probes, settings.count(ROLLOUTS, least=4), settings.gamma).totals)
