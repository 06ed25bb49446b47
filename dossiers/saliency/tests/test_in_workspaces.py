"""SVERL where actions are one choice, several heads, or continuous: in a workspace of each environment."""

from __future__ import annotations

from pathlib import Path

import pytest

import laws
import pruned

DOSSIER = Path(__file__).parent.parent
ENVIRONMENTS = sorted(path.parent.name for path in pruned.PACKAGE.glob("*/environment.toml"))


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_sverl_and_perturbation_answer_in_every_environment(environment: str, tmp_path: Path) -> None:
    root = pruned.build(tmp_path / "workspace", environment)
    before = pruned.contents(root)
    for argv in (("--method", "sverl", "--t", "2"), ("--method", "ig", "--output", "value"), ("--method", "perturb")):
        command = ["python", "-m", "sal", "--plain", "state", "--budget", "small", "--json", *argv]
        got = pruned.call(root, DOSSIER, command, tmp_path / "cache")
        assert (got.returncode, got.stderr) == (0, "")
        *lines, _ = got.stdout.splitlines()
        assert max(map(len, lines)) <= laws.WIDTH
        assert "how to read" not in got.stdout
        (result,) = laws.document_of(got.stdout)["results"]
        assert len(result["phi"]) == len(result["groups"]) <= 10
        if "sverl" in argv:
            assert any("Q simulator N=" in line for line in lines)
            assert result["gap"] == pytest.approx(0, abs=1e-6)
        if "ig" in argv:
            assert result["gap"] == pytest.approx(0, abs=1e-3)
    assert pruned.contents(root) == before
