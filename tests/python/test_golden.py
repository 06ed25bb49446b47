"""Every exact reference value but those of H1, through the installed wheel."""

from __future__ import annotations

from typing import Any

import evalxrl
import numpy as np
import pytest
from golden import cases, close, counts, there


def test_scores_match_score() -> None:
    for case in cases("score.json"):
        keys = ("P_post", "P_clean", "P_broken")
        numbers = [np.nan if case[key] is None else case[key] for key in keys]
        if case["unclipped"] is None or case["inverted_denominator"]:
            with pytest.raises(evalxrl.ScoreRefused, match=r"position 0: .*(finite|not above)"):
                evalxrl.repair_score(*numbers)
        else:
            score = evalxrl.repair_score(*numbers)
            assert score.raw[0] == close(case["unclipped"])
            assert score.clipped[0] == close(case["clipped"])


def test_two_sample_tests_match_two_sample_perm() -> None:
    for case in cases("two_sample_perm.json"):
        arms = np.array(case["method"]), np.array(case["baseline"])
        found = {
            "perm_mean_less": evalxrl.two_sample_permutation(*arms, seed=1),
            "perm_welch_less": evalxrl.two_sample_permutation(*arms, statistic="welch", seed=1),
            "perm_ranksum_less": evalxrl.rank_sum(*arms),
        }
        for key, p in found.items():
            assert counts(p) == (case[key]["count"], case[key]["total"])
        welch = evalxrl.welch(*arms)
        if case["welch_less"] is None:
            assert isinstance(welch, evalxrl.NotComputed)
        else:
            assert there(welch).p_less == close(case["welch_less"], 1e-8)
            assert there(welch).difference == close(case["diff"])


def test_signed_ranks_and_sign_flips_match_wilcoxon() -> None:
    for case in cases("wilcoxon.json"):
        for rule in ("wilcox", "pratt"):
            target, found = case[f"exact_{rule}"], there(evalxrl.signed_rank(case["d"], zeros=rule))
            assert found.n == target["n"]
            if found.n > 0:
                assert (found.w_plus, found.w_minus) == (target["W_plus"], target["W_minus"])
            for side in ("less", "greater"):
                assert getattr(found, side).value == close(target[side])
                if f"{side}_frac" in target and found.n > 0:
                    above, below = map(int, target[f"{side}_frac"].split("/"))
                    count, total = counts(getattr(found, side))
                    assert (count, total) == (above, below)
            assert found.two_sided.value == close(target["two_sided"])
        flip = there(evalxrl.sign_flip(case["d"], seed=1)).less
        target = case["signflip_mean_less"]
        assert counts(flip) == (target["count"], target["total"])


def test_benjamini_hochberg_matches_bh() -> None:
    for case in cases("bh.json"):
        found = evalxrl.benjamini_hochberg(np.array(case["p"], dtype=float))
        expected = np.array(case["bh_adjusted"], dtype=float)
        np.testing.assert_allclose(found.p, expected, rtol=1e-10, atol=1e-12)
        assert found.rejected.tolist() == [bool(reject) for reject in case["reject_q05"]]
        assert evalxrl.benjamini_hochberg(case["p"]).rejected.tolist() == found.rejected.tolist()


def test_intervals_of_given_resamples_match_bootstrap() -> None:
    case = cases("bootstrap.json")[0]
    runs, picks = np.array(case["X"]), np.array(case["idx"])
    tasks = runs.shape[1]
    # Session (run, task) has position run·tasks + task; a pick names the run to take.
    indices = (picks * tasks + np.arange(tasks)).reshape(len(picks), -1)
    cell = np.tile(np.arange(tasks), runs.shape[0])

    def interval(kind: str, statistic: str = "mean", first: int | None = None) -> Any:  # noqa: ANN401
        given = indices[:first]
        return there(evalxrl.interval(runs.ravel(), cell, kind=kind, statistic=statistic, indices=given, seed=1))

    for kind, key, relative in (
        ("percentile", "mean_pct95", 1e-10),
        ("basic", "mean_basic95", 1e-10),
        ("bca", "bca_mean", 1e-8),
    ):
        found, target = interval(kind), case[key]
        assert found.estimate == close(case["mean"])
        assert (found.low, found.high) == close(tuple(target["ci"] if kind == "bca" else target), relative)
    found = interval("percentile", "iqm")
    assert found.estimate == close(case["iqm"])
    assert (found.low, found.high) == close(tuple(case["iqm_pct95"]))
    for place, target in enumerate(case["iqm_reps_first5"]):
        one = indices[place : place + 1]
        alone = there(evalxrl.interval(runs.ravel(), cell, statistic="iqm", indices=one, seed=1))
        assert alone.flags == ["degenerate"]
        # One resample has no spread; the same cells taken as scores show its value.
        drawn = there(evalxrl.interval(runs.ravel()[one[0]], cell, statistic="iqm", resamples=9, seed=1))
        assert drawn.estimate == close(target)


