"""`python -m sal_more compare | feature`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.arguments import Option
from xrl_common.entry import Body, Tool, main


def _body(module: str) -> Body:
    return importlib.import_module(f"sal_more.{module}").body


TOOLS = {
    "compare": Tool(
        "sal-compare",
        "which groups of observation entries two agents depend on, side by side",
        lambda: _body("compare"),
        options=(
            Option("--a", "the first agent file (default: the agent of this workspace)", "FILE"),
            Option("--b", "the second (default: the first with the last layer of its policy drawn anew)", "FILE"),
        ),
        how_to_read=(
            "S: half the mean squared change of the policy's outputs, on states that agent a visits",
            "share: of the agent's own summed S; rank correlation: Spearman, over groups",
        ),
    ),
    "feature": Tool(
        "sal-feature",
        "what the networks answer at each value of one group of observation entries",
        lambda: _body("feature"),
        options=(
            Option("--name", "a group, or one entry as group/entry (default: the group of largest S)", "G"),
            Option("--set", "set the value in every background state, in place of looking where it occurs", metavar=""),
        ),
        how_to_read=("one row per value or range of values; means of the policy's outputs and of V",),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
