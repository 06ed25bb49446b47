"""The examples show what the tools print, to the byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import exact
import laws
from fixtures import F6, GWB, Cell, World
from rdx.__main__ import TOOLS

EXAMPLES = Path(__file__).parents[1] / "examples"


def best(world: World) -> np.ndarray:
    """The greedy policy of F6, and the one that draws among best actions elsewhere."""
    q = exact.optimal_q(world)
    return exact.greedy(q) if world is F6 else exact.uniform_over_best(q)


@pytest.mark.parametrize(
    ("file", "world", "tool", "argv", "cell"),
    [
        ("f6.md", F6, "compare", "--policy greedy --a down --b right", (1, 1)),
        ("f6-when.md", F6, "when", "--policy greedy --a down", (1, 1)),
        ("gwb.md", GWB, "policy", "--policy sampled", None),
    ],
)
def test_an_example_is_what_the_tool_prints(
    file: str, world: World, tool: str, argv: str, cell: Cell | None, tmp_path: Path
) -> None:
    got = laws.asker(TOOLS, world.subject(best(world)), tmp_path)(tool, *argv.split(), cell=cell)
    blocks = (EXAMPLES / file).read_text().split("```\n")
    assert got in blocks


def test_there_are_three_examples() -> None:
    assert len(list(EXAMPLES.iterdir())) == 3
