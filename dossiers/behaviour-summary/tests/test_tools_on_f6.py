"""The tools on the fixture F6, where importance is known exactly."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import exact
import laws
from fixtures import F6, Params
from hl import summary
from hl.__main__ import TOOLS
from xrl_common import arguments
from xrl_common.report import Settings
from xrl_common.simulation import Acting, Simulator
from xrl_common.subject import Subject

BEST = exact.greedy(exact.optimal_q(F6))
SPREAD = {cell: float(np.ptp(row)) for cell, row in zip(F6.cells, exact.optimal_q(F6), strict=True)}


@pytest.fixture
def ask(tmp_path: Path) -> laws.Ask:
    return laws.asker(TOOLS, F6.subject(BEST), tmp_path)


def of_each_cell(*argv: str, subject: Subject | None = None) -> list:
    """The summary of 29 episodes, one from each free cell."""
    settings = Settings(
        "hl-summary", Simulator(subject or F6.subject(BEST), 0, Acting.GREEDY), 0.95, "fixture", "small"
    )
    starts = type(F6.at((0, 0)))(np.arange(29, dtype=np.int32), np.zeros(29, np.int32))
    wanted = arguments.parse(TOOLS["summary"].parser, list(argv))
    return summary.summarise(settings, wanted, settings.simulator.from_states(starts))


def test_the_most_important_state_is_beside_the_treasure_and_the_pit() -> None:
    first, *_ = of_each_cell("--k", "1", "--l", "1", "--gap", "0")
    assert first.numbers["importance"].mean == pytest.approx(14.5, abs=1e-3)
    assert (first.numbers["episode"], first.numbers["t"], first.numbers["percentile"]) == (2, 6, 100)
    text = "\n".join(first.lines)
    assert "clip 1   episode 2   t 6   importance 14.500 (0.000)   percentile 100" in text
    rows = [re.split(r"  +", line.strip()) for line in first.lines if re.match(r"\d", line)]
    assert rows == [
        ["5", "(3,4)", "down", "0.000", "0.000", "0.000", "-5.000", "9.025", "pit_left"],
        ["6", "(4,4)", "down", "0.000", "0.000", "0.000", "-5.000", "9.500", "pit_right"],
        ["7", "(5,4)", "right", "10.000", "0.000", "0.000", "9.025", "10.000", "large_right"],
    ]


def test_next_come_the_two_cells_of_14_025() -> None:
    blocks = of_each_cell("--k", "29", "--l", "0", "--gap", "0", "--div")
    found = [block.numbers for block in blocks]
    values = [entry["importance"].mean for entry in found]
    assert values[:3] == pytest.approx([14.5, 14.025, 14.025], abs=1e-3)
    cells = [F6.cells[entry["state"]["state"]["cell"]] for entry in found]
    assert (cells[0], set(cells[1:3])) == ((4, 4), {(3, 4), (4, 3)})
    for cell, value in zip(cells, values, strict=True):
        assert value == pytest.approx(SPREAD[cell], abs=1e-3)


def test_clips_of_a_diverse_summary_are_pairwise_at_least_the_threshold_apart() -> None:
    blocks = of_each_cell("--k", "12", "--l", "1", "--gap", "1", "--div")
    least = float(re.search(r"at a distance of at least (\d+\.\d+)", "\n".join(blocks[0].lines))[1])
    states = [F6.state_from_json(block.numbers["state"], Params()) for block in blocks]
    assert all(F6.distance(a, b) >= least - 5e-4 for a, b in itertools.combinations(states, 2))


def test_fewer_clips_than_asked_for_are_shown_with_a_line_that_says_so(ask: laws.Ask) -> None:
    got = ask("summary", "--k", "500", "--l", "20")
    count = got.count("\nclip ")
    assert f"# {count} of 500 clips: no further state lies far enough from those shown" in got


def test_equal_importance_everywhere_is_told() -> None:
    blocks = of_each_cell("--k", "2", "--q-source", "log-policy", subject=F6.subject(exact.uniform(F6)))
    assert (
        "# every ranked state has the same importance: clips follow the order of episodes and steps" in blocks[0].lines
    )
    assert [(block.numbers["episode"], block.numbers["t"]) for block in blocks] == [(0, 0), (0, 20)]


def test_no_two_clips_of_an_episode_are_nearer_than_reach_and_gap(ask: laws.Ask) -> None:
    document = laws.document_of(ask("summary", "--k", "40", "--l", "1", "--gap", "2", "--json"))
    places = [(entry["episode"], entry["t"]) for entry in document["results"]]
    assert all(a[0] != b[0] or abs(a[1] - b[1]) >= 3 for a, b in itertools.combinations(places, 2))


def test_entropy_ranks_by_certainty() -> None:
    table = np.full((29, 4), 0.25)
    table[F6.cells.index((0, 0))] = [0.97, 0.01, 0.01, 0.01]
    first, *_ = of_each_cell("--k", "1", "--importance", "entropy", subject=F6.subject(table))
    assert first.numbers["state"]["state"]["cell"] == F6.cells.index((0, 0))


def test_the_worst_episodes_come_first_and_tell_their_return_and_end(tmp_path: Path) -> None:
    ask = laws.asker(TOOLS, F6.subject(exact.uniform(F6), Params(slip=0.3)), tmp_path)
    output = ask("worst", "--k", "4", "--json", "--policy", "sampled")
    document = laws.document_of(output)
    returns = [entry["return"] for entry in document["results"]]
    assert returns == sorted(returns)
    assert document["results"][0]["outcome"]["predicates"] == ["in_pit"]
    assert "return -5.000   end in_pit\nlast step   pit -5.000\n" in output


def test_the_histogram_counts_every_ranked_state_once(ask: laws.Ask) -> None:
    (result,) = laws.document_of(ask("dist", "--json"))["results"]
    assert sum(result["counts"]) == result["states"]
    assert result["edges"][-1] == pytest.approx(max(SPREAD.values()), abs=0.5)


def test_the_example_is_what_the_tool_prints(ask: laws.Ask) -> None:
    example = (Path(__file__).parent.parent / "examples" / "f6.md").read_text()
    assert ask("summary", "--k", "2", "--l", "1", "--policy", "greedy") in example


@pytest.mark.parametrize("source", ["simulator", "critic", "log-policy"])
@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_prints_the_same_twice_in_the_documented_form(name: str, source: str, tmp_path: Path) -> None:
    subject = F6.subject(BEST, Params(slip=0.1))
    ask = laws.asker(TOOLS, subject, tmp_path)
    first = ask(name, "--json", "--q-source", source)
    assert first == ask(name, "--json", "--q-source", source)
    assert f"Q {source}" in first
    laws.check_output(first, TOOLS[name], subject, document=True)
