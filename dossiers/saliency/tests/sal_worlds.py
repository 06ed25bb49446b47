"""Fixtures as the tests of this dossier use them: long passages, and a grid whose agent is linear."""

from __future__ import annotations

import functools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

import exact
from fixtures import F6, Params, World
from xrl_common.subject import Policy, Subject, Tree

EVEN = 16
"""A seed whose 64 episodes of a passage begin 32 times in each of its starts."""

LOGITS = np.array([[0.0, 0.0], [-6.0, 0.0], [0.0, 0.0], [0.0, -2.0]], np.float32)
"""Weights of row and column, both from 0 to 1, in the logits of up, down, left and right."""

OFFSETS = np.array([0.0, 6.0, 0.0, 4.0], np.float32)
CRITIC = np.array([1.0, 3.0], np.float32)


def passage(world: World) -> Subject:
    """A passage world whose clock does not matter, with the optimal agent and its exact critic."""
    policy = exact.uniform_over_best(exact.optimal_q(world))
    return world.subject(policy, Params(horizon=500), exact.evaluate(world, policy).v.sum(axis=1))


@functools.cache
def linear() -> Subject:
    """F6 with row and column as two groups; the agent's logits and its V are linear in them."""

    def outputs(agent: Tree, observations: jax.Array) -> jax.Array:
        return observations @ agent["logits"].T + OFFSETS

    def greedy(agent: Tree, observations: jax.Array) -> jax.Array:
        return jnp.argmax(outputs(agent, observations), axis=1).astype(jnp.int32)

    def sampled(agent: Tree, keys: jax.Array, observations: jax.Array) -> jax.Array:
        return jax.vmap(jax.random.categorical)(keys, outputs(agent, observations)).astype(jnp.int32)

    def log_prob(agent: Tree, observations: jax.Array, actions: jax.Array) -> jax.Array:
        logs = jax.nn.log_softmax(outputs(agent, observations))
        return jnp.take_along_axis(logs, actions[:, None], axis=1)[:, 0]

    def entropy(agent: Tree, observations: jax.Array) -> jax.Array:
        logs = jax.nn.log_softmax(outputs(agent, observations))
        return -jnp.sum(jnp.exp(logs) * logs, axis=1)

    policy = Policy(
        agent={"logits": LOGITS, "critic": CRITIC},
        served=greedy,
        greedy=greedy,
        sampled=sampled,
        outputs=outputs,
        log_prob=log_prob,
        entropy=entropy,
        value=lambda agent, observations: observations @ agent["critic"],
    )
    subject = F6.subject(exact.uniform(F6))
    return replace(subject, policy=policy, obs_names=("row/row", "column/column"))
