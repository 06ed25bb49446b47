"""What the package takes, and how it refuses the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import evalxrl
import numpy as np
import pytest
from numpy.typing import NDArray

MALFUNCTIONS = np.repeat(["walls", "doors", "goals"], 24)
METHODS = np.tile(np.repeat(["no-method", "cheat-oracle", "saliency", "counterfactual"], 6), 3)
BLOCKS = np.tile(np.arange(6), 12)
FEW: dict[str, Any] = {"permutations": 99, "resamples": 99, "seed": 3}


def scores(seed: int = 0) -> NDArray[np.float64]:
    """Noise around .4, the oracle at .7."""
    noise = np.random.default_rng(seed).normal(0.4, 0.1, METHODS.size)
    return np.asarray(noise + 0.3 * (METHODS == "cheat-oracle"), dtype=np.float64)


def test_float32_and_strided_arrays_are_taken_as_they_are() -> None:
    wide = scores()
    narrow = wide.astype(np.float32)
    strided = np.repeat(wide, 2)[::2]
    assert not strided.flags["C_CONTIGUOUS"]
    first = evalxrl.interaction(narrow, METHODS, MALFUNCTIONS, **FEW)
    assert first == evalxrl.interaction(narrow.astype(float), METHODS, MALFUNCTIONS, **FEW)
    assert evalxrl.rank_sum(strided[:6], strided[6:12]) == evalxrl.rank_sum(wide[:6], wide[6:12])
    turned = np.asfortranarray(wide.reshape(3, 4, 6)).transpose(1, 0, 2)
    assert evalxrl.interaction(turned, tests=["literal"], **FEW) == evalxrl.interaction(
        np.ascontiguousarray(turned), tests=["literal"], **FEW
    )


def test_an_array_with_gaps_is_the_same_as_its_tidy_form() -> None:
    array = scores().reshape(3, 4, 6).transpose(1, 0, 2).copy()
    array[2, 1, 4:] = np.nan
    names, malfunctions = ["a", "b", "c", "d"], ["u", "v", "w"]
    there = ~np.isnan(array)
    method, malfunction, replication = np.nonzero(there)
    tidy: dict[str, Any] = {
        "score": array[there],
        "method": np.array(names)[method],
        "malfunction": np.array(malfunctions)[malfunction],
        "block": replication,
    }
    laid_out = evalxrl.interaction(array, names, malfunctions, range(6), **FEW)
    assert laid_out == evalxrl.interaction(**tidy, **FEW)
    assert isinstance(laid_out, evalxrl.Interaction)
    assert laid_out.sessions == 70
    unnamed = evalxrl.interaction(array, tests=["wild"], **FEW)
    assert unnamed.test("wild").p == laid_out.test("wild").p


def test_only_some_tests_have_the_p_values_of_all() -> None:
    everything = evalxrl.interaction(scores(), METHODS, MALFUNCTIONS, BLOCKS, **FEW)
    assert isinstance(everything, evalxrl.Interaction)
    for test in everything.tests:
        alone = evalxrl.interaction(scores(), METHODS, MALFUNCTIONS, BLOCKS, tests=[test.name], **FEW)
        assert alone.tests == [test]
    assert {test.name for test in everything.tests} == set(evalxrl.H1_TESTS)


SHAPES: list[tuple[str, Any]] = [
    (
        r"method has shape \(3,\), but score has shape \(72,\)",
        lambda: evalxrl.interaction(scores(), METHODS[:3], MALFUNCTIONS, seed=1),
    ),
    (
        r"block has shape \(5,\), but score has shape \(72,\)",
        lambda: evalxrl.harm(scores(), METHODS, MALFUNCTIONS, BLOCKS[:5], seed=1),
    ),
    (r"baseline has shape \(2, 2\), but one dimension", lambda: evalxrl.welch([1.0, 2.0], np.ones((2, 2)))),
    (
        r"clean has shape \(2,\), but post has shape \(3,\)",
        lambda: evalxrl.repair_score([1.0, 2.0, 3.0], [1.0, 2.0], 0.0),
    ),
    (
        r"method has shape \(3,\), but its axis of score has shape \(2,\)",
        lambda: evalxrl.interaction(np.ones((2, 2, 2)), ["a", "b", "c"], seed=1),
    ),
    (
        r"indices has shape \(1, 3\), but \(resamples, 2\)",
        lambda: evalxrl.interval([0.1, 0.2], indices=[[0, 1, 1]], seed=1),
    ),
    (r"score has shape \(\), but one dimension", lambda: evalxrl.interval(0.5, seed=1)),
    (r"score has shape \(2, 2, 1, 1\), but one dimension", lambda: evalxrl.lift(np.ones((2, 2, 1, 1)), seed=1)),
    (r"score has lists of unequal lengths", lambda: evalxrl.interval([[0.1, 0.2], [0.3]], seed=1)),
    (r"table has shape \(1, 2\)", lambda: evalxrl.kappa([[1, 2]])),
    (r"second has shape \(1,\), but first has shape \(2,\)", lambda: evalxrl.agreement([1, 2], [1], seed=1)),
    (r"calls has shape \(1,\), but score has shape \(2,\)", lambda: calls([1])),
    (r"invocations has shape \(1,\), but score has shape \(2,\)", lambda: planned([4])),
    (r"invocations has shape \(\), but score has shape \(2,\)", lambda: planned("unlimited")),
]


def calls(numbers: list[float], **more: Any) -> Any:  # noqa: ANN401 - any result
    """Call ``tool_calls`` for two sessions."""
    return evalxrl.tool_calls([0.1, 0.2], ["a", "no-method"], ["k", "k"], numbers, resamples=9, seed=1, **more)


def planned(budgets: Any) -> Any:  # noqa: ANN401 - any result
    """Call ``planned_budget_curve`` for two sessions."""
    return evalxrl.planned_budget_curve([0.1, 0.2], ["a", "a"], ["k", "k"], budgets, resamples=9, seed=1)


@pytest.mark.parametrize(("message", "call"), SHAPES)
def test_a_wrong_length_or_rank_names_the_argument_and_both_shapes(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(evalxrl.ShapeError, match=message):
        call()


REFUSALS: list[tuple[type[Exception], str, Any]] = [
    (evalxrl.NotFiniteError, r"score holds a value that is not finite, at \[1\]", lambda: one([0.1, np.nan])),
    (evalxrl.NotFiniteError, "not finite", lambda: evalxrl.interaction(np.full((2, 2, 2), np.inf), seed=1)),
    (evalxrl.InputError, "score is not an array of numbers", lambda: one(["a", "b"])),
    (evalxrl.InputError, "score is not an array of numbers", lambda: one([1 + 2j])),
    (evalxrl.InputError, "masked array", lambda: one(np.ma.masked_array([1.0, 2.0], [True, False]))),
    (evalxrl.InputError, "score has no session", lambda: evalxrl.harm([], [], [], seed=1)),
    (evalxrl.InputError, "method is absent", lambda: evalxrl.harm([0.1], seed=1)),
    (evalxrl.InputError, "label that is absent", lambda: gap_in_labels()),
    (evalxrl.GapRefused, "inverted", lambda: evalxrl.admit([1.0, 1.1], [2.0, 2.1], 0.1)),
    (evalxrl.GapRefused, "below five standard errors", lambda: evalxrl.admit([1.0, 3.0], [0.0, 2.0], 0.1)),
    (evalxrl.GapRefused, "below the minimal gap", lambda: evalxrl.admit([1.0, 1.0], [0.0, 0.0], 2.0)),
    (evalxrl.GapRefused, "not finite", lambda: evalxrl.admit([1.0, np.nan], [0.0, 0.0], 0.1)),
    (evalxrl.InputError, "fewer than two training seeds", lambda: evalxrl.admit([1.0], [0.0, 0.0], 0.1)),
    (evalxrl.ScoreRefused, "position 1: .*not above", lambda: evalxrl.repair_score([1.0, 1.0], [2.0, 1.0], 1.0)),
    (evalxrl.InputError, "position 1 is outside", lambda: evalxrl.benjamini_hochberg([0.1, 1.2])),
    (evalxrl.InputError, r"analysis\.alpha: 2 is not strictly between 0 and 1", lambda: h1(alpha=2)),
    (evalxrl.InputError, "tests 'colour' is not offered: literal, wild", lambda: h1(tests=["colour"])),
    (evalxrl.InputError, "tests 'wild' is one text", lambda: h1(tests="wild")),
    (evalxrl.InputError, "scale 'log' is not offered", lambda: h1(scale="log")),
    (evalxrl.InputError, "permutations 0 is not a whole number from 1", lambda: h1(permutations=0)),
    (evalxrl.InputError, "permutations 9.5 is not a whole number", lambda: h1(permutations=9.5)),
    (
        evalxrl.InputError,
        "not offered",
        lambda: evalxrl.two_sample_permutation([1.0], [2.0], statistic="median", seed=1),
    ),
    (evalxrl.InputError, "alternative", lambda: evalxrl.rank_sum([1.0], [2.0], alternative="more")),
    (evalxrl.InputError, "zeros", lambda: evalxrl.signed_rank([1.0], zeros="split")),
    (evalxrl.InputError, "same cell", lambda: evalxrl.interval([0.1, 0.2], ["a", "b"], indices=[[1, 0]], seed=1)),
    (evalxrl.InputError, "takes the mean of one cell", lambda: one([0.1, 0.2], cell=["a", "b"], kind="student_t")),
    (evalxrl.InputError, "level 1 is not strictly", lambda: one([0.1, 0.2], level=1)),
    (evalxrl.InputError, "seed -1 is not", lambda: evalxrl.interval([0.1, 0.2], seed=-1)),
    (evalxrl.InputError, "seed '12' is neither", lambda: evalxrl.interval([0.1, 0.2], seed="12")),
    (evalxrl.InputError, "seed True is not", lambda: evalxrl.interval([0.1, 0.2], seed=True)),
    (evalxrl.InputError, "holds no session of .c.", lambda: improvement("a", "c")),
    (evalxrl.CoalitionError, "no-method, b", lambda: evalxrl.shapley([0.1] * 2, ["a", "a+b"], ["k"] * 2, seed=1)),
    (evalxrl.InputError, "seed is needed", lambda: evalxrl.shapley([0.1], ["a"], ["k"])),  # type: ignore[call-overload]
    (evalxrl.InputError, "all coalitions", lambda: evalxrl.shapley([0.1, 0.2, 0.3])),
    (evalxrl.InputError, "no whole number", lambda: evalxrl.kappa([[1, 0], [0, -1]])),
    (evalxrl.InputError, "lacks the verdicts 'b'", lambda: evalxrl.agreement(["a"], ["b"], categories=["a"], seed=1)),
    (evalxrl.InputError, "no whole number from 0", lambda: calls([1.5, 2])),
    (evalxrl.InputError, "outcome", lambda: calls([1, 2], outcome=["won", "submitted"])),
    (evalxrl.InputError, "raw 0.1: must be 0", lambda: calls([1, 2], outcome=["gave_up", "submitted"])),
    (evalxrl.InputError, r"invocations holds 1\.5, at \[1\], which is neither", lambda: planned([4, 1.5])),
    (evalxrl.InputError, r"invocations holds 'many', at \[0\]", lambda: planned(["many", 4])),
    (evalxrl.InputError, r"invocations holds -1, at \[0\]", lambda: planned([-1, 4])),
    (evalxrl.InputError, r"invocations holds nan, at \[1\]", lambda: planned([4, np.nan])),
    (evalxrl.InputError, r"invocations holds True, at \[0\]", lambda: planned([True, 4])),
    (evalxrl.InputError, r"invocations holds None, at \[1\]", lambda: planned([4, None])),
    (evalxrl.InputError, r"invocations .9{20}., at \[0\]: neither", lambda: planned(["9" * 20, 4])),
    (evalxrl.InputError, "invocations is a masked array", lambda: planned(np.ma.masked_array([4, 10], [True, False]))),
    (evalxrl.InputError, "no .rich, minimal.", lambda: evalxrl.ablation([0.1], ["a"], ["k"], pairs=["ab"], seed=1)),  # type: ignore[list-item]
    (evalxrl.InputError, "one of n and power", lambda: evalxrl.two_sample_t_power(0.5)),
    (evalxrl.InputError, "power", lambda: evalxrl.two_sample_t_power(0.5, power=0.01)),
    (evalxrl.InputError, "cells 0 is not", lambda: evalxrl.attainability(6, cells=0)),
]


def one(score: Any, **more: Any) -> Any:  # noqa: ANN401 - any result
    """Call ``interval`` with few resamples."""
    return evalxrl.interval(score, resamples=9, seed=1, **more)


def gap_in_labels() -> Any:  # noqa: ANN401 - any result
    """Call ``lift`` with a session of no method."""
    return evalxrl.lift([0.1, 0.2], np.array(["a", None]), ["k", "k"], seed=1)


def h1(**more: Any) -> Any:  # noqa: ANN401 - any result
    """Call ``interaction`` with one keyword changed."""
    return evalxrl.interaction(scores(), METHODS, MALFUNCTIONS, seed=1, **more)


def improvement(first: str, second: str) -> Any:  # noqa: ANN401 - any result
    """Call ``probability_of_improvement`` for two methods."""
    return evalxrl.probability_of_improvement(
        [0.1, 0.2], ["a", "b"], ["k", "k"], first=first, second=second, resamples=9, seed=1
    )


@pytest.mark.parametrize(("kind", "message", "call"), REFUSALS)
def test_a_refusal_says_what_is_wrong_and_is_a_value_error(
    kind: type[Exception], message: str, call: Callable[[], object]
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert type(caught.value) is kind


def test_what_python_would_refuse_by_itself_is_refused_by_name() -> None:
    labels = (["a", "no-method"], ["walls", "walls"])
    with pytest.raises(evalxrl.InputError, match="score is not an array of numbers"):
        evalxrl.harm([10**400, 1], *labels, seed=1)
    with pytest.raises(evalxrl.InputError, match="baseline 5 is not the name"):
        evalxrl.harm([0.5, 0.1], *labels, baseline=5, seed=1)  # type: ignore[arg-type]
    with pytest.raises(evalxrl.InputError, match="holds text and the other numbers"):
        evalxrl.agreement([1, 2, 3.0], ["1", "2", "3"], seed=1)
    with pytest.raises(evalxrl.InputError, match="resamples"):
        evalxrl.aggregate([0.5, 0.1], *labels, resamples=10**7, seed=1)
    found = evalxrl.sessions_needed(1, 2, effect=1, datasets=20, seed=1)
    assert found == evalxrl.sessions_needed(1, 2, effect="1.0", datasets=20, seed=1)


def test_every_refusal_is_an_input_error_and_documented() -> None:
    for kind in (
        evalxrl.ShapeError,
        evalxrl.NotFiniteError,
        evalxrl.ScoreRefused,
        evalxrl.GapRefused,
        evalxrl.CoalitionError,
    ):
        assert issubclass(kind, evalxrl.InputError)
        assert issubclass(kind, ValueError)
        assert kind.__doc__


def test_every_public_name_is_documented() -> None:
    for name in evalxrl.__all__:
        assert getattr(evalxrl, name).__doc__, name


def test_the_seed_is_required_and_decides() -> None:
    with pytest.raises(TypeError, match="seed"):
        evalxrl.interval([0.1, 0.5, 0.2])  # type: ignore[call-arg]
    values = scores()[:6]
    first = evalxrl.interval(values, resamples=500, seed=1)
    assert first == evalxrl.interval(values, resamples=500, seed=1)
    assert first != evalxrl.interval(values, resamples=500, seed=2)
    assert first != evalxrl.interval(values, resamples=500, seed="0" * 64)
