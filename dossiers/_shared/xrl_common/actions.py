"""The probe set of a state, and how actions are written."""

from __future__ import annotations

import textwrap
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from xrl_common.failure import usage
from xrl_common.subject import Subject, Tree
from xrl_common.tables import WIDTH, number

if TYPE_CHECKING:
    from xrl_common.simulation import Simulator

STEP = 0.25
"""How far a probe moves one dimension of a continuous action, as a share of its range."""

DRAWS = 8
"""Uniform draws in the probe set of a continuous action."""


class Kind(StrEnum):
    """The three kinds of action spaces."""

    DISCRETE = "discrete"
    MULTI_DISCRETE = "multi_discrete"
    CONTINUOUS = "continuous"


def kind(subject: Subject) -> Kind:
    """What an action of this environment is."""
    if hasattr(subject.action_space, "low"):
        return Kind.CONTINUOUS
    return Kind.MULTI_DISCRETE if tuple(subject.action_space.shape) else Kind.DISCRETE


def heads(subject: Subject) -> tuple[int, ...]:
    """Number of categories of each head; none for continuous actions."""
    return () if kind(subject) is Kind.CONTINUOUS else tuple(len(names) for names in subject.action_names)


def bounds(subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest value of each dimension of a continuous action, float32 (m,)."""
    space = subject.action_space
    low = np.broadcast_to(np.asarray(space.low, np.float32), space.shape)
    return low, np.broadcast_to(np.asarray(space.high, np.float32), space.shape)


def own_actions(simulator: Simulator, states: Tree) -> np.ndarray:
    """What the policy does in each state, (S, ...): the most probable where it acts by chance, inside its bounds."""
    actions = simulator.certain_choices(states)
    return np.clip(actions, *bounds(simulator.subject)) if _continuous(simulator) else actions


def own_action(simulator: Simulator, state: Tree) -> np.ndarray:
    """`own_actions` of one state."""
    return own_actions(simulator, jax.tree.map(lambda leaf: np.asarray(leaf)[None], state))[0]


def probe_sets(simulator: Simulator, states: Tree) -> np.ndarray:
    """The actions that a tool tries in each state, (S, A, ...).

    Discrete: all, in order. Multi-discrete: the policy's action, then every action that changes one head.
    Continuous: the policy's mean, the mean less and plus a quarter of the range on each dimension (clipped),
    and eight uniform draws, the same in every state.
    """
    subject = simulator.subject
    what = kind(subject)
    if what is Kind.DISCRETE:
        count = len(jax.tree.leaves(states)[0])
        return np.tile(np.arange(heads(subject)[0], dtype=np.int32), (count, 1))
    own = own_actions(simulator, states)
    if what is Kind.MULTI_DISCRETE:
        return np.stack([_neighbours(row, heads(subject)) for row in own])
    low, high = bounds(subject)
    moves = [sign * STEP * (high - low)[i] * np.eye(len(low))[i] for i in range(len(low)) for sign in (-1, 1)]
    moved = np.clip(own[:, None] + np.stack([np.zeros(len(low)), *moves]), low, high)
    drawn = simulator.generator("probes").uniform(low, high, (DRAWS, len(low)))
    return np.concatenate([moved, np.tile(drawn, (len(own), 1, 1))], axis=1).astype(np.float32)


def probe_set(simulator: Simulator, state: Tree) -> np.ndarray:
    """`probe_sets` of one state, (A, ...)."""
    return probe_sets(simulator, jax.tree.map(lambda leaf: np.asarray(leaf)[None], state))[0]


def own_row(simulator: Simulator, actions: np.ndarray, state: Tree) -> int:
    """The row of a probe set that holds the policy's own action."""
    own = own_action(simulator, state)
    return next(row for row, action in enumerate(actions) if same(action, own))


def same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two actions are equal to the last bit."""
    return np.array_equal(one, other)


def key(action: np.ndarray) -> tuple[Any, ...]:
    """An action as a key of a dictionary."""
    return tuple(np.ravel(action).tolist())


def name_of(subject: Subject, action: Any) -> str:  # noqa: ANN401
    """The action as tables write it: `down`, `2,0,3,1`, or `0.100,-0.400`."""
    what = kind(subject)
    if what is Kind.DISCRETE:
        return short(subject.action_names[0][int(action)])
    if what is Kind.MULTI_DISCRETE:
        return ",".join(str(int(part)) for part in action)
    return ",".join(number(float(part)) for part in action)


def row_names(subject: Subject, probes: np.ndarray, own: np.ndarray) -> list[str]:
    """How rows of a table name actions (A, ...): continuous ones that move one axis of the policy's by that axis."""
    if kind(subject) is not Kind.CONTINUOUS:
        return [name_of(subject, action) for action in probes]
    named = []
    for action in probes:
        moved = np.flatnonzero(np.asarray(action) != own)
        axis = subject.action_names[int(moved[0])][0] if len(moved) == 1 else ""
        named.append(f"{axis}={number(float(action[moved[0]]))}" if axis else name_of(subject, action))
    return named


def legend(space: Any, names: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:  # noqa: ANN401
    """What the numbers of a written action stand for, in lines of a header; none where an action is a name."""
    if hasattr(space, "low"):
        text = f"actions: {','.join(axis for (axis,) in names)}"
    elif not tuple(space.shape):
        return ()
    else:
        heads = [" ".join(f"{i}={short(name)}" for i, name in enumerate(head)) for head in names]
        text = f"actions: {heads[0] if len({*heads}) == 1 else '; '.join(heads)}"
    return tuple(textwrap.wrap(text, WIDTH - 2, break_on_hyphens=False))


def parse(subject: Subject, text: str) -> np.ndarray:
    """The action that a text stands for; the group of a name may be left out where the rest is unique."""
    what = kind(subject)
    if what is Kind.DISCRETE:
        names = subject.action_names[0]
        found = [i for i, name in enumerate(names) if text in (name, short(name))]
        if len(found) != 1:
            raise usage(f"no action {text!r}; actions are {', '.join(names)}")
        return np.int32(found[0])
    parts = text.split(",")
    if what is Kind.MULTI_DISCRETE:
        return _parse_heads(text, parts, heads(subject))
    low, high = bounds(subject)
    try:
        values = np.array([float(part) for part in parts], np.float32)
    except ValueError:
        values = np.array([], np.float32)
    if len(values) != len(low) or not np.all((values >= low) & (values <= high)):
        limits = ", ".join(
            f"{names[0]} {number(a)}..{number(b)}" for names, a, b in zip(subject.action_names, low, high, strict=True)
        )
        raise usage(f"no action {text!r}; an action is {len(low)} numbers joined by commas: {limits}")
    return values


def short(name: str) -> str:
    """The part of `group/name` after the group."""
    return name.rpartition("/")[2]


def _continuous(simulator: Simulator) -> bool:
    return kind(simulator.subject) is Kind.CONTINUOUS


def _neighbours(own: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """An action, then every one that differs in one head."""
    rows = [own]
    for head, size in enumerate(sizes):
        for category in range(size):
            if category != own[head]:
                rows.append(np.concatenate([own[:head], [category], own[head + 1 :]]))
    return np.stack(rows).astype(np.int32)


def _parse_heads(text: str, parts: list[str], sizes: tuple[int, ...]) -> np.ndarray:
    chosen = [int(part) if part.strip().isdecimal() else -1 for part in parts]
    fits = len(chosen) == len(sizes) and all(0 <= c < size for c, size in zip(chosen, sizes, strict=True))
    if not fits:
        limits = ", ".join(f"0..{size - 1}" for size in sizes)
        raise usage(f"no action {text!r}; an action is {len(sizes)} whole numbers joined by commas: {limits}")
    return np.array(chosen, np.int32)
