"""Every tool of every dossier answers in a workspace; the environments take turns. The slow tier has all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import pruned
import shipped

TOOLS = list(shipped.tools())


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {}


@pytest.mark.parametrize(
    ("tool", "turn"),
    [(tool, turn) for turn, tool in enumerate(TOOLS)],
    ids=[f"{t.dossier.name}-{t.name}" for t in TOOLS],
)
def test_a_tool_answers(
    tool: shipped.Shipped, turn: int, places: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    tool = TOOLS[turn]
    environment = tool.environments[turn % len(tool.environments)]
    if environment not in places:
        places[environment] = pruned.build(tmp_path_factory.mktemp(environment), environment)
    root = places[environment]
    before = pruned.contents(root)
    cache = tmp_path_factory.getbasetemp() / "cache"
    shipped.check(tool, environment, tool.call(root, cache, ["--budget", "small", "--json"], tmp_path / "state"))
    assert pruned.contents(root) == before
