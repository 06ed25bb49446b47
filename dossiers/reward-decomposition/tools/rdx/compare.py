"""Two actions in one state, component by component: RDX and MSX."""

from __future__ import annotations

import argparse

import numpy as np

from decomposition.explanation import MinimalExplanation, minimal_sufficient
from rdx.probed import Probed, probe
from xrl_common.actions import name_of, parse
from xrl_common.estimates import ROLLOUTS, VectorQ, nonfinite
from xrl_common.failure import usage
from xrl_common.report import Report, Settings
from xrl_common.states import Selected, select
from xrl_common.tables import Column, number, table


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per selected state."""
    subject = settings.subject
    first = None if wanted.a is None else parse(subject, wanted.a)
    second = None if wanted.b is None else parse(subject, wanted.b)
    if first is not None and second is not None and name_of(subject, first) == name_of(subject, second):
        raise usage("--a and --b are the same action")
    rollouts = settings.count(ROLLOUTS, least=8)
    chosen = select(settings.simulator, wanted)
    return [compare(settings, selected, rollouts, first, second) for selected in chosen]


def compare(
    settings: Settings,
    selected: Selected,
    rollouts: int,
    one: np.ndarray | None = None,
    other: np.ndarray | None = None,
) -> Report:
    """Q_c of both actions, their difference, d, MSX+, v and MSX-; the policy's action and the best other."""
    probed = probe(settings, selected.state, rollouts, [action for action in (one, other) if action is not None])
    first, second = (
        None if action is None else probed.names.index(name_of(settings.subject, action)) for action in (one, other)
    )
    values = probed.values
    if first is None:
        first = probed.own if probed.own != second else _best_other(values, probed.own)
    if second is None:
        second = _best_other(values, first)
    if values.total_difference(first, second).mean < 0:
        first, second = second, first
    components = range(len(values.components))
    delta = [values.difference(first, second, c) for c in components]
    minimal = minimal_sufficient([entry.mean for entry in delta])
    odd = nonfinite(values.samples)
    lines = settings.header(
        f"Q simulator N={rollouts} H={values.limit}", selected, odd, _remarks(probed, first, second)
    )
    short = [
        f"Q({probed.names[row]})" if probed.brief else f"Q({letter})" for row, letter in ((first, "a"), (second, "b"))
    ]
    lines += table(
        Column("component", [*values.components, "total"]),
        [
            Column(short[0], [*(values.q(first, c) for c in components), values.total(first)]),
            Column(short[1], [*(values.q(second, c) for c in components), values.total(second)]),
            Column("delta", [*delta, values.total_difference(first, second)]),
        ],
    )
    lines += _minimal_lines(minimal, values.components)
    numbers = {
        "state": settings.subject.state_to_json(selected.state),
        "origin": selected.origin,
        "policy_action": probed.names[probed.own],
        "actions": [probed.names[first], probed.names[second]],
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


def _remarks(probed: Probed, first: int, second: int) -> tuple[str, ...]:
    """What the table's headings leave out."""
    named = () if probed.brief else (f"a = {probed.names[first]}", f"b = {probed.names[second]}")
    return named if probed.own == first else (*named, f"policy action {probed.names[probed.own]}")


def _best_other(values: VectorQ, action: int) -> int:
    """The action of highest value beside one; the first of equals, not-a-number below all."""
    totals = np.where(np.isnan(values.totals), -np.inf, values.totals)
    others = [candidate for candidate in range(len(totals)) if candidate != action]
    return max(others, key=lambda candidate: totals[candidate])


def _minimal_lines(minimal: MinimalExplanation, components: tuple[str, ...]) -> list[str]:
    def listed(members: tuple[int, ...], tied: bool) -> str:
        return (", ".join(components[c] for c in members) or "none") + (" tied" if tied else "")

    reasons = listed(minimal.reasons, minimal.reasons_tied)
    objections = listed(minimal.objections, minimal.objections_tied)
    return [f"d {number(minimal.disadvantage)}   MSX+ {reasons}   v {number(minimal.slack)}   MSX- {objections}"]
