"""Two actions in one state, component by component: RDX and MSX."""

from __future__ import annotations

import argparse

from decomposition.explanation import MinimalExplanation, minimal_sufficient
from xrl_common.actions import name_of, parse, probe_set
from xrl_common.arguments import scaled
from xrl_common.estimates import ROLLOUTS, VectorQ, nonfinite, vector_q
from xrl_common.failure import usage
from xrl_common.report import Report, Settings
from xrl_common.states import Selected, select
from xrl_common.tables import Column, number, table


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per selected state."""
    subject = settings.simulator.subject
    first = None if wanted.a is None else parse(subject, wanted.a)
    second = None if wanted.b is None else parse(subject, wanted.b)
    if first is not None and first == second:
        raise usage("--a and --b are the same action")
    rollouts = scaled(ROLLOUTS, wanted.budget)
    chosen = select(settings.simulator, wanted)
    return [compare(settings, selected, rollouts, first, second) for selected in chosen]


def compare(
    settings: Settings, selected: Selected, rollouts: int, first: int | None = None, second: int | None = None
) -> Report:
    """Q_c of both actions, their difference, d, MSX+, v and MSX-; the policy's action and the best other."""
    simulator = settings.simulator
    actions = probe_set(simulator, selected.state)
    values = vector_q(simulator, selected.state, actions, rollouts, settings.gamma)
    own = int(simulator.choice(selected.state))
    if first is None:
        first = own if own != second else _best_other(values, own)
    if second is None:
        second = _best_other(values, first)
    if values.total_difference(first, second).mean < 0:
        first, second = second, first
    components = range(len(values.components))
    delta = [values.difference(first, second, c) for c in components]
    minimal = minimal_sufficient([entry.mean for entry in delta])
    names = [name_of(simulator.subject, action) for action in (first, second)]
    odd = nonfinite(values.samples)
    remarks = () if own == first else (f"policy action {name_of(simulator.subject, own)}",)
    lines = settings.header(f"Q simulator N={rollouts} H={values.limit}", selected, odd, remarks)
    lines += table(
        Column("component", [*values.components, "total"]),
        [
            Column(f"Q({names[0]})", [*(values.q(first, c) for c in components), values.total(first)]),
            Column(f"Q({names[1]})", [*(values.q(second, c) for c in components), values.total(second)]),
            Column("delta", [*delta, values.total_difference(first, second)]),
        ],
    )
    lines.append(_minimal_line(minimal, values.components))
    numbers = {
        "state": simulator.subject.state_to_json(selected.state),
        "origin": selected.origin,
        "policy_action": name_of(simulator.subject, own),
        "actions": names,
        "rollouts": rollouts,
        "horizon": values.limit,
        "nonfinite": odd,
        "components": {
            name: {"first": values.q(first, c), "second": values.q(second, c), "delta": delta[c]}
            for c, name in enumerate(values.components)
        },
        "minimal": minimal,
    }
    return Report(lines, numbers)


def _best_other(values: VectorQ, action: int) -> int:
    """The action of highest value beside one; the first of equals."""
    others = [candidate for candidate in range(len(values.totals)) if candidate != action]
    return max(others, key=lambda candidate: values.totals[candidate])


def _minimal_line(minimal: MinimalExplanation, components: tuple[str, ...]) -> str:
    def listed(members: tuple[int, ...], tied: bool) -> str:
        return (", ".join(components[c] for c in members) or "none") + (" tied" if tied else "")

    reasons = listed(minimal.reasons, minimal.reasons_tied)
    objections = listed(minimal.objections, minimal.objections_tied)
    return f"d {number(minimal.disadvantage)}   MSX+ {reasons}   v {number(minimal.slack)}   MSX- {objections}"
