"""Every exact reference value of the functions offered, through the installed wheel."""

from __future__ import annotations

from typing import Any

import evalxrl
import numpy as np
import pytest
from golden import cases, close


def tidy(scores: list[list[list[float]]]) -> dict[str, Any]:
    """Lay ``[method][malfunction][replication]`` out as tidy arrays."""
    array = np.array(scores)
    method, malfunction, _ = np.indices(array.shape)
    return {
        "score": array.ravel(),
        "method": np.char.add("m", method.ravel().astype(str)),
        "malfunction": np.char.add("k", malfunction.ravel().astype(str)),
    }


def test_scores_match_the_reference_values() -> None:
    for case in cases("score.json"):
        keys = ("P_post", "P_clean", "P_broken")
        numbers = [np.nan if case[key] is None else case[key] for key in keys]
        if case["unclipped"] is None or case["inverted_denominator"]:
            with pytest.raises(ValueError, match=r"finite|not above"):
                evalxrl.repair_score(*numbers)
        else:
            score = evalxrl.repair_score(*numbers)
            assert score.raw[0] == close(case["unclipped"])
            assert score.clipped[0] == close(case["clipped"])


def test_balanced_h1_matches_the_reference_values() -> None:
    for case in cases("h1_balanced.json"):
        found = evalxrl.interaction(**tidy(case["Y"]), permutations=99, resamples=99, seed=1)
        assert isinstance(found, evalxrl.Interaction)
        target, sums = case["summary"], found.decomposition
        assert sums.ss_method == close(target["SS_method"])
        assert sums.ss_malfunction == close(target["SS_malfunction"])
        assert sums.ss_interaction == close(target["SS_interaction"])
        assert sums.sse == close(target["SSE"])
        assert (sums.df_interaction, sums.df_error) == (target["df_int"], target["df_err"])
        assert sums.f_interaction == close(target["F_int"])
        assert sums.f_any == close(target["F_any"])
        assert sums.partial_omega_squared == close(target["partial_omega2"])
        parametric = found.test("parametric").p
        assert isinstance(parametric, evalxrl.PValue)
        assert parametric.value == close(target["p_F"], 1e-8)
        for name, key in (
            ("literal", "session_perm_SS_exact"),
            ("session_f", "session_perm_F_exact"),
            ("wild", "wild_rademacher_F_exact"),
        ):
            if case.get("exact"):
                counts = case["exact"][key]
                p = found.test(name).p
                assert isinstance(p, evalxrl.PValue)
                assert p.exact
                assert (p.count, p.total) == (counts["count"], counts["total"])


def test_ragged_h1_matches_the_reference_values() -> None:
    for case in cases("h1_unbalanced.json"):
        rows = np.array(case["rows"])
        found = evalxrl.interaction(rows[:, 3], rows[:, 0], rows[:, 1], permutations=99, resamples=99, seed=1)
        assert isinstance(found, evalxrl.Interaction)
        sums = found.decomposition
        assert sums.ss_interaction == close(case["SS_int"])
        assert sums.sse == close(case["RSS_cells"])
        assert (sums.df_interaction, sums.df_error) == (case["df_int"], case["df_err"])
        assert sums.f_interaction == close(case["F"])


def test_two_sample_tests_match_the_reference_counts() -> None:
    for case in cases("two_sample_perm.json"):
        arms = np.array(case["method"]), np.array(case["baseline"])
        found = {
            "perm_mean_less": evalxrl.two_sample_permutation(*arms, seed=1),
            "perm_welch_less": evalxrl.two_sample_permutation(*arms, statistic="welch", seed=1),
            "perm_ranksum_less": evalxrl.rank_sum(*arms),
        }
        for key, p in found.items():
            assert isinstance(p, evalxrl.PValue)
            assert (p.count, p.total) == (case[key]["count"], case[key]["total"])
        welch = evalxrl.welch(*arms)
        if case["welch_less"] is None:
            assert isinstance(welch, evalxrl.NotComputed)
        else:
            assert isinstance(welch, evalxrl.Welch)
            assert welch.p_less == close(case["welch_less"], 1e-8)
            assert welch.difference == close(case["diff"])


def test_benjamini_hochberg_matches_the_reference_values() -> None:
    for case in cases("bh.json"):
        found = evalxrl.benjamini_hochberg(np.array(case["p"], dtype=float))
        expected = np.array(case["bh_adjusted"], dtype=float)
        np.testing.assert_allclose(found.p, expected, rtol=1e-10, atol=1e-12)
        rejected = [bool(reject) for reject in case["reject_q05"]]
        assert found.rejected.tolist() == rejected


def test_bootstrap_intervals_match_the_reference_values_for_given_resamples() -> None:
    case = cases("bootstrap.json")[0]
    runs = np.array(case["X"])
    picks = np.array(case["idx"])
    tasks = runs.shape[1]
    # Session (run, task) has position run·tasks + task; a pick names the run to take.
    indices = (picks * tasks + np.arange(tasks)).reshape(len(picks), -1)
    cell = np.tile(np.arange(tasks), runs.shape[0])

    def ends(kind: str) -> tuple[float, float]:
        found = evalxrl.interval(runs.ravel(), cell, kind=kind, indices=indices, seed=1)
        assert isinstance(found, evalxrl.Interval)
        assert found.estimate == close(case["mean"])
        return found.low, found.high

    assert ends("percentile") == close(tuple(case["mean_pct95"]))
    assert ends("basic") == close(tuple(case["mean_basic95"]))
    assert ends("bca") == close(tuple(case["bca_mean"]["ci"]), 1e-8)
