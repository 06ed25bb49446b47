"""The protocol: rounds of one query, its answer and an interim explanation; then one synthesis. No IO.

A dialogue is a value; each act returns the next one. Acts that say again what was said last change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from xrl_common.failure import ToolFailure, spent, usage

ROUNDS = 5
"""n_max."""

QUESTION = "Why does the agent act as it does in this episode?"


class Stage(StrEnum):
    """What a dialogue waits for."""

    QUERY = "query"
    EXPLANATION = "interim explanation"
    SYNTHESIS = "synthesis"
    COMPLETE = "complete"


@dataclass(frozen=True)
class Round:
    """One query with its answer, and what was made of it."""

    query: str
    about: str
    """Episode and settings under which it was asked."""
    answer: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dialogue:
    """One question about one episode, and the rounds spent on it."""

    question: str = QUESTION
    episode: int | None = None
    """None: whichever has the lowest return."""
    opening: tuple[str, ...] = ()
    """Notes made before any query."""
    rounds: tuple[Round, ...] = ()
    done: bool = False
    """Ended before all rounds were used."""
    synthesis: str | None = None

    @property
    def stage(self) -> Stage:
        """What comes next."""
        if self.synthesis is not None:
            return Stage.COMPLETE
        if self.done:
            return Stage.SYNTHESIS
        if self.rounds and not self.rounds[-1].notes:
            return Stage.EXPLANATION
        return Stage.SYNTHESIS if len(self.rounds) >= ROUNDS else Stage.QUERY

    @property
    def untouched(self) -> bool:
        """Whether nothing was said in it."""
        return not (self.opening or self.rounds or self.done or self.synthesis is not None)

    @property
    def place(self) -> str:
        """The round that is on: the last one until it is explained, otherwise the next."""
        at = len(self.rounds) + (self.stage is Stage.QUERY)
        return f"round {at} of {ROUNDS}"

    def number_of(self, asked: Round) -> int | None:
        """The number of a round with the same query, settings and answer."""
        for number, known in enumerate(self.rounds, 1):
            if (known.query, known.about, known.answer) == (asked.query, asked.about, asked.answer):
                return number
        return None

    def refusal(self, query: str | None = None, about: str | None = None) -> ToolFailure | None:
        """Why no further round can be had, none where one can; a query asked before may be asked again."""
        if any((known.query, known.about) == (query, about) for known in self.rounds):
            return None
        if self.synthesis is not None:
            return spent("this dialogue has its synthesis; axis-prompt --new starts anew")
        if self.done:
            return spent(
                f"the rounds were ended after {len(self.rounds)} of {ROUNDS}; "
                "axis-note keeps the synthesis, axis-prompt --new starts anew"
            )
        if len(self.rounds) >= ROUNDS:
            return spent("five rounds used; axis-note keeps the synthesis, axis-prompt --new starts anew")
        return None


def asked(dialogue: Dialogue, new: Round, episode: int | None = None) -> tuple[Dialogue, int]:
    """Adds a round, and tells its number; the same query with the same answer keeps its round.

    `episode` becomes that of the dialogue where it had none. Ends with code 4 where no round is left.
    """
    number = dialogue.number_of(new)
    if number is not None:
        return dialogue, number
    refusal = dialogue.refusal()
    if refusal is not None:
        raise refusal
    about = episode if dialogue.episode is None else dialogue.episode
    return replace(dialogue, rounds=(*dialogue.rounds, new), episode=about), len(dialogue.rounds) + 1


def noted(dialogue: Dialogue, text: str, done: bool = False) -> tuple[Dialogue, str]:
    """Keeps a text, and tells as what; `done` makes it the synthesis, whatever rounds are left."""
    if dialogue.synthesis is not None:
        if text == dialogue.synthesis:
            return dialogue, "synthesis"
        raise usage("this dialogue has its synthesis; axis-prompt --new starts anew")
    notes = dialogue.rounds[-1].notes if dialogue.rounds else dialogue.opening
    again = notes[-1:] == (text,) and not dialogue.done
    if done or (dialogue.stage is Stage.SYNTHESIS and not again):
        early = len(dialogue.rounds) < ROUNDS
        return replace(dialogue, done=dialogue.done or early, synthesis=text), "synthesis"
    notes = notes if again else (*notes, text)
    if not dialogue.rounds:
        return replace(dialogue, opening=notes), "note before round 1"
    rounds = (*dialogue.rounds[:-1], replace(dialogue.rounds[-1], notes=notes))
    return replace(dialogue, rounds=rounds), f"interim explanation of round {len(rounds)}"


def ended(dialogue: Dialogue) -> Dialogue:
    """Ends the rounds before all are used."""
    return dialogue if dialogue.synthesis is not None else replace(dialogue, done=True)
