"""Decomposed Q-learning on F6: the joint rule is exact, separate maxima are not."""

from __future__ import annotations

import numpy as np
import pytest

import exact
from decomposition.profile import binned, edges
from decomposition.tabular import drq, separate_maxima
from fixtures import F6

BEST = exact.optimal_q(F6)


def test_the_components_of_the_joint_rule_sum_to_the_optimal_value_exactly() -> None:
    q = drq(F6.successor, F6.rewards, F6.gamma)
    assert np.abs(q.sum(axis=2) - BEST).max() == 0


def test_a_smaller_step_size_converges_to_the_same_components() -> None:
    slow = drq(F6.successor, F6.rewards, F6.gamma, alpha=0.5, sweeps=400)
    assert slow == pytest.approx(drq(F6.successor, F6.rewards, F6.gamma), abs=1e-9)


def test_the_components_of_the_joint_rule_are_those_of_its_policy() -> None:
    q = drq(F6.successor, F6.rewards, F6.gamma)
    assert q == pytest.approx(exact.evaluate(F6, exact.greedy(BEST)).q, abs=1e-9)


def test_separate_maxima_overstate_by_095_and_never_lie_below_the_optimum() -> None:
    excess = separate_maxima(F6.successor, F6.rewards, F6.gamma).sum(axis=2) - BEST
    assert excess.max() == pytest.approx(0.95, abs=1e-3)
    assert excess.min() >= 0


def test_bins_cover_the_steps_once_and_keep_the_sum() -> None:
    for steps in (0, 1, 5, 12, 40, 459):
        bounds = edges(steps)
        assert (bounds[0], bounds[-1]) == (0, steps)
        assert len(bounds) - 1 == min(12, steps)
    assert binned(np.ones((7, 50, 3)), edges(0)).shape == (7, 0, 3)
    rewards = np.random.default_rng(0).normal(size=(7, 50, 3))
    assert binned(rewards, edges(40)).sum(axis=1) == pytest.approx(rewards[:, :40].sum(axis=1))
