"""The names that queries may use: steps, actions and things, as lists name them."""

from __future__ import annotations

import textwrap
from typing import Any

from interrogation import things
from xrl_common import actions, tables
from xrl_common.subject import Subject, Tree
from xrl_common.tables import number

WIDTH = tables.WIDTH


def lines(subject: Subject, state: Tree, length: int) -> list[str]:
    """Steps, actions and things, folded."""
    families = things.families(subject.params, state)
    return [*moves(subject, length), *_folded(f"things: {', '.join(families)}")]


def moves(subject: Subject, length: int) -> list[str]:
    """Steps and actions alone."""
    return [f"steps: 0..{length - 1}", *_folded(f"actions: {action_text(subject)}")]


def action_text(subject: Subject) -> str:
    """How an action is written."""
    what = actions.kind(subject)
    if what is actions.Kind.DISCRETE:
        return ", ".join(actions.short(name) for name in subject.action_names[0])
    if what is actions.Kind.MULTI_DISCRETE:
        heads = "; ".join(
            " ".join(f"{category} {name}" for category, name in enumerate(head)) for head in _distinct(subject)
        )
        return f"{len(subject.action_names)} whole numbers joined by commas, each of: {heads}"
    limits = zip(subject.action_names, *actions.bounds(subject), strict=True)
    axes = ", ".join(f"{name} {number(low)}..{number(high)}" for (name,), low, high in limits)
    return f"{len(subject.action_names)} numbers joined by commas: {axes}"


def values(subject: Subject, state: Tree) -> list[str]:
    """Every thing with its value, entries of an array in one row."""
    families = things.families(subject.params, state)
    rows = []
    for title, members in families.items():
        text = " ".join(f"{member.value(subject.params, state):.6g}" for member in members)
        rows += textwrap.wrap(f"{title:28}  {text}", WIDTH, subsequent_indent=" " * 30, break_on_hyphens=False)
    return rows


def document(subject: Subject, state: Tree) -> dict[str, Any]:
    """Every thing with its value."""
    found = things.things(subject.params, state)
    return {thing.address: thing.value(subject.params, state) for thing in found}


def _distinct(subject: Subject) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(subject.action_names))


def _folded(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
