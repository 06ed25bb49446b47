"""Deviate and continue on the fixture F6, where every value is known."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import exact
from deviation.deviate import Continued, Place, Story, alternatives, deviate
from deviation.foil import foil
from deviation.rule import parse
from fixtures import F6, Params
from xrl_common import outcome
from xrl_common.simulation import Acting, Simulator
from xrl_common.states import state_at

BEST = exact.optimal_q(F6)
GREEDY = exact.greedy(BEST)
CELLS = [Place(F6.at(cell), np.int32(BEST[index].argmax())) for index, cell in enumerate(F6.cells)]


def simulator(slip: float = 0.0, policy: np.ndarray = GREEDY, acting: Acting = Acting.GREEDY) -> Simulator:
    return Simulator(F6.subject(policy, Params(slip=slip)), 0, acting)


def from_every_cell(h: int, slip: float = 0.0, rollouts: int = 2) -> list[Continued]:
    running = simulator(slip)
    return deviate(running, CELLS, alternatives(running, CELLS)[0], h, rollouts, F6.gamma)[0]


def largest(continued: Continued) -> float:
    return max(continued.discounted_change(row).mean for row in range(1, len(continued.actions)))


def test_the_best_discounted_change_is_second_best_less_best_at_every_cell() -> None:
    ranked = np.sort(BEST, axis=1)
    gaps = ranked[:, -2] - ranked[:, -1]
    got = np.array([largest(continued) for continued in from_every_cell(50)])
    assert np.abs(got - gaps).max() <= 1e-3
    assert got.max() <= 1e-6


def test_every_change_is_the_difference_of_two_optimal_values() -> None:
    for index, continued in enumerate(from_every_cell(50)):
        for row, action in enumerate(continued.actions):
            wanted = BEST[index, action] - BEST[index].max()
            assert continued.discounted_change(row).mean == pytest.approx(wanted, abs=1e-3)


def test_shorter_continuations_converge_to_it() -> None:
    whole = np.array([largest(continued) for continued in from_every_cell(50)])
    errors = []
    for h in (2, 5, 11, 20):
        short = np.array([largest(continued) for continued in from_every_cell(h)])
        errors.append(np.abs(short - whole).max())
        assert errors[-1] <= 2 * 15 * F6.gamma**h
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 1
    assert errors[-1] <= 1e-3


def test_changes_in_a_slippery_world_agree_with_the_exact_ones_within_four_errors() -> None:
    table = exact.evaluate(F6, GREEDY, slip=0.1, steps=50).q
    for index, continued in enumerate(from_every_cell(50, slip=0.1, rollouts=256)):
        own = continued.actions[0]
        for row, action in enumerate(continued.actions[1:], start=1):
            got = continued.discounted_change(row)
            assert abs(got.mean - (table[index, action] - table[index, own]).sum()) <= 4 * got.se + 0.02


@pytest.mark.parametrize("acting", [Acting.GREEDY, Acting.SAMPLED])
def test_the_recorded_action_as_its_own_alternative_changes_nothing_at_all(acting: Acting) -> None:
    running = simulator(0.3, exact.uniform(F6), acting)
    trace = running.episodes(64)
    places = [
        Place(state_at(trace, episode, t), trace.actions[episode, t], "", episode, t)
        for episode in range(8)
        for t in range(int(trace.lengths[episode]))
    ][:20]
    tried = [np.stack([place.action, place.action]) for place in places]
    for continued in deviate(running, places, tried, 20, 8, F6.gamma)[0]:
        assert (continued.sums[1] == continued.sums[0]).all()
        assert (continued.discounted[1] == continued.discounted[0]).all()
        assert continued.change(1).mean == continued.change(1).se == 0.0


def test_the_recorded_side_of_rollout_0_is_the_rest_of_the_episode() -> None:
    running = simulator(0.3, exact.uniform(F6), Acting.SAMPLED)
    trace = running.episodes(64)
    episode = int(trace.lengths.argmax())
    t = int(trace.lengths[episode]) // 2
    place = Place(state_at(trace, episode, t), trace.actions[episode, t], "", episode, t)
    tried, _ = alternatives(running, [place])
    (continued,), first = deviate(running, [place], tried, 50, 4, 1.0)
    assert len(continued.actions) == 4
    rest = slice(t, int(trace.lengths[episode]))
    left = rest.stop - rest.start
    assert first.lengths[0] == left
    assert np.array_equal(first.rewards[0, :left], trace.rewards[episode, rest])
    assert np.array_equal(first.states.cell[0, :left], trace.states.cell[episode, rest])
    assert continued.sums[0, 0].tolist() == trace.rewards[episode, rest].sum(axis=0, dtype=np.float64).tolist()


def test_rollouts_beyond_the_first_are_those_of_fresh_noise() -> None:
    running = simulator(0.3)
    trace = running.episodes(64)
    place = Place(state_at(trace, 3, 0), trace.actions[3, 0], "", 3, 0)
    tried, _ = alternatives(running, [place])
    (continued,), _ = deviate(running, [place], tried, 20, 5, F6.gamma)
    for row, action in enumerate(continued.actions):
        states = jax.tree.map(lambda leaf: np.repeat(leaf[None], 4, axis=0), place.state)
        fresh = running.fresh(states, np.repeat(action[None], 4), np.arange(4), 20)
        assert continued.discounted[row, 1:] == pytest.approx(fresh.discounted(F6.gamma), abs=1e-5)


def test_two_ways_of_equal_length_rejoin_and_an_end_never_does() -> None:
    running = simulator()
    place = Place(F6.at((0, 1)), np.int32(1))
    tried = [np.array([1, 2, 3, 0], np.int32)]
    _, trace = deviate(running, [place], tried, 50, 2, F6.gamma)
    story = Story(running, trace)
    cells = [[F6.place(state_at(trace, lane, k)) for k in range(int(trace.lengths[lane]))] for lane in range(4)]
    for lane in (1, 2, 3):
        shared = [k for k in range(1, min(map(len, (cells[0], cells[lane])))) if cells[0][k] == cells[lane][k]]
        both_end = trace.lengths[0] == trace.lengths[lane]
        wanted = shared[0] if shared else int(trace.lengths[0]) if both_end else None
        assert story.beside(0, lane).rejoined == wanted
    assert story.beside(0, 0).rejoined == 1
    assert story.beside(0, 0).difference is None


def test_a_foil_is_the_policy_with_the_rule_written_into_its_table() -> None:
    names = outcome.names(simulator())
    for text in ("if small_right: right", "if pit_below and not pit_left: left", "if not large_right: down"):
        rule = parse(text, names)
        action = F6.action_names[0].index(rule.action)
        table = GREEDY.copy()
        for index in range(len(F6.cells)):
            if all(bool(F6.truths[test.predicate][index]) == test.wanted for test in rule.tests):
                table[index] = np.eye(4)[action]
        got = foil(simulator(0.1), rule, np.int32(action)).episodes(64)
        wanted = simulator(0.1, table).episodes(64)
        assert np.array_equal(got.rewards, wanted.rewards)
        assert np.array_equal(got.actions[got.alive], wanted.actions[wanted.alive])


def test_another_rule_of_the_same_environment_needs_no_new_program() -> None:
    running = simulator()
    names = outcome.names(running)
    one, other = (foil(running, parse(text, names), np.int32(0)) for text in ("if in_pit: up", "if pit_left: up"))
    assert one.rule == other.rule
    assert hash(one.rule) == hash(other.rule)
