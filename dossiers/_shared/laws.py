"""What the tests of every dossier ask of its tools: how to call them on a fixture, and what any output keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from fixtures import Cell, World
from xrl_common import arguments
from xrl_common.entry import Tool, render
from xrl_common.subject import Subject

WIDTH = 100
VERDICTS = re.compile(r"\b(because|cause|caused|bug|fault|wrong|fix|repair|malfunction|should)\b", re.IGNORECASE)
USES_Q = re.compile(r"\bQ\(|\bq (low|high)\b|\bimportance\b")
EVALUATES = re.compile(r"^# .*\bQ (simulator|critic|log-policy|exact)", re.MULTILINE)

Ask = Callable[..., str]


def asker(tools: Mapping[str, Tool], subject: Subject, folder: Path) -> Ask:
    """`ask(name, *argv, cell=(1, 2), t=0)` runs a tool on a subject; `cell` stands for a state file of that cell."""
    world = subject.environment

    def ask(name: str, *argv: str, cell: Cell | None = None, t: int = 0) -> str:
        tool, given = tools[name], list(argv)
        if cell is not None:
            assert isinstance(world, World)
            file = folder / "state.json"
            file.write_text(json.dumps(world.state_to_json(world.at(cell, t))))
            given += ["--state", str(file)]
        return render(tool, arguments.parse(tool.parser, given), subject)

    return ask


def document_of(output: str) -> dict:
    """The JSON document behind the tables."""
    return json.loads(output.splitlines()[-1])


def check_output(output: str, tool: Tool, subject: Subject, document: bool = False) -> None:
    """What section 3 of the specification asks of any output."""
    lines = output.splitlines()
    if document:
        read = json.loads(lines.pop())
        assert (read["format"], read["tool"]) == ("evalxrl.tool/1", tool.name)
    assert lines[0].startswith(f"# {tool.name}  {subject.name}")
    assert f" seed {document_of(output)['seed'] if document else 0}" in output
    assert max(len(line) for line in lines) <= WIDTH
    assert output.isascii()
    assert not VERDICTS.search(output)
    assert not VERDICTS.search(tool.help)
    assert sum(line.startswith("how to read: ") for line in lines) <= 3
    for remark in subject.remarks:
        assert f"# {remark}" in lines
