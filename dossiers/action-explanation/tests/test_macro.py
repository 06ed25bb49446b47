"""Macro-actions and their words."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import axis_script
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from interrogation import macro, verbalise
from interrogation.course import Course
from interrogation.macro import Run, runs
from xrl_common import actions
from xrl_common.outcome import Outcome

ACTIONS = st.lists(st.integers(0, 2), max_size=30)


def none(steps: int) -> np.ndarray:
    return np.zeros((steps, 0), bool)


def test_a_run_is_written_with_its_steps_and_count() -> None:
    assert Run(3, 7).text("right") == "steps 3-7 right x5"
    assert Run(2, 2).text("right") == "step 2 right"
    assert Run(0, 1).text("down", 10) == "steps 10-11 down x2"


@given(ACTIONS, st.data())
def test_runs_cover_every_step_once_and_are_maximal(taken: list[int], data: st.DataObject) -> None:
    truth = np.array([data.draw(st.tuples(st.booleans(), st.booleans())) for _ in taken], bool).reshape(-1, 2)
    found = runs(np.array(taken), actions.same, truth)
    assert [step for run in found for step in range(run.first, run.last + 1)] == list(range(len(taken)))
    for run in found:
        for step in range(run.first, run.last + 1):
            assert taken[step] == taken[run.first]
            assert (truth[step] == truth[run.first]).all()
    for one, other in itertools.pairwise(found):
        same = taken[one.last] == taken[other.first] and (truth[one.last] == truth[other.first]).all()
        assert not same


@given(ACTIONS)
def test_without_predicates_runs_are_those_of_the_actions_alone(taken: list[int]) -> None:
    spans = [(run.first, run.last) for run in runs(np.array(taken), actions.same, none(len(taken)))]
    breaks = [k for k in range(1, len(taken)) if taken[k] != taken[k - 1]]
    firsts = [0, *breaks] if taken else []
    assert spans == list(zip(firsts, [b - 1 for b in [*breaks, len(taken)]], strict=False))


def continuous() -> SimpleNamespace:
    space = SimpleNamespace(low=-1.0, high=1.0, shape=(2,))
    return SimpleNamespace(action_space=space, action_names=(("fan/0",), ("fan/1",)))


def test_continuous_actions_are_one_within_an_eighth_of_the_range_of_the_first() -> None:
    taken = np.array([[0.0, 0.0], [0.25, 0.0], [0.26, 0.0], [0.4, -0.2], [5.0, 0.0], [1.0, 0.0]], np.float32)
    found = runs(taken, macro.alike(continuous()), none(6))
    assert [(run.first, run.last) for run in found] == [(0, 1), (2, 3), (4, 5)]
    assert macro.name(continuous(), taken[4:6]) == "1.000,0.000"
    assert macro.name(continuous(), taken[:2]) == "0.125,0.000"


def test_signed_numbers_have_no_negative_zero_and_keep_what_is_not_finite() -> None:
    values = (1.0, -1.0, 0.0, -0.0, -1e-9, float("nan"), float("-inf"))
    assert [verbalise.signed(x) for x in values] == [
        "+1.000",
        "-1.000",
        "+0.000",
        "+0.000",
        "+0.000",
        "nan",
        "-inf",
    ]


@given(st.text("abc ", max_size=20), st.lists(st.text("xyz", min_size=1, max_size=200), max_size=12))
def test_folded_lines_fit_and_lose_nothing(title: str, parts: list[str]) -> None:
    lines = verbalise.folded(title.strip()[:12], parts)
    assert max(map(len, lines)) <= verbalise.WIDTH
    body = "".join(line[verbalise.TITLE :] for line in lines)
    assert body.replace(" ", "") == "".join(parts)


def test_long_lists_tell_how_many_are_left() -> None:
    assert verbalise.listed(["a", "b", "c"], 3) == ["a,", "b,", "c"]
    assert verbalise.listed(["a", "b", "c", "d"], 2) == ["a,", "b,", "and 2 more runs"]


def long_course(steps: int) -> Course:
    """Alternating actions, so that every step is a run of its own."""
    taken = np.arange(steps) % 2
    return Course(
        start=0,
        actions=taken.astype(np.int32),
        rewards=np.zeros((steps, 3)),
        names=("p",),
        truth=np.zeros((steps + 1, 1), bool),
        observations=np.zeros((steps, 2), np.float32),
        states=axis_script.F6.at((1, 1)).__class__(np.zeros(steps, np.int32), np.arange(steps, dtype=np.int32)),
        outcome=Outcome("truncated", (), {}),
    )


def test_a_long_episode_shows_its_ends_or_the_lines_around_a_step() -> None:
    course = long_course(100)
    components = ("large", "small", "pit")
    lines = verbalise.episode(axis_script.SUBJECT, components, course, [], 1)
    numbered = [int(line.split()[0]) for line in lines if line.split()[0].isdigit()]
    assert numbered == [*range(1, 21), *range(81, 101)]
    assert "  ... 60 lines left out (see --time)" in [line.removeprefix("   ") for line in lines]
    around = verbalise.episode(axis_script.SUBJECT, components, course, [], 1, t=50)
    assert [int(line.split()[0]) for line in around if line.split()[0].isdigit()] == list(range(41, 62))
    assert sum("left out" in line for line in around) == 2


def test_observations_are_told_at_every_third_step_from_complexity_2_on() -> None:
    course = long_course(10)
    for complexity, told in ((1, 0), (2, 4), (3, 4)):
        lines = verbalise.episode(axis_script.SUBJECT, ("large", "small", "pit"), course, [0], complexity)
        assert sum("at step" in line for line in lines) == told
    lines = verbalise.episode(axis_script.SUBJECT, ("large", "small", "pit"), course, [0], 3, every=5)
    assert [line.split()[2] for line in lines if "at step" in line] == ["0", "5"]
