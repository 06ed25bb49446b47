"""One group of entries value by value: what the networks answer there."""

from __future__ import annotations

import argparse

import numpy as np

from attribution import masking
from attribution.masking import Background
from sal import layout
from sal.networks import Networks
from sal.policy import most_states
from sal.scores import perturb
from sal.visits import Visits, visits
from xrl_common.estimates import EPISODES, nonfinite
from xrl_common.failure import usage
from xrl_common.features import Group
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, number, table

BINS = 8
"""Ranges of values; each value is a row of its own where there are no more."""

ENTRIES = 3
"""Entries of a group that are shown."""


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per entry of the group: the entries on which the outputs depend most."""
    simulator = settings.simulator
    found = visits(simulator, simulator.episodes(EPISODES))
    networks = Networks(settings.subject)
    most = most_states(settings)
    chosen = np.arange(len(found.seen))
    if len(chosen) > most:
        chosen = np.sort(simulator.generator("states").choice(len(chosen), most, replace=False))
    observations = found.seen[chosen]
    entries = _entries(settings, wanted.name, networks, observations, found.background)
    return [_block(settings, networks, found, entry, wanted.set) for entry in entries]


def _entries(
    settings: Settings, name: str | None, networks: Networks, observations: np.ndarray, background: Background
) -> list[int]:
    subject, groups = settings.subject, layout.groups(settings.subject)
    if name in subject.obs_names:
        return [subject.obs_names.index(name)]
    if name is None:
        actor = perturb(networks, observations, background, layout.slices(subject)).actor.mean(axis=0)
        group: Group = groups[int(np.argmax(actor))]
    else:
        named = {group.name: group for group in groups}
        if name not in named:
            raise usage(f"no group or entry {name!r}; groups are {', '.join(named)}; entries are group/entry")
        group = named[name]
    places = range(group.entries.start, group.entries.stop)
    if len(places) <= ENTRIES:
        return list(places)
    rows = observations[:: max(len(observations) // 64, 1)]
    scores = [masking.replaced_changes(networks, rows, background, entry)[:, :, :-1].sum() for entry in places]
    strongest = np.argsort(-np.array(scores), kind="stable")[:ENTRIES]
    return [places[int(place)] for place in strongest]


def bins(values: np.ndarray) -> list[tuple[float, float]]:
    """Each different value, or at most `BINS` ranges with about equally many values; ends inclusive, (V,) -> B."""
    distinct = np.unique(values)
    if len(distinct) <= BINS:
        return [(float(value), float(value)) for value in distinct]
    edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1), method="nearest"))
    starts = [edges[0], *(distinct[distinct > edge][0] for edge in edges[1:-1])]
    return [(float(low), float(high)) for low, high in zip(starts, edges[1:], strict=True)]


def _block(settings: Settings, networks: Networks, found: Visits, entry: int, fixed: bool) -> Report:
    name = settings.subject.obs_names[entry]
    values = found.seen[:, entry]
    ranges = bins(values)
    inside = [np.flatnonzero((values >= low) & (values <= high)) for low, high in ranges]
    centres = [float(values[rows].mean(dtype=np.float64)) for rows in inside]
    if fixed:
        told = [found.background.average(networks(_with(found.background, entry, at)).T) for at in centres]
    else:
        answers = networks(found.seen)
        told = [answers[rows].mean(axis=0) for rows in inside]
    means = np.stack(told)
    way = f"set in {found.word.removeprefix('background ')}" if fixed else "where it occurs"
    lines = layout.head(
        settings,
        (f"entry {name}", way),
        f"episodes {found.episodes} states {len(values)}",
        nonfinite(means),
    )
    titles = [*networks.names, "V"]
    columns = [
        Column("to", [high for _, high in ranges]),
        Column("states", [str(len(rows)) for rows in inside]),
        *(Column(title, [float(value) for value in column]) for title, column in zip(titles, means.T, strict=True)),
    ]
    lines += table(Column("from", [number(low) for low, _ in ranges]), columns)
    numbers = {
        "entry": name,
        "set": fixed,
        "from": [low for low, _ in ranges],
        "to": [high for _, high in ranges],
        "states": [len(rows) for rows in inside],
        "names": titles,
        "means": means,
    }
    return Report(lines, numbers)


def _with(background: Background, entry: int, value: float) -> np.ndarray:
    rows = background.observations.copy()
    rows[:, entry] = value
    return rows
