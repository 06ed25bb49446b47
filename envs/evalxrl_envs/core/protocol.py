"""The environment interface: what an environment defines and how one step is composed of it."""

import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, dataclass_transform

import jax
import numpy as np

from .spaces import Box, Space

SIMPLE = {"xla_cpu_use_fusion_emitters": False}
"""Compiler options for programs that take longer to compile than to run."""

SIMPLEST = SIMPLE | {"xla_backend_optimization_level": 0}
"""Compiler options for programs that hardly run at all."""

T = TypeVar("T")
S = TypeVar("S")
P = TypeVar("P")


@dataclass_transform(frozen_default=True)
def pytree(cls: type[T]) -> type[T]:
    """Makes a class a frozen dataclass whose fields are leaves of a JAX pytree."""
    return jax.tree_util.register_dataclass(dataclass(frozen=True)(cls))


def typed(record: T, changes: Mapping[str, Any] | None = None) -> T:
    """Returns the dataclass with its scalars as int32 or float32, so that a new value never means a new type."""
    values = {f.name: getattr(record, f.name) for f in fields(record)}  # type: ignore[arg-type]
    kinds = {k: np.int32 if np.issubdtype(np.asarray(v).dtype, np.integer) else np.float32 for k, v in values.items()}
    values.update(changes or {})
    return replace(record, **{k: np.asarray(v, kinds[k]) for k, v in values.items()})  # type: ignore[type-var]


class Step(NamedTuple):
    """What `Environment.step` returns; the two flags may both be true."""

    observation: jax.Array
    state: Any
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    info: dict[str, Any]


class Environment(ABC, Generic[S, P]):
    """A pure environment in the manner of gymnax; a subclass defines the abstract methods."""

    name: ClassVar[str]
    components: ClassVar[tuple[str, ...]]
    exogenous_fields: ClassVar[tuple[str, ...]] = ()
    ends: ClassVar[bool] = True
    action_space: Space
    observation_space: Box

    @abstractmethod
    def initial(self, key: jax.Array, params: P) -> S:
        """Draws the first state of an episode."""

    def exogenous(self, state: S, params: P) -> Any:
        """What acts on the environment from outside at this state."""
        return ()

    @abstractmethod
    def transition(self, key: jax.Array, state: S, action: jax.Array, params: P) -> tuple[S, Any]:
        """Moves one step; returns the new state and the effects that the reward reads."""

    @abstractmethod
    def reward(self, effects: Any, params: P) -> Any:
        """Returns the reward components, a NamedTuple of float32 scalars."""

    @abstractmethod
    def observe(self, state: S, params: P) -> jax.Array:
        """Returns the observation, float32 (d,)."""

    @abstractmethod
    def terminated(self, state: S, params: P) -> jax.Array:
        """True when the episode ends in this state."""

    @abstractmethod
    def bounds(self, params: P) -> dict[str, tuple[float, float]]:
        """Smallest and largest valid value of each state field."""

    def reset(self, key: jax.Array, params: P) -> tuple[jax.Array, S]:
        """Starts an episode."""
        state = self.initial(key, params)
        return self.observe(state, params), state

    def step(self, key: jax.Array, state: S, action: jax.Array, params: P) -> Step:
        """Takes one step and never resets."""
        after, effects = self.transition(key, state, action, params)
        components = self.reward(effects, params)
        return Step(
            self.observe(after, params),
            after,
            functools.reduce(operator.add, components),
            self.terminated(after, params),
            after.t >= params.horizon,  # type: ignore[attr-defined]
            {"reward": components, "effects": effects},
        )
