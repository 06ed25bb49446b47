"""Groups of observation entries, and which entries go with what an agent does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import jax
import numpy as np

from xrl_common.actions import Kind, bounds, kind, name_of
from xrl_common.simulation import Trace
from xrl_common.subject import Subject, Tree
from xrl_common.tables import Column

NAMES_WIDTH = 40
"""Columns that the headings of key features may take together; the weakest are left out where they take more."""


@dataclass(frozen=True)
class Group:
    """Consecutive entries of the observation that share the part of their name before `/`."""

    name: str
    entries: slice


def groups(names: Sequence[str]) -> list[Group]:
    """The groups of observation names, in order."""
    found, start = [], 0
    for name, members in groupby(names, key=lambda name: name.partition("/")[0]):
        count = len(list(members))
        found.append(Group(name, slice(start, start + count)))
        start += count
    return found


def key_features(
    observations: np.ndarray, actions: np.ndarray, kind: Kind, count: int = 3, names: Sequence[str] = ()
) -> list[int]:
    """The entries that go most with the actions taken, the strongest first; equals keep their order.

    With the `names` of all entries each group gives its strongest alone, as long as there are enough groups.

    `observations` (M, d), `actions` (M, ...). The strength of an entry is the largest share of its variance
    that an action explains: between the categories of a head, or as the squared correlation with an axis.
    Entries that never vary are left out, so that fewer than `count` may come back.
    """
    seen = np.asarray(observations, np.float64)
    taken = np.asarray(actions).reshape(len(seen), -1)
    centred = seen - seen.mean(axis=0)
    whole = (centred**2).sum(axis=0)
    varies = whole > 1e-12 * len(seen)
    share = _correlated if kind is Kind.CONTINUOUS else _between
    strengths = np.max([share(centred, whole, column) for column in taken.T], axis=0)
    order = np.argsort(-np.where(varies, strengths, -1.0), kind="stable")
    found = [int(entry) for entry in order if varies[entry]]
    if names:
        apart = [
            entry for i, entry in enumerate(found) if _group(names, entry) not in {_group(names, e) for e in found[:i]}
        ]
        found = [*apart, *(entry for entry in found if entry not in apart)]
    return found[:count]


def state_columns(subject: Subject, trace: Trace, states: Sequence[Tree], seen: np.ndarray) -> list[Column]:
    """How tables name states: their label where it tells all, otherwise the step and three key features.

    `trace` is what the key features are found in, `states` the S states to name, `seen` their observations (S, d).
    """
    labels = [subject.label(state) for state in states]
    if not all(label.startswith("t=") for label in labels):
        return [Column("state", labels)]
    seen_before, taken = trace.observations[trace.alive], trace.actions[trace.alive]
    chosen = key_features(seen_before, taken, kind(subject), names=subject.obs_names)
    names = [subject.obs_names[entry] for entry in chosen]
    while len(names) > 1 and sum(map(len, names)) > NAMES_WIDTH:
        names.pop()
    told = zip(names, chosen, strict=False)
    return [Column("state", labels), *(Column(name, [float(row[entry]) for row in seen]) for name, entry in told)]


def apart_columns(subject: Subject, one: np.ndarray, other: np.ndarray, who: tuple[str, str]) -> list[Column]:
    """Two actions per row (R, ...): by name, or for continuous ones the axis on which they lie furthest apart."""
    if kind(subject) is not Kind.CONTINUOUS:
        whole = [np.asarray(rows).reshape(len(rows), *subject.action_space.shape) for rows in (one, other)]
        return [Column(name, [name_of(subject, row) for row in rows]) for name, rows in zip(who, whole, strict=True)]
    low, high = bounds(subject)
    axis = np.argmax(np.abs(np.asarray(one) - other) / (high - low), axis=1)
    rows = np.arange(len(axis))
    return [
        Column("axis", [subject.action_names[i][0] for i in axis]),
        *(Column(name, [float(x) for x in values[rows, axis]]) for name, values in zip(who, (one, other), strict=True)),
    ]


def _group(names: Sequence[str], entry: int) -> str:
    return names[entry].partition("/")[0]


def one(states: Tree, *where: int) -> Tree:
    """One state of a batch, NumPy leaves."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[where], states)


def _between(centred: np.ndarray, whole: np.ndarray, categories: np.ndarray) -> np.ndarray:
    parts = [centred[categories == category] for category in np.unique(categories)]
    return sum(len(part) * part.mean(axis=0) ** 2 for part in parts) / np.maximum(whole, 1e-300)


def _correlated(centred: np.ndarray, whole: np.ndarray, axis: np.ndarray) -> np.ndarray:
    moved = axis - axis.mean()
    size = float((moved**2).sum())
    if size <= 1e-12 * len(axis):
        return np.zeros(centred.shape[1])
    return (centred * moved[:, None]).sum(axis=0) ** 2 / np.maximum(whole * size, 1e-300)
