"""Greedy episodes in this process: the same compiled policy as the server's, the same steps as the scorer's."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np

from ..core.protocol import Environment
from ..core.rollout import Lockstep
from ..core.spaces import Space
from . import networks, normalise
from .checkpoint import Agent


@partial(jax.jit, static_argnames="space")
def greedy_actions(
    parameters: networks.Parameters, moments: normalise.Moments | None, observations: jax.Array, space: Space
) -> jax.Array:
    """The most probable actions for observations (n, d)."""
    return networks.greedy(space, networks.policy(parameters, normalise.apply(moments, observations)))


def greedy_policy(agent: Agent, space: Space) -> Callable[[np.ndarray], np.ndarray]:
    """The agent as a function from observations (n, d) to actions."""
    parameters, moments = jax.device_put((agent.parameters, agent.moments))
    return lambda observations: np.asarray(greedy_actions(parameters, moments, observations, space))


def random_policy(key: jax.Array, space: Space) -> Callable[[np.ndarray], np.ndarray]:
    """Uniform actions, as a function from observations (n, d) to actions."""
    draw = jax.jit(lambda keys: jax.vmap(space.sample)(keys))
    calls = itertools.count()

    def act(observations: np.ndarray) -> np.ndarray:
        return np.asarray(draw(jax.random.split(jax.random.fold_in(key, next(calls)), len(observations))))

    return act


def evaluate(
    env: Environment,
    params: Any,
    act: Callable[[np.ndarray], np.ndarray],
    key: jax.Array,
    episodes: int,
    watch: Callable[[Any], None] = lambda states: None,
) -> Lockstep:
    """Plays one episode per lane to its end; `watch` sees the states of all lanes, the first and the last included."""
    lanes = Lockstep(env, params, key, episodes)
    watch(lanes.states)
    while lanes.active.any():
        lanes.step(act(lanes.observations))
        watch(lanes.states)
    return lanes
