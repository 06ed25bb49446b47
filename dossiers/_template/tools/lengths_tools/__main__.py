"""`python -m lengths_tools lengths`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.entry import Tool, main

TOOLS = {
    "lengths": Tool(
        "template-lengths",
        "how long episodes are, and how they end",
        lambda: importlib.import_module("lengths_tools.lengths").body,
        how_to_read=("one row per way of ending; lengths are in steps",),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