def test_quantiles_over_all_resamples_match_bootstrap() -> None:
    case = cases("bootstrap.json")[1]
    x, y = np.array(case["x"]), np.array(case["y"])
    every = np.indices((3, 3, 3)).reshape(3, -1).T
    found = there(evalxrl.interval(x, indices=every, seed=1))
    assert (found.low, found.high) == close((case["mean_q"][0], case["mean_q"][2]))
    # The mean of cells x and −y is half the difference of their means.
    pairs = np.array([[*one, *(other + 3)] for one in every for other in every])
    both = there(evalxrl.interval(np.concatenate([x, -y]), [0, 0, 0, 1, 1, 1], indices=pairs, seed=1))
    ends = sorted(2 * end for end in (both.low, both.high))
    targets = sorted(case["diff_q"][place] for place in (0, 2))
    assert tuple(ends) == close(tuple(targets)) or tuple(-end for end in reversed(ends)) == close(tuple(targets))


def test_aggregates_match_aggregates() -> None:
    for case in cases("aggregates.json"):
        first, second = np.array(case["X"]).T, np.array(case["Y"]).T
        for statistic in ("mean", "median", "iqm", "optimality_gap"):
            found = there(evalxrl.interval(first, statistic=statistic, resamples=99, seed=1))
            assert found.estimate == close(case[statistic]), statistic
        both = np.stack([first, second])
        profiles = evalxrl.performance_profile(both, ["x", "y"], thresholds=case["taus"], resamples=99, seed=1)
        assert profiles[0].method == "x"
        assert there(profiles[0].profiles).score.shares == close(tuple(case["score_profile"]))
        assert there(profiles[0].profiles).average_score.shares == close(tuple(case["avg_score_profile"]))
        names: dict[str, Any] = {"first": "x", "second": "y", "resamples": 99, "seed": 1}
        improvement = there(evalxrl.probability_of_improvement(both, ["x", "y"], **names))
        assert improvement.estimate == close(case["prob_improvement"])


def test_kappa_matches_kappa() -> None:
    for case in cases("kappa.json"):
        for weights in ("unweighted", "linear", "quadratic"):
            target, found = case[weights], evalxrl.kappa(case["table"], weights=weights)
            if target["kappa"] is None:
                assert isinstance(found, evalxrl.NotComputed)
                continue
            found = there(found)
            assert found.kappa == close(target["kappa"])
            # A constant rater has κ = 0 and no standard error; the reference file rounds one of its null errors off 0.
            constant = np.count_nonzero(np.sum(case["table"], axis=0)) == 1
            constant |= np.count_nonzero(np.sum(case["table"], axis=1)) == 1
            assert constant == (target["se"] is None)
            if constant:
                for absent in (found.standard_error, found.null_standard_error, found.normal):
                    assert isinstance(absent, evalxrl.NotComputed)
            else:
                assert there(found.standard_error) == close(target["se"])
                assert there(found.null_standard_error) == close(target["se0"])
                normal = there(found.normal)
                assert (normal.low, normal.high) == close(tuple(target["ci95"]), 1e-8)
            assert there(found.kappa_max) == close(target["kappa_max"])


def test_shapley_values_match_shapley() -> None:
    for case in cases("shapley.json"):
        found = evalxrl.shapley(case["v"])
        assert found.values == close(tuple(case["shapley"]))
        assert found.sum == close(case["sum"])
        assert found.efficiency == close(case["efficiency"])


def test_sessions_per_arm_match_power_ttest_ind() -> None:
    for case in cases("power_ttest_ind.json"):
        found = evalxrl.two_sample_t_power(case["d"], power=case["power"], alpha=case["alpha"])
        assert found == pytest.approx(case["n_per_group"], rel=1e-6)
        again = evalxrl.two_sample_t_power(case["d"], n=found, alpha=case["alpha"])
        assert again == pytest.approx(case["power"], rel=1e-6)
