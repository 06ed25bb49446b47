"""The policy and value networks, and the action distributions that the policy's outputs stand for."""

import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.protocol import Environment
from ..core.spaces import Box, Space

Parameters = dict[str, Any]
"""Arrays by flat name, such as `policy/0/w`."""

HIDDEN = (64, 64)
INITIAL_LOG_STD = -1.0


def output_size(space: Space) -> int:
    """Number of values that the last policy layer has."""
    return int(np.prod(space.shape)) if isinstance(space, Box) else sum(space.heads)


def orthogonal(generator: np.random.Generator, rows: int, columns: int, gain: float) -> np.ndarray:
    """Draws a matrix with orthogonal rows or columns, by Gram-Schmidt done twice."""
    basis = generator.standard_normal((min(rows, columns), max(rows, columns)))
    for i, vector in enumerate(basis):
        for _ in range(2):
            vector = vector - np.einsum("i,ij->j", np.einsum("ij,j->i", basis[:i], vector), basis[:i])
        basis[i] = vector / np.sqrt(np.einsum("j,j->", vector, vector))
    return (gain * (basis if rows <= columns else basis.T)).astype(np.float32)


def shapes(env: Environment) -> dict[str, tuple[int, ...]]:
    """The shape of every parameter, by name, in alphabetic order."""
    named: dict[str, tuple[int, ...]] = {}
    for network, outputs in (("policy", output_size(env.action_space)), ("value", 1)):
        for i, (rows, columns) in enumerate(itertools.pairwise((*env.observation_space.shape, *HIDDEN, outputs))):
            named |= {f"{network}/{i}/w": (rows, columns), f"{network}/{i}/b": (columns,)}
    if isinstance(env.action_space, Box):
        named["policy/log_std"] = (output_size(env.action_space),)
    return dict(sorted(named.items()))


def initial_parameters(generator: np.random.Generator, env: Environment) -> dict[str, np.ndarray]:
    """Draws orthogonal weights; the last layer is small for the policy and unscaled for the value."""
    parameters = {}
    for name, shape in shapes(env).items():
        if name.endswith("/w"):
            last = name.split("/")[1] == str(len(HIDDEN))
            gain = (0.01 if name.startswith("policy") else 1.0) if last else 2**0.5
            parameters[name] = orthogonal(generator, shape[0], shape[1], gain)
        else:
            parameters[name] = np.full(shape, INITIAL_LOG_STD if name == "policy/log_std" else 0.0, np.float32)
    return parameters


def flatten(parameters: Parameters) -> jax.Array:
    """All parameters as one vector, in the order of `shapes`."""
    return jnp.concatenate([array.ravel() for _, array in sorted(parameters.items())])


def unflatten(vector: jax.Array, env: Environment) -> Parameters:
    """The parameters that a vector holds."""
    parameters, start = {}, 0
    for name, shape in shapes(env).items():
        size = math.prod(shape)
        parameters[name] = vector[start : start + size].reshape(shape)
        start += size
    return parameters


def forward(parameters: Parameters, network: str, x: jax.Array) -> jax.Array:
    """Applies one network to inputs (..., d)."""
    for i in range(len(HIDDEN)):
        x = jnp.tanh(x @ parameters[f"{network}/{i}/w"] + parameters[f"{network}/{i}/b"])
    return x @ parameters[f"{network}/{len(HIDDEN)}/w"] + parameters[f"{network}/{len(HIDDEN)}/b"]


def policy(parameters: Parameters, x: jax.Array) -> jax.Array:
    """Policy outputs (..., k): the logits of all heads, or means followed by log standard deviations."""
    outputs = forward(parameters, "policy", x)
    if "policy/log_std" in parameters:
        outputs = jnp.concatenate([outputs, jnp.broadcast_to(parameters["policy/log_std"], outputs.shape)], -1)
    return outputs


def value(parameters: Parameters, x: jax.Array) -> jax.Array:
    """State values (...)."""
    return forward(parameters, "value", x)[..., 0]


def _heads(space: Space, outputs: jax.Array) -> list[jax.Array]:
    """Cuts logits into heads."""
    edges = np.cumsum([0, *space.heads])  # type: ignore[union-attr]
    return [outputs[..., a:b] for a, b in zip(edges[:-1], edges[1:], strict=True)]


def _join(space: Space, choices: list[jax.Array]) -> jax.Array:
    return jnp.stack(choices, -1) if space.shape else choices[0]


def noise(space: Space, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """The randomness of sampled actions: normal for a Box, Gumbel otherwise."""
    shape = (*shape, output_size(space))
    if isinstance(space, Box):
        return generator.standard_normal(shape, np.float32)
    return -np.log(np.maximum(generator.standard_exponential(shape, np.float32), 1e-30))


def sample(space: Space, outputs: jax.Array, noise: jax.Array) -> jax.Array:
    """Draws actions; those of a Box are not clipped."""
    if isinstance(space, Box):
        mean, log_std = jnp.split(outputs, 2, -1)
        return mean + jnp.exp(log_std) * noise
    return greedy(space, outputs + noise)


def greedy(space: Space, outputs: jax.Array) -> jax.Array:
    """The most probable actions."""
    if isinstance(space, Box):
        return jnp.split(outputs, 2, -1)[0]
    return _join(space, [jnp.argmax(head, -1).astype(jnp.int32) for head in _heads(space, outputs)])


def log_probability(space: Space, outputs: jax.Array, actions: jax.Array) -> jax.Array:
    """Log-probability or log-density of actions, summed over heads or axes."""
    if isinstance(space, Box):
        mean, log_std = jnp.split(outputs, 2, -1)
        z = (actions - mean) * jnp.exp(-log_std)
        return jnp.sum(-0.5 * z**2 - log_std - 0.5 * np.log(2 * np.pi), -1)
    choices = actions if space.shape else actions[..., None]
    total = jnp.zeros(outputs.shape[:-1])
    for i, head in enumerate(_heads(space, outputs)):
        chosen = choices[..., i, None] == np.arange(head.shape[-1])
        total += jnp.sum(jax.nn.log_softmax(head) * chosen, -1)
    return total


def entropy(space: Space, outputs: jax.Array) -> jax.Array:
    """Entropy of the distribution, summed over heads or axes."""
    if isinstance(space, Box):
        return jnp.sum(jnp.split(outputs, 2, -1)[1] + 0.5 * np.log(2 * np.pi * np.e), -1)
    total = jnp.zeros(outputs.shape[:-1])
    for head in _heads(space, outputs):
        log_p = jax.nn.log_softmax(head)
        total -= jnp.sum(jnp.exp(log_p) * log_p, -1)
    return total
