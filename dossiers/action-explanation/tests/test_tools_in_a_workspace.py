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
def pole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pruned.build(tmp_path_factory.mktemp("workspace"), "cartpole")


def run(root: Path, cache: Path, name: str, *argv: str, state: Path | None = None) -> subprocess.CompletedProcess[str]:
    return pruned.call(root, DOSSIER, [*TOOLS[name]["argv"], *argv], cache, state=state)


def test_the_environments_of_the_manifest_are_those_tested() -> None:
    assert sorted(MANIFEST["environments"]) == sorted(KINDS)


@pytest.mark.parametrize("environment", sorted(KINDS))
def test_the_laws_hold_in_every_environment(environment: str, tmp_path: Path, cache: Path) -> None:
    root = pruned.build(tmp_path / "workspace", environment)
    before = pruned.contents(root)
    program = str(Path(__file__).parent / "axis_laws.py")
    got = pruned.call(root, DOSSIER, ["python", program], cache, state=tmp_path / "state")
    assert got.returncode == 0, got.stderr
    assert got.stdout == f"{environment} {KINDS[environment]} keeps the laws\n"
    assert pruned.contents(root) == before


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_help_needs_neither_a_workspace_nor_jax(name: str, tmp_path: Path) -> None:
    probe = (
        "import sys\n"
        "sys.modules['jax'] = None\n"
        "import runpy\n"
        f"sys.argv = ['axis', {TOOLS[name]['argv'][-1]!r}, '--help']\n"
        "runpy.run_module('axis', run_name='__main__')\n"
    )
    got = pruned.call(tmp_path, DOSSIER, ["python", "-c", probe], tmp_path)
    assert (got.returncode, got.stderr) == (0, "")
    assert TOOLS[name]["help"] in " ".join(got.stdout.split())


def test_a_dialogue_lasts_over_calls_and_ends_with_its_codes(pole: Path, cache: Path, tmp_path: Path) -> None:
    state, before = tmp_path / "state", pruned.contents(pole)
    for number in range(5):
        got = run(pole, cache, "axis-what", "--time", str(number), state=state)
        assert (got.returncode, got.stderr) == (0, "")
        assert f"round {number + 1} of 5" in got.stdout
    got = run(pole, cache, "axis-what", "--time", "5", state=state)
    assert (got.returncode, got.stdout) == (4, "")
    assert got.stderr.startswith("axis-what: five rounds used")
    for text in ("the fifth", "all of it"):
        assert run(pole, cache, "axis-note", text, state=state).returncode == 0
    kept = run(pole, cache, "axis-transcript", state=state).stdout
    assert "synthesis: all of it" in kept
    assert sorted(path.name for path in state.iterdir()) == ["axis-dialogues.json", "axis-dialogues.lock"]
    assert pruned.contents(pole) == before


@pytest.mark.parametrize(
    ("name", "argv", "code", "message"),
    [
        ("axis-remove", ["--thing", "nothing"], 2, "no thing 'nothing'; things are gravity, "),
        ("axis-whatif", ["--actions", "left;;left"], 2, "an action is empty"),
        ("axis-whatif", ["--time", "-1"], 2, "'-1' is not a whole number"),
        ("axis-context", ["--complexity", "4"], 2, "invalid choice"),
        ("axis-note", ["two", "words"], 2, "unrecognized arguments"),
        ("axis-note", ["a text"], 3, "XRL_STATE is not set"),
        ("axis-what", ["--time", "0"], 3, "XRL_STATE is not set"),
    ],
)
def test_what_cannot_be_asked_ends_with_its_code_and_no_table(
    pole: Path, cache: Path, name: str, argv: list[str], code: int, message: str
) -> None:
    got = run(pole, cache, name, *argv)
    assert (got.returncode, got.stdout) == (code, "")
    assert message in got.stderr
    assert "Traceback" not in got.stderr
