"""`python -m axis context | whatif | what | remove | add | note | prompt | transcript`."""

from __future__ import annotations

import importlib
import sys
from functools import partial

from xrl_common.arguments import Option, natural, positive
from xrl_common.entry import Body, Tool, main


def _body(module: str, name: str = "body") -> Body:
    return getattr(importlib.import_module(f"axis.{module}"), name)


_EPISODE = Option(
    "--episode", "an episode out of 64 (default: that of the dialogue, or else the one of lowest return)", "N", natural
)
_COMPLEXITY = Option("--complexity", "1 terse, 3 detailed (default 1)", choices=("1", "2", "3"), default="1")
_EVERY = Option(
    "--every", "tell the observation of every N-th step (default 3; complexity 2, 3)", "N", positive, default=3
)
_ABOUT = (_EPISODE, _COMPLEXITY)


def _time(help_line: str, default: int | None = None) -> Option:
    return Option("--time", help_line, "T", natural, default=default)


_BESIDE = (
    "both share their noise, step by step; difference: alternative less recorded",
    "outcome: facts true at the end, truncated at the step limit; return: from the step on",
    "over N: mean and standard error of N such pairs, the first one under the recorded noise",
)

TOOLS = {
    "context": Tool(
        "axis-context",
        "one recorded episode as numbered text, and the names that queries may use",
        partial(_body, "context"),
        options=(*_ABOUT, _time("show the lines around step T alone"), _EVERY),
        how_to_read=(
            "one line per run of steps with one action and the same facts: steps, action, reward",
            "+fact, -fact: begins, ceases to hold with the first of these steps",
        ),
    ),
    "whatif": Tool(
        "axis-whatif",
        "query: what if these actions had been taken from a step on",
        partial(_body, "whatif"),
        options=(
            *_ABOUT,
            _time("step of the first of these actions (default 0)", 0),
            Option("--actions", "actions joined by ';', then the policy; without it valid ones are listed", "A;B;C"),
        ),
        how_to_read=_BESIDE,
    ),
    "what": Tool(
        "axis-what",
        "query: what the agent does at a step, and what follows",
        partial(_body, "what"),
        options=(*_ABOUT, _time("the step; without it valid ones are listed")),
        how_to_read=("policy: probabilities of its actions there, or the means of continuous ones",),
    ),
    "remove": Tool(
        "axis-remove",
        "query: what if a parameter or an entry of the state were 0",
        partial(_body, "changed", "removing"),
        options=(
            *_ABOUT,
            _time("step from which on it is 0 (default 0)", 0),
            Option("--thing", "what becomes 0: pit, fan[2]; without it things are listed", "X"),
        ),
        how_to_read=_BESIDE,
    ),
    "add": Tool(
        "axis-add",
        "query: what if a parameter or an entry of the state had another value",
        partial(_body, "changed", "adding"),
        options=(
            *_ABOUT,
            _time("step at which the value is set (default 0)", 0),
            Option("--thing", "what becomes V: pit=-1, fan[2]=0.5; without it things are listed", "X=V"),
        ),
        how_to_read=_BESIDE,
    ),
    "note": Tool(
        "axis-note",
        "keep an interim explanation, or the synthesis at the end",
        partial(_body, "note"),
        options=(
            Option("TEXT", "the text, in quotes; without it nothing is kept", "TEXT"),
            Option("--done", "end the rounds: the text is the synthesis", ""),
        ),
    ),
    "prompt": Tool(
        "axis-prompt",
        "the next prompt of the protocol, filled in; also begins and ends dialogues",
        partial(_body, "prompt"),
        options=(
            *_ABOUT,
            _EVERY,
            Option("--question", "begin a dialogue about this question, unless it is on already", "TEXT"),
            Option("--new", "begin a dialogue, unless the one that is on is untouched", ""),
            Option("--done", "end the rounds before all are used", ""),
        ),
    ),
    "transcript": Tool(
        "axis-transcript",
        "all questions, queries, answers and explanations so far",
        partial(_body, "transcript"),
    ),
}

if __name__ == "__main__":
    sys.exit(main(TOOLS, sys.argv[1:]))
