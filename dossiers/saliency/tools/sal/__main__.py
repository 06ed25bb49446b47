"""`python -m sal policy | state | timeline`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.arguments import Option, natural, positive
from xrl_common.entry import Body, Tool, main


def _body(module: str) -> Body:
    return importlib.import_module(f"sal.{module}").body


TOOLS = {
    "policy": Tool(
        "sal-policy",
        "which groups of observation entries the policy and the critic depend on",
        lambda: _body("policy"),
        options=(Option("--by-action", "one column for each action, head or axis", metavar=""),),
        how_to_read=(
            "S: half the mean squared change of the outputs, the group taken from background states",
            "S actor is on logits (or mean actions), S critic on V; sd is over states",
            "share: of the summed S actor",
        ),
    ),
    "state": Tool(
        "sal-state",
        "how much each group of observation entries matters in one state",
        lambda: _body("state"),
        states=True,
        options=(
            Option(
                "--method",
                "replace a group (perturb); Shapley values of an output (shap, default) or of the return (sverl); "
                "integrated gradients (ig)",
                choices=("perturb", "shap", "sverl", "ig"),
                default="shap",
            ),
            Option(
                "--scope",
                "sverl: groups are unknown in this state alone (local, default) or in every state (global)",
                choices=("local", "global"),
                default="local",
            ),
            Option(
                "--output",
                "shap, ig: the chosen logit or mean action (action, default), or V (value)",
                choices=("action", "value"),
                default="action",
            ),
            Option("--head", "shap, ig: one head or axis of an action that has several", "H"),
        ),
        how_to_read=(
            "phi: a group's share of v(all) - v(none); v is F, or the expected return (sverl)",
            "S: half the mean squared change of the outputs, the group taken from background states",
        ),
    ),
    "timeline": Tool(
        "sal-timeline",
        "the groups of observation entries that the policy depends on most, step by step",
        lambda: _body("timeline"),
        options=(
            Option("--episode", "the episode (default: the one of lowest return)", "N", natural),
            Option("--every", "show one step in N (default: so that at most 40 are shown)", "N", positive),
        ),
        how_to_read=(
            "S actor: half the mean squared change of the policy's outputs, summed over the groups",
            "the three groups with the largest shares of that sum follow",
        ),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
