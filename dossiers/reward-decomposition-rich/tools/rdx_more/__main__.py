"""`python -m rdx_more residual`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.entry import Body, Tool, main


def _body(module: str) -> Body:
    return importlib.import_module(f"rdx_more.{module}").body


TOOLS = {
    "residual": Tool(
        "rdx-residual",
        "the reward that the trainer learns from, less the sum of the documented components",
        lambda: _body("residual"),
        how_to_read=(
            "residual: training reward less the sum of the components of the same step",
            "steps are those of the trainer's own batches, so that actions are drawn (sampled)",
            "differs: share of steps on which the size of the residual exceeds 1e-5",
        ),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
