"""The tools on the fixture F6, where every number is known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import exact
import laws
from fixtures import F6, Params
from rdx.__main__ import TOOLS
from xrl_common import arguments
from xrl_common.entry import render
from xrl_common.failure import ToolFailure
from xrl_common.simulation import Acting, Simulator
from xrl_common.states import by_return, select

VERDICTS = re.compile(r"\b(because|cause|caused|bug|fault|wrong|fix|repair|malfunction|should)\b", re.IGNORECASE)

GOLDEN = """\
# rdx-compare  F6  state (1,1)  gamma 0.950 (fixture)  policy greedy  Q simulator N=256 H=50 seed 0
component   Q(down)          Q(right)         delta
large         6.983 (0.000)    0.000 (0.000)    6.983 (0.000)
small         0.000 (0.000)    1.000 (0.000)   -1.000 (0.000)
pit           0.000 (0.000)    0.000 (0.000)    0.000 (0.000)
total         6.983 (0.000)    1.000 (0.000)    5.983 (0.000)
d 1.000   MSX+ large   v 0.000   MSX- small
"""

Ask = Callable[..., str]


@pytest.fixture(scope="module")
def greedy() -> np.ndarray:
    return exact.greedy(exact.optimal_q(F6))


@pytest.fixture
def ask(greedy: np.ndarray, tmp_path: Path) -> Ask:
    """Runs a tool on F6; `cell` stands for a state file of that cell."""

    def run(name: str, *argv: str, cell: tuple[int, int] | None = None, slip: float = 0.0) -> str:
        tool = TOOLS[name]
        given = list(argv)
        if cell is not None:
            file = tmp_path / "state.json"
            file.write_text(json.dumps(F6.state_to_json(F6.at(cell))))
            given += ["--state", str(file)]
        built = arguments.parser(tool.name, tool.help, tool.states, tool.options)
        return render(tool, arguments.parse(built, given), F6.subject(greedy, Params(slip=slip)))

    return run


def test_compare_prints_the_documented_table(ask: Ask) -> None:
    got = ask("compare", "--policy", "greedy", "--a", "down", "--b", "right", cell=(1, 1))
    assert got.startswith(GOLDEN + "\n")


def test_the_example_of_the_dossier_is_what_the_tool_prints(ask: Ask) -> None:
    example = (Path(__file__).parent.parent / "examples" / "f6.md").read_text()
    assert GOLDEN in example
    reading = ask("compare", "--budget", "small", cell=(1, 1)).split("\n\n")[-1]
    assert reading in example


def test_the_pair_is_ordered_so_that_its_total_is_not_negative_and_the_policy_action_is_then_named(
    ask: Ask,
) -> None:
    got = ask("compare", "--a", "right", "--b", "down", cell=(1, 1))
    assert "Q(down)          Q(right)" in got
    assert "# policy action" not in got
    assert "# policy action down" in ask("compare", "--a", "right", "--b", "up", cell=(1, 1))


def test_compare_takes_the_policy_action_and_the_best_other_by_default(ask: Ask) -> None:
    q = exact.optimal_q(F6)[F6.cells.index((4, 4))]
    order = [F6.action_names[0][a] for a in np.argsort(-q, kind="stable")]
    assert f"Q({order[0]})" in ask("compare", cell=(4, 4))
    assert f"Q({order[1]})" in ask("compare", cell=(4, 4))


def test_table_marks_the_chosen_action_and_totals_equal_the_optimal_values(ask: Ask) -> None:
    document = json.loads(ask("table", "--json", "--budget", "small", cell=(1, 1)).splitlines()[-1])
    assert (document["format"], document["tool"]) == ("evalxrl.tool/1", "rdx-table")
    (result,) = document["results"]
    assert result["policy_action"] == "down"
    for action, name in enumerate(F6.action_names[0]):
        total = result["totals"][name]["mean"]
        assert total == pytest.approx(sum(entry["mean"] for entry in result["actions"][name].values()))
        assert total == pytest.approx(exact.optimal_q(F6)[F6.cells.index((1, 1)), action], abs=1e-5)
    assert re.search(r"^down \* +6\.983", ask("table", cell=(1, 1)), re.MULTILINE)


def test_policy_agrees_with_the_exact_values_over_the_29_free_cells(ask: Ask) -> None:
    document = json.loads(ask("policy", "--budget", "large", "--json").splitlines()[-1])
    (result,) = document["results"]
    exactly = {"policy": (7.959, 0, 0, 7.959), "uniform": (0.381, 0.126, -3.016, -2.509)}
    for column, values in exactly.items():
        for name, want in zip(("large", "small", "pit", "total"), values, strict=True):
            got = result[column][name]
            assert abs(got["mean"] - want) <= 3 * got["se"] + 1e-3, (column, name)


def test_policy_over_each_free_cell_once_is_exact(greedy: np.ndarray) -> None:
    cells = np.arange(29, dtype=np.int32)
    states = type(F6.at((0, 0)))(cells, np.zeros(29, np.int32))
    trace = Simulator(F6.subject(greedy), 0, Acting.GREEDY).from_states(states)
    assert trace.discounted(0.95).mean(axis=0) == pytest.approx([7.959, 0, 0], abs=1e-3)


def test_audit_of_the_best_policy_finds_the_large_treasure_alone(ask: Ask) -> None:
    got = ask("audit")
    assert re.search(r"^large +10\.000 \(0\.000\) .* 1\.000 +0\.000 +10\.000$", got, re.MULTILINE)
    assert re.search(r"^small +0\.000 \(0\.000\)", got, re.MULTILINE)


def test_when_places_the_large_treasure_at_the_eighth_step(ask: Ask) -> None:
    document = json.loads(ask("when", "--json", "--a", "down", cell=(1, 1)).splitlines()[-1])
    (result,) = document["results"]
    bins = [entry["mean"] for entry in result["components"]["large"]]
    assert sum(bins) == 10
    low, high = result["edges"][bins.index(10) :][:2]
    assert low <= 7 < high


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_succeeds_with_nothing_added_twice_alike_in_100_columns_and_no_verdict(ask: Ask, name: str) -> None:
    first, second = ask(name, "--json", slip=0.1), ask(name, "--json", slip=0.1)
    assert first == second
    tables = first.splitlines()[:-1]
    assert max(len(line) for line in tables) <= 100
    assert tables[0].startswith(f"# rdx-{name}  F6")
    assert not VERDICTS.search(first)
    assert not VERDICTS.search(TOOLS[name].help)
    assert len(TOOLS[name].how_to_read) <= 3


def test_another_seed_gives_other_numbers(ask: Ask) -> None:
    assert ask("audit", slip=0.1) != ask("audit", "--seed", "1", slip=0.1).replace("seed 1", "seed 0")


def test_a_given_discount_is_named_with_its_source(ask: Ask) -> None:
    got = ask("compare", "--gamma", "0.5", cell=(1, 1))
    assert "gamma 0.500 (--gamma)" in got
    assert " H=7 " in got


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--a", "sideways"], "no action 'sideways'; actions are up, down, left, right"),
        (["--a", "up", "--b", "up"], "same action"),
        (["--episode", "64"], "episodes are 0..63"),
        (["--episode", "0", "--t", "49"], "episode 0 has steps 0"),
        (["--worst", "65"], "there are 64 episodes"),
        (["--random", "99999"], "states were visited"),
    ],
)
def test_what_cannot_be_is_a_usage_failure_that_says_what_can(ask: Ask, argv: list[str], message: str) -> None:
    with pytest.raises(ToolFailure, match=re.escape(message)) as caught:
        ask("compare", *argv)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "state.json: "),
        ('{"format": "evalxrl.state/1", "environment": "GWA", "state": {}}', "environment is GWA, this"),
        ('{"format": "evalxrl.state/2", "environment": "F6", "state": {}}', "format is not evalxrl.state/1"),
        ('{"format": "evalxrl.state/1", "environment": "F6", "state": {"cell": 77, "t": 0}}', "cell: 77"),
        ('{"format": "evalxrl.state/1", "environment": "F6", "state": {"cell": 7}}', "'t'"),
    ],
)
def test_a_state_that_is_none_is_unreadable(ask: Ask, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "state.json"
    file.write_text(text)
    with pytest.raises(ToolFailure, match=re.escape(message)) as caught:
        ask("table", "--state", str(file))
    assert caught.value.code == 3


def test_states_are_chosen_by_episode_by_return_or_by_chance(greedy: np.ndarray) -> None:
    simulator = Simulator(F6.subject(greedy, Params(slip=0.3)), 0, Acting.GREEDY)
    tool = TOOLS["table"]
    built = arguments.parser(tool.name, tool.help, tool.states)
    trace = simulator.episodes(64)

    def chosen(*argv: str) -> list[str]:
        wanted = arguments.parse(built, list(argv))
        return [selected.origin for selected in select(simulator, wanted)]

    worst = int(np.argmin(trace.returns))
    assert by_return(trace)[0] == worst
    assert chosen() == chosen("--worst", "1") == [f"episode {worst} t 0"]
    assert len(set(chosen("--worst", "3"))) == 3
    assert chosen("--episode", "5") == ["episode 5 t 0"]
    assert chosen("--random", "4") == chosen("--random", "4")
    assert len(set(chosen("--random", "4"))) == 4


def test_values_that_are_not_finite_are_printed_and_counted(greedy: np.ndarray) -> None:
    rewards = F6.rewards.copy()
    rewards[F6.cells.index((5, 4)), 3, 0] = np.nan
    world = type(F6)(**{**vars(F6), "rewards": rewards})
    tool = TOOLS["audit"]
    built = arguments.parser(tool.name, tool.help, tool.states)
    got = render(tool, arguments.parse(built, ["--json"]), world.subject(greedy))
    assert re.search(r"^# .*non-finite \d+", got)
    assert re.search(r"^large +nan", got, re.MULTILINE)
    assert json.loads(got.splitlines()[-1])["results"][0]["components"]["large"]["mean"]["mean"] == "nan"


def test_values_that_are_not_finite_leave_a_comparison_without_explanation(greedy: np.ndarray, tmp_path: Path) -> None:
    rewards = F6.rewards.copy()
    rewards[F6.cells.index((1, 1)), 3, 1] = np.nan
    world = type(F6)(**{**vars(F6), "rewards": rewards})
    ask = laws.asker(TOOLS, world.subject(greedy), tmp_path)
    got = ask("compare", "--a", "down", "--b", "right", cell=(1, 1))
    assert re.search(r"^small .* nan \(nan\)$", got, re.MULTILINE)
    assert "d nan   MSX+ none   v nan   MSX- none" in got
    assert "Q(right)" not in ask("compare", cell=(1, 1)), "not-a-number is no best other action"
