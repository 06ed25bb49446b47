"""How much depth it takes to follow the agent."""

from __future__ import annotations

import argparse

from viper.fit import fidelity, judged
from viper.student import checked_depth, continuous, features, grown
from xrl_common.estimates import estimate
from xrl_common.failure import usage
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, table

ITERATIONS = 6


def depths(text: str) -> list[int]:
    """`1..6` or `3` as depths."""
    first, dots, last = text.partition("..")
    ends = [first, last if dots else first]
    if not all(end.isdecimal() and int(end) > 0 for end in ends) or int(ends[0]) > int(ends[1]):
        raise ValueError(f"{text!r} is no range of depths such as 1..6")
    return list(range(int(ends[0]), int(ends[1]) + 1))


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One row per depth."""
    asked = features(settings, wanted)
    try:
        tried = [checked_depth(depth) for depth in depths(wanted.depths)]
    except ValueError as problem:
        raise usage(f"--depths: {problem}") from problem
    rows = []
    for depth in tried:
        student = grown(settings, depth, ITERATIONS, asked)
        taught = judged(settings, settings.simulator, student)
        played = judged(settings, student.playing(settings), student)
        rows.append((student, fidelity(settings, *taught[:2]), fidelity(settings, *played[:2]), estimate(played[2])))
    own = estimate(taught[2])
    word = "fidelity R2" if continuous(settings) else "fidelity"
    lines = settings.header(f"{rows[0][0].word}  iterations {ITERATIONS} each")
    lines += table(
        Column("depth", [str(depth) for depth in tried]),
        [
            Column("leaves", [str(student.tree.leaves) for student, *_ in rows]),
            Column(f"{word}, teacher", [row[1] for row in rows]),
            Column(f"{word}, student", [row[2] for row in rows]),
            Column("return", [row[3] for row in rows]),
        ],
    )
    lines += [*table(Column("", ["agent"]), [Column("return", [own])])]
    numbers = {
        "depths": {
            str(depth): {"leaves": student.tree.leaves, "teacher": one, "student": other, "return": returns}
            for depth, (student, one, other, returns) in zip(tried, rows, strict=True)
        },
        "agent": own,
    }
    return [Report(lines, numbers)]
