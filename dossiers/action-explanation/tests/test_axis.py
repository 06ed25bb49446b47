"""The tools on F6 and in workspaces: queries against the recorded episode, rounds, and what is refused."""

from __future__ import annotations

import json
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import exact
import laws
import pruned
from axis.__main__ import TOOLS
from fixtures import F6, Params
from xrl_common.failure import ToolFailure

DOSSIER = Path(__file__).parent.parent
MANIFEST = tomllib.loads((DOSSIER / "dossier.toml").read_text())
BEST = exact.greedy(exact.optimal_q(F6))
SLIP = F6.subject(BEST, Params(slip=0.3))


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> laws.Ask:
    monkeypatch.setenv("XRL_STATE", str(tmp_path / "kept"))
    return laws.asker(TOOLS, SLIP, tmp_path)


def episodes(subject: object = SLIP) -> list[list[str]]:
    from xrl_common.simulation import Acting, Simulator

    trace = Simulator(subject, 0, Acting.SERVED).episodes(64)
    names = F6.action_names[0]
    return [[names[a] for a in row[:length]] for row, length in zip(trace.actions, trace.lengths, strict=True)]


def test_the_recorded_actions_give_the_recorded_trajectory_exactly(ask: laws.Ask) -> None:
    for number, actions in enumerate(episodes()[:3]):
        got = ask("whatif", "--json", "--episode", str(number), "--time", "0", "--actions", ";".join(actions))
        (result,) = laws.document_of(got)["results"]
        assert result["first_difference"] is None
        assert result["recorded"] == result["alternative"]
        assert set(result["difference"].values()) == {0.0}


def test_another_action_parts_at_its_step_and_the_difference_is_that_of_the_returns(ask: laws.Ask) -> None:
    taken = episodes()[2]
    other = "up" if taken[1] != "up" else "left"
    got = ask("whatif", "--json", "--episode", "2", "--time", "1", "--actions", other)
    (result,) = laws.document_of(got)["results"]
    assert result["first_difference"] == 1
    apart = result["difference"]
    assert apart["total"] == pytest.approx(result["alternative"]["return"] - result["recorded"]["return"])
    assert apart["total"] == pytest.approx(apart["large"] + apart["small"] + apart["pit"])


def test_the_example_of_the_specification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRL_STATE", str(tmp_path / "kept"))
    subject = F6.subject(BEST)
    at = next(
        n
        for n, names in enumerate(episodes(subject))
        if " ".join(names) == "down down right down down right right right"
    )
    got = laws.asker(TOOLS, subject, tmp_path)("whatif", "--episode", str(at), "--time", "0", "--actions", "right")
    lines = [" ".join(line.split()) for line in got.splitlines()]
    assert lines[2:8] == [
        "first difference step 0",
        "recorded steps 0-1 down x2, step 2 right, steps 3-4 down x2, steps 5-7 right x3",
        "outcome at_large return 10.000 steps 8",
        "alternative step 0 right",
        "outcome at_small return 1.000 steps 1",
        "difference large -10.000 small +1.000 pit +0.000 total -9.000",
    ]


def test_a_parameter_at_zero_and_an_entry_of_the_state_elsewhere(ask: laws.Ask) -> None:
    (result,) = laws.document_of(ask("remove", "--json", "--thing", "slip"))["results"]
    assert result["alternative"]["outcome"]["predicates"] == ["at_large"]
    cell = F6.cells.index((5, 4))
    (result,) = laws.document_of(ask("add", "--json", "--thing", f"cell={cell}", "--episode", "0"))["results"]
    assert result["first_difference"] == 0


