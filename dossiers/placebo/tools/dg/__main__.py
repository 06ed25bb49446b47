"""`python -m dg summary | state | episode`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.arguments import Option, natural, positive
from xrl_common.entry import Body, Tool, main


def _body(module: str) -> Body:
    return importlib.import_module(f"dg.{module}").body


TOOLS = {
    "summary": Tool(
        "dg-summary",
        "digests of the states in five clips of the agent's episodes",
        lambda: _body("summary"),
        options=(
            Option("--k", "number of clips (default 5)", "N", positive, default=5),
            Option("--l", "steps before and after the middle of a clip (default 10)", "N", natural, default=10),
        ),
        q_source=True,
        how_to_read=(
            "each clip surrounds the step named above it; one row per step",
            "cells are groups of digits of the digest of a row; each column continues the one before",
            "the row number is part of a digest, so that equal states in two rows have two digests",
        ),
    ),
    "state": Tool(
        "dg-state",
        "digests of one state and of those that follow each action tried in it",
        lambda: _body("state"),
        states=True,
        q_source=True,
        how_to_read=(
            "one row per action tried: the digests of the state that follows it",
            "the row number is part of a digest, so that equal states in two rows have two digests",
        ),
    ),
    "episode": Tool(
        "dg-episode",
        "digests of all states of an episode, in order",
        lambda: _body("episode"),
        options=(Option("--episode", "number of the episode, 0..63 (default 0)", "N", natural, default=0),),
        how_to_read=("one row per step; cells are groups of digits of the digest of the row",),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
