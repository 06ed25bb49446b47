"""Courses on F6: recorded noise, forced actions, changed parameters, and where two courses part."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import exact
from fixtures import F6, Params, State
from interrogation import course, things
from interrogation.course import Course
from xrl_common.simulation import Acting, Simulator, Trace

BEST = exact.optimal_q(F6)
MIXED = exact.uniform_over_best(BEST) * 0.7 + 0.075


@pytest.fixture(scope="module")
def noisy() -> Simulator:
    """An agent that acts by chance in a world that moves by chance."""
    return Simulator(F6.subject(MIXED, Params(slip=0.2)), 3, Acting.SAMPLED)


@pytest.fixture(scope="module")
def trace(noisy: Simulator) -> Trace:
    return noisy.episodes(64)


@pytest.fixture(scope="module")
def calm() -> Simulator:
    return Simulator(F6.subject(exact.greedy(BEST)), 0, Acting.GREEDY)


def same(one: Course, other: Course) -> bool:
    """To the last bit, states included."""
    leaves = zip(jax.tree.leaves(one.states), jax.tree.leaves(other.states), strict=True)
    return (
        all(np.array_equal(a, b) for a, b in leaves)
        and np.array_equal(one.actions, other.actions)
        and np.array_equal(one.rewards, other.rewards)
        and np.array_equal(one.observations, other.observations)
        and np.array_equal(one.truth, other.truth)
        and one.outcome == other.outcome
        and one.start == other.start
    )


def test_the_recorded_actions_give_the_recorded_trajectory_exactly(noisy: Simulator, trace: Trace) -> None:
    for episode in range(0, 64, 7):
        whole = course.recorded(noisy, trace, episode)
        assert whole.length == trace.lengths[episode]
        for t in {0, whole.length // 2, whole.length - 1}:
            rest = course.recorded(noisy, trace, episode, t)
            for forced in (rest.actions, rest.actions[: rest.length // 2], rest.actions[:1], None):
                again, _ = course.continued(noisy, whole.state(t), forced, episode, t, 1)
                assert same(rest, again)
                assert course.first_difference(rest, again) is None


def test_forced_actions_are_taken_whatever_the_policy_does(noisy: Simulator, trace: Trace) -> None:
    rng = np.random.default_rng(0)
    for episode in range(0, 64, 9):
        forced = rng.integers(0, 4, 6).astype(np.int32)
        whole = course.recorded(noisy, trace, episode)
        other, lanes = course.continued(noisy, whole.state(0), forced, episode, 0, 5)
        for lane in range(6):
            taken = lanes.actions[lane][lanes.alive[lane]][:6]
            assert np.array_equal(taken, forced[: len(taken)])
        assert np.array_equal(lanes.rewards[0][lanes.alive[0]], other.rewards)
        assert (lanes.alive.cumprod(axis=1) == lanes.alive).all(), "a lane that has ended takes no step"
        assert lanes.terminated.sum(axis=1).max() <= 1


def walked(cell: tuple[int, int], forced: list[int], policy: np.ndarray, steps: int = 50) -> tuple[list[int], float]:
    """Actions and return in the calm world, on the table, in plain Python."""
    index, taken, total = F6.cells.index(cell), [], 0.0
    while index < len(F6.cells) and len(taken) < steps:
        action = forced[len(taken)] if len(taken) < len(forced) else int(policy[index].argmax())
        taken.append(action)
        total += float(F6.rewards[index, action].sum())
        index = int(F6.successor[index, action])
    return taken, total


def test_forced_sequences_go_where_the_table_says(calm: Simulator) -> None:
    rng, policy = np.random.default_rng(1), exact.greedy(BEST)
    trace = calm.episodes(64)
    for episode in range(12):
        forced = rng.integers(0, 4, rng.integers(1, 5)).astype(np.int32)
        t = int(rng.integers(0, trace.lengths[episode]))
        whole = course.recorded(calm, trace, episode)
        other, _ = course.continued(calm, whole.state(t), forced, episode, t, 1)
        taken, total = walked(F6.place(whole.state(t)), forced.tolist(), policy, 50 - t)
        assert other.actions.tolist() == taken
        assert other.total == total


def test_the_end_of_an_episode_is_respected_while_actions_are_forced(calm: Simulator) -> None:
    state = State(np.int32(F6.cells.index((0, 0))), np.int32(46))
    other, lanes = course.continued(calm, state, np.zeros(4, np.int32), 0, 46, 2)
    assert other.length == 4
    assert other.outcome.how == "truncated"
    other, lanes = course.continued(calm, state, np.zeros(3, np.int32), 0, 46, 2)
    assert (other.length, lanes.lengths.tolist()) == (4, [4, 4, 4])


def test_under_other_parameters_only_what_they_touch_differs(noisy: Simulator, trace: Trace) -> None:
    whole = course.recorded(noisy, trace, 5)
    params, state = things.find(noisy.subject.params, whole.state(0), "slip").put(
        noisy.subject.params, whole.state(0), 0.2
    )
    again, _ = course.continued(noisy.with_params(params), state, None, 5, 0, 1)
    assert again.actions.tolist() == whole.actions.tolist()
    params, state = things.find(noisy.subject.params, whole.state(0), "horizon").put(
        noisy.subject.params, whole.state(0), 1
    )
    short, _ = course.continued(noisy.with_params(params), state, None, 5, 0, 1)
    assert short.length == 1
    assert np.array_equal(short.rewards, whole.rewards[:1])


def test_other_noises_are_none_of_the_recorded_ones(noisy: Simulator, trace: Trace) -> None:
    whole = course.recorded(noisy, trace, 0)
    _, lanes = course.continued(noisy, whole.state(0), None, 0, 0, 31)
    actions = [lanes.actions[lane][lanes.alive[lane]].tolist() for lane in range(32)]
    assert len({tuple(way) for way in actions}) > 16


def part(actions: list[int], rewards: list[float], truth: list[bool]) -> Course:
    """A course without states."""
    return Course(
        start=10,
        actions=np.array(actions),
        rewards=np.array(rewards, float).reshape(-1, 1),
        names=("p",),
        truth=np.array(truth).reshape(-1, 1),
        observations=np.zeros((len(actions), 1)),
        states=(),
        outcome=None,
    )


@pytest.mark.parametrize(
    ("other", "step", "what"),
    [
        (part([1, 2, 3], [0, 0, 1], [0, 0, 0, 1]), None, None),
        (part([1, 0, 3], [0, 0, 1], [0, 0, 0, 1]), 11, ("action",)),
        (part([1, 2, 3], [0, 5e-7, 1], [0, 0, 0, 1]), None, None),
        (part([1, 2, 3], [0, 0.1, 1], [0, 0, 0, 1]), 11, ("reward",)),
        (part([1, 2, 3], [0, 0, 1], [0, 1, 0, 1]), 10, ("predicates",)),
        (part([1, 2, 3], [0, 0, 1], [0, 0, 0, 0]), 12, ("predicates",)),
        (part([1, 2, 3, 0], [0, 0, 1, 0], [0, 0, 0, 1, 0]), 12, ("end",)),
        (part([1, 0], [0, 2], [0, 0, 1]), 11, ("action", "reward", "predicates", "end")),
        (part([1, 2, 3], [0, float("nan"), 1], [0, 0, 0, 1]), 11, ("reward",)),
    ],
)
def test_courses_part_at_the_first_step_that_differs_in_anything(
    other: Course, step: int | None, what: tuple[str, ...] | None
) -> None:
    one = part([1, 2, 3], [0, 0, 1], [0, 0, 0, 1])
    for found in (course.first_difference(one, other), course.first_difference(other, one)):
        assert (None if found is None else (found.step, found.what)) == (None if step is None else (step, what))


def test_continuous_actions_that_print_alike_count_as_one() -> None:
    one, other, third = (
        part([0.1, 0.2], [0, 0], [0, 0, 0]),
        part([0.1, 0.2009], [0, 0], [0, 0, 0]),
        part([0.1, 0.21], [0, 0], [0, 0, 0]),
    )
    assert course.first_difference(one, other) is None
    assert course.first_difference(one, third).step == 11
