"""The contract holds on the three fixtures and in a workspace of each environment."""

from __future__ import annotations

from pathlib import Path

import pytest

import contract
import exact
import pruned
from fixtures import F6, GWA, GWB, Params, World

ENVIRONMENTS = sorted(path.parent.name for path in pruned.PACKAGE.glob("*/environment.toml"))


@pytest.mark.parametrize("world", [F6, GWA, GWB], ids=lambda world: world.name)
def test_a_fixture_keeps_the_contract(world: World) -> None:
    contract.check(world.subject(exact.uniform(world), Params(slip=0.1)))


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_an_environment_keeps_the_contract(environment: str, tmp_path: Path) -> None:
    root = pruned.build(tmp_path / "workspace", environment)
    got = pruned.call(root, tmp_path, ["python", contract.__file__], tmp_path / "cache")
    assert (got.stdout, got.returncode) == (f"{environment} keeps the contract\n", 0), got.stderr
