"""Trajectories in words: runs of one action, and the steps at which two trajectories part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_RUNS = {1: 8, 2: 12, 3: 24}
"""Runs that are told at most, by complexity."""


@dataclass(frozen=True)
class MacroAction:
    """Consecutive steps with one action, and under complexity 2 and 3 with one set of predicates."""

    first: int
    last: int
    action: str
    predicates: tuple[str, ...]

    @property
    def text(self) -> str:
        """`step 2 right`, `steps 3-7 right x5`."""
        count = self.last - self.first + 1
        if count == 1:
            return f"step {self.first} {self.action}"
        return f"steps {self.first}-{self.last} {self.action} x{count}"


def macro_actions(
    actions: Sequence[str], predicates: Sequence[tuple[str, ...]], first: int, complexity: int
) -> list[MacroAction]:
    """Maximal runs; `first` is the number of the first step."""
    runs: list[MacroAction] = []
    for step, (action, true) in enumerate(zip(actions, predicates, strict=True), start=first):
        last = runs[-1] if runs else None
        if last and last.action == action and (complexity == 1 or last.predicates == true):
            runs[-1] = MacroAction(last.first, step, action, last.predicates)
        else:
            runs.append(MacroAction(step, step, action, true))
    return runs


def told(runs: Sequence[MacroAction], complexity: int) -> str:
    """The runs in one sentence; beyond a number that grows with complexity only their count."""
    most = MOST_RUNS[complexity]
    shown = [
        run.text + (f" ({', '.join(run.predicates)})" if complexity == 3 and run.predicates else "")
        for run in runs[:most]
    ]
    left = len(runs) - len(shown)
    return ", ".join([*shown, *([f"and {left} more runs"] if left else [])])


def first_difference(one: Sequence[str], other: Sequence[str], first: int) -> int | None:
    """The first step at which two sequences of actions or states differ, counted from `first`; none if equal."""
    for step, (a, b) in enumerate(zip(one, other, strict=False), start=first):
        if a != b:
            return step
    return None if len(one) == len(other) else first + min(len(one), len(other))


def wrapped(title: str, text: str, width: int = 100, indent: int = 13) -> list[str]:
    """A title and a text beside it, broken at commas or blanks so that no line is longer than `width`."""
    lines, line = [], title.ljust(indent)
    for word in text.split(" "):
        if len(line) + len(word) + 1 > width and line.strip():
            lines.append(line.rstrip())
            line = " " * indent
        line += word if line.endswith(" ") and len(line) == indent else f" {word}"
    return [*lines, line.rstrip()]
