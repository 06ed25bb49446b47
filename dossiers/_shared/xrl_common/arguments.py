"""The arguments that tools share. Reading them loads neither the environment nor JAX."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

SCALES = {"small": 0.25, "normal": 1.0, "large": 4.0}
POLICIES = ("served", "sampled", "greedy")


class Source(StrEnum):
    """Where action values come from."""

    SIMULATOR = "simulator"
    CRITIC = "critic"
    LOG_POLICY = "log-policy"


@dataclass(frozen=True)
class Option:
    """One argument of one tool: a flag `--x`, a switch `--x` (`metavar` empty), or a position `X`, which may lack."""

    flag: str
    help: str
    metavar: str = "ACTION"
    type: Callable[[str], Any] = str
    choices: tuple[str, ...] | None = None
    default: Any = None

    def add(self, built: argparse.ArgumentParser) -> None:
        """Puts it into a command line; what `type` refuses with a `ValueError` is a mistake of usage."""
        if not self.flag.startswith("-"):
            built.add_argument(self.flag, nargs="?", metavar=self.metavar, help=self.help, type=self.type)
        elif not self.metavar:
            built.add_argument(self.flag, action="store_true", help=self.help)
        else:
            built.add_argument(
                self.flag,
                metavar=None if self.choices else self.metavar,
                help=self.help,
                type=self.type,
                choices=self.choices,
                default=self.default,
            )


def parser(
    tool: str, help_line: str, states: bool, options: tuple[Option, ...] = (), q_source: bool = False
) -> argparse.ArgumentParser:
    """The command line of a tool; `states` adds the choice of states."""
    built = argparse.ArgumentParser(prog=tool, description=help_line, allow_abbrev=False)
    if states:
        _add_states(built)
    for option in options:
        option.add(built)
    if q_source:
        built.add_argument(
            "--q-source",
            type=Source,
            choices=tuple(Source),
            default=Source.SIMULATOR,
            help="action values: by simulation (default), one step and the critic, or log pi of the policy itself",
        )
    built.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of all draws (default 0)")
    built.add_argument("--budget", choices=tuple(SCALES), default="normal", help="rollouts: x1/4, x1 or x4")
    built.add_argument("--policy", choices=POLICIES, default="served", help="way of acting (default: served)")
    built.add_argument("--gamma", type=unit, metavar="X", help="discount (default: that of config.toml)")
    built.add_argument("--json", action="store_true", help="add one JSON document after the tables")
    return built


def parse(built: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Reads the command line; a mistake ends the process with code 2 and a message on stderr."""
    read = built.parse_args(argv)
    if getattr(read, "t", None) is not None and (read.state is not None or read.random is not None):
        built.error("--t goes with --episode or --worst")
    return read


def _add_states(built: argparse.ArgumentParser) -> None:
    group = built.add_mutually_exclusive_group()
    group.add_argument("--state", metavar="FILE", help="a state document (evalxrl.state/1)")
    group.add_argument("--episode", type=natural, metavar="N", help="a state of episode N (see --t)")
    group.add_argument("--worst", type=positive, metavar="N", help="N lowest-return episodes (default 1)")
    group.add_argument("--random", type=positive, metavar="N", help="N of the states visited in 64 episodes")
    built.add_argument(
        "--t",
        type=natural,
        metavar="K",
        help="step within --episode (default 0) or --worst (default: the first at which actions matter)",
    )


def natural(text: str) -> int:
    """A whole number from 0."""
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 4294967295")
    return int(text)


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def unit(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1") from problem
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value
