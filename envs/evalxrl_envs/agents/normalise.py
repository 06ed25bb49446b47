"""Running mean and variance of observations, and the scaling by them."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

CLIP = 5.0


class Moments(NamedTuple):
    """Mean (d,), variance (d,) and count of what was seen."""

    mean: jax.Array
    var: jax.Array
    count: jax.Array  # type: ignore[assignment]


def initial(size: int) -> Moments:
    """Moments before anything was seen."""
    return Moments(np.zeros(size, np.float32), np.ones(size, np.float32), np.float32(1e-4))  # type: ignore[arg-type]


@jax.jit
def merge(moments: Moments, observations: jax.Array) -> Moments:
    """Adds a batch of observations (..., d)."""
    seen = observations.reshape(-1, observations.shape[-1])
    count, mean, var = seen.shape[0], seen.mean(0), seen.var(0)
    total, delta = moments.count + count, mean - moments.mean
    squares = moments.var * moments.count + var * count + delta**2 * moments.count * count / total
    return Moments(moments.mean + delta * count / total, squares / total, total)


def apply(moments: Moments | None, observations: jax.Array) -> jax.Array:
    """Scales observations (..., d); without moments they stay as they are."""
    if moments is None:
        return observations
    return jnp.clip((observations - moments.mean) / jnp.sqrt(moments.var + 1e-8), -CLIP, CLIP)
