"""Courses in words: macro-actions, numbered lines of an episode, two courses beside each other.

Complexity 1 is terse, 3 detailed. No line is wider than 96 characters, so that transcripts may set it in.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import numpy as np

from interrogation import macro
from interrogation.course import Course, first_difference
from xrl_common import features
from xrl_common.subject import Subject
from xrl_common.tables import number

WIDTH = 96
EVERY = 3
"""Subsampling: of the observations every third step is told."""

LISTED = {1: 6, 2: 12, 3: 24}
"""Macro-actions of a course beside another, by complexity."""

LINES = 40
"""Numbered lines of an episode; of longer ones the first and the last half, or those around a step."""

AROUND = 10
"""Numbered lines before and after the one that holds a step."""

TITLE = 13
"""Columns of the words that begin a line of an answer."""


def signed(value: float) -> str:
    """Three decimals with a sign."""
    text = number(value)
    return f"+{text}" if math.isfinite(value) and not text.startswith("-") else text


def folded(title: str, parts: Sequence[str], gap: str = "   ") -> list[str]:
    """Parts behind a title, on as many lines as they need; no part is broken unless it is wider than a line."""
    room = WIDTH - TITLE
    lines: list[str] = []
    for part in parts:
        for piece in textwrap.wrap(part, room) or [""]:
            if lines and len(lines[-1]) + len(gap) + len(piece) <= room:
                lines[-1] += gap + piece
            else:
                lines.append(piece)
    heads = [title.ljust(TITLE - 1) + " ", *([" " * TITLE] * len(lines))]
    return [(head + line).rstrip() for head, line in zip(heads, lines or [""], strict=False)]


def listed(texts: Sequence[str], most: int, rest: str = "runs") -> list[str]:
    """Texts with commas behind all but the last; past `most` of them how many are left."""
    kept = list(texts[:most])
    if len(texts) > most:
        kept.append(f"and {len(texts) - most} more {rest}")
    return [f"{text}," for text in kept[:-1]] + kept[-1:]


def macro_actions(subject: Subject, course: Course, predicates: bool) -> list[tuple[macro.Run, str]]:
    """The runs of a course and their actions; `predicates` cuts them where a predicate changes, too."""
    truth = course.truth[:-1] if predicates else course.truth[:-1, :0]
    found = macro.runs(course.actions, macro.alike(subject), truth)
    return [(run, macro.name(subject, course.actions[run.first : run.last + 1])) for run in found]


def told(subject: Subject, course: Course, complexity: int) -> list[str]:
    """The macro-actions of a course as parts of a line; cut at changes of predicates from complexity 2 on."""
    found = macro_actions(subject, course, complexity > 1)
    return listed([run.text(name, course.start) for run, name in found], LISTED[complexity]) or ["no step"]


def beside(subject: Subject, components: Sequence[str], one: Course, other: Course, complexity: int) -> list[str]:
    """First difference, both courses with outcome and return, and the difference of rewards by component."""
    parted = first_difference(one, other)
    step = "never"
    if parted is not None:
        plain = "action" in parted.what and complexity == 1
        step = f"step {parted.step}" + ("" if plain else f" ({', '.join(parted.what)})")
    returns = [number(course.total) for course in (one, other)]
    width = max(map(len, returns))
    lines = [f"first difference  {step}"]
    for title, course, total in zip(("recorded", "alternative"), (one, other), returns, strict=True):
        lines += folded(title, told(subject, course, complexity), " ")
        lines += folded("", [f"outcome {course.outcome.text}", f"return {total.rjust(width)}"])
        if complexity > 1:
            lines += folded("", [f"{name} {number(x)}" for name, x in zip(components, course.sums, strict=True)])
    changes = zip(components, other.sums - one.sums, strict=True)
    parts = [*(f"{name} {signed(change)}" for name, change in changes), f"total {signed(other.total - one.total)}"]
    return lines + folded("difference", parts)


def episode(
    subject: Subject,
    components: Sequence[str],
    course: Course,
    keys: Sequence[int],
    complexity: int,
    every: int = EVERY,
    t: int | None = None,
) -> list[str]:
    """An episode as numbered lines, one per macro-action, then its end.

    `keys` are the entries of the observation told at complexity 2. `t` shows the lines around that step alone.
    """
    found = macro_actions(subject, course, True)
    chosen = _chosen(found, t)
    digits = len(str(len(found)))
    lines: list[str] = []
    before = 0
    for row in sorted(chosen):
        if row > before:
            lines.append(f"{'':{digits}}  ... {row - before} lines left out (see --time)")
        lines += _numbered(subject, components, course, found[row], row, digits, complexity)
        if complexity > 1:
            run = found[row][0]
            sampled = [step for step in range(run.first, run.last + 1) if step % every == 0]
            for step in sampled:
                lines += _seen(subject, course, step, keys, complexity)
        before = row + 1
    if before < len(found):
        lines.append(f"{'':{digits}}  ... {len(found) - before} lines left out (see --time)")
    end = [f"after step {course.start + course.length - 1}", f"outcome {course.outcome.text}"]
    sums = [f"{name} {number(x)}" for name, x in zip(components, course.sums, strict=True)]
    return lines + folded("end", [*end, f"return {number(course.total)}", *sums])


def changes(names: Sequence[str], before: np.ndarray | None, now: np.ndarray) -> str:
    """What holds now, or what began (+) and ceased (-) to hold."""
    if before is None:
        return "holds " + (", ".join(name for name, holds in zip(names, now, strict=True) if holds) or "nothing")
    marks = [
        f"{'+' if holds else '-'}{name}"
        for name, held, holds in zip(names, before, now, strict=True)
        if bool(held) != bool(holds)
    ]
    return " ".join(marks)


def observation(subject: Subject, seen: np.ndarray) -> list[str]:
    """All entries of an observation, group by group."""
    return [
        f"{group.name} {' '.join(f'{float(x):.3g}' for x in seen[group.entries])}"
        for group in features.groups(subject.obs_names)
    ]


def _chosen(found: Sequence[tuple[macro.Run, str]], t: int | None) -> set[int]:
    rows = range(len(found))
    if t is not None:
        (at,) = (row for row in rows if found[row][0].first <= t <= found[row][0].last)
        return {row for row in rows if abs(row - at) <= AROUND}
    if len(found) <= LINES:
        return set(rows)
    return {row for row in rows if row < LINES // 2 or row >= len(found) - LINES // 2}


def _numbered(
    subject: Subject,
    components: Sequence[str],
    course: Course,
    told: tuple[macro.Run, str],
    row: int,
    digits: int,
    complexity: int,
) -> list[str]:
    run, name = told
    label = subject.label(course.state(run.first))
    held = course.truth[run.first - 1] if run.first else None
    earned = course.rewards[run.first : run.last + 1].sum(axis=0)
    reward = f"reward {number(float(earned.sum()))}"
    if complexity > 1:
        parts = [f"{part} {number(x)}" for part, x in zip(components, earned, strict=True) if x != 0]
        reward += f" ({', '.join(parts)})" if parts else ""
    where = [] if label.startswith("t=") else [f"in {label}"]
    pieces = [run.text(name, course.start), *where, reward, changes(course.names, held, course.truth[run.first])]
    text = f"{row + 1:>{digits}}  " + "  ".join(filter(None, pieces))
    return textwrap.wrap(text, WIDTH, subsequent_indent=" " * (digits + 6), break_on_hyphens=False)


def _seen(subject: Subject, course: Course, step: int, keys: Sequence[int], complexity: int) -> list[str]:
    seen = course.observations[step]
    if complexity > 2:
        return folded(f"   at step {course.start + step}", observation(subject, seen))
    parts = [f"{subject.obs_names[key]} {number(float(seen[key]))}" for key in keys]
    return folded(f"   at step {course.start + step}", parts)
