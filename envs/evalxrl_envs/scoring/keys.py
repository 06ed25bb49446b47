"""The secret randomness of a scoring run: the episodes' key, and the lane permutations of the wire."""

import jax
import numpy as np

from ..core.keys import hex_seed, seed_key


def episodes_key(seed: str) -> jax.Array:
    """The key from which all episodes follow, of a 32-byte seed in hexadecimal."""
    return seed_key(hex_seed(seed))


def permutation_generator(seed: str) -> np.random.Generator:
    """The generator of lane permutations and repeated batches; it uses all 32 bytes."""
    hex_seed(seed)
    return np.random.Generator(np.random.PCG64(int(seed, 16)))
