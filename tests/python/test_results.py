"""What comes out for known data, and what cannot exist."""

from __future__ import annotations

from typing import Any

import evalxrl
import numpy as np
import pytest
from golden import there
from scipy import stats
from test_input import BLOCKS, FEW, MALFUNCTIONS, METHODS, scores


def test_unconnected_methods_are_not_computed() -> None:
    found = evalxrl.interaction(np.arange(8) / 8, list("aabbccdd"), list("wwwwxxxx"), seed=1)
    assert found == evalxrl.NotComputed("methods {a, b} share no malfunction with {c, d}")


def test_one_method_and_equal_scores_are_results_without_nan() -> None:
    assert isinstance(evalxrl.interaction([0.1, 0.2], ["a", "a"], ["k", "l"], seed=1), evalxrl.NotComputed)
    equal = evalxrl.interaction(np.full((2, 3, 4), 0.5), **FEW)
    assert "nan" not in repr(equal)
    assert there(there(equal).test("literal").p).value == 1.0


def test_student_t_and_one_session() -> None:
    found = there(evalxrl.interval([0.1, 0.5, 0.2], kind="student_t", seed=0))
    # t(.975; 2) = 4.302653, s/√3 = .120185.
    assert found.high - found.estimate == pytest.approx(4.302653 * 0.120185, rel=1e-5)
    assert isinstance(evalxrl.interval([0.1], kind="student_t", seed=0), evalxrl.NotComputed)
    assert isinstance(evalxrl.interval([0.1, 0.2, 0.3], ["a", "a", "b"], seed=0), evalxrl.NotComputed)


def test_harm_is_found_where_it_is() -> None:
    values = scores(1)
    harmed = (METHODS == "saliency") & (MALFUNCTIONS == "doors")
    found = there(evalxrl.harm(values - 0.6 * harmed, METHODS, MALFUNCTIONS, BLOCKS, seed=1))
    assert found.verdict == "harm_found"
    assert [(cell.method, cell.malfunction) for cell in found.harmed] == [("saliency", "doors")]
    assert all(there(cell.pairing).pairs == 6 for cell in found.cells)
    assert found.planned_cells == 6
    untouched = there(evalxrl.harm(values, METHODS, MALFUNCTIONS, seed=1))
    assert untouched.verdict == "no_harm_found"
    paired = untouched.cells[0].test("signed_rank_wilcox").p
    assert isinstance(paired, evalxrl.NotComputed)
    assert "block" in paired.not_computed


def test_a_planned_but_missing_cell_counts_in_the_family_of_harm() -> None:
    seen = there(evalxrl.harm(scores(1), METHODS, MALFUNCTIONS, seed=1))
    larger = there(evalxrl.harm(scores(1), METHODS, MALFUNCTIONS, m_planned=12, seed=1))
    assert (seen.planned_cells, larger.planned_cells) == (6, 12)
    assert there(larger.cells_needed) >= there(seen.cells_needed)
    smallest = [min(there(cell.test("welch").p_adjusted) for cell in found.cells) for found in (seen, larger)]
    assert smallest[1] == pytest.approx(min(1.0, 2 * smallest[0]))
    assert any("6 of 12 planned cells" in warning for warning in larger.warnings)


def test_the_oracle_gap_stands_against_one_without_an_optimal_arm() -> None:
    found = there(evalxrl.oracle_gap(scores(), METHODS, MALFUNCTIONS, resamples=2_000, seed=1))
    assert found.optimal_repair_assumed
    assert found.verdict == "gap"
    assert found.gap.estimate == pytest.approx(0.3, abs=0.1)


def test_both_directions_of_improvement_sum_to_one() -> None:
    names = [("saliency", "cheat-oracle"), ("cheat-oracle", "saliency")]
    found = [
        there(
            evalxrl.probability_of_improvement(
                scores(), METHODS, MALFUNCTIONS, first=first, second=second, resamples=999, seed=1
            )
        )
        for first, second in names
    ]
    assert found[0].estimate + found[1].estimate == pytest.approx(1.0, abs=1e-12)
    assert found[0].estimate < 0.2


