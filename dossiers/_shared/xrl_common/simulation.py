"""Rollouts. One compiled program serves every tool that looks at steps: 64 lanes, each a start, a rule and a limit.

A lane starts in a reset or in a given state, may have its first action forced, then follows the policy.
Lane number n of a stream draws from keys that depend on (seed, stream, n) and the step alone: lanes that
share n share their noise, whatever their first action (common random numbers).
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Hashable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

from xrl_common import compiled
from xrl_common.compiled import LANES, MANY, Lanes
from xrl_common.subject import ActionRule, Policy, SamplingRule, Subject, Tree


class Acting(IntEnum):
    """How the agent chooses its actions."""

    SERVED = 0
    GREEDY = 1
    SAMPLED = 2

    @property
    def word(self) -> str:
        """As arguments and headers write it."""
        return self.name.lower()


class Stream(IntEnum):
    """Names the families of random numbers, so that tools do not share noise by accident."""

    EPISODES = 0
    ROLLOUTS = 1
    DRAWS = 2


class Rule(Hashable, Protocol):
    """A way of acting that may look at states and remember; a frozen dataclass, so that equal rules are one program."""

    def memory(self, rows: int) -> Tree:
        """What it remembers at the start of a run, with a leading axis of `rows`."""
        ...

    def __call__(
        self, agent: Tree, memory: Tree, keys: jax.Array, observations: jax.Array, states: Tree, params: Tree
    ) -> tuple[jax.Array, Tree]:
        """Actions (B, ...) and the memory after them; traced by JAX."""
        ...


class Trace(NamedTuple):
    """What happened; arrays are (lanes, steps, ...), and `alive` says which steps were taken."""

    rewards: np.ndarray
    """(L, T, C), zeros where no step was taken."""
    reward: np.ndarray
    alive: np.ndarray
    actions: np.ndarray
    states: Tree
    """Before each step."""
    observations: np.ndarray
    """(L, T, d), before each step."""
    terminated: np.ndarray
    finals: Tree
    """The state after the last step of each lane, (L, ...)."""

    @property
    def lengths(self) -> np.ndarray:
        """Steps taken per lane."""
        return self.alive.sum(axis=1)

    @property
    def returns(self) -> np.ndarray:
        """Undiscounted sum of the scalar reward per lane."""
        return self.reward.sum(axis=1, dtype=np.float64)

    def discounted(self, gamma: float) -> np.ndarray:
        """Discounted sum of each component per lane, (lanes, components)."""
        weights = gamma ** np.arange(self.rewards.shape[1], dtype=np.float64)
        return np.einsum("lsc,s->lc", self.rewards.astype(np.float64), weights)


@dataclass(frozen=True, eq=False)
class Simulator:
    """Runs lanes of one subject whose agent acts in one way; compiles once, at the first call."""

    subject: Subject
    seed: int
    acting: Acting
    rule: Rule | None = None
    """Acts in place of the policy."""
    agent: Tree = None
    """The arrays of `rule`."""

    @functools.cached_property
    def blank_state(self) -> Tree:
        """A state of zeros."""
        return _zeros(self._shapes[0])

    @functools.cached_property
    def components(self) -> tuple[str, ...]:
        """Names of the reward components, in order."""
        return tuple(self._shapes[2]._fields)

    def acting_by(self, rule: Rule, agent: Tree) -> Simulator:
        """The same with another way of acting."""
        return replace(self, rule=rule, agent=agent)

    def with_params(self, params: Tree) -> Simulator:
        """The same in an environment with other parameters."""
        return replace(self, subject=replace(self.subject, params=params))

    def generator(self, name: str) -> np.random.Generator:
        """NumPy's randomness for one purpose."""
        return np.random.default_rng([self.seed, Stream.DRAWS, zlib.crc32(name.encode())])

    def episodes(self, count: int, uniform: bool = False, first: int = 0) -> Trace:
        """`count` whole episodes from number `first` on, by the agent or uniform actions; the same resets for both."""
        lanes = self._lanes(first + np.arange(count), np.full(count, self.subject.horizon))
        return self._run(lanes, Stream.EPISODES, uniform)

    def rollouts(self, state: Tree, actions: np.ndarray, count: int, limit: int) -> Trace:
        """`count` rollouts per forced first action from one state; lanes ordered action by action."""
        rows = len(actions) * count
        states = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (rows, *np.shape(leaf))), state)
        numbers = np.tile(np.arange(count), len(actions))
        return self.fresh(states, np.repeat(actions, count, axis=0), numbers, limit)

    def fresh(self, states: Tree, actions: np.ndarray, numbers: np.ndarray, limit: int) -> Trace:
        """One rollout per given state (leading axis) with its first action forced and the noise of its number."""
        lanes = self._from(states, numbers, limit)
        return self._run(
            lanes._replace(action=np.asarray(actions), forced=np.ones(len(numbers), bool)), Stream.ROLLOUTS
        )

    def replay(
        self,
        states: Tree,
        actions: np.ndarray | None,
        episodes: np.ndarray,
        times: np.ndarray,
        limit: int | np.ndarray,
    ) -> Trace:
        """Continues from given states with the noise that episodes number `episodes` had from step `times` on.

        `actions` (lanes, ...) are forced first; none is where they are None. Forcing what was done in an episode
        in one of its states gives the rest of that episode.
        """
        lanes = self._from(states, np.asarray(episodes), limit)._replace(offset=np.asarray(times, np.int32))
        if actions is not None:
            lanes = lanes._replace(action=np.asarray(actions), forced=np.ones(len(lanes.number), bool))
        return self._run(lanes, Stream.EPISODES)

    def from_states(self, states: Tree) -> Trace:
        """One run to the end from each of the given states (leaves have a leading axis)."""
        count = len(jax.tree.leaves(states)[0])
        return self._run(self._from(states, np.arange(count), self.subject.horizon), Stream.EPISODES)

    def sums(
        self, states: Tree, actions: np.ndarray | None, count: int, gamma: float, limits: np.ndarray
    ) -> np.ndarray:
        """Discounted component sums of `count` rollouts for each state and first action, (S, A, count, C).

        `states` have a leading axis S, `actions` are (S, A, ...), `limits` (S,) are steps per rollout; where actions
        are None nothing is forced, and A is 1. Nothing else is kept, so that this is the way for many states.
        """
        first, second = (len(limits), 1) if actions is None else actions.shape[:2]
        rows = first * second * count

        def repeated(leaf: np.ndarray) -> np.ndarray:
            return np.repeat(leaf, second * count, axis=0)

        lanes = self._from(jax.tree.map(repeated, states), np.tile(np.arange(count), first * second), repeated(limits))
        if actions is not None:
            forced = np.repeat(actions.reshape(first * second, *actions.shape[2:]), count, axis=0)
            lanes = lanes._replace(action=forced, forced=np.ones(rows, bool))
        program = compiled.of_sums(self.subject.environment, self._rule)
        sums = [
            np.asarray(
                program(
                    self.subject.params,
                    self._carried,
                    piece,
                    *self._noise(Stream.ROLLOUTS),
                    np.float32(gamma),
                )
            )[:kept]
            for piece, kept in _pieces(lanes, MANY)
        ]
        return np.concatenate(sums).astype(np.float64).reshape(first, second, count, -1)

    def choice(self, state: Tree) -> np.ndarray:
        """The action that the policy takes in a state."""
        return self.choices(jax.tree.map(lambda leaf: np.asarray(leaf)[None], state))[0]

    def choices(self, states: Tree) -> np.ndarray:
        """The actions that the policy takes in many states (leading axis)."""
        count = len(jax.tree.leaves(states)[0])
        return self._run(self._from(states, np.arange(count), 1), Stream.ROLLOUTS).actions[:, 0]

    def certain_choices(self, states: Tree) -> np.ndarray:
        """As `choices`, but the most probable action where the agent acts by chance."""
        chance = self.rule is None and self.acting is Acting.SAMPLED
        return (replace(self, acting=Acting.GREEDY) if chance else self).choices(states)

    def observe(self, states: Tree) -> np.ndarray:
        """The observations that belong to many states, (S, d) float32."""
        return np.asarray(compiled.of_observations(self.subject.environment)(states, self.subject.params))

    @functools.cached_property
    def _shapes(self) -> tuple[Tree, Any, Any]:
        return jax.eval_shape(lambda: _samples(self.subject))

    @functools.cached_property
    def _rule(self) -> Rule:
        if self.rule is not None:
            return self.rule
        policy = self.subject.policy
        return _Policy(policy.sampled, True) if self.acting is Acting.SAMPLED else _certain(policy, self.acting)

    @property
    def _carried(self) -> Tree:
        return self.subject.policy.agent if self.rule is None else self.agent

    def _noise(self, stream: Stream) -> tuple[np.uint32, np.uint32]:
        return np.uint32(self.seed), np.uint32(stream)

    def _from(self, states: Tree, numbers: np.ndarray, limit: int | np.ndarray) -> Lanes:
        lanes = self._lanes(numbers, np.broadcast_to(limit, (len(numbers),)))
        return lanes._replace(state=states, given=np.ones(len(numbers), bool))

    def _lanes(self, number: np.ndarray, limit: np.ndarray) -> Lanes:
        rows = len(number)
        return Lanes(
            number=number.astype(np.uint32),
            offset=np.zeros(rows, np.int32),
            limit=np.minimum(limit, self.subject.horizon).astype(np.int32),
            state=jax.tree.map(lambda leaf: np.zeros((rows, *leaf.shape), leaf.dtype), self.blank_state),
            action=np.zeros((rows, *self._shapes[1].shape), self._shapes[1].dtype),
            given=np.zeros(rows, bool),
            forced=np.zeros(rows, bool),
        )

    def _run(self, lanes: Lanes, stream: Stream, uniform: bool = False) -> Trace:
        longest = max(int(lanes.limit.max(initial=0)), 1)
        subject = self.subject
        program = compiled.of_traces(subject.environment, subject.action_space, self._rule, subject.horizon)
        traces = []
        for piece, kept in _pieces(lanes, LANES):
            steps, finals = program(subject.params, self._carried, piece, *self._noise(stream), np.bool_(uniform))
            steps = jax.tree.map(lambda leaf, kept=kept: np.asarray(leaf)[:longest].swapaxes(0, 1)[:kept], steps)
            traces.append((*steps, jax.tree.map(lambda leaf, kept=kept: np.asarray(leaf)[:kept], finals)))
        return Trace(*jax.tree.map(lambda *leaves: np.concatenate(leaves), *traces))


