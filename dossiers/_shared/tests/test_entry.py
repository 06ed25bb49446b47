"""How a tool is named on the command line."""

from __future__ import annotations

import pytest

import exact
from fixtures import GWA
from xrl_common import entry
from xrl_common.report import Report

LINE = "how to read: rows are rows"


@pytest.mark.parametrize(("argv", "told"), [(["one"], True), (["--plain", "one"], False)])
def test_how_to_read_is_left_out_before_a_plain_tool(
    argv: list[str], told: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def body(settings: object, wanted: object) -> list[Report]:
        return [Report(["# one"])]

    monkeypatch.setattr(entry, "run", lambda tool, wanted: entry.render(tool, wanted, GWA.subject(exact.uniform(GWA))))
    tools = {"one": entry.Tool("one", "one tool", lambda: body, how_to_read=("rows are rows",))}
    assert entry.main(tools, argv) == 0
    assert (LINE in capsys.readouterr().out) == told
    assert tools["one"].how_to_read
