"""A quarter of the rollouts gives the same action values within their errors, in every environment."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import pruned
from xrl_common.estimates import ROLLOUTS, batch_q, estimate

ENVIRONMENTS = sorted(path.parent.name for path in pruned.PACKAGE.glob("*/environment.toml"))
STATES = 20


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_small_and_normal_agree_on_19_of_20_states(environment: str, tmp_path: Path) -> None:
    root = pruned.build(tmp_path / "workspace", environment)
    got = pruned.call(root, tmp_path, ["python", __file__], tmp_path / "cache")
    assert got.returncode == 0, got.stderr
    assert int(got.stdout) >= 19


def main() -> None:
    """Prints on how many of 20 random states of this workspace both agree."""
    from xrl_common import actions, entry, workspace
    from xrl_common.simulation import Acting, Simulator

    entry.configure()
    simulator = Simulator(workspace.load(), 0, Acting.SERVED)
    trace = simulator.episodes(64)
    visited = np.argwhere(trace.alive)
    rows = visited[simulator.generator("budgets").permutation(len(visited))[:STATES]]
    states = jax.tree.map(lambda leaf: leaf[rows[:, 0], rows[:, 1]], trace.states)
    probes = actions.own_actions(simulator, states)[:, None]
    gamma = simulator.subject.gamma
    few, many = (
        batch_q(simulator, states, probes, count, gamma).samples.sum(axis=3)[:, 0]
        for count in (ROLLOUTS // 4, ROLLOUTS)
    )
    agree = 0
    for small, normal in zip(map(estimate, few), map(estimate, many), strict=True):
        agree += abs(small.mean - normal.mean) <= 3 * np.hypot(small.se, normal.se) + 1e-6
    print(agree)


if __name__ == "__main__":
    sys.exit(main())
