"""Integrated gradients: completeness, closed forms, unused entries."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution import gradients


def network(generator: np.random.Generator, size: int = 6) -> list[np.ndarray]:
    shapes = [(size, 64), (64, 64), (64, 1)]
    return [(generator.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32) for shape in shapes]


def answer(weights: list[np.ndarray], row: jax.Array) -> jax.Array:
    return (jnp.tanh(jnp.tanh(row @ weights[0]) @ weights[1]) @ weights[2])[0]


def slopes(weights: list[np.ndarray]) -> gradients.Gradients:
    program = jax.jit(jax.vmap(jax.grad(lambda row: answer(weights, row))))
    return lambda rows: np.asarray(program(rows), np.float64)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_shares_add_up_to_the_difference_of_the_ends(seed: int) -> None:
    generator = np.random.default_rng(seed)
    weights = network(generator)
    x, base = generator.normal(size=(2, 6)).astype(np.float32)
    phi = gradients.integrated(slopes(weights), x, base)
    assert phi.sum() == pytest.approx(float(answer(weights, x) - answer(weights, base)), abs=1e-3)


def test_an_unused_entry_gets_exactly_nothing_and_duplicates_the_same() -> None:
    generator = np.random.default_rng(0)
    weights = network(generator)
    weights[0][2] = 0
    weights[0][4] = weights[0][1]
    x = generator.normal(size=6).astype(np.float32)
    x[4] = x[1]
    phi = gradients.integrated(slopes(weights), x, np.zeros(6))
    assert phi[2] == 0
    assert phi[4] == pytest.approx(phi[1], abs=1e-6)


def test_a_linear_output_gives_weight_times_distance_from_the_baseline() -> None:
    generator = np.random.default_rng(1)
    w, x, base = generator.normal(size=(3, 5))
    phi = gradients.integrated(lambda rows: np.broadcast_to(w, rows.shape), x, base)
    assert phi == pytest.approx(w * (x - base))
    assert gradients.by_group(phi, [slice(0, 2), slice(2, 5)]) == pytest.approx([phi[:2].sum(), phi[2:].sum()])


def test_a_square_is_integrated_exactly_by_midpoints() -> None:
    phi = gradients.integrated(lambda rows: 2 * rows.astype(np.float64), np.array([3.0]), np.array([1.0]))
    assert phi == pytest.approx([8.0], abs=1e-6)
