"""Replays, sums over many states, rules with memory, and what a trace keeps."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import exact
from fixtures import F6, GWA, Params
from xrl_common import actions, features
from xrl_common.arguments import Source
from xrl_common.estimates import batch_q, scalar_q, vector_q
from xrl_common.outcome import facts, names, outcomes
from xrl_common.simulation import Acting, Simulator
from xrl_common.states import first_choice
from xrl_common.subject import Tree

BEST = exact.greedy(exact.optimal_q(F6))
NOISY = Params(slip=0.2)


def every_cell() -> Tree:
    """The 29 free cells of F6 as one batch of states."""
    return type(F6.at((0, 0)))(np.arange(29, dtype=np.int32), np.zeros(29, np.int32))


def test_forcing_what_was_done_gives_the_rest_of_the_episode() -> None:
    simulator = Simulator(F6.subject(exact.uniform(F6), NOISY), 4, Acting.SAMPLED)
    trace = simulator.episodes(40)
    lanes = np.flatnonzero(trace.lengths > 3)
    times = np.full(len(lanes), 2)
    states = jax.tree.map(lambda leaf: leaf[lanes, 2], trace.states)
    again = simulator.replay(states, trace.actions[lanes, 2], lanes, times, 50)
    for row, lane in enumerate(lanes):
        rest = int(trace.lengths[lane]) - 2
        assert again.lengths[row] == rest
        assert np.array_equal(again.actions[row, :rest], trace.actions[lane, 2 : 2 + rest])
        assert again.finals.cell[row] == trace.finals.cell[lane]
    unforced = simulator.replay(states, None, lanes, times, 50)
    assert np.array_equal(unforced.reward, again.reward)


def test_a_limit_cuts_a_replay_and_the_last_state_is_the_next_of_the_episode() -> None:
    simulator = Simulator(F6.subject(BEST, NOISY), 4, Acting.GREEDY)
    trace = simulator.episodes(40)
    lanes = np.flatnonzero(trace.lengths > 1)
    states = jax.tree.map(lambda leaf: leaf[lanes, 0], trace.states)
    one = simulator.replay(states, trace.actions[lanes, 0], lanes, np.zeros(len(lanes)), 1)
    assert one.rewards.shape[1] == 1
    assert np.array_equal(one.finals.cell, trace.states.cell[lanes, 1])


def test_sums_of_many_states_are_those_of_one_state_at_a_time() -> None:
    simulator = Simulator(F6.subject(BEST, NOISY), 1, Acting.GREEDY)
    states = every_cell()
    probes = actions.probe_sets(simulator, states)
    many = batch_q(simulator, states, probes, 40, 0.95)
    assert many.samples.shape == (29, 4, 40, 3)
    for cell in (0, 13, 28):
        one = vector_q(simulator, F6.at(F6.cells[cell]), probes[cell], 40, 0.95)
        assert many.samples[cell] == pytest.approx(one.samples, abs=1e-4)


def test_sums_without_a_forced_action_are_those_of_the_own_action() -> None:
    simulator = Simulator(F6.subject(BEST, NOISY), 1, Acting.GREEDY)
    states, limits = every_cell(), np.full(29, 20, np.int32)
    own = simulator.choices(states)[:, None]
    free = simulator.sums(states, None, 8, 0.95, limits)
    assert free.shape == (29, 1, 8, 3)
    assert np.array_equal(free, simulator.sums(states, own, 8, 0.95, limits))


def test_one_step_and_an_exact_critic_give_the_exact_values_without_noise() -> None:
    truth = exact.evaluate(F6, BEST)
    simulator = Simulator(F6.subject(BEST, values=truth.v.sum(axis=1)), 0, Acting.GREEDY)
    states = every_cell()
    probes = actions.probe_sets(simulator, states)
    critic = scalar_q(simulator, states, probes, 2, 0.95, Source.CRITIC)
    assert critic.word == "Q critic N=2"
    assert critic.means == pytest.approx(truth.q.sum(axis=2), abs=1e-4)
    simulated = scalar_q(simulator, states, probes, 2, 0.95)
    assert simulated.word == "Q simulator N=2 H=50"
    assert simulated.means == pytest.approx(truth.q.sum(axis=2), abs=1e-4)


def test_log_policy_says_what_the_policy_says() -> None:
    table = np.random.default_rng(0).dirichlet(np.ones(4), 29)
    simulator = Simulator(F6.subject(table), 0, Acting.GREEDY)
    states = every_cell()
    found = scalar_q(simulator, states, actions.probe_sets(simulator, states), 9, 0.95, Source.LOG_POLICY)
    assert np.exp(found.means) == pytest.approx(table, abs=1e-5)


@dataclass(frozen=True)
class TurnAbout:
    """Alternates two actions, so that it has to remember."""

    def memory(self, rows: int) -> Tree:
        return jnp.zeros(rows, jnp.int32)

    def __call__(
        self, agent: Tree, memory: Tree, keys: jax.Array, observations: jax.Array, states: Tree, params: Tree
    ) -> tuple[jax.Array, Tree]:
        return jnp.where(memory % 2 == 0, agent[0], agent[1]), memory + 1


def test_a_rule_may_remember() -> None:
    simulator = Simulator(GWA.subject(exact.uniform(GWA), Params(horizon=7)), 0, Acting.GREEDY)
    trace = simulator.acting_by(TurnAbout(), np.array([1, 3], np.int32)).episodes(3)
    assert trace.actions[0, :7].tolist() == [1, 3, 1, 3, 1, 3, 1]


def test_other_parameters_need_no_other_subject() -> None:
    simulator = Simulator(F6.subject(BEST), 0, Acting.GREEDY)
    short = simulator.with_params(Params(horizon=3)).episodes(29)
    assert short.lengths.max() == 3


def test_outcomes_tell_the_end_the_cut_and_the_horizon() -> None:
    simulator = Simulator(F6.subject(BEST), 0, Acting.GREEDY)
    assert names(simulator)[:3] == ("at_large", "at_small", "in_pit")
    (end,) = outcomes(simulator, simulator.rollouts(F6.at((4, 4)), np.array([1], np.int32), 1, 50))
    assert (end.how, end.text, end.components) == ("terminated", "at_large", {"large": 10.0})
    (pit,) = outcomes(simulator, simulator.rollouts(F6.at((4, 4)), np.array([3], np.int32), 1, 50))
    assert (pit.text, pit.components) == ("in_pit", {"pit": -5.0})
    (cut,) = outcomes(simulator, simulator.rollouts(F6.at((0, 0)), np.array([1], np.int32), 1, 2))
    assert cut.how == "cut"
    (late,) = outcomes(simulator, simulator.rollouts(F6.at((0, 0), 49), np.array([0], np.int32), 1, 50))
    assert late.how == "truncated"


def test_facts_of_many_states_keep_their_axes() -> None:
    simulator = Simulator(F6.subject(BEST), 0, Acting.GREEDY)
    trace = simulator.episodes(5)
    found = facts(simulator, trace.states)
    assert tuple(found) == names(simulator)
    assert found["pit_left"].shape == trace.alive.shape
    assert bool(found["pit_left"][2, 0]) == bool(F6.truths["pit_left"][trace.states.cell[2, 0]])


def test_the_entry_that_decides_goes_with_the_actions_and_a_constant_one_with_none() -> None:
    seen = np.random.default_rng(0).normal(size=(200, 4))
    seen[:, 3] = 7.0
    taken = (seen[:, 2] > 0).astype(int)
    assert features.key_features(seen, taken, actions.Kind.DISCRETE, 4)[0] == 2
    assert 3 not in features.key_features(seen, taken, actions.Kind.DISCRETE, 4)
    axes = np.stack([np.zeros(200), -seen[:, 1]], axis=1)
    assert features.key_features(seen, axes, actions.Kind.CONTINUOUS, 1) == [1]


def test_with_names_each_group_gives_its_strongest_entry_first() -> None:
    seen = np.random.default_rng(0).normal(size=(400, 4))
    taken = seen[:, :1] + 0.5 * seen[:, 1:2] + 0.1 * seen[:, 2:3]
    found = features.key_features(seen, taken, actions.Kind.CONTINUOUS, 3, ["a/0", "a/1", "b/0", "b/1"])
    assert found[0] == 0 and found[1] in (2, 3) and found[2] == 1


def test_a_legend_says_what_numbers_stand_for_and_names_need_none() -> None:
    box = SimpleNamespace(low=-1.0, high=1.0, shape=(2,))
    assert actions.legend(box, (("fan/0",), ("cool/0",))) == ("actions: fan/0,cool/0",)
    heads = SimpleNamespace(shape=(2,))
    assert actions.legend(heads, (("go", "stay"),) * 2) == ("actions: 0=go 1=stay",)
    assert actions.legend(heads, (("go", "stay"), ("up", "down"))) == ("actions: 0=go 1=stay; 0=up 1=down",)
    assert actions.legend(SimpleNamespace(shape=()), (("go", "stay"),)) == ()


def test_the_first_choice_is_where_some_action_leads_elsewhere() -> None:
    simulator = Simulator(F6.subject(BEST), 0, Acting.GREEDY)
    assert first_choice(simulator, simulator.episodes(1), 0) == 0


def test_groups_are_runs_of_names_with_one_head() -> None:
    found = features.groups(["a/0", "a/1", "b/x", "alone"])
    assert [(group.name, group.entries) for group in found] == [
        ("a", slice(0, 2)),
        ("b", slice(2, 3)),
        ("alone", slice(3, 4)),
    ]
