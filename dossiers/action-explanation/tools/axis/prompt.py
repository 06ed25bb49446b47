"""The next prompt of the protocol; also begins and ends dialogues."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

from axis import names
from axis.asking import Asking
from axis.context import verbalised
from axis.layout import head
from interrogation import prompts, protocol, record
from interrogation.protocol import Dialogue, Stage
from xrl_common.estimates import EPISODES
from xrl_common.failure import usage
from xrl_common.report import Report, Settings

LONGEST = 2000
"""Characters of a question."""


@dataclass(frozen=True)
class Given:
    """What the arguments ask of the dialogues."""

    question: str | None
    episode: int | None
    new: bool
    done: bool

    @property
    def changes(self) -> bool:
        """Whether anything is to be kept."""
        return self.new or self.done or self.question is not None or self.episode is not None

    def anew(self, dialogue: Dialogue) -> bool:
        """Whether another dialogue begins."""
        return self.new or (self.question is not None and self.question != dialogue.question)

    def applied(self, dialogue: Dialogue) -> tuple[Dialogue, None]:
        """The dialogue after them."""
        if self.episode is not None and self.episode != dialogue.episode and not dialogue.untouched:
            raise usage("--episode: this dialogue is on already; it goes with --new or --question")
        after = replace(
            dialogue,
            question=dialogue.question if self.question is None else self.question,
            episode=dialogue.episode if self.episode is None else self.episode,
        )
        return (protocol.ended(after) if self.done else after), None


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The prompt of the current stage."""
    given = _given(wanted)
    book = record.change(given.applied, given.anew)[0] if given.changes else record.read()
    dialogue = book[-1]
    numbers = {"dialogue": len(book), "stage": dialogue.stage, "round": dialogue.place, "question": dialogue.question}
    if dialogue.stage is Stage.COMPLETE:
        return [Report([*head(settings, book), *prompts.prompt(settings.subject.name, dialogue, [], [])], numbers)]
    asking = Asking(settings, wanted)
    whole = asking.whole
    context = [f"Episode {asking.episode}, {whole.length} steps:", *verbalised(asking, wanted.every)]
    listed = names.lines(settings.subject, whole.state(0), whole.length)
    lines = prompts.prompt(settings.subject.name, dialogue, context, listed)
    return [Report([*head(settings, book), *lines], {**numbers, "episode": asking.episode, "prompt": "\n".join(lines)})]


def _given(wanted: argparse.Namespace) -> Given:
    question = None if wanted.question is None else wanted.question.strip()
    if question is not None and not 0 < len(question) <= LONGEST:
        raise usage(f"--question has {len(question)} characters; 1 to {LONGEST} can be kept")
    if wanted.episode is not None and wanted.episode >= EPISODES:
        raise usage(f"--episode {wanted.episode}: episodes are 0..{EPISODES - 1}")
    if wanted.done and (wanted.new or question is not None):
        raise usage("--done ends the rounds of the dialogue that is on; --new and --question begin another")
    return Given(question, wanted.episode, wanted.new, wanted.done)