def _pieces(lanes: Lanes, size: int) -> list[tuple[Lanes, int]]:
    """Batches of one size, so that one compiled shape serves all; rows that fill one up take no step."""
    pieces = []
    for first in range(0, len(lanes.number), size):
        kept = min(size, len(lanes.number) - first)
        piece = jax.tree.map(lambda leaf, first=first: _padded(leaf[first : first + size], size), lanes)
        piece.limit[kept:] = 0
        pieces.append((piece, kept))
    return pieces


def _padded(leaf: np.ndarray, size: int) -> np.ndarray:
    return np.concatenate([leaf, np.repeat(leaf[:1], size - len(leaf), axis=0)])


def _zeros(shapes: Tree) -> Tree:
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)


def _samples(subject: Subject) -> tuple[Tree, jax.Array, Any]:
    """A state, an action and a reward, to be evaluated for their shapes alone."""
    key = jax.random.key(0)
    _, state = subject.environment.reset(key, subject.params)
    action = subject.action_space.sample(key)
    info = subject.environment.step(key, state, action, subject.params)[-1]
    return state, action, info["reward"]


def _certain(policy: Policy, acting: Acting) -> Rule:
    return _Policy(policy.served if acting is Acting.SERVED else policy.greedy, False)


@dataclass(frozen=True)
class _Policy:
    """An agent's own way of acting in the form of a rule; without chance it leaves the keys unused."""

    way: ActionRule | SamplingRule
    by_chance: bool

    def memory(self, rows: int) -> Tree:
        """Nothing."""
        return ()

    def __call__(
        self, agent: Tree, memory: Tree, keys: jax.Array, observations: jax.Array, states: Tree, params: Tree
    ) -> tuple[jax.Array, Tree]:
        given = (keys, observations) if self.by_chance else (observations,)
        return self.way(agent, *given), memory
