"""A policy with one rule on top of it, as a way of acting that a simulation can follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from deviation.rule import Rule
from xrl_common import outcome
from xrl_common.simulation import Acting, Simulator
from xrl_common.subject import Tree


class Overlay(NamedTuple):
    """The arrays of a foil; other rules need no new compilation."""

    agent: Tree
    demands: jax.Array | np.ndarray
    """(predicates,) 1 to hold, 0 not to, -1 not asked, 2 never met."""
    action: jax.Array | np.ndarray


@dataclass(frozen=True)
class Foil:
    """Acts as the policy does, and by the rule's action where its demands are met; remembers nothing."""

    way: Callable[..., jax.Array]
    by_chance: bool
    predicates: Callable[[Tree, Tree], dict[str, jax.Array]]
    names: tuple[str, ...]
    """The order of the demands; JAX gives dictionaries back in an order of its own."""

    def memory(self, rows: int) -> Tree:
        """Nothing."""
        return ()

    def __call__(
        self, agent: Overlay, memory: Tree, keys: jax.Array, observations: jax.Array, states: Tree, params: Tree
    ) -> tuple[jax.Array, Tree]:
        """Actions (B, ...)."""
        given = (keys, observations) if self.by_chance else (observations,)
        own = self.way(agent.agent, *given)
        true = jax.vmap(self.predicates, (0, None))(states, params)
        asks = fires(jnp.stack([true[name] for name in self.names], axis=-1), agent.demands)
        return jnp.where(asks.reshape(-1, *(1,) * (own.ndim - 1)), agent.action.astype(own.dtype), own), memory


def fires(true: jax.Array | np.ndarray, demands: jax.Array | np.ndarray) -> jax.Array | np.ndarray:
    """Whether a rule's demands are met; `true` (..., predicates) bool gives (...)."""
    return ((demands == -1) | (true == demands)).all(axis=-1)


def foil(simulator: Simulator, rule: Rule, action: np.ndarray) -> Simulator:
    """The simulator whose agent follows the rule where it applies, and acts as before elsewhere."""
    policy, chance = simulator.subject.policy, simulator.acting is Acting.SAMPLED
    ways = {Acting.SERVED: policy.served, Acting.GREEDY: policy.greedy, Acting.SAMPLED: policy.sampled}
    names = outcome.names(simulator)
    demands = np.array(rule.demands(names), np.int32)
    acting = Foil(ways[simulator.acting], chance, simulator.subject.predicates, names)
    return simulator.acting_by(acting, Overlay(policy.agent, demands, np.asarray(action)))
