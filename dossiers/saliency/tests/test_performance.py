"""What knowledge is worth: published values of the passage worlds, and exact evaluation by linear equations."""

from __future__ import annotations

import numpy as np
import pytest

import exact
from attribution import coalitions, conditional, performance
from fixtures import GWA, GWB, World

ANSWERS = {
    ("GWA", (0, 0)): (0, 0),
    ("GWA", (1, 0)): (0, 0),
    ("GWA", (0, 1)): (0, 0),
    ("GWA", (1, 1)): (0, 0),
    ("GWB", (0, 0)): (4, 2),
    ("GWB", (1, 0)): (1 / 3, -1 / 6),
    ("GWB", (1, 1)): (1 / 12, 1 / 12),
    ("GWB", (1, 2)): (1 / 12, 1 / 12),
}
WORLDS = {world.name: world for world in (GWA, GWB)}


def optimal(world: World) -> np.ndarray:
    return exact.uniform_over_best(exact.optimal_q(world))


def ways(world: World, cell: int, policy: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """pi_C at a cell with the exact occupancy, by the module's own counting."""
    seen, share = np.array(world.cells, np.float32), exact.occupancy(world, policy)
    visited = share > 0
    table = conditional.table(seen[visited], share[visited], seen.std(axis=0))
    standing = conditional.counted(table, np.repeat(seen[[cell]], len(chosen), axis=0), chosen)
    weights = np.exp(np.asarray(standing.log_weights, np.float64))
    return weights / weights.sum(axis=1, keepdims=True) @ policy[visited]


def test_the_counting_is_that_of_occupancy_divided_by_hand() -> None:
    policy, chosen = optimal(GWB), coalitions.all_coalitions(2)
    share = exact.occupancy(GWB, policy)
    assert share == pytest.approx(np.array([1, 2, 2, 0, 2]) / 7)
    found = ways(GWB, 0, policy, chosen)
    expected = [share @ policy, policy[0], share[:2] @ policy[:2] / share[:2].sum(), policy[0]]
    assert found == pytest.approx(np.array(expected), abs=1e-6)


@pytest.mark.parametrize(("name", "cell"), ANSWERS, ids=lambda part: str(part))
def test_local_values_of_the_passage_worlds(name: str, cell: tuple[int, int]) -> None:
    world = WORLDS[name]
    policy, place = optimal(world), world.cells.index(cell)

    def game(chosen: np.ndarray) -> np.ndarray:
        found = []
        for way in ways(world, place, policy, chosen):
            changed = policy.copy()
            changed[place] = way
            found.append(exact.evaluate(world, changed).v.sum(axis=1)[place])
        return np.array(found)[:, None]

    shares = coalitions.exact(game, 2)
    assert shares.columns[:, 0] == pytest.approx(ANSWERS[name, cell], abs=1e-3)


@pytest.mark.parametrize(("name", "cell"), ANSWERS, ids=lambda part: str(part))
def test_runs_cut_at_the_return_give_the_same_values(name: str, cell: tuple[int, int]) -> None:
    world = WORLDS[name]
    policy, place = optimal(world), world.cells.index(cell)
    runs = deterministic(world, policy, place, 500)
    shares = coalitions.exact(lambda chosen: performance.jackknife(runs, ways(world, place, policy, chosen)), 2)
    assert shares.columns.shape == (2, 1)
    assert shares.columns[:, 0] == pytest.approx(ANSWERS[name, cell], abs=1e-3)


@pytest.mark.parametrize(("y", "value"), [(0, -0.5), (1, 0.5)])
def test_shares_of_the_critic_differ_from_those_of_performance(y: int, value: float) -> None:
    policy = optimal(GWA)
    v, share = exact.evaluate(GWA, policy).v.sum(axis=1), exact.occupancy(GWA, policy)
    cells = np.array(GWA.cells)

    def game(chosen: np.ndarray) -> np.ndarray:
        found = []
        for x_known, y_known in chosen:
            agrees = (~x_known | (cells[:, 0] == 0)) & (~y_known | (cells[:, 1] == y))
            found.append([(share * agrees) @ v / (share * agrees).sum()])
        return np.array(found)

    assert coalitions.exact(game, 2).columns[:, 0] == pytest.approx([0, value], abs=1e-9)


@pytest.mark.parametrize("horizon", [1, 2, 7, 40])
@pytest.mark.parametrize("gamma", [0.9, 1.0])
def test_values_over_a_horizon_are_those_of_dynamic_programming(horizon: int, gamma: float) -> None:
    policy, place = optimal(GWB), 0
    runs = deterministic(GWB, policy, place, horizon, gamma)
    tried = np.random.default_rng(0).dirichlet(np.ones(4), 20)
    moves, rewards = exact.dynamics(GWB)
    for way, found in zip(tried, performance.values(runs, tried), strict=True):
        changed = policy.copy()
        changed[place] = way
        v = np.zeros(len(policy))
        for _ in range(horizon):
            v = (changed * (rewards.sum(axis=2) + gamma * moves @ v)).sum(axis=1)
        assert found == pytest.approx(v[place], abs=1e-9)


def test_without_revisits_the_value_is_the_mean_of_action_values() -> None:
    generator = np.random.default_rng(1)
    rewards = generator.normal(size=(3, 50, 4))
    runs = performance.excursions(rewards, np.ones((3, 50, 4), bool), np.zeros((3, 50, 4), bool), 0.9)
    chances = generator.dirichlet(np.ones(3), 5)
    q = (rewards * 0.9 ** np.arange(4)).sum(axis=2)
    assert performance.values(runs, chances) == pytest.approx(chances @ q.mean(axis=1))
    columns = performance.jackknife(runs, chances)
    means = np.array([chances @ q[:, number] for number in range(50)])
    assert performance.jackknife_error(columns) == pytest.approx(means.std(axis=0, ddof=1) / np.sqrt(50), rel=0.5)


def test_a_run_ends_where_the_state_is_seen_again() -> None:
    back = np.array([[[True, False, True, True]]])
    runs = performance.excursions(np.ones((1, 1, 4)), np.ones((1, 1, 4), bool), back, 0.5)
    assert runs.returns.tolist() == [[2]]
    assert runs.rewards.tolist() == [[[1.0, 0.5, 0.0, 0.0]]]
    dead = performance.excursions(np.ones((1, 1, 4)), np.array([[[True, True, False, False]]]), back, 0.5)
    assert not dead.revisits


def test_a_kernel_carries_enough_from_an_effective_number_of_five() -> None:
    seen = np.array([[0.0, 0.0]] * 4 + [[0.0, 9.0]] * 4 + [[9.0, 0.0]], np.float32)
    table = conditional.table(seen, np.full(9, 1 / 9), np.array([1.0, 0.0]))
    here = np.zeros((3, 2), np.float32)
    known = np.array([[True, False], [True, True], [False, False]])
    standing = conditional.kernel(table, here, known)
    assert np.asarray(standing.enough).tolist() == [True, True, True]
    few = conditional.kernel(conditional.table(seen, np.full(9, 1 / 9), np.ones(2)), here, known)
    assert np.asarray(few.enough).tolist() == [True, False, True]
    weights = np.exp(np.asarray(few.log_weights[0]))
    assert weights[8] / weights[0] == pytest.approx(np.exp(-0.5 * (9 / 0.25) ** 2), abs=1e-12)


def deterministic(
    world: World, policy: np.ndarray, place: int, horizon: int, gamma: float = 1.0
) -> performance.Excursions:
    """One run per first action of a world without chance, under a policy without chance."""
    rewards, alive, back = (np.zeros((4, 1, horizon), kind) for kind in (float, bool, bool))
    own = policy.argmax(axis=1)
    for first in range(4):
        cell, action = place, first
        for step in range(horizon):
            rewards[first, 0, step] = world.rewards[cell, action].sum()
            alive[first, 0, step], back[first, 0, step] = True, cell == place
            cell = int(world.successor[cell, action])
            if cell == len(world.cells):
                break
            action = own[cell]
    return performance.excursions(rewards, alive, back, gamma)
