"""The probe set of a state with the component values of its actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xrl_common.actions import Kind, kind, name_of, own_row, probe_set
from xrl_common.estimates import VectorQ, vector_q
from xrl_common.report import Settings
from xrl_common.subject import Tree


@dataclass(frozen=True)
class Probed:
    """Actions (A, ...), their values, their names, and the row of the policy's own; no name occurs twice."""

    actions: np.ndarray
    values: VectorQ
    names: list[str]
    own: int
    brief: bool
    """Names are short enough for headings."""


def probe(settings: Settings, state: Tree, rollouts: int, also: Sequence[np.ndarray] = ()) -> Probed:
    """Values of the probe set of a state, and of actions named beside it; all share their random numbers.

    The name is the action: of those that print alike (at a bound the agent's own and the one beyond it) the
    first stands for all, and a printed action that is given back means the row it was read from.
    """
    simulator, subject = settings.simulator, settings.subject
    probed = probe_set(simulator, state)
    own = name_of(subject, probed[own_row(simulator, probed, state)])
    given = [np.asarray(action, probed.dtype) for action in also]
    kept: dict[str, np.ndarray] = {}
    for action in (*probed, *given):
        kept.setdefault(name_of(subject, action), action)
    actions, names = np.stack(list(kept.values())), list(kept)
    values = vector_q(simulator, state, actions, rollouts, settings.gamma)
    return Probed(actions, values, names, names.index(own), kind(subject) is Kind.DISCRETE)
