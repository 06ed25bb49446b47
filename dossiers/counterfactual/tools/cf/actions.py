"""Other actions at the important steps of chosen episodes, and what follows from each."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from cf import layout
from cf.places import Chosen, chosen
from deviation import paths
from deviation.deviate import Aftermath, Continued, Story, alternatives, deviate
from xrl_common import actions, features
from xrl_common.estimates import nonfinite
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, table

ROLLOUTS = 32
LABEL = 8
"""Characters up to which a state's name is a column; key features stand where it is longer or a list of fields."""


@dataclass(frozen=True)
class Row:
    """One deviation: which of the continued states, and which of its actions."""

    where: Continued
    number: int
    rejoined: int | None
    after: Aftermath


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One table over all chosen episodes."""
    return [deviations(settings, chosen(settings, wanted), wanted.h, wanted.rows)]


def deviations(settings: Settings, picked: Chosen, h: int, most: int) -> Report:
    """Every other action of the probe set at every place, by |dR|, then sooner re-joining, then place."""
    simulator, subject = settings.simulator, settings.subject
    rollouts = settings.count(ROLLOUTS, least=2)
    tried, probes = alternatives(simulator, picked.places)
    names = {id(place): layout.probe_names(subject, rows) for place, rows in zip(picked.places, probes, strict=True)}
    continued, trace = deviate(simulator, picked.places, tried, h, rollouts, settings.gamma)
    rows = ordered(continued, Story(simulator, trace))
    odd = nonfinite(*(entry.sums for entry in continued))
    moving = [row for row in rows if _moves(row)]
    listed = both_signs(moving or rows, most)
    lines = layout.head(settings, (*picked.fields, f"h {h}"), f"N={rollouts}", odd)
    other = [names[id(row.where.place)][actions.key(row.where.actions[row.number])] for row in listed]
    if listed:
        lines += _table(settings, picked, listed, other)
    gains = sum(_gains(row) for row in moving)
    lines.append(
        f"deviations {len(rows)}   with dR not 0.000 {len(moving)}   dR above 0 {gains}   listed {len(listed)}"
    )
    draws = {name: row for name, row in zip(other, listed, strict=True) if name.startswith("draw ")}
    for name in sorted(draws):
        lines.append(f"{name} is {actions.name_of(subject, draws[name].where.actions[draws[name].number])}")
    documents = [_numbers(settings, picked, row) for row in rows]
    return Report(
        lines,
        {
            "h": h,
            "rollouts": rollouts,
            "nonfinite": odd,
            "places": [
                {"episode": place.episode, "t": place.t, "state": subject.state_to_json(place.state)}
                for place in picked.places
            ],
            "deviations": documents,
        },
    )


def ordered(continued: list[Continued], story: Story) -> list[Row]:
    """All deviations in the order in which they are listed."""
    rows, lane = [], 0
    for entry in continued:
        for number in range(1, len(entry.actions)):
            after = story.beside(lane, lane + number)
            back = None if after.rejoined is None else entry.place.t + after.rejoined
            rows.append(Row(entry, number, back, after))
        lane += len(entry.actions)
    order = paths.order(
        [row.where.change(row.number).mean for row in rows],
        [row.after.rejoined for row in rows],
        [(row.where.place.episode or 0, row.where.place.t, row.number) for row in rows],
    )
    return [rows[index] for index in order]


def both_signs(rows: list[Row], most: int) -> list[Row]:
    """At most so many, in their order: the first ones, but half of the room for gains where there are as many."""
    gains = [row for row in rows if _gains(row)]
    others = [row for row in rows if not _gains(row)]
    room = min(len(gains), max(most // 2, most - len(others)))
    kept = {id(row) for row in [*gains[:room], *others[: most - room]]}
    return [row for row in rows if id(row) in kept]


def _gains(row: Row) -> bool:
    return row.where.change(row.number).mean > 0


def _moves(row: Row) -> bool:
    """Whether its line would show anything but zeros."""
    change = row.where.change(row.number)
    parts = np.abs(row.where.sums[row.number] - row.where.sums[0])
    return not (abs(change.mean) < 5e-4 and change.se < 5e-4 and parts.mean(axis=0).max() < 5e-4)


def _table(settings: Settings, picked: Chosen, rows: list[Row], other: list[str]) -> list[str]:
    subject = settings.subject
    places = [row.where.place for row in rows]
    labels = [subject.label(place.state) for place in places]
    own = [actions.name_of(subject, place.action) for place in places]
    named = [("t", [str(place.t) for place in places])]
    if len({place.episode for place in places}) > 1:
        named.insert(0, ("episode", [str(place.episode) for place in places]))
    short = max(map(len, labels)) <= LABEL and "=" not in labels[0]
    if short:
        named.append(("state", labels))
    wide = max(map(len, own)) > LABEL
    if not wide:
        named.append(("policy", own))
    named.append(("alternative", other))
    changes = [row.where.change(row.number) for row in rows]
    ends = [layout.ends(row.after.end_recorded, row.after.end) for row in rows]
    components = [
        Column(component, [row.where.change_of(row.number, c).mean for row in rows])
        for c, component in enumerate(settings.simulator.components)
    ]
    discounted = Column("discounted dR", [row.where.discounted_change(row.number) for row in rows])
    ended = [
        layout.texts("end policy", [policy for policy, _ in ends]),
        layout.texts("end other", [alternative for _, alternative in ends]),
    ]
    story = [
        layout.texts("first difference", [_difference(row) for row in rows]),
        layout.texts("rejoined", ["never" if row.rejoined is None else str(row.rejoined) for row in rows]),
    ]
    if wide:
        story.append(layout.texts("policy", own))
    names = layout.identity(named)
    earned = [Column("dR", changes), *components]
    whole = table(names, [*earned, *ended])
    if "" not in whole:
        return [*whole, "", *table(names, [discounted, *story])]
    if not short and picked.trace is not None:
        components += _key_features(settings, picked, rows)
    return [*table(names, [earned[0], discounted, *components]), "", *table(names, [*ended, *story])]


def _difference(row: Row) -> str:
    if row.after.difference is None:
        return "none"
    step, names = row.after.difference
    return f"{row.where.place.t + step} {layout.few(names)}"


def _key_features(settings: Settings, picked: Chosen, rows: list[Row]) -> list[Column]:
    """The three entries of the observation that go most with what the agent does."""
    trace, subject = picked.trace, settings.subject
    seen, taken = trace.observations[trace.alive], trace.actions[trace.alive]
    entries = features.key_features(seen, taken, actions.kind(subject), names=subject.obs_names)
    at = [(row.where.place.episode, row.where.place.t) for row in rows]
    return [
        Column(subject.obs_names[entry], [float(trace.observations[episode, t, entry]) for episode, t in at])
        for entry in entries
    ]


def _numbers(settings: Settings, picked: Chosen, row: Row) -> dict:
    place, subject = row.where.place, settings.subject
    return {
        "episode": place.episode,
        "t": place.t,
        "importance": picked.importance.get((place.episode, place.t)),
        "policy_action": actions.name_of(subject, row.where.actions[0]),
        "alternative": actions.name_of(subject, row.where.actions[row.number]),
        "change": row.where.change(row.number),
        "discounted_change": row.where.discounted_change(row.number),
        "components": {
            name: row.where.change_of(row.number, c) for c, name in enumerate(settings.simulator.components)
        },
        "end_policy": row.after.end_recorded,
        "end_alternative": row.after.end,
        "first_difference": None
        if row.after.difference is None
        else {"t": place.t + row.after.difference[0], "predicates": row.after.difference[1]},
        "rejoined": row.rejoined,
    }
