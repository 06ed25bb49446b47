"""Monte-Carlo action values agree with dynamic programming, in value and in their standard error."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import exact
from fixtures import F6, GWA, Params
from xrl_common.actions import probe_set
from xrl_common.estimates import Estimate, estimate, horizon_of, vector_q
from xrl_common.simulation import Acting, Simulator

BEST = exact.greedy(exact.optimal_q(F6))


def test_the_length_of_a_rollout_follows_the_discount_and_the_steps_left() -> None:
    assert [horizon_of(gamma, 1000) for gamma in (0.99, 0.97, 0.95)] == [459, 152, 90]
    assert [horizon_of(gamma, 40) for gamma in (1.0, 0.95, 0.0)] == [40, 40, 1]
    assert horizon_of(0.95, 0) == 0


def test_the_standard_error_has_n_less_one_in_its_denominator() -> None:
    assert estimate(np.array([1.0, 3.0])) == Estimate(2.0, 1.0)
    assert estimate(np.array([5.0])).se == 0.0


def test_without_noise_every_component_of_q_is_exact_in_every_cell() -> None:
    simulator = Simulator(F6.subject(BEST), 0, Acting.GREEDY)
    truth = exact.evaluate(F6, BEST).q
    for index, cell in enumerate(F6.cells):
        values = vector_q(simulator, F6.at(cell), probe_set(simulator, F6.at(cell)), 2, 0.95)
        assert values.samples.mean(axis=1) == pytest.approx(truth[index], abs=1e-5)


def test_every_component_lies_within_three_standard_errors_with_slip() -> None:
    simulator = Simulator(F6.subject(BEST, Params(slip=0.1)), 0, Acting.GREEDY)
    truth = exact.evaluate(F6, BEST, slip=0.1, steps=50).q
    squares = replace(F6, rewards=F6.rewards**2, gamma=F6.gamma**2)
    variance = exact.evaluate(squares, BEST, slip=0.1, steps=50).q - truth**2
    for cell in [(1, 1), (0, 3), (4, 4), (2, 1)]:
        values = vector_q(simulator, F6.at(cell), probe_set(simulator, F6.at(cell)), 256, 0.95)
        index = F6.cells.index(cell)
        for action, component in itertools.product(range(4), range(3)):
            got = values.q(action, component)
            error = max(got.se, (variance[index, action, component] / 256) ** 0.5)
            want = truth[index, action, component]
            assert abs(got.mean - want) <= 3 * error + 1e-5, (cell, action, component)


def test_nominal_95_percent_intervals_cover_the_exact_value_in_92_to_98_percent_of_500() -> None:
    params = Params(slip=0.1)
    simulator = Simulator(F6.subject(BEST, params), 11, Acting.GREEDY)
    truth = exact.evaluate(F6, BEST, slip=0.1, steps=50).q.sum(axis=2)
    state, action = F6.at((1, 1)), np.array([1], np.int32)
    sums = simulator.rollouts(state, action, 500 * 64, 50).discounted(0.95).sum(axis=1)
    want = truth[F6.cells.index((1, 1)), 1]
    covered = [abs(got.mean - want) <= 1.96 * got.se for got in (estimate(draws) for draws in sums.reshape(500, 64))]
    assert 0.92 <= np.mean(covered) <= 0.98


def test_differences_of_actions_use_common_random_numbers() -> None:
    simulator = Simulator(F6.subject(BEST, Params(slip=0.1)), 0, Acting.GREEDY)
    values = vector_q(simulator, F6.at((0, 0)), probe_set(simulator, F6.at((0, 0))), 256, 0.95)
    paired = values.total_difference(1, 3).se
    apart = np.hypot(values.total(1).se, values.total(3).se)
    assert paired < apart
    same = values.total_difference(2, 2)
    assert (same.mean, same.se) == (0.0, 0.0)


def test_small_and_normal_budgets_agree_within_three_combined_errors_on_19_of_20_states() -> None:
    simulator = Simulator(F6.subject(BEST, Params(slip=0.1)), 0, Acting.GREEDY)
    agree = 0
    for cell in F6.cells[:20]:
        few, many = (
            vector_q(simulator, F6.at(cell), np.array([0], np.int32), count, 0.95).total(0) for count in (64, 256)
        )
        agree += abs(few.mean - many.mean) <= 3 * np.hypot(few.se, many.se) + 1e-9
    assert agree >= 19


def test_a_rollout_never_passes_the_horizon_of_its_episode() -> None:
    simulator = Simulator(F6.subject(BEST), 0, Acting.GREEDY)
    values = vector_q(simulator, F6.at((0, 0), 47), np.array([0], np.int32), 3, 0.95)
    assert values.limit == 3
    assert values.trace.lengths.tolist() == [3, 3, 3]


def test_the_scalar_reward_is_the_sum_of_the_components_at_every_step() -> None:
    for world in (F6, GWA):
        subject = world.subject(exact.uniform(world), Params(slip=0.2))
        trace = Simulator(subject, 5, Acting.SAMPLED).episodes(256)
        assert np.abs(trace.rewards.sum(axis=2) - trace.reward).max() <= 1e-5


def test_a_sampled_table_of_equal_shares_is_worth_what_uniform_actions_are() -> None:
    simulator = Simulator(GWA.subject(exact.uniform(GWA), Params(horizon=400)), 0, Acting.SAMPLED)
    truth = exact.evaluate(GWA, exact.uniform(GWA)).v[list(GWA.starts)].mean()
    for uniform in (False, True):
        got = estimate(simulator.episodes(512, uniform).returns)
        assert abs(got.mean - 2 * truth) <= 3 * got.se


def test_the_same_seed_gives_the_same_trace_and_the_number_of_lanes_changes_no_episode() -> None:
    subject = F6.subject(exact.uniform(F6), Params(slip=0.1))
    few = Simulator(subject, 9, Acting.SAMPLED).episodes(5)
    many = Simulator(subject, 9, Acting.SAMPLED).episodes(100)
    other = Simulator(subject, 8, Acting.SAMPLED).episodes(100)
    assert np.array_equal(few.actions, many.actions[:5])
    assert not np.array_equal(many.actions, other.actions)
