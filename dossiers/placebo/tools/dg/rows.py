"""Rows of digests as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence

from digests import CELLS, cells, fitting
from xrl_common.report import Settings
from xrl_common.subject import Tree
from xrl_common.tables import Column, table

ROOM = 500
"""Characters that the rows of an output share: the more rows, the fewer groups of digits of each are shown."""


def lines(heading: str, names: Sequence[str], shown: Sequence[Sequence[str]], rows: int | None = None) -> list[str]:
    """A table of digests with the names of its rows first; the whole output has `rows` rows, if not these alone."""
    count = fitting(len(shown) if rows is None else rows, max(map(len, [heading, *names])) + 1, ROOM)
    return table(Column(heading, names), [Column(f"digest {i}", [row[i] for row in shown]) for i in range(count)])


def digests(settings: Settings, rows: Sequence[int], states: Sequence[Tree]) -> list[list[str]]:
    """All groups of digits of each row."""
    documents = [settings.subject.state_to_json(state) for state in states]
    return [cells(settings.seed, row, document, CELLS) for row, document in zip(rows, documents, strict=True)]
