"""`python -m cf actions | regret | whynot | flip | policy`."""

from __future__ import annotations

import argparse
import importlib
import sys

from xrl_common.arguments import Option, natural, positive, unit
from xrl_common.entry import Body, Tool, main


def _body(module: str) -> Body:
    return importlib.import_module(f"cf.{module}").body


def steps(text: str) -> tuple[int, ...]:
    """Whole numbers joined by commas, each once, in order."""
    found = sorted({natural(part.strip()) for part in text.split(",")})
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of steps such as 0,3,7")
    return tuple(found)


_H = Option("--h", "steps followed after a deviation (default 20)", "N", type=positive, default=20)

TOOLS = {
    "actions": Tool(
        "cf-actions",
        "other actions at the important steps of chosen episodes, and what follows from each",
        lambda: _body("actions"),
        states=True,
        options=(
            Option("--m", "most important steps looked at per episode (default 10)", "N", type=positive, default=10),
            Option("--times", "steps looked at, in place of the most important ones: 0,3,7", "LIST", type=steps),
            _H,
            Option("--rows", "rows listed (default 12)", "N", type=positive, default=12),
        ),
        q_source=True,
        how_to_read=(
            "dR: reward over h steps after the other action less that after the recorded one",
            "standard errors in brackets; ends, difference, rejoining: under the recorded noise",
            "first difference: step, predicate; rejoined: step at which both are in one state",
        ),
    ),
    "regret": Tool(
        "cf-regret",
        "how often, and where, some other action would have earned more",
        lambda: _body("regret"),
        options=(
            _H,
            Option("--x", "least gain, as a share of the returns seen (default 0.05)", "X", unit, default=0.05),
        ),
        how_to_read=(
            "one row per predicate, over the steps in which it holds; examined: a sample of them",
            "share: examined steps where some action gains over x and over two standard errors",
            "mean gain: the largest such gain, over those steps; best dR: the largest dR, over all",
        ),
    ),
    "whynot": Tool(
        "cf-whynot",
        "one other action in one state, followed step by step beside the policy",
        lambda: _body("whynot"),
        states=True,
        options=(Option("--a", "the other action (default: the best of the others)"), _H),
        how_to_read=(
            "both runs share their noise; dR: reward of the other run less that of the policy's",
            "+p: predicate p holds after the step in the other run alone; -p: in the policy's alone",
        ),
    ),
    "flip": Tool(
        "cf-flip",
        "the nearest value of each observed feature at which the policy acts differently",
        lambda: _body("flip"),
        states=True,
        how_to_read=(
            "one feature is moved at a time over the range seen, the others stay as they are",
            "away is the way to the flipping value as a share of that range",
            "way: how far a continuous action follows at most, as a share of the range of the axis",
        ),
    ),
    "policy": Tool(
        "cf-policy",
        "the policy beside the same policy with one rule put on top of it",
        lambda: _body("policy"),
        options=(Option("--rule", "'if P [and P ...]: A'; without it the predicates and actions are listed", "R"),),
        how_to_read=(
            "fact is the policy, foil the policy with the rule; pairs of runs share resets and noise",
            "counts are runs that meet a predicate at any step, or that end so",
        ),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
