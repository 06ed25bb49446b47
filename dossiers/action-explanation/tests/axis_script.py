"""A scripted interrogator on F6: a dialogue that starts in (1,1) and asks why the small treasure is passed."""

from __future__ import annotations

import dataclasses

import exact
from fixtures import F6
from laws import Ask

GREEDY = exact.greedy(exact.optimal_q(F6))
ONE_START = dataclasses.replace(F6, starts=(F6.cells.index((1, 1)),))
SUBJECT = ONE_START.subject(GREEDY)

SCRIPT = (
    ("prompt", "--question", "Why does it pass the small treasure?", "--episode", "0"),
    ("what", "--time", "0"),
    ("note", "In (1,1) the small treasure is one step to the right. It goes down, as its policy does with certainty."),
    ("whatif", "--time", "0", "--actions", "right"),
    ("note", "Going right ends the episode with the small treasure: 1 where 10 were earned. Can it turn right later?"),
    ("whatif", "--time", "1", "--actions", "right"),
    ("note", "One step later, right leads into a pit. The way down to (3,1) goes round it."),
    ("prompt", "--done"),
    (
        "note",
        "It passes the small treasure at step 0 since taking it would end the episode with 1 (discounted 5.983 less), "
        "while eight steps lead to the large one with 10. It turns right only at step 2, below the pit at (2,2).",
    ),
)


def play(ask: Ask) -> list[str]:
    """All outputs of the script, one after another."""
    return [ask(*argv, "--policy", "greedy") for argv in SCRIPT]


def show(ask: Ask, *argv: str) -> str:
    """One more output with the script's way of acting."""
    return ask(*argv, "--policy", "greedy")
