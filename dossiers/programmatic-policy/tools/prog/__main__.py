"""`python -m prog fit | eval | disagree | params`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.arguments import Option, natural, positive
from xrl_common.entry import Body, Tool, main


def _body(module: str, name: str) -> Body:
    return getattr(importlib.import_module(f"prog.{module}"), name)


FILE = Option("file", "a program (default: the last one fitted)", "FILE")

TOOLS = {
    "fit": Tool(
        "prog-fit",
        "a short program that acts as the agent does: its text, agreement, and what both earn",
        lambda: _body("fit", "body"),
        options=(
            Option(
                "--sketch", "form of the program (default by the kind of actions)", choices=("rules", "linear", "pid")
            ),
            Option("--size", "tests and rules at most (default 12)", "N", positive, default=12),
            Option("--iterations", "rounds of the outer loop at most (default 30)", "N", natural, default=30),
        ),
        how_to_read=(
            "rules are asked from the top; the first whose tests all hold acts",
            "agreement: share of histories with the agent's action; distance: 0 where all agree",
        ),
    ),
    "eval": Tool(
        "prog-eval",
        "agreement and return of a program",
        lambda: _body("judge", "evaluate"),
        options=(FILE,),
        how_to_read=("one row for the states that the agent visits, one for those that the program visits",),
    ),
    "disagree": Tool(
        "prog-disagree",
        "states in which a program and the agent act differently",
        lambda: _body("judge", "disagree"),
        options=(FILE,),
        how_to_read=("weight: how much likelier the policy holds its own action; or the squared distance",),
    ),
    "params": Tool(
        "prog-params",
        "the numbers of a program, and how much each matters",
        lambda: _body("judge", "parameters"),
        options=(FILE,),
        how_to_read=("one row per number, the most sensitive first",),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
