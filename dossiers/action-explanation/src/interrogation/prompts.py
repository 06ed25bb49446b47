"""The prompts of the protocol, filled in: what is asked of whoever interrogates. At most 2 n_max + 1 per dialogue."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from interrogation.protocol import ROUNDS, Dialogue, Stage

WIDTH = 100

QUERIES = (
    ('axis-whatif --time T --actions "A;B;C"', "what if these actions were taken from step T on"),
    ("axis-what --time T", "what the agent does at step T, and what follows"),
    ("axis-remove --thing X [--time T]", "what if X were 0 from step T on"),
    ("axis-add --thing X=V [--time T]", "what if X were V from step T on"),
)


def plain(text: str) -> str:
    """A text as terminals of any kind print it: other characters than ASCII are escaped, white space is one blank."""
    words = " ".join(text.split())
    return "".join(c if c.isprintable() else " " for c in words.encode("ascii", "backslashreplace").decode())


def paragraph(title: str, text: str, indent: str = "  ") -> list[str]:
    """A title and a text, folded."""
    return textwrap.wrap(
        f"{title}: {plain(text)}", WIDTH, initial_indent=indent[2:], subsequent_indent=indent, break_on_hyphens=False
    )


def prompt(environment: str, dialogue: Dialogue, context: Sequence[str], names: Sequence[str]) -> list[str]:
    """The prompt for the stage of a dialogue; `context` verbalises the episode, `names` are what queries may use."""
    if dialogue.stage is Stage.COMPLETE:
        return [*transcript(dialogue), "", "This dialogue is complete. axis-prompt --new starts another."]
    aim = (
        f"An RL agent acts in {environment}. Explain its actions to the person who asks. A simulator answers up to "
        f"{ROUNDS} queries about the recorded episode, one per round. After each answer comes an interim explanation, "
        "after the last one a synthesis."
    )
    return [
        *textwrap.wrap(aim, WIDTH),
        "",
        *paragraph("Question", dialogue.question),
        "",
        *context,
        "",
        *names,
        "",
        *_history(dialogue),
        *_request(dialogue),
    ]


def next_line(dialogue: Dialogue) -> str:
    """What a dialogue waits for, in one line."""
    return {
        Stage.QUERY: f"next: the query of {dialogue.place}",
        Stage.EXPLANATION: f"next: the interim explanation of {dialogue.place}",
        Stage.SYNTHESIS: "next: the synthesis",
        Stage.COMPLETE: "complete; axis-prompt --new starts another dialogue",
    }[dialogue.stage]


def transcript(dialogue: Dialogue) -> list[str]:
    """Question, rounds, notes and synthesis of a dialogue."""
    lines = paragraph("question", dialogue.question)
    for note in dialogue.opening:
        lines += paragraph("note before round 1", note)
    for number, kept in enumerate(dialogue.rounds, 1):
        lines += ["", *paragraph(f"round {number}", kept.query, "    "), *paragraph("about", kept.about, "    ")]
        lines += [f"  {plain_line(line)}" for line in kept.answer]
        for note in kept.notes:
            lines += paragraph("interim explanation", note, "    ")
    if dialogue.done and len(dialogue.rounds) < ROUNDS:
        lines += ["", f"ended after {len(dialogue.rounds)} of {ROUNDS} rounds"]
    if dialogue.synthesis is not None:
        lines += ["", *paragraph("synthesis", dialogue.synthesis)]
    return lines


def plain_line(line: str) -> str:
    """A line of an answer as it was printed."""
    return "".join(c if c.isprintable() else " " for c in line.encode("ascii", "backslashreplace").decode())


def _history(dialogue: Dialogue) -> list[str]:
    if not dialogue.rounds and not dialogue.opening:
        return []
    return ["So far:", *transcript(dialogue)[len(paragraph("question", dialogue.question)) :], ""]


def _request(dialogue: Dialogue) -> list[str]:
    number = len(dialogue.rounds)
    if dialogue.stage is Stage.QUERY:
        text = (
            f"Round {number + 1} of {ROUNDS}. Choose the query whose answer tells most about the question, and run it. "
            "Where no further answer is wanted: axis-prompt --done."
        )
        width = max(len(command) for command, _ in QUERIES)
        return [*textwrap.wrap(text, WIDTH), *(f"  {command:{width}}  {meaning}" for command, meaning in QUERIES)]
    if dialogue.stage is Stage.EXPLANATION:
        text = (
            f"Round {number} of {ROUNDS}. Write an interim explanation of a few sentences: what the last answer adds, "
            "which earlier guess it supports or contradicts, what it leaves open. Keep it with: axis-note TEXT"
        )
        return textwrap.wrap(text, WIDTH)
    text = (
        "The rounds are over. Join the answers and the interim explanations into one explanation that answers the "
        "question in a few sentences. Name the steps, actions and figures it rests on, and what stays open. Keep it "
        "with: axis-note TEXT"
    )
    return textwrap.wrap(text, WIDTH)
