"""What a tool looks at: one environment, one agent acting in it, and the names of what they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import jax
import numpy as np

Tree = Any
"""Any pytree: a State, a Params, an agent's parameters."""


class Environment(Protocol):
    """The members of the environment contract that a simulation calls."""

    def __hash__(self) -> int: ...

    def reset(self, key: jax.Array, params: Tree) -> tuple[jax.Array, Tree]:
        """First observation and state of an episode."""
        ...

    def step(
        self, key: jax.Array, state: Tree, action: jax.Array, params: Tree
    ) -> tuple[jax.Array, Tree, jax.Array, jax.Array, jax.Array, Mapping[str, Any]]:
        """Observation, state, reward, terminated, truncated, info; never resets."""
        ...

    def observe(self, state: Tree, params: Tree) -> jax.Array:
        """The observation that belongs to a state."""
        ...


ActionRule = Callable[[Tree, jax.Array], jax.Array]
"""(agent, observations (B, d)) -> actions (B, ...)."""

SamplingRule = Callable[[Tree, jax.Array, jax.Array], jax.Array]
"""(agent, keys (B,), observations (B, d)) -> actions (B, ...)."""


@dataclass(frozen=True)
class Policy:
    """One agent: the ways in which it may act, and what its networks say; all are pure and traceable."""

    agent: Tree
    served: ActionRule
    greedy: ActionRule
    sampled: SamplingRule
    outputs: Callable[[Tree, jax.Array], jax.Array]
    """(agent, observations (B, d)) -> (B, k): the logits of all heads side by side, or the means of a box."""
    log_prob: Callable[[Tree, jax.Array, jax.Array], jax.Array]
    """(agent, observations (B, d), actions (B, ...)) -> (B,): log-probability or log-density."""
    entropy: Callable[[Tree, jax.Array], jax.Array]
    """(agent, observations (B, d)) -> (B,), in nats, summed over heads or axes."""
    value: Callable[[Tree, jax.Array], jax.Array]
    """(agent, observations (B, d)) -> (B,): the critic's V."""


@dataclass(frozen=True)
class Subject:
    """One environment with one agent, as a tool sees them."""

    name: str
    environment: Environment
    params: Tree
    policy: Policy
    action_space: Any
    action_names: tuple[tuple[str, ...], ...]
    """Per head the names of its categories; per axis of a box its one name."""
    obs_names: tuple[str, ...]
    """`group/name`, one per entry of the observation."""
    gamma: float
    gamma_source: str
    state_to_json: Callable[[Tree], dict[str, Any]]
    state_from_json: Callable[[dict[str, Any], Tree], Tree]
    reset_to: Callable[[Tree, Tree], tuple[jax.Array, Tree]]
    predicates: Callable[[Tree, Tree], dict[str, jax.Array]]
    """(state, params) -> named truths in a fixed order; traceable."""
    distance: Callable[[Tree, Tree], float]
    label: Callable[[Tree], str]
    training_rewards: Callable[[int, int], tuple[np.ndarray, np.ndarray]] | None = None
    """(seed, episodes) -> what the trainer learns from at each step of about so many episodes, (M,), and the documented
    components there, (M, C); none where there is no trainer."""
    remarks: tuple[str, ...] = field(default=())
    """Header lines that every output of this subject carries."""

    @property
    def horizon(self) -> int:
        """Steps after which an episode is truncated."""
        return int(self.params.horizon)

    @property
    def effort(self) -> int:
        """Numbers that a whole episode computes: steps times entries of state and observation."""
        shapes = jax.eval_shape(lambda key: self.environment.reset(key, self.params), jax.random.key(0))
        return self.horizon * sum(int(np.prod(leaf.shape)) for leaf in jax.tree.leaves(shapes))
