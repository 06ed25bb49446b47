"""What a tool looks at: one environment, one agent acting in it, and the names of what they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import jax

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
    """The ways in which one agent may act; all are pure and traceable."""

    agent: Tree
    served: ActionRule
    greedy: ActionRule
    sampled: SamplingRule


@dataclass(frozen=True)
class Subject:
    """One environment with one agent, as a tool sees them."""

    name: str
    environment: Environment
    params: Tree
    policy: Policy
    action_space: Any
    action_names: tuple[str, ...]
    gamma: float
    gamma_source: str
    state_to_json: Callable[[Tree], dict[str, Any]]
    state_from_json: Callable[[dict[str, Any], Tree], Tree]
    reset_to: Callable[[Tree, Tree], tuple[jax.Array, Tree]]
    label: Callable[[Tree], str]
    remarks: tuple[str, ...] = field(default=())
    """Header lines that every output of this subject carries."""

    @property
    def horizon(self) -> int:
        """Steps after which an episode is truncated."""
        return int(self.params.horizon)
