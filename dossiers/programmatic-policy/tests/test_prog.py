"""The tools on F6 and in a workspace: fit, what is stored, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import exact
import laws
from fixtures import F6, Params
from prog.__main__ import TOOLS
from xrl_common.failure import ToolFailure

BEST = exact.greedy(exact.optimal_q(F6))


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> laws.Ask:
    monkeypatch.setenv("XRL_STATE", str(tmp_path / "kept"))
    return laws.asker(TOOLS, F6.subject(BEST), tmp_path)


def test_a_program_of_twelve_earns_what_the_agent_earns_and_agrees_in_most_states(ask: laws.Ask) -> None:
    (result,) = laws.document_of(ask("fit", "--json"))["results"]
    assert result["size"] <= 12
    assert result["agreement"] >= 0.9
    assert result["return"]["program"]["mean"] == pytest.approx(10, abs=1e-6)
    assert result["return"]["agent"]["mean"] == pytest.approx(10, abs=1e-6)


def test_the_fitted_program_is_what_the_other_tools_take(ask: laws.Ask) -> None:
    assert "no program was fitted or given" in ask("eval")
    fitted = laws.document_of(ask("fit", "--json"))["results"][0]["program"]
    assert laws.document_of(ask("eval", "--json"))["results"][0]["program"] == fitted
    assert "program last fitted" in ask("disagree")


def test_a_program_of_a_file_is_judged(ask: laws.Ask, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("if pit_right: down\nelse: right\n")
    (result,) = laws.document_of(ask("eval", str(file), "--json"))["results"]
    assert result["size"] == 3
    (parted,) = laws.document_of(ask("disagree", str(file), "--json"))["results"]
    assert parted["rows"] and all(row["agent"] != row["program"] for row in parted["rows"])
    weights = [row["weight"] for row in parted["rows"]]
    assert weights == sorted(weights, reverse=True)
    file.write_text("if own/row < 0.9: down\nelse: right\n")
    (moved,) = laws.document_of(ask("params", str(file), "--json"))["results"]
    assert [row["name"] for row in moved["numbers"]] == ["rule 1 test 1 own/row"]
    assert moved["numbers"][0]["sensitivity"] > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("if lava: up\nelse: up\n", "mine.txt: line 1 column 4: a predicate or feature is wanted"),
        ("else: fly\n", "line 1 column 7"),
    ],
)
def test_an_ill_typed_file_ends_with_2_and_its_place(ask: laws.Ask, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(text)
    with pytest.raises(ToolFailure, match=re.escape(message)) as caught:
        ask("eval", str(file))
    assert caught.value.code == 2


def test_a_file_that_is_not_there_a_sketch_that_does_not_fit_and_a_damaged_store(ask: laws.Ask, tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match="nowhere"):
        ask("eval", "nowhere.txt")
    with pytest.raises(ToolFailure, match="linear or rules fits"):
        ask("fit", "--sketch", "pid")
    (tmp_path / "kept").mkdir(exist_ok=True)
    (tmp_path / "kept" / "program.txt").write_text("else")
    with pytest.raises(ToolFailure, match="fit one with prog-fit") as caught:
        ask("eval")
    assert caught.value.code == 3


def test_without_a_program_what_could_be_said_is_listed(ask: laws.Ask) -> None:
    got = ask("params")
    assert "predicates: at_large, at_small" in got and "features: own/row, own/column" in got
    assert max(len(line) for line in got.splitlines()) <= 100


def test_the_example_is_what_the_tool_prints(ask: laws.Ask) -> None:
    assert ask("fit") in (Path(__file__).parent.parent / "examples" / "f6.md").read_text()


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_prints_the_same_twice_in_the_documented_form(ask: laws.Ask, name: str, tmp_path: Path) -> None:
    subject = F6.subject(BEST, Params(slip=0.1))
    noisy = laws.asker(TOOLS, subject, tmp_path)
    if name != "fit":
        noisy("fit", "--iterations", "1")
    first = noisy(name, "--json")
    assert first == noisy(name, "--json")
    laws.check_output(first, TOOLS[name], subject, document=True)


def test_the_linear_sketch_follows_a_linear_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRL_STATE", str(tmp_path / "kept"))
    table = np.zeros((29, 4))
    for index, (row, column) in enumerate(F6.cells):
        table[index, 1 if row < 5 - column else 3] = 1.0
    ask = laws.asker(TOOLS, F6.subject(table), tmp_path)
    (result,) = laws.document_of(ask("fit", "--sketch", "linear", "--json"))["results"]
    assert result["agreement"] >= 0.95
