"""The probe set of a state with the component values of its actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xrl_common.actions import Kind, kind, name_of, own_row, probe_set, same
from xrl_common.estimates import VectorQ, vector_q
from xrl_common.report import Settings
from xrl_common.subject import Tree


@dataclass(frozen=True)
class Probed:
    """Actions (A, ...), their values, their names, and the row of the policy's own."""

    actions: np.ndarray
    values: VectorQ
    names: list[str]
    own: int
    brief: bool
    """Names are short enough for headings."""

    def row(self, action: np.ndarray) -> int:
        """The row of an action that was probed."""
        return next(row for row, probed in enumerate(self.actions) if same(probed, action))


def probe(settings: Settings, state: Tree, rollouts: int, also: Sequence[np.ndarray] = ()) -> Probed:
    """Values of the probe set of a state, and of actions named beside it; all share their random numbers."""
    simulator, subject = settings.simulator, settings.subject
    actions = probe_set(simulator, state)
    for action in also:
        if not any(same(action, probed) for probed in actions):
            actions = np.concatenate([actions, np.asarray(action, actions.dtype)[None]])
    return Probed(
        actions,
        vector_q(simulator, state, actions, rollouts, settings.gamma),
        [name_of(subject, action) for action in actions],
        own_row(simulator, actions, state),
        kind(subject) is Kind.DISCRETE,
    )
