"""`python -m dg summary | state | episode`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.arguments import Option, natural, positive
from xrl_common.entry import Body, Tool, main


def _body(module: str) -> Body:
    return importlib.import_module(f"dg.{module}").body


CONTINUED = "cells are groups of digits of the digest of a row; each column continues the one before"
NUMBERED = "the row number is part of a digest, so that equal states in two rows have two digests"

TOOLS = {
    "summary": Tool(
        "dg-summary",
        "digests of the states in clips spread over the agent's episodes",
        lambda: _body("summary"),
        options=(
            Option("--k", "number of clips (default 3)", "N", positive, default=3),
            Option("--l", "steps before and after the middle of a clip (default 2)", "N", natural, default=2),
        ),
        how_to_read=(
            "each clip surrounds the step named above it; one row per step",
            CONTINUED,
            NUMBERED,
        ),
    ),
    "state": Tool(
        "dg-state",
        "digests of one state and of those that follow each action tried in it",
        lambda: _body("state"),
        states=True,
        how_to_read=(
            "one row per action tried: the digest of the state that follows it",
            CONTINUED,
            NUMBERED,
        ),
    ),
    "episode": Tool(
        "dg-episode",
        "digests of consecutive states of the agent's episodes",
        lambda: _body("episode"),
        options=(
            Option("--episode", "the episode that rows begin in, 0..63 (default 0)", "N", natural, default=0),
            Option("--rows", "number of rows (default 16)", "N", positive, default=16),
        ),
        how_to_read=(
            "one row per step; where an episode ends, the rows go on in the next",
            CONTINUED,
            NUMBERED,
        ),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
