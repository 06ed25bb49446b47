"""Fixed-width ASCII: header lines, tables of at most 100 columns, numbers with three decimals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xrl_common.estimates import Estimate

WIDTH = 100
GAP = "  "

Cell = str | float | Estimate


@dataclass(frozen=True)
class Column:
    """A heading and the cells below it."""

    heading: str
    cells: Sequence[Cell]


def thousandths(heading: str, values: Sequence[float], below: float = 0.05) -> Column:
    """A column of numbers; in thousandths, as its heading says, where three decimals would hide most of all."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if not 0 < largest < below:
        return Column(heading, list(values))
    return Column(f"{heading} /1000", [1000 * value for value in values])


def number(value: float) -> str:
    """Three decimals; `nan`, `inf` or `-inf` where not finite; never a negative zero."""
    if not math.isfinite(value):
        return str(float(value))
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text


def header(fields: Sequence[str], remarks: Sequence[str] = ()) -> list[str]:
    """The fields joined on as few `# ` lines as fit, then one line per remark."""
    lines: list[str] = []
    line = "#"
    for field in fields:
        gap = " " if line == "#" else GAP
        if len(line) + len(gap) + len(field) > WIDTH and line != "#":
            lines.append(line)
            line, gap = "#", " "
        line += gap + field
    return [*lines, line, *(f"# {remark}" for remark in remarks)]


def table(rows: Column, columns: Sequence[Column]) -> list[str]:
    """Rows named by the first column; split into several tables below each other where too wide."""
    named = _named(rows)
    width = len(named[0])
    lines: list[str] = []
    block: list[list[str]] = []
    used = width
    for column in columns:
        cells = _cells(column)
        if block and used + len(GAP) + len(cells[0]) > WIDTH:
            lines += [*_joined(named, block), ""]
            block, used = [], width
        block.append(cells)
        used += len(GAP) + len(cells[0])
    return [*lines, *_joined(named, block)]


def _joined(named: list[str], block: list[list[str]]) -> list[str]:
    return [GAP.join(parts).rstrip() for parts in zip(named, *block, strict=True)]


def _named(column: Column) -> list[str]:
    texts = [column.heading, *(str(cell) for cell in column.cells)]
    width = max(len(text) for text in texts) + 1
    return [text.ljust(width) for text in texts]


def _cells(column: Column) -> list[str]:
    if any(isinstance(cell, str) and not _numeric(cell) for cell in column.cells):
        texts = [column.heading, *(_figure(cell) for cell in column.cells)]
        return [text.ljust(max(map(len, texts))) for text in texts]
    numbers = [_figure(cell) for cell in column.cells]
    errors = [f"({number(cell.se)})" if isinstance(cell, Estimate) else "" for cell in column.cells]
    figure = max([7, *(len(text) for text in numbers)])
    error = max((len(text) for text in errors), default=0)
    texts = [
        text.rjust(figure) + (" " + tail.ljust(error) if error else "")
        for text, tail in zip(numbers, errors, strict=True)
    ]
    width = max(len(text) for text in [column.heading, *texts])
    return [column.heading.ljust(width), *(text.ljust(width) for text in texts)]


def _figure(cell: Cell) -> str:
    if isinstance(cell, Estimate):
        return number(cell.mean)
    return cell if isinstance(cell, str) else number(cell)


def _numeric(text: str) -> bool:
    return not text or text.replace(".", "").replace("-", "").isdecimal() or text in ("nan", "inf", "-inf")
