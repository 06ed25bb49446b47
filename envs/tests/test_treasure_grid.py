"""Treasure Grid against a second reading of its rules in NumPy, and against exact values."""

import jax
import numpy as np
import pytest
from baselines import solve

from evalxrl_envs.core import registry
from evalxrl_envs.treasure_grid import explain
from evalxrl_envs.treasure_grid.environment import FLOOR, SIZE, State, observe_tile, tables

ENV, PARAMS = registry.make("treasure_grid")
STEP = jax.jit(ENV.step)
INITIAL = jax.jit(ENV.initial)
DRAWS = jax.jit(lambda keys: (keys, jax.vmap(lambda key: jax.random.uniform(key, (2,)))(keys)))
ROWS = ["s...PL", "..P...", "....P.", ".s....", "P.....", "....s."]
PAY = {"s": (0, 1, 0), "L": (10, 0, 0), "P": (0, 0, -5), ".": (0, 0, 0)}
DELTA = {0: (-1, 0), 1: (0, 1), 2: (1, 0), 3: (0, -1)}


def images():
    """The eight maps as lists of strings, made by turning text."""
    maps, rows = [], ROWS
    for _ in range(2):
        for _ in range(4):
            maps.append(rows)
            rows = ["".join(row[-1 - i] for row in rows) for i in range(SIZE)]
        rows = [row[::-1] for row in ROWS]
    return maps


def replica_step(grid, position, t, action, draw):
    """One step by hand: tile, components, terminated, truncated."""
    if draw[0] < np.float32(0.05):
        action = int(draw[1] * 4)
    row = min(max(position // 6 + DELTA[action][0], 0), 5)
    column = min(max(position % 6 + DELTA[action][1], 0), 5)
    tile = grid[row][column]
    return 6 * row + column, (*PAY[tile], -0.05), tile != ".", t + 1 >= 40


def replica_observation(grid, position):
    """What is seen, entry by entry."""
    row, column = divmod(position, 6)
    at = {kind: [(r, c) for r in range(6) for c in range(6) if grid[r][c] == kind] for kind in "sLP"}
    near = min(at["s"], key=lambda s: (abs(s[0] - row) + abs(s[1] - column), 6 * s[0] + s[1]))
    seen = [row / 5, column / 5]
    for place in (at["L"][0], near):
        seen += [(place[0] - row) / 5, (place[1] - column) / 5]
    beside = [(row + DELTA[a][0], column + DELTA[a][1]) for a in range(4)]
    clipped = [(min(max(r, 0), 5), min(max(c, 0), 5)) for r, c in beside]
    seen += [float(place in at["L"]) for place in clipped] + [float(place in at["s"]) for place in clipped]
    seen += [float(place != inside) for place, inside in zip(beside, clipped, strict=True)]
    return seen + [float((row + i, column + j) in at["P"]) for i in range(-2, 3) for j in range(-2, 3)]


def test_the_layout_bank_is_the_eight_images_of_the_map():
    kinds = {tuple("".join(rows)) for rows in images()}
    assert {tuple(".sLP"[kind] for kind in layout) for layout in tables().kinds} == kinds
    assert len(kinds) == 8 and tables().floor.shape == (8, 28)
    for layout, floor in zip(tables().kinds, tables().floor, strict=True):
        assert np.all(layout[floor] == FLOOR)


def test_the_observation_table_is_observe_tile_and_its_definition():
    for layout, table in zip(tables().kinds, tables().observations, strict=True):
        rows = ["".join(".sLP"[kind] for kind in row) for row in layout.reshape(6, 6)]
        for tile in range(36):
            np.testing.assert_array_equal(table[tile], observe_tile(layout.reshape(6, 6), *divmod(tile, 6)))
            np.testing.assert_array_equal(table[tile], np.float32(replica_observation(rows, tile)))


@pytest.mark.parametrize("seed", range(4))
def test_fifty_steps_agree_with_the_rules_by_hand(seed):
    key = jax.random.key(seed)
    state = INITIAL(key, PARAMS)
    actions = np.random.default_rng(seed).integers(0, 4, 50)
    keys, draws = DRAWS(jax.random.split(key, 50))
    for key, action, draw in zip(keys, map(int, actions), np.asarray(draws), strict=True):
        rows = ["".join(".sLP"[kind] for kind in row) for row in tables().kinds[int(state.layout)].reshape(6, 6)]
        position, pay, terminated, truncated = replica_step(rows, int(state.position), int(state.t), action, draw)
        after = STEP(key, state, np.int32(action), PARAMS)
        assert (int(after.state.position), int(after.state.t)) == (position, int(state.t) + 1)
        np.testing.assert_allclose(after.info["reward"], pay, atol=1e-6)
        assert (bool(after.terminated), bool(after.truncated)) == (terminated, truncated)
        np.testing.assert_allclose(after.observation, replica_observation(rows, position), atol=1e-4)
        state = INITIAL(key, PARAMS) if terminated else after.state


def test_starts_are_uniform_over_maps_and_floor_tiles():
    states = jax.jit(jax.vmap(ENV.initial, (0, None)))(jax.random.split(jax.random.key(0), 40_000), PARAMS)
    layout, position = np.asarray(states.layout), np.asarray(states.position)
    assert np.all(tables().kinds[layout, position] == FLOOR) and np.all(np.asarray(states.t) == 0)
    count = np.bincount(layout * 36 + position, minlength=288)
    count = count[count > 0]
    expected = 40_000 / 224
    assert len(count) == 224 and ((count - expected) ** 2 / expected).sum() < 350  # chi-square, p < 1e-7


def test_a_slip_happens_as_often_as_it_should_and_moves_every_way():
    keys = jax.random.split(jax.random.key(1), 20_000)
    middle = State(np.int32(0), np.int32(3 * 6 + 3), np.int32(0))
    after = jax.jit(jax.vmap(ENV.step, (0, None, None, None)))(keys, middle, np.int32(0), PARAMS).state.position
    where, count = np.unique(np.asarray(after), return_counts=True)
    assert sorted(where) == sorted(21 + np.array([-6, 1, 6, -1]))
    elsewhere = 1 - count[where == 15][0] / 20_000
    assert abs(elsewhere - 0.05 * 3 / 4) < 0.006


def test_every_action_moves_as_its_name_says():
    directions = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
    still = PARAMS.__class__(**{**PARAMS.__dict__, "slip": np.float32(0)})
    for action, name in enumerate(explain.action_names[0]):
        after = STEP(jax.random.key(0), State(np.int32(0), np.int32(21), np.int32(0)), np.int32(action), still)
        row, column = divmod(int(after.state.position), 6)
        assert (row - 3, column - 3) == directions[name]


def test_the_dynamics_have_the_known_exact_values():
    best, _ = solve(PARAMS)
    uniform, _ = solve(PARAMS, random=True)
    assert abs(best - 9.153) < 5e-4 and abs(uniform + 2.139) < 5e-4


def test_the_return_floor_is_the_exact_bound():
    assert registry.entry("treasure_grid").return_floor == pytest.approx(PARAMS.pit + PARAMS.horizon * PARAMS.step)
