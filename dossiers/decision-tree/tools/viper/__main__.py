"""`python -m viper fit | path | sweep | diff`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.arguments import Option, positive
from xrl_common.entry import Body, Tool, main


def _body(module: str) -> Body:
    return importlib.import_module(f"viper.{module}").body


FIT = (
    Option("--depth", "longest way to a leaf, 1..8 (default 4)", "N", positive, default=4),
    Option("--iterations", "rounds of gathering and fitting (default 20)", "N", positive, default=20),
)
FEATURES = Option("--features", "entries of the observation that the tree may ask, joined by commas", "NAMES")

TOOLS = {
    "fit": Tool(
        "viper-fit",
        "a decision tree that imitates the agent: how closely, what it earns, and the tree itself",
        lambda: _body("fit"),
        options=(*FIT, FEATURES),
        how_to_read=(
            "fidelity: share of states, visited by teacher or student, in which both act alike",
            "the tree asks from top to bottom; n counts the states of the fit that reached a leaf",
        ),
    ),
    "path": Tool(
        "viper-path",
        "the conditions that one state meets on its way through the tree",
        lambda: _body("path"),
        states=True,
        options=(*FIT, FEATURES),
        how_to_read=("one row per condition, from the root; value: the state's own entry",),
    ),
    "sweep": Tool(
        "viper-sweep",
        "leaves, fidelity and return of trees of several depths",
        lambda: _body("sweep"),
        options=(Option("--depths", "depths to try (default 1..6)", "A..B", default="1..6"), FEATURES),
        how_to_read=("one row per depth; standard errors in brackets",),
    ),
    "diff": Tool(
        "viper-diff",
        "states in which the tree and the agent act differently, by weight",
        lambda: _body("diff"),
        options=(*FIT, FEATURES),
        how_to_read=("weight: distance between the best and the least value of the actions tried there",),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