def test_aggregates_agree_with_their_plain_definitions() -> None:
    values = scores()
    found = evalxrl.aggregate(values, METHODS, MALFUNCTIONS, resamples=999, seed=1)
    cells = [values[(METHODS == "saliency") & (name == MALFUNCTIONS)] for name in np.unique(MALFUNCTIONS)]
    saliency = found.of("saliency", "raw")
    assert there(saliency.mean).estimate == pytest.approx(np.mean([cell.mean() for cell in cells]))
    assert there(saliency.median).estimate == pytest.approx(np.median([cell.mean() for cell in cells]))
    pooled = np.sort(np.concatenate(cells))
    assert there(saliency.iqm).estimate == pytest.approx(pooled[4:-4].mean())
    assert {(pair.first, pair.second) for pair in found.improvements} >= {("counterfactual", "saliency")}


def test_a_budget_curve_ends_at_the_mean_and_says_what_it_is_not() -> None:
    values = scores()
    calls = np.arange(values.size) % 20 + 1
    found = evalxrl.budget_curve(values, METHODS, MALFUNCTIONS, calls, resamples=99, seed=1)
    assert "budget" in found.label
    for curve in there(found.curves):
        if (curve.method, curve.scale) == ("saliency", "raw"):
            means = [values[(METHODS == "saliency") & (name == MALFUNCTIONS)].mean() for name in set(MALFUNCTIONS)]
            assert curve.means[-1] == pytest.approx(np.mean(means))
            assert curve.calls == sorted(curve.calls)


def test_planned_curves_are_the_cell_means_at_each_budget_of_the_methods_that_cross_budgets() -> None:
    values = scores()
    budgets: list[Any] = [[3, 10, "unlimited"][block % 3] for block in BLOCKS]
    found = there(evalxrl.planned_budget_curve(values, METHODS, MALFUNCTIONS, budgets, resamples=999, seed=1))
    assert [(curve.method, curve.scale) for curve in found] == [
        (method, scale) for method in ("counterfactual", "saliency") for scale in ("clipped", "raw")
    ]
    for curve in found:
        assert (curve.coder, curve.malfunctions) == (None, 3)
        assert [point.invocations for point in curve.points] == ["3", "10", "unlimited"]
        for place, point in enumerate(curve.points):
            own = (curve.method == METHODS) & (place == BLOCKS % 3)
            means = [values[own & (name == MALFUNCTIONS)].mean() for name in np.unique(MALFUNCTIONS)]
            assert point.mean.estimate == pytest.approx(np.mean(means))
            interval = there(point.mean.interval)
            assert interval.low < point.mean.estimate < interval.high


def test_a_planned_curve_keeps_to_the_malfunctions_it_has_under_every_budget() -> None:
    raw, budgets = [0.2, 0.2, 0.9, 0.4, 0.4], ["4", "4", "4", "unlimited", "unlimited"]
    malfunctions = ["walls", "walls", "doors", "walls", "walls"]
    found = there(evalxrl.planned_budget_curve(raw, ["a"] * 5, malfunctions, budgets, resamples=99, seed=1))
    assert [curve.malfunctions for curve in found] == [1, 1]
    assert [point.mean.estimate for point in found[0].points] == pytest.approx([0.2, 0.4])


def test_budgets_may_be_numbers_or_words_and_one_budget_is_no_curve() -> None:
    columns = [0.1, 0.3, 0.2, 0.6], ["a"] * 4, ["k"] * 4
    few: dict[str, Any] = {"resamples": 99, "seed": 1}
    plain = evalxrl.planned_budget_curve(*columns, [4, 4, 10, 10], **few)
    for same in (
        np.array([4.0, 4.0, 10.0, 10.0]),
        np.array(["4", "4", "10", "10"]),
        np.array([4, "4", 10.0, "10"], object),
    ):
        assert evalxrl.planned_budget_curve(*columns, same, **few) == plain
    assert evalxrl.planned_budget_curve(*columns, ["unlimited"] * 4, **few) == evalxrl.NotComputed(
        "no coder has two invocation budgets"
    )


