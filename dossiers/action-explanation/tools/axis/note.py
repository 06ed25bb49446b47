"""Keeps an interim explanation or the synthesis."""

from __future__ import annotations

import argparse

from axis.layout import head
from interrogation import prompts, protocol, record
from xrl_common.failure import usage
from xrl_common.report import Report, Settings

LONGEST = 8000
"""Characters of one text."""


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """Where the text was kept and what comes next, or what could be given."""
    if wanted.TEXT is None:
        if wanted.done:
            raise usage("--done: give the synthesis as TEXT, or end the rounds with axis-prompt --done")
        return [listing(settings)]
    text = wanted.TEXT.strip()
    if not text or len(text) > LONGEST:
        raise usage(f"TEXT has {len(text)} characters; 1 to {LONGEST} can be kept")
    book, kept = record.change(lambda dialogue: protocol.noted(dialogue, text, wanted.done))
    lines = [f"kept as {kept}", *prompts.paragraph("text", text), prompts.next_line(book[-1])]
    numbers = {"dialogue": len(book), "kept_as": kept, "text": text, "stage": book[-1].stage}
    return [Report([*head(settings, book), *lines], numbers)]


def listing(settings: Settings) -> Report:
    """What would be kept, and what is."""
    book = record.read()
    kept = sum(len(entry.notes) for entry in book[-1].rounds) + len(book[-1].opening)
    lines = [
        f"texts kept in this dialogue: {kept}",
        prompts.next_line(book[-1]),
        'give a TEXT in quotes: axis-note "..."; with --done it is the synthesis and ends the rounds',
    ]
    return Report([*head(settings, book), *lines], {"dialogue": len(book), "texts": kept, "stage": book[-1].stage})
