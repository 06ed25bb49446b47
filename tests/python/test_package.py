"""What the package promises about its input, its refusals and its randomness."""

from __future__ import annotations

import evalxrl
import numpy as np
import pytest
from numpy.typing import NDArray

MALFUNCTIONS = np.repeat(["walls", "doors", "goals"], 24)
METHODS = np.tile(np.repeat(["no-method", "cheat-oracle", "saliency", "counterfactual"], 6), 3)


def scores(seed: int = 0) -> NDArray[np.float64]:
    """Noise around .4, the oracle at .7."""
    noise = np.random.default_rng(seed).normal(0.4, 0.1, METHODS.size)
    return np.asarray(noise + 0.3 * (METHODS == "cheat-oracle"), dtype=np.float64)


def test_float32_and_strided_arrays_are_taken_as_they_are() -> None:
    wide = scores()
    narrow = wide.astype(np.float32)
    strided = np.repeat(wide, 2)[::2]
    assert not strided.flags["C_CONTIGUOUS"]
    effort: dict[str, int] = {"permutations": 99, "resamples": 99, "seed": 3}
    first = evalxrl.interaction(narrow, METHODS, MALFUNCTIONS, **effort)
    assert first == evalxrl.interaction(narrow.astype(float), METHODS, MALFUNCTIONS, **effort)
    assert evalxrl.rank_sum(strided[:6], strided[6:12]) == evalxrl.rank_sum(wide[:6], wide[6:12])


def test_a_wrong_length_or_rank_names_the_argument_and_both_shapes() -> None:
    with pytest.raises(ValueError, match=r"method has shape \(3,\), but score has shape \(72,\)"):
        evalxrl.interaction(scores(), METHODS[:3], MALFUNCTIONS, seed=1)
    with pytest.raises(ValueError, match=r"baseline has shape \(2, 2\), but one dimension"):
        evalxrl.welch([1.0, 2.0], np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"clean has shape \(2,\), but post has shape \(3,\)"):
        evalxrl.repair_score([1.0, 2.0, 3.0], [1.0, 2.0], 0.0)
    with pytest.raises(ValueError, match="score holds a value that is not finite"):
        evalxrl.interval([0.1, np.nan], seed=1)


def test_refusals_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="inverted"):
        evalxrl.admit([1.0, 1.1], [2.0, 2.1], 0.1)
    with pytest.raises(ValueError, match="below five standard errors"):
        evalxrl.admit([1.0, 3.0], [0.0, 2.0], 0.1)
    with pytest.raises(ValueError, match="position 1 is outside"):
        evalxrl.benjamini_hochberg([0.1, 1.2])
    with pytest.raises(ValueError, match=r"analysis\.alpha: 2 is not strictly between 0 and 1"):
        evalxrl.interaction(scores(), METHODS, MALFUNCTIONS, alpha=2, seed=1)
    with pytest.raises(ValueError, match="not offered"):
        evalxrl.two_sample_permutation([1.0], [2.0], statistic="median", seed=1)
    with pytest.raises(ValueError, match="no session of the same cell"):
        evalxrl.interval([0.1, 0.2], ["a", "b"], indices=[[1, 0]], seed=1)


def test_the_seed_is_required_and_decides() -> None:
    with pytest.raises(TypeError, match="seed"):
        evalxrl.interval([0.1, 0.5, 0.2])  # type: ignore[call-arg]
    values = scores()[:6]
    first = evalxrl.interval(values, resamples=500, seed=1)
    assert first == evalxrl.interval(values, resamples=500, seed=1)
    assert first != evalxrl.interval(values, resamples=500, seed=2)


def test_unconnected_methods_are_not_computed() -> None:
    found = evalxrl.interaction(np.arange(8) / 8, list("aabbccdd"), list("wwwwxxxx"), seed=1)
    assert found == evalxrl.NotComputed("methods {a, b} share no malfunction with {c, d}")


def test_student_t_and_one_session() -> None:
    found = evalxrl.interval([0.1, 0.5, 0.2], kind="student_t", seed=0)
    assert isinstance(found, evalxrl.Interval)
    # t(.975; 2) = 4.302653, s/√3 = .120185.
    assert found.high - found.estimate == pytest.approx(4.302653 * 0.120185, rel=1e-5)
    assert isinstance(evalxrl.interval([0.1], kind="student_t", seed=0), evalxrl.NotComputed)


def test_harm_is_found_where_it_is() -> None:
    values = scores(1)
    harmed = (METHODS == "saliency") & (MALFUNCTIONS == "doors")
    found = evalxrl.harm(values - 0.6 * harmed, METHODS, MALFUNCTIONS, seed=1)
    assert isinstance(found, evalxrl.Harm)
    assert found.verdict == "harm_found"
    assert [(cell.method, cell.malfunction) for cell in found.harmed] == [("saliency", "doors")]
    untouched = evalxrl.harm(values, METHODS, MALFUNCTIONS, seed=1)
    assert isinstance(untouched, evalxrl.Harm)
    assert untouched.verdict == "no_harm_found"
    assert found.planned_cells == 6


def test_the_oracle_gap_stands_against_one_without_an_optimal_arm() -> None:
    found = evalxrl.oracle_gap(scores(), METHODS, MALFUNCTIONS, resamples=2_000, seed=1)
    assert isinstance(found, evalxrl.OracleGap)
    assert found.optimal_repair_assumed
    assert found.verdict == "gap"
    assert found.gap.estimate == pytest.approx(0.3, abs=0.1)


def test_attainability_names_the_number_that_cures() -> None:
    found = evalxrl.attainability(6, cells=60)
    assert (found.arrangements, found.cells_needed, found.sessions_for_one_cell) == (924, 2, 7)
    paired = evalxrl.attainability(6, cells=60, test="signed_rank")
    assert (paired.cells_needed, paired.sessions_for_one_cell) == (19, 11)
