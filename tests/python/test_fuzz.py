"""No finite input ends in a panic, and no result holds NaN: random tables of awkward shapes and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import evalxrl
import numpy as np
import pytest

FEW: dict[str, Any] = {"resamples": 20, "seed": 1}
METHODS = np.array(["no-method", "cheat-oracle", "optimal-repair", "a", "b", "a+b", "a-rich", "a-minimal"])
VALUES = np.array([0.0, -0.0, 1.0, 0.5, -1.0, 1e-300, -1e300, 1e300, 5e-324, 1e154, -1e154, 0.1 + 0.2, 0.3, 1e15])


def table(rng: np.random.Generator) -> tuple[Any, ...]:
    """Draw a ragged table; a third of them take extreme values, a third few different ones."""
    sessions = int(rng.integers(1, 40))
    drawn = [
        rng.normal(0.5, 0.3, sessions),
        rng.choice(VALUES, sessions),
        rng.integers(0, 2, sessions).astype(float),
    ]
    score = drawn[rng.integers(3)]
    method = rng.choice(METHODS[: rng.integers(1, 9)], sessions)
    return score, method, rng.choice(["u", "v", "w"][: rng.integers(1, 4)], sessions), rng.integers(0, 4, sessions)


CALLS: dict[str, Callable[..., Any]] = {
    "interaction": lambda s, m, k, b: evalxrl.interaction(s, m, k, b, permutations=19, exact_limit=500, **FEW),
    "clipped": lambda s, m, k, b: evalxrl.interaction(s, m, k, scale="clipped", permutations=19, **FEW),
    "tests": lambda s, m, k, b: evalxrl.interaction(s, m, k, b, tests=evalxrl.H1_TESTS, permutations=19, seed=1),
    "oracle_gap": lambda s, m, k, b: evalxrl.oracle_gap(s, m, k, **FEW),
    "harm": lambda s, m, k, b: evalxrl.harm(s, m, k, b, exact_limit=1_000, permutations=99, seed=1),
    "lift": lambda s, m, k, b: evalxrl.lift(s, m, k, **FEW),
    "aggregate": lambda s, m, k, b: evalxrl.aggregate(s, m, k, **FEW),
    "profile": lambda s, m, k, b: evalxrl.performance_profile(s, m, k, **FEW),
    "improvement": lambda s, m, k, b: evalxrl.probability_of_improvement(s, m, k, first=m[0], second=m[-1], **FEW),
    "percentile": lambda s, m, k, b: evalxrl.interval(s, k, statistic="iqm", **FEW),
    "basic": lambda s, m, k, b: evalxrl.interval(s, k, kind="basic", over="malfunctions", **FEW),
    "bca": lambda s, m, k, b: evalxrl.interval(s, k, kind="bca", statistic="optimality_gap", **FEW),
    "student": lambda s, m, k, b: evalxrl.interval(s, kind="student_t", seed=1),
    "signed_rank": lambda s, m, k, b: evalxrl.signed_rank(s, zeros="pratt"),
    "sign_flip": lambda s, m, k, b: evalxrl.sign_flip(s, exact_limit=100, draws=50, seed=1),
    "rank_sum": lambda s, m, k, b: evalxrl.rank_sum(s, s[::-1], alternative="two_sided"),
    "welch": lambda s, m, k, b: evalxrl.welch(s, s[: len(s) // 2 + 1]),
    "means": lambda s, m, k, b: evalxrl.two_sample_permutation(s, s[:2], exact_limit=50, draws=50, seed=1),
    "t": lambda s, m, k, b: evalxrl.two_sample_permutation(s, s[:2], statistic="welch", draws=50, seed=1),
    "ablation": lambda s, m, k, b: evalxrl.ablation(s, m, k, pairs=[("a-rich", "a-minimal")], **FEW),
    "shapley": lambda s, m, k, b: evalxrl.shapley(s, m, k, **FEW),
    "tool_calls": lambda s, m, k, b: evalxrl.tool_calls(s, m, k, b, **FEW),
    "budget_curve": lambda s, m, k, b: evalxrl.budget_curve(s, m, k, b, **FEW),
    "planned": lambda s, m, k, b: evalxrl.planned_budget_curve(s, m, k, b, **FEW),
    "agreement": lambda s, m, k, b: evalxrl.agreement(k, k[::-1], b, weights="quadratic", **FEW),
    "ranks": lambda s, m, k, b: evalxrl.rank_correlation(s, s[::-1], k, **FEW),
    "pilot": lambda s, m, k, b: evalxrl.pilot_variance(s, k),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_finite_table_panics_or_gives_nan(name: str) -> None:
    rng = np.random.default_rng(17)
    for _ in range(60):
        arrays = table(rng)
        try:
            found = CALLS[name](*arrays)
        except evalxrl.InputError:
            continue
        assert not {"nan", "inf", "-inf"} & set(repr(found).replace("=", " ").replace(",", " ").split()), arrays
