"""Digests of a state and of those that follow it."""

from __future__ import annotations

import argparse

from dg import rows, trial
from dg.trial import Trial
from xrl_common.actions import name_of, probe_set
from xrl_common.features import one
from xrl_common.report import Report, Settings
from xrl_common.states import Selected, select

LONG = 20
"""Rows are numbered where the name of an action is longer."""


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per selected state; rows are numbered through all blocks."""
    chosen, tried = select(settings.simulator, wanted), trial.run(settings)
    reports, first = [], 0
    for selected in chosen:
        reports.append(after_each_action(settings, tried, selected, first))
        first += len(reports[-1].numbers["digests"])
    return reports


def after_each_action(settings: Settings, tried: Trial, selected: Selected, first: int) -> Report:
    """The state itself in row `first`, then the state after each action of its probe set."""
    probes = probe_set(settings.simulator, selected.state)
    after = settings.simulator.rollouts(selected.state, probes, 1, 1).finals
    states = [selected.state, *(one(after, i) for i in range(len(probes)))]
    numbered = list(range(first, first + len(states)))
    found = rows.digests(settings, numbered, states)
    names = ["(none)", *(name_of(settings.subject, action) for action in probes)]
    head = settings.header(f"{tried.word} rows {numbered[0]} to {numbered[-1]}", selected, tried.nonfinite)
    heading, told = ("action", names) if max(map(len, names)) <= LONG else ("row", [str(row) for row in numbered])
    shown = rows.lines(heading, told, found, rows.groups(settings, head, told))
    numbers = {"origin": selected.origin, "actions": names, "rows": numbered, "digests": found}
    return Report([*head, *shown], numbers)
