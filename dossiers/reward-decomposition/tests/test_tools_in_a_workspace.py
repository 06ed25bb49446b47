"""The tools as a coder runs them: in a pruned workspace, in processes of their own."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import pruned

DOSSIER = Path(__file__).parent.parent
MANIFEST = tomllib.loads((DOSSIER / "dossier.toml").read_text())
TOOLS = {tool["name"]: tool for tool in MANIFEST["tool"]}
ENVIRONMENT, CONTINUOUS = MANIFEST["environments"][:2]
WORDS = re.compile(r"\b(because|cause|caused|bug|fault|wrong|fix|repair|malfunction|should)\b", re.IGNORECASE)

Run = Callable[..., subprocess.CompletedProcess[str]]
Edit = Callable[[str, str, str], None]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pruned.build(tmp_path_factory.mktemp("workspace"), ENVIRONMENT)


@pytest.fixture(scope="module")
def run(pristine: Path, cache: Path) -> Run:
    """Runs a tool by name in the pristine workspace."""

    def call(name: str, *argv: str, directory: Path | None = None) -> subprocess.CompletedProcess[str]:
        return pruned.call(pristine, DOSSIER, [*TOOLS[name]["argv"], *argv], cache, directory)

    return call


@pytest.fixture
def altered(pristine: Path, tmp_path: Path, cache: Path) -> tuple[Run, Edit]:
    """A copy of the workspace with means to edit it."""
    root = shutil.copytree(pristine, tmp_path / "workspace")

    def call(name: str, *argv: str) -> subprocess.CompletedProcess[str]:
        return pruned.call(root, DOSSIER, [*TOOLS[name]["argv"], *argv], cache)

    def edit(file: str, old: str, new: str) -> None:
        path = root / file
        text = path.read_text()
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new, 1))

    return call, edit


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_the_default_invocation_succeeds_twice_alike_and_leaves_the_workspace_as_it_was(
    run: Run, pristine: Path, name: str
) -> None:
    before = pruned.contents(pristine)
    first, second = run(name), run(name)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == second.stdout
    assert pruned.contents(pristine) == before
    lines = first.stdout.splitlines()
    assert max(len(line) for line in lines) <= 100
    assert lines[0].startswith(f"# {name}  {ENVIRONMENT}  ")
    assert "# simulated in this workspace's environment as it stands" in lines
    assert "(config.toml)" in first.stdout
    assert " seed 0" in first.stdout
    assert 1 <= sum(line.startswith("how to read: ") for line in lines) <= 3
    assert not WORDS.search(first.stdout)
    if name in ("rdx-compare", "rdx-table"):
        assert "Q simulator N=256 H=" in first.stdout


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_help_needs_neither_a_workspace_nor_jax(name: str, tmp_path: Path) -> None:
    probe = (
        "import sys\n"
        "sys.modules['jax'] = None\n"
        "import runpy\n"
        f"sys.argv = ['rdx', {TOOLS[name]['argv'][-1]!r}, '--help']\n"
        "runpy.run_module('rdx', run_name='__main__')\n"
    )
    got = pruned.call(tmp_path, DOSSIER, ["python", "-c", probe], tmp_path)
    assert (got.returncode, got.stderr) == (0, "")
    assert TOOLS[name]["help"] in " ".join(got.stdout.split())


def test_a_state_printed_by_one_tool_is_read_by_another(run: Run, tmp_path: Path) -> None:
    document = json.loads(run("rdx-table", "--json", "--random", "1").stdout.splitlines()[-1])
    file = tmp_path / "state.json"
    file.write_text(json.dumps(document["results"][0]["state"]))
    again = json.loads(run("rdx-table", "--json", "--state", str(file)).stdout.splitlines()[-1])
    assert again["results"][0]["actions"] == document["results"][0]["actions"]


@pytest.mark.parametrize(
    ("name", "argv", "message"),
    [
        ("rdx-compare", ["--a", "jump"], "no action 'jump'; actions are "),
        ("rdx-table", ["--budget", "huge"], "'small', 'normal', 'large'"),
        ("rdx-when", ["--state", "x", "--worst", "1"], "not allowed with"),
        ("rdx-when", ["--random", "2", "--t", "1"], "--t goes with --episode or --worst"),
        ("rdx-audit", ["--gamma", "1.5"], "not a number from 0 to 1"),
        ("rdx-audit", ["--worst", "1"], "unrecognized arguments"),
    ],
)
def test_what_cannot_be_asked_ends_with_2_and_prints_no_table(
    run: Run, name: str, argv: list[str], message: str
) -> None:
    got = run(name, *argv)
    assert (got.returncode, got.stdout) == (2, "")
    assert message in got.stderr
    assert "Traceback" not in got.stderr


def test_a_state_of_another_environment_ends_with_3(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text('{"format": "evalxrl.state/1", "environment": "cartpole", "state": {}}')
    got = run("rdx-table", "--state", str(file))
    assert (got.returncode, got.stdout) == (3, "")
    assert got.stderr == (f"rdx-table: state.json: environment is cartpole, this workspace is {ENVIRONMENT}\n")


def test_a_state_out_of_range_ends_with_3_and_names_the_field(run: Run, tmp_path: Path) -> None:
    document = json.loads(run("rdx-table", "--json").stdout.splitlines()[-1])["results"][0]["state"]
    document["state"]["t"] = 10_000
    file = tmp_path / "state.json"
    file.write_text(json.dumps(document))
    got = run("rdx-table", "--state", str(file))
    assert (got.returncode, got.stdout) == (3, "")
    assert "state.json: t: " in got.stderr


def test_an_unreadable_agent_ends_with_3(altered: tuple[Run, Edit], tmp_path: Path) -> None:
    call, _ = altered
    (tmp_path / "workspace" / "agent" / "parameters.safetensors").write_bytes(b"nothing")
    got = call("rdx-audit")
    assert (got.returncode, got.stdout) == (3, "")
    assert "agent/parameters.safetensors" in got.stderr
    assert len(got.stderr.splitlines()) == 1


def test_a_package_that_does_not_run_ends_with_3_in_one_line(altered: tuple[Run, Edit]) -> None:
    call, edit = altered
    edit("evalxrl_envs/core/protocol.py", "import functools", "import functools,")
    got = call("rdx-audit")
    assert (got.returncode, got.stdout) == (3, "")
    assert "evalxrl_envs of this workspace cannot be imported" in got.stderr
    assert len(got.stderr.splitlines()) == 1


def test_the_tools_describe_the_workspace_as_altered(run: Run, altered: tuple[Run, Edit]) -> None:
    call, edit = altered
    edit(f"evalxrl_envs/{ENVIRONMENT}/config.toml", "pit = -5.0", "pit = -7.0")
    edit(f"evalxrl_envs/{ENVIRONMENT}/config.toml", "gamma = 0.99", "gamma = 0.5")
    got = call("rdx-audit").stdout
    assert "gamma 0.500 (config.toml)" in got
    assert re.search(r"^pit .* -7\.000 +0\.000$", got, re.MULTILINE)
    assert re.search(r"^pit .* -5\.000 +0\.000$", run("rdx-audit").stdout, re.MULTILINE)


def test_served_is_what_the_server_answers(run: Run, altered: tuple[Run, Edit]) -> None:
    def body(text: str) -> str:
        return text.split("\n", 3)[3]

    served, greedy = (run("rdx-table", "--policy", policy).stdout for policy in ("served", "greedy"))
    assert body(served) == body(greedy)
    call, edit = altered
    edit(
        "evalxrl_envs/serving/server.py",
        "return greedy_actions(",
        "return 0 * greedy_actions(",
    )
    assert {*re.findall(r"^(\w+) \*", call("rdx-table").stdout, re.MULTILINE)} == {"up"}
    assert call("rdx-table", "--policy", "greedy").stdout == greedy


def test_a_workspace_elsewhere_and_an_edited_scalar_need_no_new_compilation(
    run: Run, altered: tuple[Run, Edit], cache: Path
) -> None:
    run("rdx-audit")
    before = {path.name for path in cache.iterdir() if path.name.endswith("-cache")}
    call, edit = altered
    edit(f"evalxrl_envs/{ENVIRONMENT}/config.toml", "slip = 0.05", "slip = 0.25")
    assert call("rdx-compare", "--budget", "small").returncode == 0
    assert {path.name for path in cache.iterdir() if path.name.endswith("-cache")} == before


def test_tools_run_in_a_folder_below_the_root_too(run: Run, pristine: Path) -> None:
    below = pristine / "agent"
    assert run("rdx-audit", directory=below).stdout == run("rdx-audit").stdout


def test_small_and_normal_budgets_agree_within_three_errors_on_19_of_20_states(run: Run) -> None:
    few, many = (
        json.loads(run("rdx-table", "--json", "--random", "20", "--budget", budget).stdout.splitlines()[-1])
        for budget in ("small", "normal")
    )
    agree = 0
    for one, other in zip(few["results"], many["results"], strict=True):
        assert one["state"] == other["state"]
        agree += all(
            abs(total["mean"] - other["totals"][action]["mean"])
            <= 3 * (total["se"] ** 2 + other["totals"][action]["se"] ** 2) ** 0.5
            for action, total in one["totals"].items()
        )
    assert agree >= 19


@pytest.mark.parametrize("environment", sorted(set(MANIFEST["environments"]) - {ENVIRONMENT}))
def test_two_given_actions_of_any_kind_are_compared(environment: str, tmp_path: Path, cache: Path) -> None:
    root = pruned.build(tmp_path / "workspace", environment)

    def ask(name: str, *argv: str) -> dict:
        got = pruned.call(root, DOSSIER, [*TOOLS[name]["argv"], "--json", "--budget", "small", *argv], cache)
        assert (got.returncode, got.stderr) == (0, "")
        return json.loads(got.stdout.splitlines()[-1])["results"][0]

    listed = list(ask("rdx-table")["totals"])
    first, last = listed[0], listed[-1]
    assert sorted(ask("rdx-compare", f"--a={first}", f"--b={last}")["actions"]) == sorted([first, last])
    assert ask("rdx-when", f"--a={last}")["action"] == last
    got = pruned.call(root, DOSSIER, [*TOOLS["rdx-compare"]["argv"], "--a", "nowhere"], cache)
    assert (got.returncode, got.stdout) == (2, "")
    assert "no action 'nowhere'" in got.stderr


def test_an_agent_at_its_bounds_is_compared_with_another_action_than_its_own(tmp_path: Path, cache: Path) -> None:
    root = pruned.build(tmp_path / "workspace", CONTINUOUS)
    server = root / "evalxrl_envs" / "serving" / "server.py"
    server.write_text(server.read_text().replace("return greedy_actions(", "return 1e9 + greedy_actions("))

    def ask(name: str, *argv: str) -> dict:
        got = pruned.call(root, DOSSIER, [*TOOLS[name]["argv"], "--json", "--budget", "small", *argv], cache)
        assert (got.returncode, got.stderr) == (0, "")
        return json.loads(got.stdout.splitlines()[-1])["results"][0]

    own = ",".join(["1.000"] * 6)
    listed = ask("rdx-table")
    assert (listed["policy_action"], len(listed["totals"])) == (own, 1 + 6 + 8)
    compared = ask("rdx-compare")
    assert own in compared["actions"]
    assert len(set(compared["actions"])) == 2
    assert ask("rdx-compare", f"--a={own}")["components"] == compared["components"]


def test_a_printed_action_given_back_is_the_one_that_was_printed(tmp_path: Path, cache: Path) -> None:
    root = pruned.build(tmp_path / "workspace", CONTINUOUS)

    def ask(*argv: str) -> dict:
        command = [*TOOLS["rdx-compare"]["argv"], "--json", "--budget", "small", *argv]
        return json.loads(pruned.call(root, DOSSIER, command, cache).stdout.splitlines()[-1])["results"][0]

    default = ask()
    first, second = default["actions"]
    assert ask(f"--a={first}", f"--b={second}") == ask(f"--b={second}") == ask(f"--a={first}") == default
