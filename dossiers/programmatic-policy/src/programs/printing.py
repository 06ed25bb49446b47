"""A program for the eye: numbers to three significant digits, long lines broken at their parts."""

from __future__ import annotations

import re

LONG = re.compile(r"(?<![\w./])[+-]?\d+\.\d+(?:e[+-]?\d+)?")
WIDTH = 100
AFTER, BEFORE = ("; ", ", "), (" + ", " | ", " and ")


def lines(text: str) -> list[str]:
    """The lines of a text, none longer than 100 characters; further ones of a rule are indented."""
    shown: list[str] = []
    for part in (part for line in LONG.sub(_short, text).splitlines() for part in _parts(line)):
        rest, indent = part.lstrip(), "    " if part[:1] == " " else ""
        while len(indent) + len(rest) > WIDTH:
            room = WIDTH - len(indent)
            at = max(
                *(rest.rfind(mark, 0, room) + len(mark) for mark in AFTER), *(rest.rfind(m, 0, room) for m in BEFORE)
            )
            at = at if at > 10 else room
            shown.append(indent + rest[:at].rstrip())
            rest, indent = rest[at:].lstrip(), "    "
        shown.append(indent + rest)
    return shown


def _parts(line: str) -> list[str]:
    """A line that fits, or its axes, heads and actions, one each; all but the first begin with a blank."""
    if len(line) <= WIDTH:
        return [line]
    first, *others = re.split(r"(?<=;) | (?=\| )", line)
    return [first, *(f" {other}" for other in others)]


def _short(match: re.Match[str]) -> str:
    value = float(match[0])
    return f"{value:.3g}" if abs(value) >= 5e-7 else "0"
