"""The tools on the fixtures: values as published or by hand, the form of every output, the example."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sal_worlds import CRITIC, EVEN, LOGITS, linear, passage

import exact
import laws
from fixtures import F6, GWA, GWB, World
from sal.__main__ import TOOLS
from xrl_common.failure import ToolFailure

WORLDS = {"GWA": GWA, "GWB": GWB}
DOSSIER = Path(__file__).parent.parent


def numbers(world: World, folder: Path, cell: tuple[int, int], *argv: str) -> dict:
    ask = laws.asker(TOOLS, passage(world), folder)
    output = ask("state", "--seed", str(EVEN), "--json", *argv, cell=cell)
    laws.check_output(output, TOOLS["state"], passage(world), document=True)
    return laws.document_of(output)["results"][0]


@pytest.mark.parametrize(
    ("name", "cell", "expected"),
    [
        ("GWA", (0, 0), (0, 0)),
        ("GWA", (1, 0), (0, 0)),
        ("GWA", (0, 1), (0, 0)),
        ("GWA", (1, 1), (0, 0)),
        ("GWB", (0, 0), (4, 2)),
        ("GWB", (1, 0), (1 / 3, -1 / 6)),
        ("GWB", (1, 1), (1 / 12, 1 / 12)),
        ("GWB", (1, 2), (1 / 12, 1 / 12)),
    ],
)
def test_sverl_gives_the_published_values(
    name: str, cell: tuple[int, int], expected: tuple[float, float], tmp_path: Path
) -> None:
    found = numbers(WORLDS[name], tmp_path, cell, "--method", "sverl")
    assert found["phi"] == pytest.approx(expected, abs=1e-3)
    assert found["gap"] == pytest.approx(0, abs=1e-6)
    assert found["errors"] is None


@pytest.mark.parametrize(("cell", "expected"), [((0, 0), -0.5), ((1, 0), -0.5), ((0, 1), 0.5), ((1, 1), 0.5)])
def test_shapley_values_of_the_critic_of_gwa(cell: tuple[int, int], expected: float, tmp_path: Path) -> None:
    found = numbers(GWA, tmp_path, cell, "--method", "shap", "--output", "value")
    assert found["phi"] == pytest.approx([0, expected], abs=1e-6)
    assert found["phi"][0] == 0


def by_hand(cell: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, int]:
    """Observation, mean over visits, and the action, of the linear agent."""
    from xrl_common.simulation import Acting, Simulator

    trace = Simulator(linear(), 0, Acting.SERVED).episodes(64)
    x = np.array(cell) / 5
    return x, trace.observations[trace.alive].mean(axis=0), 1 if 6 - 6 * x[0] >= 4 - 2 * x[1] else 3


@pytest.mark.parametrize("method", ["shap", "ig"])
@pytest.mark.parametrize("cell", [(0, 1), (4, 2)])
def test_a_linear_agent_gives_weight_times_distance_from_the_mean(
    method: str, cell: tuple[int, int], tmp_path: Path
) -> None:
    ask = laws.asker(TOOLS, linear(), tmp_path)
    x, mean, action = by_hand(cell)
    for output, weights in (("action", LOGITS[action]), ("value", CRITIC)):
        given = ("--method", method, "--output", output, "--json")
        (result,) = laws.document_of(ask("state", *given, cell=cell))["results"]
        assert result["phi"] == pytest.approx(weights * (x - mean), abs=1e-5)
        assert result["gap"] == pytest.approx(0, abs=1e-6 if method == "shap" else 1e-3)
        unused = np.flatnonzero(weights == 0)
        assert all(result["phi"][group] == 0 for group in unused)


def test_perturbation_of_a_linear_agent_is_the_mean_squared_distance(tmp_path: Path) -> None:
    ask = laws.asker(TOOLS, linear(), tmp_path)
    (result,) = laws.document_of(ask("state", "--method", "perturb", "--json", cell=(0, 1)))["results"]
    from xrl_common.simulation import Acting, Simulator

    trace = Simulator(linear(), 0, Acting.SERVED).episodes(64)
    apart = ((trace.observations[trace.alive].astype(float) - [0.0, 0.2]) ** 2).mean(axis=0)
    assert result["phi"] == pytest.approx(0.5 * (LOGITS**2).sum(axis=0) * apart, rel=1e-5)
    assert result["critic"] == pytest.approx(0.5 * CRITIC**2 * apart, rel=1e-5)
    assert result["rank"] == [1, 2]


def test_the_policy_table_ranks_by_the_mean_score_and_splits_by_action(tmp_path: Path) -> None:
    ask = laws.asker(TOOLS, linear(), tmp_path)
    (result,) = laws.document_of(ask("policy", "--by-action", "--json"))["results"]
    assert result["groups"] == ["row", "column"]
    assert result["rank"] == [1, 2]
    assert result["by_action"]["up"] == ["nan", "nan"]
    rows = ask("policy", "--by-action").splitlines()
    assert any(line.startswith("group") and "down (" in line and "left (0)" in line for line in rows)
    assert any(line.startswith("row") and " - " in line for line in rows)


def test_the_timeline_names_groups_in_order_of_their_share(tmp_path: Path) -> None:
    ask = laws.asker(TOOLS, linear(), tmp_path)
    document = laws.document_of(ask("timeline", "--episode", "3", "--json"))["results"][0]
    output = ask("timeline", "--episode", "3")
    lines = [line for line in output.splitlines() if line[:1].isdigit()]
    assert len(lines) == document["length"] == len(document["t"])
    for line, scores in zip(lines, document["actor"], strict=True):
        first = ("row", "column")[int(np.argmax(scores))]
        assert f"  {first} {max(scores) / sum(scores):.3f}" in line
    every = ask("timeline", "--episode", "3", "--every", "2")
    assert "# one step in 2" in every


def test_the_default_timeline_is_that_of_the_lowest_return(tmp_path: Path) -> None:
    from xrl_common.simulation import Acting, Simulator

    returns = Simulator(linear(), 0, Acting.SERVED).episodes(64).returns
    document = laws.document_of(laws.asker(TOOLS, linear(), tmp_path)("timeline", "--json"))
    assert document["results"][0]["return"] == returns.min()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--method", "sverl", "--output", "value"], "--output and --head go with"),
        (["--method", "perturb", "--head", "0"], "--output and --head go with"),
        (["--scope", "global"], "--scope goes with --method sverl"),
        (["--output", "value", "--head", "0"], "--head goes with --output action"),
        (["--head", "7"], "heads are 0"),
    ],
)
def test_what_does_not_go_together_is_refused(argv: list[str], message: str, tmp_path: Path) -> None:
    ask = laws.asker(TOOLS, linear(), tmp_path)
    with pytest.raises(ToolFailure, match=message) as refused:
        ask("state", *argv, cell=(0, 0))
    assert refused.value.code == 2


def test_an_episode_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match=r"episodes are 0\.\.63"):
        laws.asker(TOOLS, linear(), tmp_path)("timeline", "--episode", "64")


@pytest.mark.filterwarnings("error")
def test_numbers_that_are_not_finite_are_counted(tmp_path: Path) -> None:
    subject = F6.subject(exact.uniform(F6), values=np.full(29, np.inf))
    output = laws.asker(TOOLS, subject, tmp_path)("state", "--output", "value", cell=(0, 0))
    assert "non-finite 1" in output
    assert "nan" in output


@pytest.mark.parametrize("policy", ["served", "sampled"])
@pytest.mark.parametrize(
    "argv",
    [
        ("policy",),
        ("policy", "--by-action"),
        ("timeline",),
        ("state", "--method", "perturb"),
        ("state", "--method", "shap", "--random", "2"),
        ("state", "--method", "ig", "--output", "value"),
        ("state", "--method", "sverl"),
        ("state", "--method", "sverl", "--scope", "global", "--budget", "small"),
    ],
    ids=" ".join,
)
def test_every_tool_prints_the_same_twice_in_the_documented_form(
    argv: tuple[str, ...], policy: str, tmp_path: Path
) -> None:
    subject = linear()
    ask = laws.asker(TOOLS, subject, tmp_path)
    first = ask(*argv, "--json", "--policy", policy)
    assert first == ask(*argv, "--json", "--policy", policy)
    laws.check_output(first, TOOLS[argv[0]], subject, document=True)
    assert ("Q simulator N=" in first) == ("sverl" in argv)


def test_the_example_is_what_the_tool_prints(tmp_path: Path) -> None:
    example = (DOSSIER / "examples" / "gwb.md").read_text()
    ask = laws.asker(TOOLS, passage(GWB), tmp_path)
    assert ask("state", "--method", "sverl", "--seed", str(EVEN), cell=(0, 0)) in example
