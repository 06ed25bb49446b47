"""A small environment with any action space, to test what Treasure Grid does not use.

Step k pays k, so an episode of L steps returns L(L+1)/2. The state holds its own length, drawn at reset.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from evalxrl_envs.agents import ppo
from evalxrl_envs.core.protocol import Environment, pytree, typed
from evalxrl_envs.core.spaces import Box, Discrete, MultiDiscrete


@pytree
class State:
    length: Any
    signal: Any
    t: Any


@pytree
class Params:
    bonus: Any = 0.0
    horizon: Any = 6


class Reward(NamedTuple):
    count: Any
    match: Any


class Tiny(Environment[State, Params]):
    """`bonus` is paid for actions whose every entry is 1."""

    name = "tiny"
    components = Reward._fields
    exogenous_fields = ("length", "signal", "t")
    observation_space = Box(-4.0, 4.0, (3,))

    def __init__(self, action_space):
        self.action_space = action_space

    def initial(self, key, params):
        length = jax.random.randint(key, (), 1, 9)
        return State(length, jax.random.normal(key), jnp.int32(0))

    def transition(self, key, state, action, params):
        after = State(state.length, jax.random.normal(key), state.t + 1)
        return after, (after.t, action)

    def reward(self, effects, params):
        t, action = effects
        match = jnp.all(jnp.abs(action - 1) < 0.5)
        return Reward(t.astype(jnp.float32), params.bonus * match.astype(jnp.float32))

    def observe(self, state, params):
        return jnp.stack([jnp.clip(state.signal, -4, 4), state.t / 8, state.length / 8]).astype(jnp.float32)

    def terminated(self, state, params):
        return state.t >= state.length

    def bounds(self, params):
        return {"length": (1, 8), "t": (0, float(params.horizon))}


SPACES = [Discrete(3), MultiDiscrete((2, 3, 5)), Box(-1.0, 1.0, (2,))]


def tiny(space, **static):
    """The environment with a setting for short training."""
    env, params = Tiny(space), typed(Params(), {"bonus": 5.0})
    sizes = {"environments": 16, "steps": 16, "updates": 8, "normalise": True} | static
    hyper = typed(ppo.Hyper(), {"learning_rate": 1e-2})
    return env, ppo.Setting(env, ppo.Static(**sizes), hyper, np.array([0.0, 1.0], np.float32), params)
