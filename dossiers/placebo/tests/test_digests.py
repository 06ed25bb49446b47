"""Digests are SHA-256 of seed, row and state, and say nothing twice."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exact
import laws
from dg import rows
from dg.__main__ import TOOLS
from digests import CELLS, cells, fitting, spread
from fixtures import F6, Params
from xrl_common import actions
from xrl_common.features import one
from xrl_common.simulation import Acting, Simulator

BEST = exact.greedy(exact.optimal_q(F6))
SLIPPERY = F6.subject(BEST, Params(slip=0.1))
ASKED = [(name,) for name in sorted(TOOLS)] + [("state", "--random", "4"), ("state", "--worst", "64")]


@pytest.fixture
def ask(tmp_path: Path) -> laws.Ask:
    return laws.asker(TOOLS, SLIPPERY, tmp_path)


def test_a_cell_is_the_beginning_of_the_published_digest() -> None:
    state = {"t": 3, "cell": [1, 2]}
    whole = hashlib.sha256(b'7\n12\n{"cell":[1,2],"t":3}').hexdigest()
    assert cells(7, 12, state, 8) == [whole[i : i + 8] for i in range(0, 64, 8)]
    assert cells(7, 12, state) == [whole[:8]]


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


@given(st.integers(1, 60), st.integers(1, 30), st.integers(0, 2000))
def test_rows_get_as_many_cells_as_fit_and_at_least_one(rows: int, named: int, room: int) -> None:
    count = fitting(rows, named, room)
    assert 1 <= count <= CELLS
    assert count == 1 or rows * (named + 10 * count) <= room
    assert count == CELLS or rows * (named + 10 * (count + 1)) > room


@pytest.mark.parametrize("argv", ASKED, ids=" ".join)
def test_the_digests_of_any_two_rows_differ(ask: laws.Ask, argv: tuple[str, ...]) -> None:
    document = laws.document_of(ask(*argv, "--json"))
    rows = [tuple(row) for result in document["results"] for row in result["digests"]]
    numbers = [row for result in document["results"] for row in result["rows"]]
    assert numbers == list(range(len(rows)))
    assert len({row[0] for row in rows}) == len(rows) > 1


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_an_output_is_about_as_long_as_it_says(ask: laws.Ask, name: str) -> None:
    assert abs(len(ask(name)) / rows.LENGTH[actions.Kind.DISCRETE] - 1) <= 0.2


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_tables_show_the_first_groups_of_each_digest_and_nothing_else(ask: laws.Ask, name: str) -> None:
    *lines, document = ask(name, "--json").splitlines()
    whole = [row for result in json.loads(document)["results"] for row in result["digests"]]
    labels = [
        str(label) for result in json.loads(document)["results"] for label in result.get("actions", result["rows"])
    ]
    told = ("#", "clip ", "row ", "action ", "how to read: ")
    shown = [line.split() for line in lines if line and not line.startswith(told)]
    assert [row[0] for row in shown] == labels
    assert all(row[1:] == digest[: len(row) - 1] for row, digest in zip(shown, whole, strict=True))
    assert all(len(row) > 1 for row in shown)


def test_rows_follow_the_states_from_an_episode_on(ask: laws.Ask) -> None:
    (result,) = laws.document_of(ask("episode", "--episode", "3", "--rows", "50", "--json"))["results"]
    trace = Simulator(SLIPPERY, 0, Acting.SERVED).episodes(64)
    steps = [(episode, t) for episode in range(3, 64) for t in range(trace.lengths[episode])][:50]
    states = [F6.state_to_json(one(trace.states, *step)) for step in steps]
    assert trace.lengths[3] < 50
    assert result["digests"] == [cells(0, row, state, CELLS) for row, state in enumerate(states)]


def test_an_episode_out_of_range_is_a_mistake_of_usage(ask: laws.Ask) -> None:
    with pytest.raises(Exception, match=r"episodes are 0\.\.63"):
        ask("episode", "--episode", "64")


def test_the_first_row_of_a_state_is_the_state_itself_and_the_others_follow_it(tmp_path: Path) -> None:
    ask = laws.asker(TOOLS, F6.subject(BEST), tmp_path)
    (result,) = laws.document_of(ask("state", "--json", cell=(0, 1)))["results"]
    states = [F6.at((0, 1)), *(F6.at(cell, 1) for cell in ((0, 1), (1, 1), (0, 0), (0, 2)))]
    assert result["actions"] == ["(none)", "up", "down", "left", "right"]
    assert result["digests"] == [cells(0, row, F6.state_to_json(state), CELLS) for row, state in enumerate(states)]


def test_values_that_are_not_finite_are_counted(tmp_path: Path) -> None:
    rewards = F6.rewards.copy()
    rewards[F6.cells.index((5, 4)), 3, 0] = np.nan
    odd = dataclasses.replace(F6, rewards=rewards)
    assert "  non-finite " in laws.asker(TOOLS, odd.subject(BEST), tmp_path)("episode")
    assert "non-finite" not in laws.asker(TOOLS, F6.subject(BEST), tmp_path)("episode")


def test_the_example_is_what_the_tool_prints(tmp_path: Path) -> None:
    example = (Path(__file__).parent.parent / "examples" / "f6.md").read_text()
    assert laws.asker(TOOLS, F6.subject(BEST), tmp_path)("state", "--episode", "5", "--t", "0") in example


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_prints_the_same_twice_in_the_documented_form(ask: laws.Ask, name: str) -> None:
    first = ask(name, "--json")
    assert first == ask(name, "--json")
    laws.check_output(first, TOOLS[name], SLIPPERY, document=True)
