"""Greedy episodes in this process: the same compiled policy as the server's, the same steps as the scorer's."""

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
    draw = jax.jit(jax.vmap(space.sample))
    count = 0

    def act(observations: np.ndarray) -> np.ndarray:
        nonlocal count
        count += 1
        return np.asarray(draw(jax.random.split(jax.random.fold_in(key, count), len(observations))))

    return act


def evaluate(
    env: Environment, params: Any, act: Callable[[np.ndarray], np.ndarray], key: jax.Array, episodes: int
) -> Lockstep:
    """Plays one episode per lane to its end; returns, lengths and components are on the result."""
    lanes = Lockstep(env, params, key, episodes)
    while lanes.active.any():
        lanes.step(act(lanes.observations))
    return lanes


def states_of_episode(
    env: Environment, params: Any, act: Callable[[np.ndarray], np.ndarray], key: jax.Array
) -> list[Any]:
    """Plays one episode; returns its states, the first and the last included."""
    lanes, states = Lockstep(env, params, key, 1), []
    while True:
        states.append(jax.tree.map(lambda x: np.asarray(x)[0], lanes.states))
        if not lanes.active.any():
            return states
        lanes.step(act(lanes.observations))