def test_agreement_takes_clusters_and_an_order_of_categories() -> None:
    first, second = ["low", "mid", "high", "low"] * 20, ["low", "high", "high", "mid"] * 20
    order = ["low", "mid", "high"]
    found = there(
        evalxrl.agreement(first, second, list(range(40)) * 2, categories=order, weights="linear", resamples=500, seed=1)
    )
    assert found.clusters == 40
    assert found.kappa == evalxrl.kappa(found.table, weights="linear")
    interval = there(found.interval)
    assert -1.0 <= interval.low <= found.kappa.kappa <= interval.high <= 1.0


def test_rank_correlation_is_that_of_scipy_and_widens_when_pairs_come_in_clusters() -> None:
    rng = np.random.default_rng(4)
    shared = np.repeat(rng.normal(size=12), 8)
    first, second = shared + 0.3 * rng.normal(size=96), shared + 0.3 * rng.normal(size=96)
    apart = there(evalxrl.rank_correlation(first, second, resamples=999, seed=1))
    together = there(evalxrl.rank_correlation(first, second, np.repeat(range(12), 8), resamples=999, seed=1))
    assert apart.coefficient == together.coefficient
    assert abs(apart.coefficient - stats.spearmanr(first, second).statistic) < 1e-12
    assert (apart.clusters, together.clusters) == (96, 12)
    narrow, wide = there(apart.interval), there(together.interval)
    assert wide.high - wide.low > narrow.high - narrow.low
    assert evalxrl.rank_correlation([1, 1, 1], [1, 2, 3], seed=1) == evalxrl.NotComputed(
        "one of the two is the same in every pair"
    )


def test_attainability_reproduces_the_published_integers() -> None:
    def needed(test: str, cells: int, *sizes: tuple[int, int]) -> list[int]:
        return [evalxrl.attainability(*size, cells=cells, test=test).cells_needed for size in sizes]

    paired = [(size, size) for size in (6, 8, 10, 11, 12)]
    unpaired = [(6, 6), (7, 7), (8, 8), (6, 12)]
    assert needed("signed_rank", 60, *paired) == [19, 5, 2, 1, 1]
    assert needed("signed_rank", 105, *paired) == [33, 9, 3, 2, 1]
    assert needed("permutation", 60, *unpaired) == [2, 1, 1, 1]
    assert needed("permutation", 105, *unpaired) == [3, 1, 1, 1]


def test_a_simulation_has_every_part_that_was_asked_for() -> None:
    few: dict[str, Any] = {"datasets": 10, "permutations": 19, "harm_datasets": 10, "coverage_datasets": 5}
    found = evalxrl.simulate(3, 4, 4, coverage=[0.1], coverage_resamples=20, noise="bimodal", seed=1, **few)
    assert len(found.scenarios) == 7
    assert {rate.test for rate in found.scenarios[0].procedures} >= {"literal", "wild"}
    assert [there(rates).harmed for rates in found.harm] == [0, 1]
    assert there(found.effect_size_coverage[0]).interaction_rms == 0.1
    assert there(found.percentile_errors).sessions == 4
    pilot = scores().reshape(12, 6)
    from_pilot = evalxrl.simulate(2, 2, 4, scenarios=[], noise="pilot", pilot=pilot, coverage=[], seed=1, **few)
    assert from_pilot.scenarios == []
    with pytest.raises(evalxrl.InputError, match="known are"):
        evalxrl.simulate(2, 2, 4, scenarios=["nothing"], seed=1)


def test_the_sessions_needed_reach_the_target_and_their_predecessor_does_not() -> None:
    found = evalxrl.sessions_needed(2, 5, effect="2sd", datasets=60, target=0.7, seed=1)
    power = {tried.sessions: tried.power_per_cell.value for tried in found.tried}
    needed = there(found.sessions)
    assert power[needed] >= 0.7
    assert needed == 4 or power[needed - 1] < 0.7
    assert there(found.analytic).sessions > 1
