"""How these tools write headers, actions, ends and lists."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import numpy as np

from xrl_common import actions, tables
from xrl_common.failure import usage
from xrl_common.outcome import Outcome
from xrl_common.report import Settings
from xrl_common.subject import Subject
from xrl_common.tables import Column, number

WIDE = 24
"""Characters of a cell of text."""

LEAST = 7
"""Characters that a table gives any column."""


def head(
    settings: Settings, fields: Sequence[str], estimator: str, odd: int = 0, remarks: Sequence[str] = ()
) -> list[str]:
    """The `# ` lines: tool, environment, the given fields, discount, policy, estimator and seed."""
    subject = settings.subject
    return tables.header(
        [
            settings.tool,
            subject.name,
            *fields,
            f"gamma {number(settings.gamma)} ({settings.gamma_source})",
            f"policy {settings.simulator.acting.word}",
            f"{estimator} seed {settings.seed}".strip(),
            *([f"non-finite {odd}"] if odd else []),
        ],
        (*remarks, *subject.remarks),
    )


def texts(heading: str, cells: Sequence[str]) -> Column:
    """A column of text, set from the left."""
    width = max(LEAST, *(len(cell) for cell in [heading, *cells]))
    return Column(heading, [cell.ljust(width) for cell in cells])


def identity(columns: Sequence[tuple[str, Sequence[str]]]) -> Column:
    """Several columns of text as the one that names the rows of every block of a table."""
    widths = [max(len(cell) for cell in [heading, *cells]) for heading, cells in columns]

    def joined(parts: Sequence[str]) -> str:
        return "  ".join(part.ljust(width) for part, width in zip(parts, widths, strict=True))

    rows = zip(*(cells for _, cells in columns), strict=True)
    return Column(joined([heading for heading, _ in columns]), [joined(row) for row in rows])


def probe_names(subject: Subject, probes: np.ndarray) -> dict[tuple, str]:
    """How rows name the actions of a probe set (A, ...); continuous ones by the axis they move, or as a draw."""
    if actions.kind(subject) is not actions.Kind.CONTINUOUS:
        return {actions.key(action): actions.name_of(subject, action) for action in probes}
    axes = len(subject.action_names)
    named = {}
    for row, action in enumerate(probes):
        axis = (row - 1) // 2
        if row == 0:
            name = "mean"
        elif axis < axes:
            name = f"{subject.action_names[axis][0]}={number(float(action[axis]))}"
        else:
            name = f"draw {row - 2 * axes}"
        named.setdefault(actions.key(action), name)
    return named


def parse(subject: Subject, own: np.ndarray, text: str) -> np.ndarray:
    """An action as any tool reads it, or changes of the policy's own continuous one: `fan/1=0.35,cool/0=1`."""
    if actions.kind(subject) is not actions.Kind.CONTINUOUS or "=" not in text:
        return actions.parse(subject, text)
    names = [name for (name,) in subject.action_names]
    low, high = actions.bounds(subject)
    changed = np.clip(np.array(own, np.float32), low, high)
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\S+?)\s*=\s*(\S+)\s*", part)
        if found is None or found[1] not in names:
            raise usage(f"no axis in {part.strip()!r}; axes are {', '.join(names)}")
        axis = names.index(found[1])
        try:
            value = float(found[2])
        except ValueError:
            value = float("nan")
        if not low[axis] <= value <= high[axis]:
            raise usage(f"{part.strip()!r}: {names[axis]} is {number(low[axis])}..{number(high[axis])}")
        changed[axis] = value
    return changed


def ends(policy: Outcome, other: Outcome) -> tuple[str, str]:
    """Two outcomes for a table: whole where short, otherwise what holds in the one and not in the other."""
    both = whole(policy), whole(other)
    if max(map(len, both)) <= WIDE:
        return both
    return _apart(policy, other), _apart(other, policy)


def whole(outcome: Outcome) -> str:
    """An outcome with all its predicates; `terminated` is left out before any."""
    true = ",".join(outcome.predicates)
    return true if true and outcome.how == "terminated" else f"{outcome.how} {true}".strip()


def few(names: Sequence[str], width: int = WIDE) -> str:
    """Names joined by commas, as many as fit, and how many more there are."""
    for kept in range(len(names), 0, -1):
        more = "" if kept == len(names) else f" +{len(names) - kept}"
        text = ",".join(names[:kept]) + more
        if len(text) <= width or kept == 1:
            return text
    return ""


def paragraph(title: str, names: Sequence[str]) -> list[str]:
    """A list of names below its title, folded."""
    return textwrap.wrap(f"{title}: {', '.join(names) or 'none'}", tables.WIDTH, subsequent_indent="  ")


def _apart(one: Outcome, other: Outcome) -> str:
    only = [name for name in one.predicates if name not in other.predicates]
    return f"{one.how} {few(only)}".strip()
