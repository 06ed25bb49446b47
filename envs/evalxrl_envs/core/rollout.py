"""Playing: steps with auto-reset inside a JAX program, and whole episodes in lockstep with a policy outside it."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .keys import episode_keys, reset_key, step_key
from .protocol import SIMPLEST, Environment, Step

Policy = Callable[[jax.Array, jax.Array], jax.Array]
"""A function of a key and one observation, giving one action."""


def _where(condition: jax.Array, a: Any, b: Any) -> Any:
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), a, b)


def autoreset_step(env: Environment, key: jax.Array, state: Any, action: jax.Array, params: Any) -> Step:
    """Steps, and after an ending returns the next episode's first observation and state.

    The key is split in two, for the step and for the reset. `info["final_observation"]` is the observation
    before any reset.
    """
    for_step, for_reset = jax.random.split(key)
    step = env.step(for_step, state, action, params)
    fresh = env.reset(for_reset, params)
    observation, state = _where(step.terminated | step.truncated, fresh, (step.observation, step.state))
    info = step.info | {"final_observation": step.observation}
    return step._replace(observation=observation, state=state, info=info)


def autoreset_steps(env: Environment, keys: jax.Array, states: Any, actions: jax.Array, params: Any) -> Step:
    """Does the same for a batch, the keys (n, 2) split already; draws new episodes only after a step that ended one."""
    step = jax.vmap(env.step, (0, 0, 0, None))(keys[:, 0], states, actions, params)
    done, kept = step.terminated | step.truncated, (step.observation, step.state)

    def restart() -> Any:
        return jax.vmap(_where)(done, jax.vmap(env.reset, (0, None))(keys[:, 1], params), kept)

    observation, state = jax.lax.cond(done.any(), restart, lambda: kept)
    info = step.info | {"final_observation": step.observation}
    return step._replace(observation=observation, state=state, info=info)


def rollout(env: Environment, policy: Policy, keys: jax.Array, params: Any, length: int) -> Step:
    """Plays `length` steps with auto-reset from each key; the results have axes (keys, length)."""
    split = jax.vmap(jax.random.split, (0, None), 1)
    for_reset, for_steps = split(keys, 2)

    def advance(carry: tuple[jax.Array, Any], keys: jax.Array) -> tuple[tuple[jax.Array, Any], Step]:
        for_policy, for_step = split(keys, 2)
        action = jax.vmap(policy)(for_policy, carry[0])
        step = autoreset_steps(env, split(for_step, 2).T, carry[1], action, params)
        return (step.observation, step.state), step

    start = jax.vmap(env.reset, (0, None))(for_reset, params)
    steps = jax.lax.scan(advance, start, split(for_steps, length))[1]
    return jax.tree.map(lambda x: jnp.moveaxis(x, 0, 1), steps)


@cache
def _lanes(env: Environment) -> tuple[Callable, Callable]:
    """The compiled reset and step of a batch of episodes."""

    @partial(jax.jit, static_argnames="count", compiler_options=SIMPLEST)
    def reset(key: jax.Array, params: Any, count: int) -> Any:
        keys = episode_keys(key, count)
        return keys, jax.vmap(lambda key: env.reset(reset_key(key), params))(keys)

    @partial(jax.jit, compiler_options=SIMPLEST)
    def step(keys: jax.Array, t: jax.Array, old: Any, actions: jax.Array, active: jax.Array, params: Any) -> Any:
        def one(key: jax.Array, old: Any, action: jax.Array, active: jax.Array) -> Any:
            new = env.step(step_key(key, t), old[1], action, params)
            kept = _where(active, (new.observation, new.state), old)
            return kept, new.terminated, new.truncated, jnp.stack([new.reward, *new.info["reward"]])

        return jax.vmap(one)(keys, old, actions, active)

    return reset, step


class Lockstep:
    """A batch of episodes, one per lane, played to their first ending by actions that come from outside.

    `observations` (lanes, d) and `active` (lanes,) say what to act on; a finished lane keeps its last
    observation. Returns and components are summed in float64 in the order of the steps.
    """

    def __init__(self, env: Environment, params: Any, key: jax.Array, lanes: int) -> None:
        reset, self._step = _lanes(env)
        self._params = params
        self._keys, self._now = reset(key, params, lanes)
        self._sums = np.zeros((lanes, 1 + len(env.components)))
        self._names = env.components
        self.observations = np.asarray(self._now[0])
        self.active = np.ones(lanes, bool)
        self.terminated = np.zeros(lanes, bool)
        self.lengths = np.zeros(lanes, int)
        self.t = 0

    def step(self, actions: np.ndarray) -> None:
        """Plays one action in every lane still active."""
        now, terminated, truncated, rewards = self._step(
            self._keys, np.int32(self.t), self._now, actions, self.active, self._params
        )
        self._now, self.observations, terminated = now, np.asarray(now[0]), np.asarray(terminated)
        self._sums[self.active] += np.asarray(rewards)[self.active]
        self.lengths += self.active
        self.terminated |= self.active & terminated
        self.active = self.active & ~(terminated | np.asarray(truncated))
        self.t += 1

    @property
    def states(self) -> Any:
        """The current states, with a leading axis of lanes."""
        return self._now[1]

    @property
    def returns(self) -> np.ndarray:
        """Sum of rewards so far, per lane."""
        return self._sums[:, 0]

    @property
    def component_returns(self) -> dict[str, np.ndarray]:
        """Sum of each reward component so far, per lane."""
        return {name: self._sums[:, 1 + i] for i, name in enumerate(self._names)}
