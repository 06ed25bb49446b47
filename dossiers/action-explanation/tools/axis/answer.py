"""Two runs side by side, as an answer to a query."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from axis import asking
from axis.runs import Episode, Run
from interrogation.protocol import ROUNDS
from interrogation.verbal import first_difference, told, wrapped
from xrl_common.report import Report, Settings
from xrl_common.tables import WIDTH, number

SHORT = 48
"""Characters of a question that stand in the header's first lines; a longer one has lines of its own."""


def compared(
    settings: Settings,
    wanted: argparse.Namespace,
    chosen: Episode,
    query: str | None,
    asked: str,
    recorded: Run,
    other: Run,
) -> Report:
    """The report of a query; `query` is its text where it counts as a round, `asked` what the header says."""
    parted = _parted(settings, recorded, other)
    lines = ["first difference  " + ("none" if parted is None else f"step {parted}")]
    for title, run in (("recorded", recorded), ("alternative", other)):
        lines += wrapped(title, told(run.macros(wanted.complexity), wanted.complexity))
        lines += wrapped("", f"outcome {run.outcome.text}   return {number(run.total)}   steps {len(run.names)}")
    components = settings.simulator.components
    apart = {name: float(b - a) for name, a, b in zip(components, recorded.sums, other.sums, strict=True)}
    apart["total"] = other.total - recorded.total
    lines += wrapped("difference", "   ".join(f"{name} {_signed(value)}" for name, value in apart.items()))
    numbers: dict[str, Any] = {
        "episode": chosen.number,
        "query": asked,
        "first_difference": parted,
        "difference": apart,
        **{
            title: {"actions": run.names, "return": run.total, "outcome": run.outcome}
            for title, run in (("recorded", recorded), ("alternative", other))
        },
    }
    return answered(settings, chosen, query, asked, lines, numbers)


def answered(
    settings: Settings, chosen: Episode, query: str | None, asked: str, lines: list[str], numbers: dict[str, Any]
) -> Report:
    """Stores the answer of a counted query and puts the header before its lines."""
    if query is None:
        told_round = "a first question, no round used"
    else:
        told_round = f"round {asking.counted(query, chr(10).join(lines)).rounds} of {ROUNDS}"
    brief = len(asked) <= SHORT
    field = f"episode {chosen.number}" + (f"  {asked}" if brief else "") + f"   {told_round} "
    head = settings.header(field, remarks=() if brief else tuple(wrapped("", asked, WIDTH - 2, 0)))
    return Report([*head, *lines], numbers)


def _parted(settings: Settings, one: Run, other: Run) -> int | None:
    """The first step at which state or action differ."""

    def keys(run: Run) -> list[str]:
        document = settings.subject.state_to_json
        return [
            f"{np.ravel(action).tolist()} {document(state)['state']}"
            for action, state in zip(run.actions, run.states, strict=True)
        ]

    return first_difference(keys(one), keys(other), one.first)


def _signed(value: float) -> str:
    text = number(value)
    return text if text.startswith("-") else f"+{text}"
