"""The protocol: at most five queries, an interim explanation after each, then a synthesis."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

ROUNDS = 5
FORMAT = "evalxrl.axis/1"


class RoundsUsed(Exception):
    """A sixth query before the synthesis."""


class Damaged(ValueError):
    """A stored transcript that is none."""


@dataclass(frozen=True)
class Entry:
    """A query with its answer, or an explanation."""

    kind: str
    """`query` or `note`."""
    text: str
    answer: str = ""


@dataclass(frozen=True)
class Transcript:
    """All so far; `done` ends the rounds before the fifth."""

    entries: tuple[Entry, ...] = ()
    done: bool = False

    @property
    def rounds(self) -> int:
        """Queries asked."""
        return sum(entry.kind == "query" for entry in self.entries)

    @property
    def asks(self) -> str:
        """What comes next: `query`, `explanation`, `synthesis` or `nothing`."""
        last = self.entries[-1].kind if self.entries else "note"
        if last == "query":
            return "explanation"
        if not self.done and self.rounds < ROUNDS:
            return "query"
        return "nothing" if self._closed else "synthesis"

    @property
    def _closed(self) -> bool:
        """The last note came after the note of the last round."""
        notes = 0
        for entry in reversed(self.entries):
            if entry.kind == "query":
                break
            notes += 1
        return notes >= (2 if self.rounds else 1)

    def query(self, text: str, answer: str) -> Transcript:
        """One round more."""
        if self.rounds >= ROUNDS:
            raise RoundsUsed("five rounds used; write a synthesis with axis-note, or begin anew with axis-prompt --new")
        return replace(self, entries=(*self.entries, Entry("query", text, answer)))

    def note(self, text: str) -> Transcript:
        """An interim explanation, or the synthesis when the rounds are over."""
        return replace(self, entries=(*self.entries, Entry("note", text)))


def write(transcript: Transcript) -> str:
    """The stored form."""
    return json.dumps({"format": FORMAT, **asdict(transcript)}, indent=1) + "\n"


def read(text: str | None) -> Transcript:
    """What was stored; a new one where nothing was."""
    if text is None:
        return Transcript()
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise Damaged(f"format is not {FORMAT}")
        entries = tuple(Entry(**entry) for entry in document["entries"])
        return Transcript(entries, bool(document["done"]))
    except (ValueError, KeyError, TypeError) as problem:
        raise Damaged(f"no transcript: {problem}") from problem


QUERIES = """\
  axis-whatif --time T --actions A;B;C   what if the agent had done A, B, C from step T on
  axis-what --time T                     what the state and the action were at step T
  axis-remove --thing X                  what if X were 0
  axis-add --thing X=V                   what if X were V
  axis-context lists the names of actions and things"""


def prompt(transcript: Transcript) -> str:
    """The next step of the protocol, filled in."""
    number = transcript.rounds
    if transcript.asks == "query":
        start = "Read the trajectory with axis-context, then pose" if number == 0 else "Pose"
        return (
            f"Round {number + 1} of {ROUNDS}. {start} one query, the one whose answer would tell you most:\n{QUERIES}"
        )
    last = next((entry for entry in reversed(transcript.entries) if entry.kind == "query"), None)
    if transcript.asks == "explanation" and last is not None:
        return (
            f"Round {number} of {ROUNDS}. The query was: {last.text}\n"
            "Explain in a few sentences what its answer says about the agent's actions, and what it leaves open.\n"
            'Store the explanation with axis-note "TEXT"; end the rounds early with axis-prompt --done.'
        )
    if transcript.asks == "synthesis":
        notes = [f"  {i}. {entry.text}" for i, entry in enumerate(transcript.entries, 1) if entry.kind == "note"]
        return "\n".join(
            [
                "Synthesis. Join what the rounds have shown into one explanation of the agent's actions: what it does,",
                "under which conditions, and which of the answers that rests on. The interim explanations were:",
                *(notes or ["  (none)"]),
                'Store it with axis-note "TEXT".',
            ]
        )
    return "The protocol is at its end. axis-transcript prints all of it; axis-prompt --new begins anew."


def told(transcript: Transcript) -> list[str]:
    """The whole transcript, numbered."""
    lines = []
    for number, entry in enumerate(transcript.entries, start=1):
        lines.append(f"{number}. {entry.kind}: {entry.text}")
        lines += [f"   | {line}" for line in entry.answer.splitlines()]
    return lines or ["(nothing yet)"]
