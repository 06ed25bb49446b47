"""Digests of a state and of those that follow it."""

from __future__ import annotations

import argparse

import jax
import numpy as np

from dg.rows import columns, of_states
from xrl_common.actions import name_of, probe_set
from xrl_common.features import one
from xrl_common.report import Report, Settings
from xrl_common.states import Selected, select
from xrl_common.tables import Column, table

SHOWN = 5


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per selected state."""
    return [after_each_action(settings, wanted, selected) for selected in select(settings.simulator, wanted)]


def after_each_action(settings: Settings, wanted: argparse.Namespace, selected: Selected) -> Report:
    """The state itself in row 0, then the state after each action of its probe set."""
    simulator = settings.simulator
    probes = probe_set(simulator, selected.state)
    here = jax.tree.map(lambda leaf: np.asarray(leaf)[None], selected.state)
    word, odd = of_states(settings, wanted.q_source, here)
    after = simulator.rollouts(selected.state, probes, 1, 1).finals
    states = [selected.state, *(one(after, i) for i in range(len(probes)))]
    shown, found = columns(settings, list(range(len(states))), states, SHOWN)
    names = ["(none)", *(name_of(settings.subject, action) for action in probes)]
    lines = settings.header(word, selected, odd)
    lines += table(Column("action", names), shown)
    numbers = {
        "state": settings.subject.state_to_json(selected.state),
        "origin": selected.origin,
        "actions": names,
        "digests": found,
    }
    return Report(lines, numbers)
