"""`python -m hl summary | worst | dist`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.arguments import Option, natural, positive
from xrl_common.entry import Body, Tool, main


def _body(module: str) -> Body:
    return importlib.import_module(f"hl.{module}").body


IMPORTANCE = Option(
    "--importance",
    "max Q - min Q (range), max Q - second Q (second), or minus the entropy of the policy",
    choices=("range", "second", "entropy"),
    default="range",
)
REACH = Option("--l", "steps shown before and after a state (default 10)", "N", natural, default=10)

TOOLS = {
    "summary": Tool(
        "hl-summary",
        "clips around the states where the choice of an action matters most",
        lambda: _body("summary"),
        options=(
            Option("--div", "also keep the states of the clips apart in kind", metavar=""),
            IMPORTANCE,
            Option("--k", "number of clips (default 5)", "N", positive, default=5),
            REACH,
            Option("--gap", "steps between two clips of an episode (default 10)", "N", natural, default=10),
        ),
        q_source=True,
        how_to_read=(
            "each clip surrounds the step named above it; one row per step",
            "q low and q high are the ends of the values of the actions tried in the state",
            "percentile: share of the ranked states whose importance is no larger",
        ),
    ),
    "worst": Tool(
        "hl-worst",
        "the episodes of lowest return, each around its most important state",
        lambda: _body("worst"),
        options=(Option("--k", "number of episodes (default 3)", "N", positive, default=3), REACH, IMPORTANCE),
        q_source=True,
        how_to_read=(
            "each block surrounds the step named above it; end: how the episode came out",
            "q low and q high are the ends of the values of the actions tried in the state",
        ),
    ),
    "dist": Tool(
        "hl-dist",
        "how importance is spread over the states visited",
        lambda: _body("dist"),
        options=(IMPORTANCE,),
        q_source=True,
        how_to_read=("one row per bin of importance; bins have equal width; # draws the number of states",),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