@pytest.mark.parametrize(
    ("name", "argv", "message"),
    [
        ("remove", ["--thing", "lava"], "no thing 'lava'; things are slip, horizon, cell, t"),
        ("remove", ["--thing", "cell[0]"], "things are"),
        ("add", ["--thing", "cell=99"], "cell: 99"),
        ("add", ["--thing", "cell"], "X=V"),
        ("add", ["--thing", "cell=nan"], "X=V"),
        ("whatif", ["--actions", ""], "an action is missing"),
        ("whatif", ["--actions", "up;;down"], "an action is missing"),
        ("whatif", ["--actions", "[up;down]"], "without brackets"),
        ("whatif", ["--actions", "fly"], "no action 'fly'"),
        ("whatif", ["--episode", "64", "--actions", "up"], "episodes are 0..63"),
        ("what", ["--time", "50"], "has steps 0.."),
        ("note", [" "], "1..4000 characters"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_failure_and_uses_no_round(
    ask: laws.Ask, name: str, argv: list[str], message: str
) -> None:
    with pytest.raises(ToolFailure) as caught:
        ask(name, *argv)
    assert caught.value.code == 2 and message in str(caught.value)
    (result,) = laws.document_of(ask("transcript", "--json"))["results"]
    assert (result["rounds"], result["entries"]) == (0, [])


def test_a_scripted_interrogator_ends_with_a_golden_transcript(ask: laws.Ask) -> None:
    asked = 0
    for round_ in range(1, 6):
        assert f"Round {round_} of 5" in ask("prompt")
        assert f"round {round_} of 5" in ask("what", "--episode", "1", "--time", "0")
        ask("prompt")
        ask("note", f"after round {round_}")
        asked += 2
    assert "Synthesis." in ask("prompt")
    with pytest.raises(ToolFailure) as caught:
        ask("whatif", "--actions", "up")
    assert (caught.value.code, "five rounds used" in str(caught.value)) == (4, True)
    ask("note", "all in all")
    assert asked + 1 == 2 * 5 + 1
    told = ask("transcript").splitlines()
    numbered = [line for line in told if line[:1].isdigit()]
    assert numbered == [
        line
        for round_ in range(1, 6)
        for line in (
            f"{2 * round_ - 1}. query: what time 0 (episode 1)",
            f"{2 * round_}. note: after round {round_}",
        )
    ] + ["11. note: all in all"]
    assert "at its end" in ask("prompt")
    assert "Round 1 of 5" in ask("prompt", "--new")
    assert ask("transcript").splitlines()[-1] == "(nothing yet)"


def test_a_damaged_transcript_is_told_and_can_be_begun_anew(ask: laws.Ask, tmp_path: Path) -> None:
    ask("note", "first")
    (tmp_path / "kept" / "axis.json").write_text("{")
    with pytest.raises(ToolFailure, match="begin anew with axis-prompt --new") as caught:
        ask("transcript")
    assert caught.value.code == 3
    assert "Round 1 of 5" in ask("prompt", "--new")


def test_without_a_place_to_keep_it_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XRL_STATE", raising=False)
    ask = laws.asker(TOOLS, SLIP, tmp_path)
    assert "no round used" in ask("whatif")
    with pytest.raises(ToolFailure, match="XRL_STATE is not set"):
        ask("note", "lost")


def test_notes_written_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    root, state = pruned.build(tmp_path / "workspace", "treasure_grid"), tmp_path / "kept"

    def note(number: int) -> subprocess.CompletedProcess[str]:
        argv = ["python", "-m", "axis", "note", f"note {number}"]
        return pruned.call(root, (DOSSIER,), argv, tmp_path / "cache", state=state)

    with ThreadPoolExecutor(4) as pool:
        assert [got.returncode for got in pool.map(note, range(4))] == [0] * 4
    entries = json.loads((state / "axis.json").read_text())["entries"]
    assert {entry["text"] for entry in entries} == {f"note {number}" for number in range(4)}


@pytest.mark.parametrize("environment", MANIFEST["environments"])
def test_recorded_actions_of_any_kind_reproduce_the_episode(environment: str, tmp_path: Path) -> None:
    root = pruned.build(tmp_path / "workspace", environment)

    def call(*argv: str) -> dict:
        whole = ["python", "-m", "axis", *argv, "--json"]
        got = pruned.call(root, (DOSSIER,), whole, tmp_path / "cache", state=tmp_path)
        assert (got.returncode, got.stderr) == (0, "")
        assert max(len(line) for line in got.stdout.splitlines()[:-1]) <= 100
        return json.loads(got.stdout.splitlines()[-1])["results"][0]

    here = call("what", "--time", "0", "--episode", "3")
    if environment != "datacenter_cooling":  # its actions are written to three decimals
        again = call("whatif", "--time", "0", "--episode", "3", f"--actions={here['action']}")
        assert again["first_difference"] is None
        assert np.allclose(list(again["difference"].values()), 0)
    thing = next(name for name in call("remove")["things"] if "[" not in name and name != "horizon")
    removed = call("remove", "--episode", "3", "--thing", thing)
    apart = removed["alternative"]["return"] - removed["recorded"]["return"]
    assert removed["difference"]["total"] == pytest.approx(apart)


def test_the_example_is_what_the_tools_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRL_STATE", str(tmp_path / "kept"))
    example = (DOSSIER / "examples" / "f6.md").read_text()
    ask = laws.asker(TOOLS, F6.subject(BEST), tmp_path)
    assert ask("context", "--episode", "5") in example
    assert ask("whatif", "--episode", "5", "--time", "1", "--actions", "right") in example


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_prints_the_same_twice_in_the_documented_form(ask: laws.Ask, name: str) -> None:
    first = ask(name, "--json")
    assert first == ask(name, "--json")
    laws.check_output(first, TOOLS[name], SLIP, document=True)
