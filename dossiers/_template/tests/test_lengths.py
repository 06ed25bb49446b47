"""Lengths of episodes on the fixture F6, where the shortest ways are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import exact
from fixtures import F6
from lengths import Summary, summarise
from lengths_tools.__main__ import TOOLS
from xrl_common import arguments
from xrl_common.entry import render


def test_no_episode_has_no_length() -> None:
    assert summarise(np.array([])) == Summary(0, 0.0, 0, 0)


def test_the_example_is_what_the_tool_prints_of_the_best_policy_on_f6() -> None:
    tool = TOOLS["lengths"]
    wanted = arguments.parse(arguments.parser(tool.name, tool.help, tool.states), [])
    printed = render(tool, wanted, F6.subject(exact.greedy(exact.optimal_q(F6))))
    assert printed in (Path(__file__).parent.parent / "examples" / "f6.md").read_text()
