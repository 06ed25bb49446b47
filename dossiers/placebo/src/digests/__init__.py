"""Digests of states: a short name for each row of a table, computed from the state itself."""

from __future__ import annotations

import hashlib
import json
from typing import Any

WIDTH = 8
"""Hexadecimal digits of a cell."""

CELLS = 8
"""Cells that one digest fills."""

GAP = 2
"""Blanks between two cells of a row."""


def cells(seed: int, row: int, state: dict[str, Any], count: int = 1) -> list[str]:
    """The first `count` groups of eight digits of SHA-256(seed, row number, state document).

    The parts are joined by a line feed; the document is written with sorted keys and no spaces. The row number keeps
    equal states from having equal digests.
    """
    document = json.dumps(state, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(f"{seed}\n{row}\n{document}".encode()).hexdigest()
    return [digest[i * WIDTH : (i + 1) * WIDTH] for i in range(count)]


def spread(length: int, count: int) -> list[int]:
    """At most `count` different places spread evenly over 0..length-1."""
    return sorted({(2 * i + 1) * length // (2 * count) for i in range(count)})


def fitting(rows: int, named: int, room: int) -> int:
    """How many cells a row gets where `rows` rows, whose names are `named` wide, share `room` characters; 1 to 8."""
    return min(max((room // max(rows, 1) - named) // (WIDTH + GAP), 1), CELLS)
