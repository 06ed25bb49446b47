"""Rows of digests as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence

from digests import CELLS, GAP, WIDTH, cells, fitting
from xrl_common.actions import Kind, kind
from xrl_common.report import Settings
from xrl_common.subject import Tree
from xrl_common.tables import Column, table

LENGTH = {Kind.DISCRETE: 760, Kind.CONTINUOUS: 1350, Kind.MULTI_DISCRETE: 1800}
"""Characters of an output, longer where actions are: the more rows, the fewer groups of digits of each are shown."""

READING = 280
"""Characters of the lines `how to read`."""


def groups(settings: Settings, other: Sequence[str], names: Sequence[str], headings: int = 1) -> int:
    """How many groups of digits each row shows beside the `other` lines, so that the output has about its length."""
    rows = len(names) + headings
    room = LENGTH[kind(settings.subject)] - READING - sum(len(line) + 1 for line in other)
    half = rows * (WIDTH + GAP) // 2
    return fitting(rows, max(map(len, names)) + 1, max(room, 0) + half)


def lines(heading: str, names: Sequence[str], shown: Sequence[Sequence[str]], count: int) -> list[str]:
    """A table of digests, `count` groups of each, with the names of its rows first."""
    return table(Column(heading, names), [Column(f"digest {i}", [row[i] for row in shown]) for i in range(count)])


def digests(settings: Settings, rows: Sequence[int], states: Sequence[Tree]) -> list[list[str]]:
    """All groups of digits of each row."""
    documents = [settings.subject.state_to_json(state) for state in states]
    return [cells(settings.seed, row, document, CELLS) for row, document in zip(rows, documents, strict=True)]
