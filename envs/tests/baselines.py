"""Treasure Grid solved exactly: the value of the best and of the uniform random policy, by dynamic programming."""

import numpy as np

from evalxrl_envs.treasure_grid.environment import FLOOR, LARGE, MOVES, PIT, SIZE, SMALL, tables


def _model(params):
    """Successor of (tile, move), and reward and continuation of (layout, tile entered)."""
    tile = np.arange(SIZE**2)
    row = np.clip(tile[:, None] // SIZE + MOVES[:, 0], 0, SIZE - 1)
    column = np.clip(tile[:, None] % SIZE + MOVES[:, 1], 0, SIZE - 1)
    kinds = tables().kinds
    reward = np.full(kinds.shape, float(params.step))
    for kind, value in ((LARGE, params.large), (SMALL, params.small), (PIT, params.pit)):
        reward[kinds == kind] += float(value)
    return row * SIZE + column, reward, kinds == FLOOR


def solve(params, random=False):
    """Returns the mean value over starts, and the best action of (time, layout, tile)."""
    successor, reward, goes_on = _model(params)
    slip, horizon = float(params.slip), int(params.horizon)
    value, policy = np.zeros(reward.shape), []
    for _ in range(horizon):
        entered = (reward + goes_on * value)[:, successor]
        action_value = (1 - slip) * entered + slip * entered.mean(-1, keepdims=True)
        policy.append(action_value.argmax(-1))
        value = action_value.mean(-1) if random else action_value.max(-1)
    starts = np.take_along_axis(value, tables().floor, 1)
    return starts.mean(), np.array(policy[::-1], np.int32)


def play_optimal(lanes, params):
    """Plays `core.rollout.Lockstep` lanes to their end with the best actions; returns the returns."""
    _, policy = solve(params)
    while lanes.active.any():
        lanes.step(policy[lanes.t, np.asarray(lanes.states.layout), np.asarray(lanes.states.position)])
    return lanes.returns
