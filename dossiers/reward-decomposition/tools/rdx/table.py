"""All actions in one state, component by component."""

from __future__ import annotations

import argparse

from xrl_common.actions import name_of, probe_set
from xrl_common.arguments import scaled
from xrl_common.estimates import ROLLOUTS, nonfinite, vector_q
from xrl_common.report import Report, Settings
from xrl_common.states import Selected, select
from xrl_common.tables import Column, table


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per selected state."""
    rollouts = scaled(ROLLOUTS, wanted.budget)
    chosen = select(settings.simulator, wanted)
    return [tabulate(settings, selected, rollouts) for selected in chosen]


def tabulate(settings: Settings, selected: Selected, rollouts: int) -> Report:
    """Actions by components, the total, and a mark at the policy's action."""
    simulator = settings.simulator
    actions = probe_set(simulator, selected.state)
    values = vector_q(simulator, selected.state, actions, rollouts, settings.gamma)
    own = int(simulator.choice(selected.state))
    names = [name_of(simulator.subject, int(action)) for action in actions]
    rows = range(len(actions))
    odd = nonfinite(values.samples)
    lines = settings.header(f"Q simulator N={rollouts} H={values.limit}", selected, odd)
    lines += table(
        Column("action", [name + (" *" if row == own else "") for row, name in enumerate(names)]),
        [
            *(Column(component, [values.q(row, c) for row in rows]) for c, component in enumerate(values.components)),
            Column("total", [values.total(row) for row in rows]),
        ],
    )
    numbers = {
        "state": simulator.subject.state_to_json(selected.state),
        "origin": selected.origin,
        "policy_action": names[own],
        "rollouts": rollouts,
        "horizon": values.limit,
        "nonfinite": odd,
        "actions": {
            name: {component: values.q(row, c) for c, component in enumerate(values.components)}
            for row, name in enumerate(names)
        },
        "totals": {name: values.total(row) for row, name in enumerate(names)},
    }
    return Report(lines, numbers)
