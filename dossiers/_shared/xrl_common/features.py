"""Groups of observation entries, and which entries go with what an agent does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import jax
import numpy as np

from xrl_common.actions import Kind, kind
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


def key_features(observations: np.ndarray, actions: np.ndarray, kind: Kind, count: int = 3) -> list[int]:
    """The entries that go most with the actions taken, the strongest first; equals keep their order.

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
    return [int(entry) for entry in order[:count] if varies[entry]]


def state_columns(subject: Subject, trace: Trace, states: Sequence[Tree], seen: np.ndarray) -> list[Column]:
    """How tables name states: their label where it tells all, otherwise the step and three key features.

    `trace` is what the key features are found in, `states` the S states to name, `seen` their observations (S, d).
    """
    labels = [subject.label(state) for state in states]
    if not all(label.startswith("t=") for label in labels):
        return [Column("state", labels)]
    chosen = key_features(trace.observations[trace.alive], trace.actions[trace.alive], kind(subject))
    names = [subject.obs_names[entry] for entry in chosen]
    while len(names) > 1 and sum(map(len, names)) > NAMES_WIDTH:
        names.pop()
    told = zip(names, chosen, strict=False)
    return [Column("state", labels), *(Column(name, [float(row[entry]) for row in seen]) for name, entry in told)]


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
