"""Lengths of episodes on the fixture F6, where the shortest ways are known."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np

import exact
import pruned
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


def test_the_command_of_the_manifest_runs_in_a_workspace(tmp_path: Path) -> None:
    dossier = Path(__file__).parent.parent
    manifest = tomllib.loads((dossier / "dossier.toml").read_text())
    root = pruned.build(tmp_path / "workspace", manifest["environments"][0])
    for tool in manifest["tool"]:
        got = pruned.call(root, dossier, tool["argv"], tmp_path / "cache")
        assert (got.returncode, got.stderr) == (0, "")
        assert got.stdout.startswith(f"# {tool['name']}  {manifest['environments'][0]}")
