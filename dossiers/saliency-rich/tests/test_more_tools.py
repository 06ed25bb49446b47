"""The further tools: values on a linear agent, the examples, and that the packagings differ in wrapping alone."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sal_worlds import CRITIC, EVEN, LOGITS, OFFSETS, linear, passage

import exact
import laws
from fixtures import F6, GWA, GWB, World
from sal.__main__ import TOOLS
from sal_more import feature
from sal_more.__main__ import TOOLS as MORE
from xrl_common.failure import ToolFailure

RICH = Path(__file__).parents[1]
DEFAULT, MINIMAL = RICH.parent / "saliency", RICH.parent / "saliency-minimal"
BLOCK = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)


def manifest(dossier: Path) -> dict:
    return tomllib.loads((dossier / "dossier.toml").read_text())


@pytest.fixture
def ask(tmp_path: Path) -> laws.Ask:
    return laws.asker(MORE, linear(), tmp_path)


def test_values_set_in_the_background_move_a_linear_agent_along_its_line(ask: laws.Ask) -> None:
    (result,) = laws.document_of(ask("feature", "--name", "row", "--set", "--json"))["results"]
    means = np.array(result["means"])
    values = np.array(result["from"])
    assert result["to"] == result["from"] == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert np.diff(means, axis=0) == pytest.approx(np.outer(np.diff(values), [*LOGITS[:, 0], CRITIC[0]]), abs=1e-5)
    assert means[:, 1] == pytest.approx(OFFSETS[1] + LOGITS[1, 0] * values, abs=1e-5)


def test_where_values_occur_the_means_are_those_of_the_states(ask: laws.Ask) -> None:
    from xrl_common.simulation import Acting, Simulator

    trace = Simulator(linear(), 0, Acting.SERVED).episodes(64)
    seen = trace.observations[trace.alive].astype(float)
    (result,) = laws.document_of(ask("feature", "--name", "column/column", "--json"))["results"]
    assert sum(result["states"]) == len(seen)
    for value, mean in zip(result["from"], result["means"], strict=True):
        rows = seen[np.isclose(seen[:, 1], value)]
        expected = [*(rows @ LOGITS.T + OFFSETS).mean(axis=0), (rows @ CRITIC).mean()]
        assert mean == pytest.approx(expected, abs=1e-5)


def test_the_default_feature_is_the_group_of_largest_score(ask: laws.Ask) -> None:
    assert laws.document_of(ask("feature", "--json"))["results"][0]["entry"] == "row/row"


def test_an_unknown_group_is_refused_with_the_known_ones(ask: laws.Ask) -> None:
    with pytest.raises(ToolFailure, match="groups are row, column") as refused:
        ask("feature", "--name", "height")
    assert refused.value.code == 2


def test_bins_cover_every_value_once_and_hold_about_equally_many() -> None:
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    ranges = feature.bins(values)
    held = [int(((values >= low) & (values <= high)).sum()) for low, high in ranges]
    assert len(ranges) == feature.BINS
    assert sum(held) == 1000
    assert min(held) >= 100
    few = feature.bins(np.array([1, 2, 2, 3], np.float32))
    assert few == [(1, 1), (2, 2), (3, 3)]
    skewed = feature.bins(np.array([0] * 900 + list(range(100)), np.float32))
    assert skewed[0][0] == 0
    assert skewed[-1][1] == 99
    assert all(a[1] < b[0] for a, b in itertools.pairwise(skewed))


@pytest.mark.parametrize("argv", [("feature",), ("feature", "--set")], ids=" ".join)
def test_a_further_tool_prints_the_same_twice_in_the_documented_form(argv: tuple[str, ...], ask: laws.Ask) -> None:
    first = ask(*argv, "--json")
    assert first == ask(*argv, "--json")
    laws.check_output(first, MORE[argv[0]], linear(), document=True)


def asked(world: World | None, folder: Path, *argv: str, cell: tuple[int, int] | None = None) -> str:
    subject = linear() if world is None else passage(world)
    return laws.asker(TOOLS | MORE, subject, folder)(*argv, cell=cell)


def test_the_examples_are_what_the_tools_print(tmp_path: Path) -> None:
    seed = ("--seed", str(EVEN))
    sverl = ("state", "--method", "sverl")
    printed = {
        "gwb.md": [
            asked(GWB, tmp_path, *sverl, *seed, cell=(0, 0)),
            asked(GWB, tmp_path, *sverl, *seed, cell=(1, 0)),
            asked(GWB, tmp_path, *sverl, "--scope", "global", *seed, "--budget", "large", cell=(0, 0)),
        ],
        "gwa.md": [
            asked(GWA, tmp_path, "state", "--output", "value", cell=(0, 0)),
            asked(GWA, tmp_path, "state", "--output", "value", cell=(0, 1)),
            asked(GWA, tmp_path, *sverl, cell=(0, 0)),
        ],
        "f6.md": [
            asked(None, tmp_path, "policy"),
            asked(None, tmp_path, "state", cell=(0, 1)),
            asked(None, tmp_path, "state", "--method", "ig", cell=(0, 1)),
            asked(None, tmp_path, "timeline", "--episode", "18"),
            asked(None, tmp_path, "feature", "--name", "row", "--set"),
            asked(None, tmp_path, "feature", "--name", "row"),
        ],
    }
    assert sorted(printed) == sorted(path.name for path in (RICH / "examples").iterdir())
    for name, outputs in printed.items():
        text = (RICH / "examples" / name).read_text()
        assert all(output in text for output in outputs), name
        blocks = "".join(BLOCK.findall(text))
        assert blocks.count("# sal-") == len(outputs), f"{name} holds a block that no tool was asked for"


def test_the_exact_shares_of_the_global_example_are_those_of_its_text() -> None:
    policy, cells = exact.uniform_over_best(exact.optimal_q(GWB)), np.array(GWB.cells)
    share = exact.occupancy(GWB, policy)
    values = {}
    for known in [(), (0,), (1,), (0, 1)]:
        agrees = np.array([[(one[list(known)] == other[list(known)]).all() for other in cells] for one in cells])
        weights = agrees * share
        total = weights.sum(axis=1, keepdims=True)
        blind = np.where(total > 0, weights @ policy / np.maximum(total, 1e-300), policy)
        values[known] = exact.evaluate(GWB, blind).v.sum(axis=1)[0]
    x = ((values[0,] - values[()]) + (values[0, 1] - values[1,])) / 2
    y = ((values[1,] - values[()]) + (values[0, 1] - values[0,])) / 2
    assert (x, y) == pytest.approx((4.5, 2))


def test_packagings_share_code_papers_and_the_words_of_their_tools() -> None:
    for dossier in (MINIMAL, RICH):
        assert not (dossier / "src").exists()
        told = {tool["name"]: tool["help"] for tool in manifest(DEFAULT)["tool"]}
        for tool in manifest(dossier)["tool"]:
            assert told.get(tool["name"], tool["help"]) == tool["help"]
    assert not (MINIMAL / "tools").exists()
    assert manifest(DEFAULT)["papers"] == manifest(RICH)["papers"]
    for paper in (DEFAULT / "papers").iterdir():
        assert paper.read_bytes() == (RICH / "papers" / paper.name).read_bytes()
    names = [[tool["name"] for tool in manifest(dossier)["tool"]] for dossier in (MINIMAL, DEFAULT, RICH)]
    assert names[0] == names[1][:2]
    assert names[2] == [*names[1], "sal-compare", "sal-feature"]
    assert all("--plain" in tool["argv"] for tool in manifest(MINIMAL)["tool"])


def test_help_lines_are_those_of_the_manifest() -> None:
    for tool in manifest(RICH)["tool"]:
        named = (TOOLS | MORE)[tool["argv"][-1]]
        assert (named.name, named.help) == (tool["name"], tool["help"])


def test_json_of_a_further_tool_is_one_document(ask: laws.Ask) -> None:
    json.loads(ask("feature", "--json").splitlines()[-1])
    assert F6.name in ask("feature")
