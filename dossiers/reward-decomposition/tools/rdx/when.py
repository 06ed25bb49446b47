"""When each component arrives after an action."""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np

from decomposition.profile import binned, edges
from xrl_common.actions import name_of, own_action, parse
from xrl_common.estimates import ROLLOUTS, estimate, nonfinite, vector_q
from xrl_common.report import Report, Settings
from xrl_common.states import Selected, select
from xrl_common.tables import Column, table


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per selected state."""
    action = None if wanted.a is None else parse(settings.simulator.subject, wanted.a)
    rollouts = settings.count(ROLLOUTS, least=8)
    chosen = select(settings.simulator, wanted)
    return [profile(settings, selected, rollouts, action) for selected in chosen]


def profile(settings: Settings, selected: Selected, rollouts: int, action: np.ndarray | None = None) -> Report:
    """E[sum of r_c within a bin | s, a] in twelve bins over the steps simulated."""
    simulator = settings.simulator
    if action is None:
        action = own_action(simulator, selected.state)
    probed = np.asarray(action)[None]
    values = vector_q(simulator, selected.state, probed, rollouts, settings.gamma)
    bounds = edges(values.limit)
    sums = binned(values.trace.rewards, bounds)
    name = name_of(simulator.subject, action)
    odd = nonfinite(values.trace.rewards)
    spans = [_span(low, high) for low, high in pairwise(bounds)]
    by_component = {
        component: [estimate(sums[:, bin_, c]) for bin_ in range(len(spans))]
        for c, component in enumerate(values.components)
    }
    estimator = f"E simulator N={rollouts} H={values.limit}"
    lines = settings.header(estimator, selected, odd, (f"first action {name}",))
    lines += table(
        Column("steps", [*spans, "total"]),
        [
            Column(component, [*column, estimate(sums[:, :, c].sum(axis=1))])
            for c, (component, column) in enumerate(by_component.items())
        ],
    )
    numbers = {
        "state": simulator.subject.state_to_json(selected.state),
        "origin": selected.origin,
        "action": name,
        "rollouts": rollouts,
        "horizon": values.limit,
        "nonfinite": odd,
        "edges": bounds,
        "components": by_component,
    }
    return Report(lines, numbers)


def _span(low: int, high: int) -> str:
    return f"{low}" if high - low == 1 else f"{low}-{high - 1}"
