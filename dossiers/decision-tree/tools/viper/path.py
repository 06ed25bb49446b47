"""The way of one state through the tree."""

from __future__ import annotations

import argparse

import jax
import numpy as np

from extraction.text import conditions
from viper.student import Student, checked_depth, features, grown
from xrl_common.actions import name_of, own_action
from xrl_common.report import Report, Settings
from xrl_common.states import Selected, select
from xrl_common.tables import Column, number, table


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per selected state."""
    asked, depth = features(settings, wanted), checked_depth(wanted.depth)
    chosen = select(settings.simulator, wanted)
    student = grown(settings, depth, wanted.iterations, asked)
    return [way(settings, selected, student) for selected in chosen]


def way(settings: Settings, selected: Selected, student: Student) -> Report:
    """Conditions met with the state's own entries, the leaf, and both actions."""
    subject, tree = settings.subject, student.tree
    (seen,) = settings.simulator.observe(jax.tree.map(lambda leaf: np.asarray(leaf)[None], selected.state))
    nodes = tree.way(seen)
    met = conditions(tree, nodes, subject.obs_names, number)
    leaf = nodes[-1]
    actions = {
        "agent": name_of(subject, own_action(settings.simulator, selected.state)),
        "tree": name_of(subject, tree.action[leaf]),
    }
    told = f"{student.word}  iterations {student.iterations}, kept {student.iteration}"
    lines = settings.header(told, selected)
    if met:
        lines += table(
            Column("condition met", met),
            [
                Column("value", [float(seen[tree.feature[node]]) for node in nodes[:-1]]),
                Column("states here", [str(int(tree.samples[node])) for node in nodes[:-1]]),
            ],
        )
    lines += [f"leaf {leaf}   states here {int(tree.samples[leaf])}"]
    lines += [f"{who} {action}" for who, action in actions.items()]
    numbers = {
        "state": subject.state_to_json(selected.state),
        "origin": selected.origin,
        "conditions": met,
        "leaf": leaf,
        "samples": [int(tree.samples[node]) for node in nodes],
        "actions": actions,
    }
    return Report(lines, numbers)
