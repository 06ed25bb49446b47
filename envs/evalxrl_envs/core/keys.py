"""Random keys by name: the key of a run, of an episode in it, and of a step in that."""

import jax
import jax.numpy as jnp


def seed_key(seed: int) -> jax.Array:
    """Makes a key of an unsigned 64-bit seed, high word first."""
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed {seed} is not an unsigned 64-bit number")
    return jax.random.wrap_key_data(jnp.array([seed >> 32, seed & 0xFFFFFFFF], jnp.uint32))


def hex_seed(text: str) -> int:
    """Reads a 32-byte seed in hexadecimal; its first 8 bytes, little-endian, are the 64-bit seed."""
    data = bytes.fromhex(text)
    if len(data) != 32:
        raise ValueError(f"a seed has 64 hexadecimal digits, not {len(text)}")
    return int.from_bytes(data[:8], "little")


def episode_keys(key: jax.Array, episodes: int) -> jax.Array:
    """One key per episode; episode e has the same key whatever their number."""
    return jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(episodes))


def reset_key(episode: jax.Array) -> jax.Array:
    """The key of an episode's reset."""
    return jax.random.fold_in(episode, 0)


def step_key(episode: jax.Array, t: jax.Array | int) -> jax.Array:
    """The key of an episode's step t, counted from 0."""
    return jax.random.fold_in(episode, t + 1)
