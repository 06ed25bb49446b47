"""The three worlds implement the environment contract and have the answers that dossiers rely on."""

from __future__ import annotations

import itertools
import json

import jax
import numpy as np
import pytest

import exact
from fixtures import F6, GWA, GWB, Params, World

WORLDS = pytest.mark.parametrize("world", [F6, GWA, GWB], ids=lambda world: world.name)


@WORLDS
def test_a_state_survives_json_and_reset_to_gives_the_observation_of_step(world: World) -> None:
    params = Params(slip=0.1)
    step = jax.jit(world.step)
    _, state = world.reset(jax.random.key(3), params)
    for t in range(12):
        observation, state, _, terminated, _, _ = step(jax.random.key(t), state, t % 4, params)
        if terminated:
            break
        again = world.state_from_json(json.loads(json.dumps(world.state_to_json(state))), params)
        restarted, same = world.reset_to(again, params)
        assert np.array_equal(restarted, observation)
        assert jax.tree.leaves(same) == jax.tree.leaves(state)


@WORLDS
def test_the_reward_is_the_sum_of_its_components_in_every_cell(world: World) -> None:
    step = jax.jit(world.step)
    for cell, action in itertools.product(range(len(world.cells)), range(4)):
        state = world.at(world.cells[cell])
        _, _, reward, _, _, info = step(jax.random.key(0), state, action, Params())
        assert float(reward) == pytest.approx(sum(float(part) for part in info["reward"]), abs=1e-5)


@WORLDS
def test_distance_is_symmetric_never_negative_and_zero_for_equal_states(world: World) -> None:
    for one, other in itertools.product(world.cells, repeat=2):
        there, back = (world.distance(world.at(a), world.at(b)) for a, b in ((one, other), (other, one)))
        assert there == back >= 0
        assert (there == 0) == (one == other)


@WORLDS
def test_a_place_outside_the_world_is_refused_with_the_name_of_the_field(world: World) -> None:
    with pytest.raises(ValueError, match="cell"):
        world.reset_to(type(world.at(world.cells[0]))(99, 0), Params())
    with pytest.raises(ValueError, match="t: 50"):
        world.reset_to(world.at(world.cells[0], 50), Params())


@WORLDS
def test_predicates_have_a_fixed_order_and_take_both_values(world: World) -> None:
    seen = [world.predicates(world.at(cell), Params()) for cell in world.cells]
    assert len({tuple(each) for each in seen}) == 1
    varied = {name for name in seen[0] if len({bool(each[name]) for each in seen}) == 2}
    assert varied >= ({"pit_left", "pit_right", "large_right"} if world is F6 else {"left_column"})


@WORLDS
def test_truncation_is_first_true_at_the_horizon(world: World) -> None:
    step = jax.jit(world.step)
    state = world.at(world.cells[0], 48)
    flags = []
    for _ in range(2):
        _, state, _, _, truncated, _ = step(jax.random.key(0), state, 2 if world is not F6 else 0, Params())
        flags.append(bool(truncated))
    assert flags == [False, True]


def test_distance_of_mirrored_cells_of_f6_is_not_zero() -> None:
    assert F6.distance(F6.at((0, 1)), F6.at((1, 0))) == pytest.approx(1.414, abs=1e-3)


def test_f6_has_29_free_cells_and_the_listed_optimal_values() -> None:
    q = exact.optimal_q(F6)
    assert len(F6.cells) == 29
    down, right = q[F6.cells.index((4, 4))][[1, 3]]
    assert (down, right) == (9.5, -5.0)
    spread = q.max(axis=1) - q.min(axis=1)
    top = sorted(zip(spread, F6.cells, strict=True), reverse=True)[:3]
    assert [round(float(value), 3) for value, _ in top] == [14.5, 14.025, 14.025]
    assert {cell for _, cell in top[1:]} == {(3, 4), (4, 3)}


def test_f6_values_at_the_free_cells_under_the_best_and_under_uniform_actions() -> None:
    best = exact.evaluate(F6, exact.greedy(exact.optimal_q(F6))).v.mean(axis=0)
    blind = exact.evaluate(F6, exact.uniform(F6)).v.mean(axis=0)
    assert best == pytest.approx([7.959, 0, 0], abs=1e-3)
    assert blind == pytest.approx([0.381, 0.126, -3.016], abs=1e-3)
    assert blind.sum() == pytest.approx(-2.509, abs=1e-3)


def test_the_passages_are_worth_ten_less_one_a_step() -> None:
    wide = exact.optimal_q(GWA).max(axis=1)
    assert dict(zip(GWA.cells, wide, strict=True)) == {(0, 0): 8, (1, 0): 8, (0, 1): 9, (1, 1): 9}
    blocked = dict(zip(GWB.cells, exact.optimal_q(GWB).max(axis=1), strict=True))
    assert blocked == {(0, 0): 6, (1, 0): 7, (1, 1): 8, (0, 2): 9, (1, 2): 9}


def test_occupancy_counts_the_ways_of_the_optimal_policy_from_both_starts() -> None:
    policy = exact.uniform_over_best(exact.optimal_q(GWA))
    assert exact.occupancy(GWA, policy) == pytest.approx([0.25] * 4)
    policy = exact.uniform_over_best(exact.optimal_q(GWB))
    assert dict(zip(GWB.cells, exact.occupancy(GWB, policy), strict=True)) == pytest.approx(
        {(0, 0): 1 / 7, (1, 0): 2 / 7, (1, 1): 2 / 7, (0, 2): 0, (1, 2): 2 / 7}
    )
