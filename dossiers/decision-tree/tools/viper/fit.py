"""The tree, how closely it follows the agent, and what both earn."""

from __future__ import annotations

import argparse

import numpy as np

from extraction.text import lines as text
from viper.student import JUDGED, Student, checked_depth, continuous, features, grown, visited
from xrl_common.actions import heads, name_of, own_actions, short
from xrl_common.estimates import Estimate, estimate, nonfinite
from xrl_common.report import Report, Settings
from xrl_common.simulation import Simulator
from xrl_common.tables import Column, number, table

COMPARED = 2000
"""States at most on which tree and agent are compared."""


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block."""
    asked, depth = features(settings, wanted), checked_depth(wanted.depth)
    return [shown(settings, grown(settings, depth, wanted.iterations, asked), depth)]


def shown(settings: Settings, student: Student, depth: int) -> Report:
    """Leaves, fidelity on states of the teacher and of the student, returns, confusion, and the tree as text."""
    subject, tree = settings.subject, student.tree
    taught, played = judged(settings, settings.simulator, student), judged(settings, student.playing(settings), student)
    odd = nonfinite(taught[2], played[2])
    lines = settings.header(
        f"depth {depth}  {student.word}  iterations {student.iterations}, kept {student.iteration}", nonfinite=odd
    )
    word = "fidelity R2" if continuous(settings) else "fidelity"
    fidelities = [fidelity(settings, *part[:2]) for part in (taught, played)]
    returns = [estimate(part[2]) for part in (taught, played)]
    lines.append(f"depth {tree.depth}   leaves {tree.leaves}   states {len(student.data.observations)}")
    lines += table(
        Column("who acts", ["teacher", "student"]),
        [
            Column(word, fidelities),
            Column("return", returns),
            Column("episodes", [str(len(part[2])) for part in (taught, played)]),
        ],
    )
    lines += ["", *confusion(settings, *taught[:2]), ""]
    names = list(subject.obs_names)
    lines += text(tree, names, lambda action: name_of(subject, action), number)
    numbers = {
        "depth": tree.depth,
        "leaves": tree.leaves,
        "iteration": student.iteration,
        "states": len(student.data.observations),
        "fidelity": {"teacher": fidelities[0], "student": fidelities[1]},
        "return": {"teacher": returns[0], "student": returns[1]},
        "nonfinite": odd,
        "tree": {
            "feature": [names[i] if i >= 0 else None for i in tree.feature[: tree.count]],
            "threshold": tree.threshold[: tree.count],
            "left": tree.left[: tree.count],
            "right": tree.right[: tree.count],
            "action": [name_of(subject, action) for action in tree.action[: tree.count]],
            "samples": tree.samples[: tree.count],
        },
    }
    return Report(lines, numbers)


def judged(settings: Settings, player: Simulator, student: Student) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the agent and the tree do in the states that a player visits, (S, ...) each, and the player's returns."""
    trace = player.episodes(JUDGED)
    rows = np.argwhere(trace.alive)
    some = settings.simulator.generator("compare").permutation(len(rows))[:COMPARED]
    states, seen = visited(trace, rows[np.sort(some)])
    return own_actions(settings.simulator, states), student.tree.act(seen), trace.returns


def fidelity(settings: Settings, wanted: np.ndarray, given: np.ndarray) -> Estimate | float:
    """Share of states with the same action; for continuous actions 1 - squared error / variance over all axes."""
    if not continuous(settings):
        alike = (wanted == given).reshape(len(wanted), -1).all(axis=1)
        return estimate(alike.astype(np.float64))
    varies = ((wanted - wanted.mean(axis=0)) ** 2).sum()
    return float(1 - ((wanted - given) ** 2).sum() / varies) if varies > 0 else 1.0


def confusion(settings: Settings, wanted: np.ndarray, given: np.ndarray) -> list[str]:
    """Rows: the agent's actions, columns: the tree's, by head; for continuous actions the error of each axis."""
    names = settings.subject.action_names
    if continuous(settings):
        axes = [short(name[0]) if len({short(n[0]) for n in names}) == len(names) else name[0] for name in names]
        error = np.abs(wanted - given)
        return table(
            Column("axis", axes),
            [
                Column("agent sd", [float(x) for x in wanted.std(axis=0)]),
                Column("mean error", [float(x) for x in error.mean(axis=0)]),
                Column("largest error", [float(x) for x in error.max(axis=0)]),
            ],
        )
    lines: list[str] = []
    for head, (size, known) in enumerate(zip(heads(settings.subject), names, strict=True)):
        one, other = (actions.reshape(len(wanted), -1)[:, head] for actions in (wanted, given))
        counts = [[int(np.sum((one == row) & (other == column))) for column in range(size)] for row in range(size)]
        title = "agent / tree" if len(names) == 1 else f"head {head}: agent / tree"
        columns = [Column(short(known[c]), [str(counts[row][c]) for row in range(size)]) for c in range(size)]
        lines += table(Column(title, [short(name) for name in known]), columns)
    return lines
