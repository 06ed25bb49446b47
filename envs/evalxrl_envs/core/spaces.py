"""Action and observation spaces: samplers and membership tests that run under jit."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class MultiDiscrete:
    """One choice per head, heads of any sizes; int32 (k,)."""

    n: tuple[int, ...]
    dtype = np.int32

    @property
    def heads(self) -> tuple[int, ...]:
        """Number of categories of each head."""
        return self.n

    @property
    def shape(self) -> tuple[int, ...]:
        """One entry per head."""
        return (len(self.heads),)

    def sample(self, key: jax.Array) -> jax.Array:
        """Draws every head uniformly."""
        return (jax.random.uniform(key, self.shape) * np.asarray(self.n, np.float32)).astype(jnp.int32)

    def contains(self, x: jax.Array) -> jax.Array:
        """True when every head is one of its choices."""
        return jnp.all((x >= 0) & (x < np.asarray(self.n)))

    def describe(self) -> dict[str, Any]:
        """The space as the agent protocol names it."""
        return {"kind": "multi_discrete", "n": list(self.n)}


@dataclass(frozen=True)
class Discrete(MultiDiscrete):
    """One choice out of n; an int32 scalar."""

    n: int  # type: ignore[assignment]
    shape = ()  # type: ignore[assignment]

    @property
    def heads(self) -> tuple[int, ...]:
        """One head."""
        return (self.n,)

    def describe(self) -> dict[str, Any]:
        """The space as the agent protocol names it."""
        return {"kind": "discrete", "n": self.n}


@dataclass(frozen=True)
class Box:
    """Float32 values between two bounds, the same for every entry."""

    low: float
    high: float
    shape: tuple[int, ...]
    dtype = np.float32

    def sample(self, key: jax.Array) -> jax.Array:
        """Draws uniformly between the bounds."""
        return jax.random.uniform(key, self.shape, jnp.float32, self.low, self.high)

    def contains(self, x: jax.Array) -> jax.Array:
        """True when every entry lies between the bounds."""
        return jnp.all((x >= self.low) & (x <= self.high))

    def describe(self) -> dict[str, Any]:
        """The space as the agent protocol names it."""
        size = int(np.prod(self.shape))
        return {"kind": "box", "shape": list(self.shape), "low": [self.low] * size, "high": [self.high] * size}


Space = MultiDiscrete | Box
