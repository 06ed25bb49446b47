"""`python -m rdx audit | compare | table | policy | when`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.arguments import Option
from xrl_common.entry import Body, Tool, main


def _body(module: str) -> Body:
    return importlib.import_module(f"rdx.{module}").body


TOOLS = {
    "audit": Tool(
        "rdx-audit",
        "what each reward component contributes to an episode",
        lambda: _body("audit"),
        how_to_read=(
            "one row per reward component; standard errors over episodes in brackets",
            "share is of the summed sizes of all rewards; min and max are over single steps",
        ),
    ),
    "compare": Tool(
        "rdx-compare",
        "compare two actions in one state, reward component by reward component",
        lambda: _body("compare"),
        states=True,
        options=(
            Option("--a", "first action (default: the policy's)"),
            Option("--b", "second action (default: the best other one)"),
        ),
        how_to_read=(
            "delta is the first action less the second, ordered so that its total is not negative",
            "MSX+: fewest gains that outweigh d, the sum of losses; v is MSX+ without its smallest",
            "MSX-: fewest losses that outweigh v; tied: no set does, all candidates are listed",
        ),
    ),
    "table": Tool(
        "rdx-table",
        "all actions in one state, reward component by reward component",
        lambda: _body("table"),
        states=True,
        how_to_read=(
            "one row per action: that action now, the policy after; * marks the policy's own",
            "standard errors in brackets; rows share their random numbers",
            "less *: the total less that of the marked row, with the error of the paired difference",
        ),
    ),
    "policy": Tool(
        "rdx-policy",
        "discounted value of each reward component from the start, for the policy and for uniform actions",
        lambda: _body("policy"),
        how_to_read=("one row per reward component; both columns start from the same states",),
    ),
    "when": Tool(
        "rdx-when",
        "when each reward component arrives after an action",
        lambda: _body("when"),
        states=True,
        options=(Option("--a", "first action (default: the policy's)"),),
        how_to_read=("one row per range of steps after the state; cells are undiscounted sums in the range",),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
