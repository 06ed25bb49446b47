"""How a run ended: by what, with which predicates true, and with which reward components."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from xrl_common.simulation import Simulator, Trace
from xrl_common.subject import Tree


@dataclass(frozen=True)
class Outcome:
    """The end of one run."""

    how: str
    """`terminated` by the environment, `truncated` at the horizon, or `cut` at the limit of the simulation."""
    predicates: tuple[str, ...]
    """True in the last state, in the environment's order."""
    components: dict[str, float]
    """The non-zero reward components of the last step."""

    @property
    def text(self) -> str:
        """A few words for a table: the predicates, with the way of ending where it is not the environment's."""
        if not self.predicates:
            return self.how
        true = brief(self.predicates, 32)
        return true if self.how == "terminated" else f"{self.how} {true}"


def brief(names: Iterable[str], width: int = 48) -> str:
    """Names joined by commas as far as `width` allows, then how many more there are; `-` for none."""
    left, kept = list(names), []
    while left and len(",".join([*kept, left[0]])) <= width:
        kept.append(left.pop(0))
    return ",".join(kept) + (f" +{len(left)}" if left else "") or "-"


def facts(simulator: Simulator, states: Tree) -> dict[str, np.ndarray]:
    """Every predicate of many states, (...,) bool each; `states` has any leading axes."""
    subject = simulator.subject
    blank = jax.tree.leaves(simulator.blank_state)
    leading = np.shape(jax.tree.leaves(states)[0])
    leading = leading[: len(leading) - blank[0].ndim]
    flat = jax.tree.map(lambda leaf, one: np.asarray(leaf).reshape(-1, *one.shape), states, simulator.blank_state)
    found = _compiled(subject.predicates)(flat, subject.params)
    return {name: np.asarray(found[name]).reshape(leading) for name in names(simulator)}


def names(simulator: Simulator) -> tuple[str, ...]:
    """The environment's predicates, in its own order."""
    subject, seen = simulator.subject, []

    def note(state: Tree) -> None:
        seen.extend(subject.predicates(state, subject.params))

    jax.eval_shape(note, simulator.blank_state)
    return tuple(seen)


def outcomes(simulator: Simulator, trace: Trace) -> list[Outcome]:
    """The end of every lane of a trace."""
    horizon = simulator.subject.horizon
    true = facts(simulator, trace.finals)
    last = np.maximum(trace.lengths - 1, 0)
    lanes = np.arange(len(last))
    rewards = trace.rewards[lanes, last]
    ended = trace.terminated.any(axis=1)
    late = np.asarray(trace.finals.t) >= horizon
    return [
        Outcome(
            how="terminated" if ended[lane] else "truncated" if late[lane] else "cut",
            predicates=tuple(name for name, values in true.items() if values[lane]),
            components={
                name: float(value)
                for name, value in zip(simulator.components, rewards[lane], strict=True)
                if value != 0
            },
        )
        for lane in lanes
    ]


@functools.cache
def _compiled(predicates: Callable[..., dict[str, jax.Array]]) -> Callable[..., dict[str, Any]]:
    return jax.jit(jax.vmap(predicates, (0, None)))
