"""All actions in one state, component by component."""

from __future__ import annotations

import argparse

from rdx.probed import probe
from xrl_common.actions import row_names
from xrl_common.estimates import ROLLOUTS, nonfinite
from xrl_common.report import Report, Settings
from xrl_common.states import Selected, select
from xrl_common.tables import Column, table


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per selected state."""
    rollouts = settings.count(ROLLOUTS, least=8)
    chosen = select(settings.simulator, wanted)
    return [tabulate(settings, selected, rollouts) for selected in chosen]


def tabulate(settings: Settings, selected: Selected, rollouts: int) -> Report:
    """Actions by components, the total, and a mark at the policy's action."""
    probed = probe(settings, selected.state, rollouts)
    values, names = probed.values, probed.names
    rows, own = range(len(names)), probed.own
    shown = row_names(settings.subject, probed.actions, probed.actions[own])
    odd = nonfinite(values.samples)
    lines = settings.header(f"Q simulator N={rollouts} H={values.limit}", selected, odd)
    lines += table(
        Column("action", [name + (" *" if row == own else "") for row, name in enumerate(shown)]),
        [
            *(Column(component, [values.q(row, c) for row in rows]) for c, component in enumerate(values.components)),
            Column("total", [values.total(row) for row in rows]),
            Column("less *", [values.total_difference(row, own) for row in rows]),
        ],
    )
    numbers = {
        "state": settings.subject.state_to_json(selected.state),
        "origin": selected.origin,
        "policy_action": names[probed.own],
        "rollouts": rollouts,
        "horizon": values.limit,
        "nonfinite": odd,
        "actions": {
            name: {component: values.q(row, c) for c, component in enumerate(values.components)}
            for row, name in enumerate(names)
        },
        "totals": {name: values.total(row) for row, name in enumerate(names)},
        "less_policy": {name: values.total_difference(row, own) for row, name in enumerate(names)},
    }
    return Report(lines, numbers)
