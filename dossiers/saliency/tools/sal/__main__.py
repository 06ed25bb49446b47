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
            "S: half the mean squared change of the outputs when a group takes the values of background states",
            "S actor is on logits (or mean actions), S critic on V; sd is over states",
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
            "phi: what a group adds to v, from the state with all groups unknown to the state as it is",
            "S: half the mean squared change of the outputs when a group takes the values of background states",
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
        how_to_read=("half the mean squared change of the policy's outputs when a group is replaced, largest first",),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
