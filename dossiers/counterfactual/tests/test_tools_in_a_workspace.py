"""The tools as a coder runs them, in pruned workspaces of all four environments."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

import pruned

DOSSIER = Path(__file__).parent.parent
MANIFEST = tomllib.loads((DOSSIER / "dossier.toml").read_text())
TOOLS = {tool["name"]: tool for tool in MANIFEST["tool"]}
KINDS = {
    "treasure_grid": "discrete",
    "datacenter_cooling": "continuous",
    "traffic_lights": "multi_discrete",
    "cartpole": "discrete",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pruned.build(tmp_path_factory.mktemp("workspace"), "treasure_grid")


def run(root: Path, cache: Path, name: str, *argv: str) -> subprocess.CompletedProcess[str]:
    return pruned.call(root, DOSSIER, [*TOOLS[name]["argv"], *argv], cache)


def test_the_environments_of_the_manifest_are_those_tested() -> None:
    assert sorted(MANIFEST["environments"]) == sorted(KINDS)


@pytest.mark.parametrize("environment", sorted(KINDS))
def test_the_laws_hold_in_every_environment(environment: str, tmp_path: Path, cache: Path) -> None:
    root = pruned.build(tmp_path / "workspace", environment)
    before = pruned.contents(root)
    got = pruned.call(root, DOSSIER, ["python", str(Path(__file__).parent / "workspace_laws.py")], cache)
    assert got.returncode == 0, got.stderr
    assert got.stdout == f"{environment} {KINDS[environment]} keeps the laws\n"
    assert pruned.contents(root) == before


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_help_needs_neither_a_workspace_nor_jax(name: str, tmp_path: Path) -> None:
    probe = (
        "import sys\n"
        "sys.modules['jax'] = None\n"
        "import runpy\n"
        f"sys.argv = ['cf', {TOOLS[name]['argv'][-1]!r}, '--help']\n"
        "runpy.run_module('cf', run_name='__main__')\n"
    )
    got = pruned.call(tmp_path, DOSSIER, ["python", "-c", probe], tmp_path)
    assert (got.returncode, got.stderr) == (0, "")
    assert TOOLS[name]["help"] in " ".join(got.stdout.split())


@pytest.mark.parametrize(
    ("name", "argv", "code", "message"),
    [
        ("cf-policy", ["--rule", "if at_sea: up"], 2, "no predicate 'at_sea'; predicates are next_to_large, "),
        ("cf-actions", ["--times", "a"], 2, "'a' is not a whole number"),
        ("cf-actions", ["--h", "0"], 2, "'0' is not a whole number above 0"),
        ("cf-actions", ["--q-source", "oracle"], 2, "invalid"),
        ("cf-regret", ["--worst", "1"], 2, "unrecognized arguments"),
        ("cf-flip", ["--state", "absent.json"], 3, "absent.json: "),
    ],
)
def test_what_cannot_be_asked_ends_with_its_code_and_no_table(
    grid: Path, cache: Path, name: str, argv: list[str], code: int, message: str
) -> None:
    got = run(grid, cache, name, *argv)
    assert (got.returncode, got.stdout) == (code, "")
    assert message in got.stderr
    assert "Traceback" not in got.stderr


def test_another_rule_needs_no_new_compilation_of_the_environment(grid: Path, cache: Path) -> None:
    run(grid, cache, "cf-policy", "--rule", "if at_wall: up")
    before = {path.name for path in cache.iterdir() if path.name.endswith("-cache")}
    assert run(grid, cache, "cf-policy", "--rule", "if not in_corner and next_to_pit: left").returncode == 0
    assert {path.name for path in cache.iterdir() if path.name.endswith("-cache")} == before
