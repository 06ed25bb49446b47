"""Digests are SHA-256 of seed, row and state, and say nothing twice."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exact
import laws
from dg.__main__ import TOOLS
from digests import cells, spread
from fixtures import F6, Params

BEST = exact.greedy(exact.optimal_q(F6))


@pytest.fixture
def ask(tmp_path: Path) -> laws.Ask:
    return laws.asker(TOOLS, F6.subject(BEST, Params(slip=0.1)), tmp_path)


def test_a_cell_is_the_beginning_of_the_published_digest() -> None:
    state = {"t": 3, "cell": [1, 2]}
    whole = hashlib.sha256(b'7\n12\n{"cell":[1,2],"t":3}').hexdigest()
    assert cells(7, 12, state, 8) == [whole[i : i + 8] for i in range(0, 64, 8)]


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_another_row_or_seed_gives_another_digest(seed: int, row: int, other_seed: int, other_row: int) -> None:
    state = F6.state_to_json(F6.at((1, 1)))
    same = cells(seed, row, state) == cells(other_seed, other_row, state)
    assert same == ((seed, row) == (other_seed, other_row))


@given(st.integers(1, 500), st.integers(1, 20))
def test_places_are_different_in_order_and_inside(length: int, count: int) -> None:
    places = spread(length, count)
    assert places == sorted(set(places))
    assert 0 <= places[0] and places[-1] < length and len(places) == min(length, count)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_the_digests_of_any_two_rows_differ(ask: laws.Ask, name: str) -> None:
    document = laws.document_of(ask(name, "--json"))
    rows = [tuple(row) for result in document["results"] for row in result["digests"]]
    assert len(rows) == len(set(rows)) > 1
    assert len({row[0] for row in rows}) == len(rows)


def test_an_episode_is_digested_row_by_row(ask: laws.Ask) -> None:
    (result,) = laws.document_of(ask("episode", "--episode", "3", "--json"))["results"]
    assert len(result["digests"]) == len(result["actions"])
    with pytest.raises(Exception, match=r"episodes are 0\.\.63"):
        ask("episode", "--episode", "64")


def test_the_first_row_of_a_state_is_the_state_itself(ask: laws.Ask) -> None:
    (result,) = laws.document_of(ask("state", "--json", cell=(1, 1)))["results"]
    assert result["digests"][0] == cells(0, 0, json.loads(json.dumps(F6.state_to_json(F6.at((1, 1))))), 5)


def test_the_example_is_what_the_tool_prints(tmp_path: Path) -> None:
    example = (Path(__file__).parent.parent / "examples" / "f6.md").read_text()
    assert laws.asker(TOOLS, F6.subject(BEST), tmp_path)("state", "--episode", "5", "--t", "0") in example


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_prints_the_same_twice_in_the_documented_form(name: str, tmp_path: Path) -> None:
    subject = F6.subject(BEST, Params(slip=0.1))
    ask = laws.asker(TOOLS, subject, tmp_path)
    first = ask(name, "--json")
    assert first == ask(name, "--json")
    laws.check_output(first, TOOLS[name], subject, document=True)


def test_nothing_that_is_shown_names_its_purpose() -> None:
    dossier = Path(__file__).parent.parent
    for part in ("README.md", "papers", "examples", "src", "tools"):
        files = [dossier / part] if (dossier / part).is_file() else sorted((dossier / part).rglob("*.*"))
        for file in files:
            if file.suffix in (".md", ".py"):
                assert "placebo" not in file.read_text().lower() + str(file.relative_to(dossier)).lower()
