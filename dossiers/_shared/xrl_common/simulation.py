"""Rollouts. One compiled program serves every tool: 64 lanes, each a start, a rule of acting and a limit.

A lane starts in a reset or in a given state, may have its first action forced, then follows the policy.
Lane number n of a stream draws from keys that depend on (seed, stream, n) alone: lanes that share n share
their noise, whatever their first action (common random numbers).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from xrl_common.subject import ActionRule, Policy, SamplingRule, Subject, Tree

LANES = 64


class Acting(IntEnum):
    """How the agent chooses its actions."""

    SERVED = 0
    GREEDY = 1
    SAMPLED = 2

    @property
    def word(self) -> str:
        """As arguments and headers write it."""
        return self.name.lower()


Raw = tuple[jax.Array, jax.Array, jax.Array, jax.Array, Tree, jax.Array]
"""The fields of a `Trace` as the program returns them, with steps as the leading axis."""


class Stream(IntEnum):
    """Names the families of random numbers, so that tools do not share noise by accident."""

    EPISODES = 0
    ROLLOUTS = 1
    DRAWS = 2


class Lanes(NamedTuple):
    """Inputs of a batch; arrays have one row per lane."""

    number: np.ndarray
    limit: np.ndarray
    state: Tree
    action: Any
    given: np.ndarray
    forced: np.ndarray


class Trace(NamedTuple):
    """What happened; arrays are (lanes, steps, ...), and `alive` says which steps were taken."""

    rewards: np.ndarray
    reward: np.ndarray
    alive: np.ndarray
    actions: np.ndarray
    states: Tree
    terminated: np.ndarray

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


@dataclass
class Simulator:
    """Runs lanes of one subject whose agent acts in one way; compiles once, at the first call."""

    subject: Subject
    seed: int
    acting: Acting

    def __post_init__(self) -> None:
        self._steps = self.subject.horizon
        state, action, reward = jax.eval_shape(lambda: _shapes(self.subject))
        self._blank_state = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), state)
        self._blank_action = np.zeros(action.shape, action.dtype)
        self.components: tuple[str, ...] = tuple(reward._fields)
        rule = _rule(self.subject.policy, self.acting)
        self._program = _compiled(self.subject.environment, self.subject.action_space, rule, self._steps)

    def episodes(self, count: int, uniform: bool = False) -> Trace:
        """Whole episodes from `count` resets, by the agent or uniform actions; the same resets for both."""
        lanes = self._lanes(np.arange(count), np.full(count, self._steps))
        return self._run(lanes, Stream.EPISODES, uniform)

    def rollouts(self, state: Tree, actions: np.ndarray, count: int, limit: int) -> Trace:
        """`count` rollouts per forced first action from one state; lanes ordered action by action."""
        rows = len(actions) * count
        lanes = self._lanes(np.tile(np.arange(count), len(actions)), np.full(rows, limit))._replace(
            state=jax.tree.map(lambda leaf: np.broadcast_to(leaf, (rows, *np.shape(leaf))), state),
            action=np.repeat(actions, count, axis=0),
            given=np.ones(rows, bool),
            forced=np.ones(rows, bool),
        )
        return self._run(lanes, Stream.ROLLOUTS)

    def from_states(self, states: Tree) -> Trace:
        """One run to the end from each of the given states (leaves have a leading axis)."""
        count = len(jax.tree.leaves(states)[0])
        lanes = self._lanes(np.arange(count), np.full(count, self._steps))
        return self._run(lanes._replace(state=states, given=np.ones(count, bool)), Stream.EPISODES)

    def choice(self, state: Tree) -> np.ndarray:
        """The action that the policy takes in a state."""
        lanes = self._lanes(np.arange(1), np.ones(1))._replace(
            state=jax.tree.map(lambda leaf: np.asarray(leaf)[None], state), given=np.ones(1, bool)
        )
        return self._run(lanes, Stream.ROLLOUTS).actions[0, 0]

    def _lanes(self, number: np.ndarray, limit: np.ndarray) -> Lanes:
        rows = len(number)

        def blank(leaf: np.ndarray) -> np.ndarray:
            return np.zeros((rows, *leaf.shape), leaf.dtype)

        return Lanes(
            number=number.astype(np.uint32),
            limit=limit.astype(np.int32),
            state=jax.tree.map(blank, self._blank_state),
            action=blank(self._blank_action),
            given=np.zeros(rows, bool),
            forced=np.zeros(rows, bool),
        )

    def _run(self, lanes: Lanes, stream: Stream, uniform: bool = False) -> Trace:
        rows = len(lanes.number)
        pieces = []
        for first in range(0, rows, LANES):
            piece = jax.tree.map(lambda leaf, first=first: _padded(leaf[first : first + LANES]), lanes)
            raw = self._program(
                self.subject.params,
                self.subject.policy.agent,
                piece,
                np.uint32(self.seed),
                np.uint32(stream),
                np.bool_(uniform),
            )
            kept = min(LANES, rows - first)
            pieces.append(jax.tree.map(lambda leaf, kept=kept: np.asarray(leaf).swapaxes(0, 1)[:kept], raw))
        return Trace(*jax.tree.map(lambda *leaves: np.concatenate(leaves), *pieces))


def _padded(leaf: np.ndarray) -> np.ndarray:
    """Rows repeated up to the size of a batch, so that one compiled shape serves all."""
    missing = LANES - len(leaf)
    return np.concatenate([leaf, np.repeat(leaf[:1], missing, axis=0)]) if missing else np.asarray(leaf)


def _shapes(subject: Subject) -> tuple[Tree, jax.Array, Any]:
    """A state, an action and a reward, to be evaluated for their shapes alone."""
    key = jax.random.key(0)
    _, state = subject.environment.reset(key, subject.params)
    action = subject.action_space.sample(key)
    info = subject.environment.step(key, state, action, subject.params)[-1]
    return state, action, info["reward"]


def _rule(policy: Policy, acting: Acting) -> SamplingRule:
    """One way of acting; those without chance leave their keys unused."""
    if acting is Acting.SAMPLED:
        return policy.sampled
    return _Certain(policy.served if acting is Acting.SERVED else policy.greedy)


@dataclass(frozen=True)
class _Certain:
    """A rule without chance in the form of one with it."""

    rule: ActionRule

    def __call__(self, agent: Tree, keys: jax.Array, observations: jax.Array) -> jax.Array:
        return self.rule(agent, observations)


@functools.cache
def _compiled(environment: Any, space: Any, rule: SamplingRule, steps: int) -> Callable[..., Raw]:  # noqa: ANN401
    """The program behind every rollout; equal arguments share one compilation."""

    def program(
        params: Tree, agent: Tree, lanes: Lanes, seed: jax.Array, stream: jax.Array, uniform: jax.Array
    ) -> Raw:
        base = jax.random.fold_in(jax.random.key(seed), stream)
        lane_keys = jax.vmap(jax.random.fold_in, (None, 0))(base, lanes.number)
        _, fresh = jax.vmap(environment.reset, (0, None))(
            jax.vmap(jax.random.fold_in, (0, None))(lane_keys, 0), params
        )
        start = jax.tree.map(lambda given, new: _pick(lanes.given, given, new), lanes.state, fresh)
        observation = jax.vmap(environment.observe, (0, None))(start, params)

        def step(carry: tuple[jax.Array, Tree, jax.Array], t: jax.Array) -> tuple[Any, Raw]:
            observation, state, alive = carry
            alive = alive & (t < lanes.limit)
            keys = jax.vmap(jax.random.fold_in, (0, None))(lane_keys, t + 1)
            split = jax.vmap(jax.random.split)(keys)
            action = jax.lax.cond(
                uniform,
                lambda: jax.vmap(space.sample)(split[:, 0]),
                lambda: rule(agent, split[:, 0], observation),
            )
            action = _pick(lanes.forced & (t == 0), lanes.action, action)
            after, new, reward, terminated, truncated, info = jax.vmap(environment.step, (0, 0, 0, None))(
                split[:, 1], state, action, params
            )
            rewards = jnp.stack([jnp.where(alive, value, 0.0) for value in info["reward"]], axis=-1)
            taken = (rewards, jnp.where(alive, reward, 0.0), alive, action, state, alive & terminated)
            return (after, new, alive & ~(terminated | truncated)), taken

        carry = (observation, start, jnp.ones(LANES, bool))
        return jax.lax.scan(step, carry, jnp.arange(steps))[1]

    return jax.jit(program)


def _pick(choose: jax.Array | np.ndarray, first: jax.Array | np.ndarray, second: jax.Array) -> jax.Array:
    """Row-wise choice between two arrays of any rank."""
    return jnp.where(choose.reshape(choose.shape + (1,) * (second.ndim - 1)), first, second)
