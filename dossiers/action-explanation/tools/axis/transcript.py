"""All dialogues so far."""

from __future__ import annotations

import argparse

from axis.layout import head
from interrogation import prompts, record
from xrl_common.report import Report, Settings


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """Every dialogue under its number."""
    book = record.read()
    lines = head(settings, book)
    for number, dialogue in enumerate(book, 1):
        lines += ["" if number > 1 else None, f"dialogue {number}", *prompts.transcript(dialogue)]
        lines.append(prompts.next_line(dialogue))
    return [Report([line for line in lines if line is not None], {"dialogues": book})]
