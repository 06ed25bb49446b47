"""The protocol's own tools: notes, the next prompt, all so far."""

from __future__ import annotations

import argparse
from dataclasses import replace

from axis import asking
from interrogation import protocol
from interrogation.protocol import ROUNDS, Transcript
from interrogation.verbal import wrapped
from xrl_common.failure import usage
from xrl_common.report import Report, Settings

LONGEST = 4000


def note(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """Stores an explanation; without a text it tells what is stored."""
    if wanted.text is None:
        transcript = asking.stored()
        return [_report(settings, transcript, ['nothing stored now; give the text as axis-note "TEXT"'])]
    text = " ".join(wanted.text.split())
    if not text or len(text) > LONGEST:
        raise usage(f"a note has 1..{LONGEST} characters; this one has {len(text)}")
    transcript = asking.changed(lambda before: before.note(text))
    return [_report(settings, transcript, [f"stored as entry {len(transcript.entries)}"])]


def prompt(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The next step of the protocol."""
    if wanted.new:
        transcript = asking.changed(lambda before: before, afresh=True)
    elif wanted.done:
        transcript = asking.changed(lambda before: replace(before, done=True))
    else:
        transcript = asking.stored()
    lines = [line for part in protocol.prompt(transcript).splitlines() for line in _fitted(part)]
    return [_report(settings, transcript, lines)]


def transcript(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """All queries, answers and notes."""
    stored = asking.stored()
    return [_report(settings, stored, [line for part in protocol.told(stored) for line in _fitted(part)])]


def _fitted(line: str) -> list[str]:
    return [line] if len(line) <= 100 else wrapped("", line.strip(), indent=3)


def _report(settings: Settings, stored: Transcript, lines: list[str]) -> Report:
    head = settings.header(f"rounds {stored.rounds} of {ROUNDS}  next {stored.asks} ")
    return Report([*head, *lines], {"rounds": stored.rounds, "next": stored.asks, "entries": list(stored.entries)})
