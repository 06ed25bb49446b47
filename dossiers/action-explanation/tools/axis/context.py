"""A trajectory as numbered text, and the names that queries may use."""

from __future__ import annotations

import argparse

from axis.runs import episode, recorded, time_of
from interrogation.things import listed
from interrogation.verbal import wrapped
from xrl_common.actions import Kind, kind, short
from xrl_common.outcome import brief
from xrl_common.report import Report, Settings
from xrl_common.tables import number

EVERY = 3
MOST = 60
"""Numbered lines at most."""


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One line per run of an action under complexity 2 and 3; under 1 one per third step that begins a run."""
    subject = settings.subject
    chosen = episode(settings, wanted)
    run = recorded(settings, chosen, 0)
    last = chosen.length - 1 if wanted.time is None else time_of(chosen, wanted)
    macros = [macro for macro in run.macros(2) if macro.first <= last]
    if wanted.complexity == 1:
        macros = [macro for macro in run.macros(1) if macro.first <= last]
    lines = settings.header(f"episode {chosen.number}  steps {chosen.length} ")
    told = []
    for place, macro in enumerate(macros[:MOST], start=1):
        stop = min(macro.last, last)
        paid = run.rewards[macro.first : stop + 1].sum(axis=0)
        parts = [f"{name} {number(float(x))}" for name, x in zip(settings.simulator.components, paid, strict=True) if x]
        label = subject.label(run.states[macro.first])
        text = f"{macro.text} | from {label} | {', '.join(parts) or 'no reward'}"
        if wanted.complexity > 1 or place % EVERY == 1:
            text += f" | {brief(macro.predicates, 60)}"
        told.append(text)
        lines += wrapped(f"{place}.", text, indent=5)
    if len(macros) > MOST:
        lines.append(f"and {len(macros) - MOST} more runs")
    if wanted.time is None:
        lines += wrapped("outcome", f"{run.outcome.text}   return {number(run.total)}")
    lines += ["", *wrapped("actions", _actions(settings))]
    things = listed(subject.params, chosen.state(0))
    lines += wrapped("things", ", ".join(things))
    return [Report(lines, {"episode": chosen.number, "text": told, "things": things, "return": run.total})]


def _actions(settings: Settings) -> str:
    subject = settings.subject
    names = subject.action_names
    if kind(subject) is Kind.DISCRETE:
        return ", ".join(short(name) for name in names[0])
    if kind(subject) is Kind.CONTINUOUS:
        low, high = float(subject.action_space.low), float(subject.action_space.high)
        axes = ", ".join(name[0] for name in names)
        return f"numbers from {number(low)} to {number(high)} joined by commas, for {axes}"
    heads = "; ".join(", ".join(f"{i} {short(name)}" for i, name in enumerate(head)) for head in names[:1])
    return f"{len(names)} whole numbers joined by commas, each one of {heads}"
