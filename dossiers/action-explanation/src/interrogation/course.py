"""Courses: what happens from one step of an episode on, as it was recorded or under a change, with the same noise.

Every step of an episode has noise of its own, known by the number of the episode and of the step. A course from step
t on uses that noise again, so that taking the recorded actions gives the recorded steps to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from xrl_common.estimates import EPISODES
from xrl_common.outcome import Outcome, facts, outcomes
from xrl_common.simulation import Simulator, Trace
from xrl_common.subject import Tree

TOLERANCE = 1e-6
"""Rewards nearer than this count as the same."""

SHOWN = 1e-3
"""Continuous actions nearer than this on every axis count as the same, since three decimals are shown."""


@dataclass(frozen=True)
class Course:
    """One run, in NumPy; n steps were taken."""

    start: int
    """Number of the first step within the episode."""
    actions: np.ndarray
    """(n, ...)."""
    rewards: np.ndarray
    """(n, components), float64."""
    names: tuple[str, ...]
    """Predicates."""
    truth: np.ndarray
    """(n + 1, predicates), before each step and at the end."""
    observations: np.ndarray
    """(n, d), before each step."""
    states: Tree
    """Leaves (n, ...), before each step."""
    outcome: Outcome

    @property
    def length(self) -> int:
        """n."""
        return len(self.actions)

    @property
    def total(self) -> float:
        """Undiscounted return."""
        return float(self.rewards.sum())

    @property
    def sums(self) -> np.ndarray:
        """Undiscounted return by component."""
        return self.rewards.sum(axis=0)

    def state(self, step: int) -> Tree:
        """The state before a step, counted from the first one of the course."""
        return jax.tree.map(lambda leaf: leaf[step], self.states)

    def discounted(self, gamma: float) -> float:
        """Return, discounted from the first step of the course on."""
        return float(gamma ** np.arange(self.length, dtype=np.float64) @ self.rewards.sum(axis=1))


@dataclass(frozen=True)
class Difference:
    """Where two courses first part."""

    step: int
    """Number within the episode."""
    what: tuple[str, ...]
    """Which of action, reward, predicates (after the step) and end."""


def recorded(simulator: Simulator, trace: Trace, episode: int, t: int = 0) -> Course:
    """An episode of a trace from step t on."""
    return _course(simulator, _cut(trace, episode, t), t)


def continued(
    simulator: Simulator,
    state: Tree,
    forced: np.ndarray | None,
    episode: int,
    t: int,
    others: int,
) -> tuple[Course, Trace]:
    """The course from a state on under the noise that an episode has from step t on; the policy acts.

    `forced` (k, ...) are the actions of the first k steps. The trace has one lane more for each of `others` other
    noises, those of episodes that tools do not record; lane 0 is the course itself.
    """
    noises = np.array([episode, *(EPISODES + np.arange(others))])
    states = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf)[None], len(noises), axis=0), state)
    horizon = simulator.subject.horizon
    if forced is None or not len(forced):
        trace = simulator.replay(states, None, noises, np.full(len(noises), t), horizon)
        return _course(simulator, _cut(trace, 0, 0), t), trace
    pieces, going = [], np.ones(len(noises), bool)
    for k, action in enumerate(forced):
        every = np.repeat(np.asarray(action)[None], len(noises), axis=0)
        piece = simulator.replay(states, every, noises, np.full(len(noises), t + k), going.astype(np.int32))
        pieces.append(piece)
        states = piece.finals
        going &= ~piece.terminated.any(axis=1) & (np.asarray(states.t) < horizon)
    limits = np.where(going, horizon, 0)
    pieces.append(simulator.replay(states, None, noises, np.full(len(noises), t + len(forced)), limits))
    joined = jax.tree.map(lambda *leaves: np.concatenate(leaves, axis=1), *(_steps(piece) for piece in pieces))
    trace = Trace(*joined, finals=pieces[-1].finals)
    return _course(simulator, _cut(trace, 0, 0), t), trace


def first_difference(one: Course, other: Course) -> Difference | None:
    """The first step at which two courses from one step on differ; none where they never do."""
    for k in range(max(one.length, other.length)):
        if k >= min(one.length, other.length):
            return Difference(one.start + k, ("end",))
        parts = {
            "action": _same_action(one.actions[k], other.actions[k]),
            "reward": np.allclose(one.rewards[k], other.rewards[k], rtol=0, atol=TOLERANCE, equal_nan=True),
            "predicates": np.array_equal(one.truth[k + 1], other.truth[k + 1]),
            "end": (k + 1 == one.length) == (k + 1 == other.length),
        }
        what = tuple(name for name, same in parts.items() if not same)
        if what:
            return Difference(one.start + k, what)
    return None


def _same_action(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype.kind != "f":
        return np.array_equal(one, other)
    return np.allclose(one, other, rtol=0, atol=SHOWN, equal_nan=True)


def _steps(trace: Trace) -> tuple:
    return tuple(trace)[:-1]


def _cut(trace: Trace, lane: int, first: int) -> Trace:
    """One lane from a step on."""
    steps = jax.tree.map(lambda leaf: leaf[lane : lane + 1, first:], _steps(trace))
    return Trace(*steps, finals=jax.tree.map(lambda leaf: leaf[lane : lane + 1], trace.finals))


def _course(simulator: Simulator, trace: Trace, start: int) -> Course:
    """The steps taken of a trace of one lane. Predicates are asked for in one shape, which compiles once."""
    alive = trace.alive[0]
    states = jax.tree.map(lambda leaf: np.asarray(leaf)[0][alive], trace.states)
    length, most = int(alive.sum()), simulator.subject.horizon + 1

    def padded(steps: np.ndarray, final: np.ndarray) -> np.ndarray:
        final = np.asarray(final)
        return np.concatenate([steps, np.repeat(final, max(most - length, 1), axis=0)])

    found = facts(simulator, jax.tree.map(padded, states, trace.finals))
    truth = [values[: length + 1] for values in found.values()]
    return Course(
        start=start,
        actions=trace.actions[0][alive],
        rewards=trace.rewards[0][alive].astype(np.float64),
        names=tuple(found),
        truth=np.stack(truth, axis=1) if truth else np.zeros((length + 1, 0), bool),
        observations=trace.observations[0][alive],
        states=states,
        outcome=outcomes(simulator, trace)[0],
    )
