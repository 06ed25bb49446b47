"""Which observations stand for one of which only some entries are known; pure JAX, so that rules may trace it.

Counted: those seen with exactly these entries, in proportion to how often. Kernel: all of the background, weighted by
exp(-1/2 sum over the known entries of ((s'_i - s_i) / (.25 sigma_i))^2).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 0.25
"""Width of the kernel as a share of the standard deviation of an entry."""

LEAST = 5.0
"""Effective number of observations below which a kernel says too little."""


CLOSE = 1e-6
"""Relative difference of entries that count as equal: two programs may round differently."""


class Table(NamedTuple):
    """The observations that may stand for another; arrays, so that a rule may carry it."""

    observations: jax.Array | np.ndarray
    """(M, d)."""
    log_weights: jax.Array | np.ndarray
    """(M,)."""
    scales: jax.Array | np.ndarray
    """Width of the kernel per entry, (d,); infinite where an entry never varies."""


class Standing(NamedTuple):
    """Log-weights of the table for each of K partly known observations, and whether they carry enough."""

    log_weights: jax.Array
    """(K, M), not normalised."""
    enough: jax.Array
    """(K,) bool."""


def table(observations: np.ndarray, weights: np.ndarray, deviations: np.ndarray) -> Table:
    """A table from observations (M, d), positive weights (M,) and the standard deviations of entries (d,)."""
    scales = np.where(deviations > 0, WIDTH * deviations, np.inf)
    return Table(observations.astype(np.float32), np.log(weights).astype(np.float32), scales.astype(np.float32))


def same(one: jax.Array | np.ndarray, other: jax.Array | np.ndarray) -> jax.Array:
    """Which entries are equal but for the last digits of a 32-bit number."""
    return abs(one - other) <= CLOSE * (1 + abs(other))


def counted(rows: Table, observations: jax.Array, known: jax.Array) -> Standing:
    """Exact agreement on the entries known (K, d) of observations (K, d); not enough where none agrees."""
    agrees = jnp.all(same(rows.observations[None], observations[:, None]) | ~known[:, None], axis=2)
    return Standing(jnp.where(agrees, rows.log_weights, -jnp.inf), jnp.any(agrees, axis=1))


def kernel(rows: Table, observations: jax.Array, known: jax.Array) -> Standing:
    """Nearness on the entries known (K, d) of observations (K, d); enough from an effective number of `LEAST`."""
    apart = (rows.observations[None] - observations[:, None]) / rows.scales
    log_weights = rows.log_weights - 0.5 * jnp.sum(jnp.where(known[:, None], apart, 0.0) ** 2, axis=2)
    weights = jnp.exp(log_weights - jnp.max(log_weights, axis=1, keepdims=True))
    effective = jnp.sum(weights, axis=1) ** 2 / jnp.sum(weights**2, axis=1)
    return Standing(log_weights, effective >= LEAST)
