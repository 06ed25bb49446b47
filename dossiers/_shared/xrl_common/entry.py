"""Runs one tool from its arguments to its output and exit code. The only module that prints or exits."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xrl_common import arguments
from xrl_common.failure import UNREADABLE, ToolFailure, unreadable

if TYPE_CHECKING:
    from xrl_common.report import Report, Settings
    from xrl_common.subject import Subject

Body = Callable[["Settings", argparse.Namespace], "list[Report]"]


@dataclass(frozen=True)
class Tool:
    """A command of a dossier: its name, its help, its arguments, and where its body lies."""

    name: str
    help: str
    body: Callable[[], Body]
    """Imports the body late, so that `--help` loads no JAX."""
    states: bool = False
    options: tuple[arguments.Option, ...] = ()
    q_source: bool = False
    """Adds `--q-source`."""
    how_to_read: tuple[str, ...] = ()

    @property
    def parser(self) -> argparse.ArgumentParser:
        """Its command line."""
        return arguments.parser(self.name, self.help, self.states, self.options, self.q_source)


PLAIN = "--plain"
"""Before the name of a tool: leaves out the lines `how to read`, as packagings of synopsis only do."""


def main(tools: dict[str, Tool], argv: list[str]) -> int:
    """Runs the tool that the first argument names; returns the exit code."""
    if argv[:1] == [PLAIN]:
        tools, argv = {name: replace(tool, how_to_read=()) for name, tool in tools.items()}, argv[1:]
    if not argv or argv[0] not in tools:
        print(f"usage: one of {', '.join(tools)}, then its arguments", file=sys.stderr)
        return 2
    tool = tools[argv[0]]
    wanted = arguments.parse(tool.parser, argv[1:])
    try:
        output = run(tool, wanted)
    except ToolFailure as failure:
        print(f"{tool.name}: {failure}", file=sys.stderr)
        return failure.code
    except Exception as problem:  # the workspace's own code may raise anything
        reason = f"{type(problem).__name__}: {problem}".splitlines()[0]
        print(f"{tool.name}: this workspace could not be simulated: {reason}", file=sys.stderr)
        return UNREADABLE
    sys.stdout.write(output)
    return 0


def run(tool: Tool, wanted: argparse.Namespace) -> str:
    """The whole output of a tool in the caller's directory."""
    configure()
    from xrl_common.workspace import load

    return render(tool, wanted, load())


def render(tool: Tool, wanted: argparse.Namespace, subject: Subject) -> str:
    """The whole output of a tool for a subject: blocks, how to read them, and the document if asked for."""
    from xrl_common import document
    from xrl_common.report import Settings
    from xrl_common.simulation import Acting, Simulator

    given = wanted.gamma is not None
    settings = Settings(
        tool=tool.name,
        simulator=Simulator(subject, wanted.seed, Acting[wanted.policy.upper()]),
        gamma=wanted.gamma if given else subject.gamma,
        gamma_source="--gamma" if given else subject.gamma_source,
        budget=wanted.budget,
    )
    reports = tool.body()(settings, wanted)
    blocks = ["\n".join(report.lines) for report in reports]
    reading = "\n".join(f"how to read: {line}" for line in tool.how_to_read)
    output = "\n\n".join([*blocks, *([reading] if reading else [])]) + "\n"
    if wanted.json:
        results = [report.numbers for report in reports]
        output += document.text({**settings.numbers, "results": results}) + "\n"
    return output


def configure() -> None:
    """Leaves no trace in the workspace, runs as its programs do, keeps compiled ones where there is room."""
    sys.dont_write_bytecode = True
    try:
        from evalxrl_envs.core import runtime
    except (ImportError, SyntaxError) as problem:
        raise unreadable(f"evalxrl_envs of this workspace cannot be imported: {problem}") from problem
    runtime.prepare()
    import jax

    jax.config.update("jax_platforms", "cpu")
    directory = os.environ.get("EVALXRL_XLA_CACHE")
    if directory:
        jax.config.update("jax_compilation_cache_dir", directory)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
