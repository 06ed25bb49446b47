"""The compiled programs behind `simulation`; equal arguments share one compilation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from xrl_common.subject import Tree

LANES = 64
"""Lanes of a program that keeps every step."""

MANY = 512
"""Lanes of a program that keeps sums alone."""

BLOCK = 20
"""Steps between two looks whether any lane still runs."""


class Lanes(NamedTuple):
    """Inputs of a batch; arrays have one row per lane."""

    number: np.ndarray
    offset: np.ndarray
    """Added to the step in the keys of the noise."""
    limit: np.ndarray
    state: Tree
    action: Any
    given: np.ndarray
    forced: np.ndarray


Steps = tuple[jax.Array, jax.Array, jax.Array, jax.Array, Tree, jax.Array, jax.Array]
"""Rewards, reward, alive, actions, states, observations, terminated; steps are the leading axis."""

Carry = tuple[jax.Array, Tree, Tree, jax.Array]
"""Observation, state, memory, and which lanes still run."""


@functools.cache
def of_traces(environment: Any, space: Any, rule: Any, horizon: int) -> Callable[..., tuple[Steps, Tree]]:  # noqa: ANN401
    """(params, agent, lanes, seed, stream, uniform) -> all steps, and the last states."""

    def program(
        params: Tree, agent: Tree, lanes: Lanes, seed: jax.Array, stream: jax.Array, uniform: jax.Array
    ) -> tuple[Steps, Tree]:
        carry, keys = _start(environment, rule, params, lanes, seed, stream)

        def act(noise: jax.Array, observation: jax.Array, state: Tree, memory: Tree) -> tuple[jax.Array, Tree]:
            return jax.lax.cond(
                uniform,
                lambda: (jax.vmap(space.sample)(noise), memory),
                lambda: rule(agent, memory, noise, observation, state, params),
            )

        def step(carry: Carry, t: jax.Array) -> tuple[Carry, Steps]:
            observation, state, _, alive = carry
            alive = alive & (t < lanes.limit)
            after, action, reward, rewards, terminated = _step(environment, act, params, lanes, keys, carry, t, alive)
            taken = (jnp.stack(rewards, axis=-1), reward, alive, action, state, observation, terminated)
            return after, taken

        def block(carry: Carry, first: jax.Array) -> tuple[Carry, Steps]:
            def run() -> tuple[Carry, Steps]:
                return jax.lax.scan(step, carry, first + jnp.arange(BLOCK))

            shapes = jax.eval_shape(run)[1]
            blank = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
            running = jnp.any(carry[3] & (first < lanes.limit))
            return jax.lax.cond(running, run, lambda: (carry, blank))

        firsts = jnp.arange(0, -(-horizon // BLOCK) * BLOCK, BLOCK)
        (_, finals, _, _), steps = jax.lax.scan(block, carry, firsts)
        return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), steps), finals

    return jax.jit(program)


@functools.cache
def of_sums(environment: Any, rule: Any) -> Callable[..., jax.Array]:  # noqa: ANN401
    """(params, agent, lanes, seed, stream, gamma) -> discounted component sums (lanes, components)."""

    def program(
        params: Tree, agent: Tree, lanes: Lanes, seed: jax.Array, stream: jax.Array, gamma: jax.Array
    ) -> jax.Array:
        carry, keys = _start(environment, rule, params, lanes, seed, stream)

        def act(noise: jax.Array, observation: jax.Array, state: Tree, memory: Tree) -> tuple[jax.Array, Tree]:
            return rule(agent, memory, noise, observation, state, params)

        def step(at: tuple[Any, ...]) -> tuple[Any, ...]:
            t, weight, carry, sums = at
            alive = carry[3] & (t < lanes.limit)
            after, _, _, rewards, _ = _step(environment, act, params, lanes, keys, carry, t, alive)
            return t + 1, weight * gamma, after, sums + weight * jnp.stack(rewards, axis=-1)

        def running(at: tuple[Any, ...]) -> jax.Array:
            return jnp.any(at[2][3] & (at[0] < lanes.limit))

        count = len(jax.eval_shape(lambda: _one(environment, lanes, carry, keys, params)))
        rows = lanes.limit.shape[0]
        start = (jnp.int32(0), jnp.float32(1), carry, jnp.zeros((rows, count), jnp.float32))
        return jax.lax.while_loop(running, step, start)[3]

    return jax.jit(program)


@functools.cache
def of_observations(environment: Any) -> Callable[[Tree, Tree], jax.Array]:  # noqa: ANN401
    """(states, params) -> observations."""
    return jax.jit(jax.vmap(environment.observe, (0, None)))


def _start(
    environment: Any,  # noqa: ANN401
    rule: Any,  # noqa: ANN401
    params: Tree,
    lanes: Lanes,
    seed: jax.Array,
    stream: jax.Array,
) -> tuple[Carry, jax.Array]:
    """The lanes before their first step, and the key of each."""
    base = jax.random.fold_in(jax.random.key(seed), stream)
    keys = jax.vmap(jax.random.fold_in, (None, 0))(base, lanes.number)
    _, fresh = jax.vmap(environment.reset, (0, None))(jax.vmap(jax.random.fold_in, (0, None))(keys, 0), params)
    state = jax.tree.map(lambda given, new: _pick(lanes.given, given, new), lanes.state, fresh)
    observation = jax.vmap(environment.observe, (0, None))(state, params)
    rows = lanes.limit.shape[0]
    return (observation, state, rule.memory(rows), jnp.ones(rows, bool)), keys


def _step(
    environment: Any,  # noqa: ANN401
    act: Callable[..., tuple[jax.Array, Tree]],
    params: Tree,
    lanes: Lanes,
    keys: jax.Array,
    carry: Carry,
    t: jax.Array,
    alive: jax.Array,
) -> tuple[Carry, jax.Array, jax.Array, list[jax.Array], jax.Array]:
    """One step of every lane that is alive; the others stay as they are."""
    observation, state, memory, _ = carry
    here = jax.vmap(jax.random.fold_in)(keys, lanes.offset + t + 1)
    split = jax.vmap(jax.random.split)(here)
    chosen, remembered = act(split[:, 0], observation, state, memory)
    action = _pick(lanes.forced & (t == 0), lanes.action, chosen)
    seen, new, reward, terminated, truncated, info = jax.vmap(environment.step, (0, 0, 0, None))(
        split[:, 1], state, action, params
    )
    rewards = [jnp.where(alive, value, 0.0) for value in info["reward"]]
    kept = jax.tree.map(lambda after, before: _pick(alive, after, before), (seen, new), (observation, state))
    carry = (*kept, remembered, alive & ~(terminated | truncated))
    return carry, action, jnp.where(alive, reward, 0.0), rewards, alive & terminated


def _one(environment: Any, lanes: Lanes, carry: Carry, keys: jax.Array, params: Tree) -> Any:  # noqa: ANN401
    """The reward components of a step, for their number."""
    state = jax.tree.map(lambda leaf: leaf[0], carry[1])
    return environment.step(keys[0], state, lanes.action[0], params)[-1]["reward"]


def _pick(choose: jax.Array | np.ndarray, first: jax.Array | np.ndarray, second: jax.Array) -> jax.Array:
    """Row-wise choice between two arrays of any rank."""
    return jnp.where(choose.reshape(choose.shape + (1,) * (second.ndim - 1)), first, second)
