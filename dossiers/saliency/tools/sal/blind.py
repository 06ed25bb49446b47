"""An agent that acts on partly known observations: a rule for the simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribution import conditional
from attribution.conditional import Table
from xrl_common.subject import Tree


class Blindness(NamedTuple):
    """The arrays of the rule, for a batch of B lanes."""

    agent: Tree
    known: np.ndarray
    """(B, d) bool: the entries that a lane's agent knows."""
    table: Table
    place: np.ndarray
    """(d,): the observation where knowledge is lacking, unless it lacks everywhere."""
    everywhere: np.ndarray
    """A bool."""


@dataclass(frozen=True)
class Blind:
    """Draws a visited observation in place of a partly known one, and lets the policy act on it."""

    way: Callable[..., jax.Array]
    """The policy's own way of acting."""
    by_chance: bool
    """Whether it takes keys."""
    counted: bool
    """Whether the table holds all observations there are; otherwise a kernel weighs it."""

    def memory(self, rows: int) -> Tree:
        """Nothing."""
        return ()

    def __call__(
        self, given: Blindness, memory: Tree, keys: jax.Array, observations: jax.Array, states: Tree, params: Tree
    ) -> tuple[jax.Array, Tree]:
        """Actions by sum over s' of p(s' | s_C) pi(. | s')."""
        split = jax.vmap(jax.random.split)(keys)
        here = given.everywhere | jnp.all(conditional.same(observations, given.place), axis=1)
        seen = jax.lax.cond(
            jnp.any(here),
            lambda: jnp.where(here[:, None], self.imagine(given, split[:, 0], observations), observations),
            lambda: observations,
        )
        taken = (split[:, 1], seen) if self.by_chance else (seen,)
        return self.way(given.agent, *taken), memory

    def imagine(self, given: Blindness, keys: jax.Array, observations: jax.Array) -> jax.Array:
        """One observation drawn for each of (B, d); itself where all is known.

        Where a kernel carries too little the entries known stay, and the others are those of a background observation.
        Where nothing counted agrees, the observation stays as it is.
        """
        rows = given.table
        weigh = conditional.counted if self.counted else conditional.kernel
        standing = weigh(rows, observations, given.known)
        logits = jnp.where(standing.enough[:, None], standing.log_weights, rows.log_weights)
        stand = rows.observations[jax.vmap(jax.random.categorical)(keys, logits)]
        otherwise = observations if self.counted else jnp.where(given.known, observations, stand)
        drawn = jnp.where(standing.enough[:, None], stand, otherwise)
        return jnp.where(jnp.all(given.known, axis=1)[:, None], observations, drawn)
