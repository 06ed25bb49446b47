"""`python -m axis context | whatif | what | remove | add | note | prompt | transcript`."""

from __future__ import annotations

import importlib
import sys

from xrl_common.arguments import Option, natural
from xrl_common.entry import Body, Tool, main


def _body(module: str, name: str) -> Body:
    return getattr(importlib.import_module(f"axis.{module}"), name)


def _complexity(text: str) -> int:
    if text not in ("1", "2", "3"):
        raise ValueError(text)
    return int(text)


EPISODE = Option("--episode", "number of the episode, 0..63 (default: the one of lowest return)", "N", natural)
TIME = Option("--time", "step of the episode (default 0)", "T", natural)
COMPLEXITY = Option("--complexity", "1 (terse) to 3 (detailed), default 1", "N", _complexity, default=1)
RECORDED = "recorded: the episode as it was; alternative: the same noise, what was asked changed"

TOOLS = {
    "context": Tool(
        "axis-context",
        "an episode as numbered text, and the names of actions and things",
        lambda: _body("context", "body"),
        options=(EPISODE, TIME, COMPLEXITY),
        how_to_read=("one entry per run of one action: steps, the state it began in, the reward it was paid",),
    ),
    "whatif": Tool(
        "axis-whatif",
        "query: what if other actions had been taken from a step on",
        lambda: _body("queries", "whatif"),
        options=(EPISODE, TIME, Option("--actions", "actions joined by ;", "A;B;C"), COMPLEXITY),
        how_to_read=(RECORDED, "difference: alternative less recorded, undiscounted"),
    ),
    "what": Tool(
        "axis-what",
        "query: the state, the action and the reward at a step",
        lambda: _body("queries", "what"),
        options=(EPISODE, TIME),
        how_to_read=("one row per step around the one asked for; holds: what is true in the state asked for",),
    ),
    "remove": Tool(
        "axis-remove",
        "query: what if a thing were 0 from a step on",
        lambda: _body("queries", "remove"),
        options=(EPISODE, TIME, Option("--thing", "a parameter or an entry of the state", "X"), COMPLEXITY),
        how_to_read=(RECORDED, "difference: alternative less recorded, undiscounted"),
    ),
    "add": Tool(
        "axis-add",
        "query: what if a thing had another value from a step on",
        lambda: _body("queries", "add"),
        options=(
            EPISODE,
            TIME,
            Option("--thing", "a parameter or an entry of the state, and its value", "X=V"),
            COMPLEXITY,
        ),
        how_to_read=(RECORDED, "difference: alternative less recorded, undiscounted"),
    ),
    "note": Tool(
        "axis-note",
        "stores an interim explanation or the synthesis",
        lambda: _body("rounds", "note"),
        options=(Option("text", "the explanation", "TEXT"),),
    ),
    "prompt": Tool(
        "axis-prompt",
        "the next step of the protocol",
        lambda: _body("rounds", "prompt"),
        options=(
            Option("--new", "forget the rounds so far and begin anew", metavar=""),
            Option("--done", "end the rounds before the fifth", metavar=""),
        ),
    ),
    "transcript": Tool(
        "axis-transcript", "all queries, answers and notes so far", lambda: _body("rounds", "transcript")
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
