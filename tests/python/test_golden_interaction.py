"""Every exact reference value of H1, through the installed wheel."""

from __future__ import annotations

from functools import cache
from typing import Any

import evalxrl
import numpy as np
import pytest
from golden import cases, close, counts, there, tidy

FEW: dict[str, Any] = {"permutations": 99, "resamples": 99, "seed": 1}


@cache
def whole(place: int) -> evalxrl.Interaction:
    """Everything about one balanced case."""
    found = evalxrl.interaction(**tidy(cases("h1_balanced.json")[place]["Y"]), **FEW)
    assert isinstance(found, evalxrl.Interaction)
    return found


def balanced() -> list[tuple[dict[str, Any], evalxrl.Interaction]]:
    """Every balanced case with its results."""
    return [(case, whole(place)) for place, case in enumerate(cases("h1_balanced.json"))]


def test_sums_of_squares_of_h1_balanced_match() -> None:
    for case, found in balanced():
        target, sums = case["summary"], found.decomposition
        assert there(sums.ss_method) == close(target["SS_method"])
        assert there(sums.ss_malfunction) == close(target["SS_malfunction"])
        assert sums.ss_interaction == close(target["SS_interaction"])
        assert sums.sse == close(target["SSE"])
        assert (sums.df_interaction, sums.df_error) == (target["df_int"], target["df_err"])
        assert there(sums.mse) == close(target["MSE"])
        assert there(sums.f_interaction) == close(target["F_int"])
        assert there(sums.f_any) == close(target["F_any"])
        assert there(sums.p_any_parametric) == close(target["p_any"], 1e-8)
        assert there(sums.variance_of_interaction) == close(target["sigma2_int"])
        assert there(found.test("parametric").p).value == close(target["p_F"], 1e-8)


def test_effect_sizes_of_h1_balanced_match() -> None:
    for case, found in balanced():
        target, sizes = case["summary"], there(found.effect_size)
        assert sizes.partial_eta_squared == close(target["partial_eta2"])
        assert sizes.eta_squared == close(target["eta2"])
        assert sizes.omega_squared == close(target["omega2"])
        assert sizes.partial_omega_squared == close(target["partial_omega2"])
        assert there(found.decomposition.partial_omega_squared) == close(target["partial_omega2"])


def test_axes_of_h1_balanced_match() -> None:
    for case, found in balanced():
        target, axes = case["summary"], there(found.axes)
        for ours, theirs in (
            (axes.singular_values, target["sv_column_centred"]),
            (axes.interaction_singular_values, target["sv_double_centred"]),
        ):
            expected = [0.0 if value < 1e-10 else value for value in theirs]
            assert ours[: len(expected)] == close(tuple(expected))
            assert not any(ours[len(expected) :])
        assert there(axes.first_share) == close(target["rank1_share"])
        if target["ammi_share1"] is None:
            assert isinstance(axes.interaction_first_share, evalxrl.NotComputed)
        else:
            assert there(axes.interaction_first_share) == close(target["ammi_share1"])
        tukey = target["tukey_1df"]
        pairs = [("f_error", "F_vs_pure_error"), ("p_error", "p_vs_pure_error")]
        pairs += [("f_remainder", "F_vs_remainder"), ("p_remainder", "p_vs_remainder")]
        if tukey is not None:
            assert there(axes.tukey).ss == close(tukey["SS"])
            for name, key in pairs:
                ours = getattr(axes.tukey, name)
                if tukey[key] is None:
                    assert isinstance(ours, evalxrl.NotComputed)
                else:
                    assert ours == close(tukey[key], 1e-8 if key[0] == "p" else 1e-10)
        if target["F_beyond_rank1"] is not None:
            beyond = there(axes.beyond_first)
            assert (beyond.f, beyond.df) == (close(target["F_beyond_rank1"]), target["df_beyond_rank1"])
            assert beyond.p_approximate == close(target["p_beyond_rank1_Fapprox"], 1e-8)
        if target["ats_box"] is not None:
            assert there(found.test("ats_box").p).value == close(target["ats_box"]["p"], 1e-8)


def test_every_enumerated_test_of_h1_balanced_matches() -> None:
    keys = {
        "literal": "session_perm_SS_exact",
        "session_f": "session_perm_F_exact",
        "freedman_lane": "freedman_lane_within_F_exact",
        "wild": "wild_rademacher_F_exact",
        "cell_label_permutation": "cell_perm_SS_exact",
    }
    enumerated = [case for case in cases("h1_balanced.json") if case.get("exact")]
    assert len(enumerated) == 5
    for case in enumerated:
        found = evalxrl.interaction(case["Y"], tests=list(keys), seed=1)
        for name, key in keys.items():
            target = case["exact"][key]
            assert counts(found.test(name).p) == (target["count"], target["total"]), (case["name"], name)


def test_ragged_h1_matches_h1_unbalanced() -> None:
    for case in cases("h1_unbalanced.json"):
        rows = np.array(case["rows"])
        found = there(evalxrl.interaction(rows[:, 3], rows[:, 0], rows[:, 1], **FEW))
        sums = found.decomposition
        assert sums.ss_interaction == close(case["SS_int"])
        assert sums.sse == close(case["RSS_cells"])
        assert sums.ss_interaction + sums.sse == close(case["RSS_additive"])
        assert (sums.df_interaction, sums.df_error) == (case["df_int"], case["df_err"])
        assert there(sums.f_interaction) == close(case["F"])
        assert there(found.test("parametric").p).value == close(case["p"], 1e-8)


def test_intervals_and_blocks_of_the_named_cases_match() -> None:
    intervals = {
        "5x10x6 interaction": (0.082950, 0.257667),
        "7x15x6 additive": (0.0, 0.030430),
        "3x2x2 crossover": (0.957711, 0.996307),
    }
    blocks = {
        "5x10x6 interaction": (14.891672, 200, 2.645960),
        "7x15x6 additive": (17.153109, 450, 0.851217),
    }
    seen = set()
    for case, found in balanced():
        if case["name"] in intervals:
            interval = there(there(found.effect_size).noncentral_f)
            assert (interval.low, interval.high) == pytest.approx(intervals[case["name"]], abs=1e-5)
            seen.add(case["name"])
        if case["name"] in blocks:
            sse, df, f = blocks[case["name"]]
            blocked = there(found.blocked)
            assert (blocked.sse, there(blocked.f)) == pytest.approx((sse, f), abs=1e-6)
            assert blocked.df_error == df
    assert seen == set(intervals)


def test_monte_carlo_comes_near_the_enumerated_p() -> None:
    keys = {"literal": "session_perm_SS_exact", "wild": "wild_rademacher_F_exact"}
    draws = 9_999
    for case in cases("h1_balanced.json"):
        if not case.get("exact"):
            continue
        found = evalxrl.interaction(case["Y"], tests=list(keys), exact_limit=0, permutations=draws, seed=3)
        for name, key in keys.items():
            p, exact = there(found.test(name).p), case["exact"][key]["p"]
            assert not p.exact
            assert abs(p.value - exact) <= 4 * np.sqrt(exact * (1 - exact) / draws) + 1 / draws
