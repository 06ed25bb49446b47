"""`python -m rdx_more residual`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.entry import Tool, main

TOOLS = {
    "residual": Tool(
        "rdx-residual",
        "the reward that the trainer learns from, less the sum of the documented components",
        lambda: importlib.import_module("rdx_more.residual").body,
        how_to_read=(
            "residual: training reward less the sum of the components of the same step",
            "differs: share of steps on which the size of the residual exceeds 1e-5",
        ),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
