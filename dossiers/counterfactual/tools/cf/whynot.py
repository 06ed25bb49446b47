"""One other action in one state, followed step by step beside the policy."""

from __future__ import annotations

import argparse
import math

import numpy as np

from cf import layout
from cf.places import single
from deviation.deviate import Continued, Place, Story, alternatives, deviate
from xrl_common import actions
from xrl_common.estimates import estimate, nonfinite
from xrl_common.report import Report, Settings
from xrl_common.states import Selected
from xrl_common.tables import Column, number, table

ROLLOUTS = 32


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per selected state."""
    return [beside(settings, place, wanted.a, wanted.h) for place in single(settings.simulator, wanted)]


def beside(settings: Settings, place: Place, text: str | None, h: int) -> Report:
    """Two runs with the same noise, then the change per component over N pairs of runs."""
    simulator, subject = settings.simulator, settings.subject
    rollouts = settings.count(ROLLOUTS, least=2)
    if text is None:
        ((tried,), _) = alternatives(simulator, [place])
    else:
        tried = np.stack([place.action, layout.parse(subject, place.action, text)])
    (continued,), trace = deviate(simulator, [place], [tried], h, rollouts, settings.gamma)
    other = _best(continued) if text is None else 1
    names = [actions.name_of(subject, tried[row]) for row in (0, other)]
    story = Story(simulator, trace)
    after = story.beside(0, other)
    odd = nonfinite(continued.sums)
    lines = layout.head(
        settings,
        (f"state {settings.place(Selected(place.state, place.origin))}", f"h {h}"),
        f"N={rollouts}",
        odd,
        (f"policy action {names[0]}", f"other action  {names[1]}"),
    )
    lines += [*_steps(settings, story, other, place.t), "", *_sums(settings, continued, other)]
    rejoined = "never" if after.rejoined is None else f"step {place.t + after.rejoined}"
    lines.append(f"rejoined {rejoined}")
    for who, end in (("policy", after.end_recorded), ("other", after.end)):
        lines += layout.paragraph(f"end {who}", layout.whole(end).split(","))
        lines += layout.paragraph("  its last step paid", [f"{name} {number(x)}" for name, x in end.components.items()])
    return Report(
        lines,
        {
            "state": subject.state_to_json(place.state),
            "origin": place.origin,
            "policy_action": names[0],
            "alternative": names[1],
            "h": h,
            "rollouts": rollouts,
            "nonfinite": odd,
            "change": continued.change(other),
            "discounted_change": continued.discounted_change(other),
            "components": {name: continued.change_of(other, c) for c, name in enumerate(simulator.components)},
            "first_difference": after.difference,
            "rejoined": None if after.rejoined is None else place.t + after.rejoined,
            "end_policy": after.end_recorded,
            "end_alternative": after.end,
        },
    )


def _best(continued: Continued) -> int:
    """The alternative of the largest change, of equals that of the largest discounted one; not-a-number last."""
    rows = range(1, len(continued.actions))

    def worth(row: int) -> tuple[float, float]:
        pair = round(continued.change(row).mean, 6), round(continued.discounted_change(row).mean, 6)
        return tuple(-math.inf if math.isnan(value) else value for value in pair)

    return max(rows, key=worth)


def _steps(settings: Settings, story: Story, other: int, t: int) -> list[str]:
    """One row per step of the longer run."""
    trace, subject = story.trace, settings.subject
    steps = range(int(max(story.lengths[0], story.lengths[other])))
    reward = trace.reward.astype(np.float64)
    so_far = np.cumsum(reward[other] - reward[0])
    common = story.common(0, other)

    def cells(lane: int) -> tuple[list[str], list[str]]:
        taken = [k < story.lengths[lane] for k in steps]
        did = [actions.name_of(subject, trace.actions[lane, k]) if taken[k] else "-" for k in steps]
        return did, [number(float(reward[lane, k])) if taken[k] else "-" for k in steps]

    (did, earned), (did_other, earned_other) = cells(0), cells(other)
    columns = [
        Column("reward", earned),
        Column("other reward", earned_other),
        Column("dR so far", [float(so_far[k]) for k in steps]),
        Column("distance", [story.apart(0, other, k + 1) if k < common else "-" for k in steps]),
        layout.texts("predicates", [_differing(story, other, k + 1) if k < common else "-" for k in steps]),
    ]
    if actions.kind(subject) is actions.Kind.CONTINUOUS:
        columns.insert(0, Column("action gap", [_gap(settings, story, other, k) if k < common else "-" for k in steps]))
        return table(layout.identity([("step", [str(t + k) for k in steps])]), columns)
    named = [("step", [str(t + k) for k in steps]), ("action", did), ("other action", did_other)]
    return table(layout.identity(named), columns)


def _gap(settings: Settings, story: Story, other: int, step: int) -> float:
    """The largest difference of two continuous actions, as a share of the range of its axis."""
    low, high = actions.bounds(settings.subject)
    pair = [np.clip(story.trace.actions[lane, step], low, high) for lane in (0, other)]
    return float(np.max(np.abs(pair[1] - pair[0]) / (high - low)))


def _differing(story: Story, other: int, step: int) -> str:
    one, two = story.truth[0, step], story.truth[other, step]
    marks = ["+" if two[c] else "-" for c in range(len(one))]
    return layout.few([marks[c] + story.names[c] for c in np.flatnonzero(one != two)], 40) or "."


def _sums(settings: Settings, continued: Continued, other: int) -> list[str]:
    """Rewards over h steps by component, means over N pairs of runs."""
    components = range(len(settings.simulator.components))

    def column(row: int) -> list:
        parts = [estimate(continued.sums[row, :, c]) for c in components]
        return [
            *parts,
            estimate(continued.sums[row].sum(axis=1)),
            estimate(continued.discounted[row].sum(axis=1)),
        ]

    changes = [*(continued.change_of(other, c) for c in components), continued.change(other)]
    return table(
        Column("component", [*settings.simulator.components, "total", "discounted total"]),
        [
            Column("policy", column(0)),
            Column("other", column(other)),
            Column("dR", [*changes, continued.discounted_change(other)]),
        ],
    )
