"""What the query tools share: the episode they are about, its round, and the form of an answer."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from interrogation import course, protocol, record, verbalise
from interrogation.course import Course
from interrogation.protocol import ROUNDS, Dialogue, Round, Stage
from xrl_common import tables
from xrl_common.estimates import EPISODES, Estimate, estimate, nonfinite
from xrl_common.failure import usage
from xrl_common.report import Report, Settings
from xrl_common.simulation import Trace
from xrl_common.states import by_return
from xrl_common.subject import Tree
from xrl_common.tables import number

NOISES = 32
"""Noises under which a change is simulated, that of the episode among them."""


@dataclass(frozen=True)
class Answer:
    """The lines of an answer and the numbers behind them."""

    lines: list[str]
    numbers: dict[str, Any] = field(default_factory=dict)
    odd: int = 0
    """Numbers that are not finite."""


@dataclass(frozen=True)
class Asking:
    """One call of a tool that looks at an episode."""

    settings: Settings
    wanted: argparse.Namespace

    @functools.cached_property
    def book(self) -> record.Book:
        """All dialogues before this call."""
        return record.read()

    @property
    def dialogue(self) -> Dialogue:
        """The dialogue that a query belongs to: the current one, or a new one where that is complete."""
        current = self.book[-1]
        return Dialogue() if current.stage is Stage.COMPLETE else current

    @property
    def complexity(self) -> int:
        """1, 2 or 3."""
        return int(self.wanted.complexity)

    @functools.cached_property
    def trace(self) -> Trace:
        """The 64 recorded episodes."""
        return self.settings.simulator.episodes(EPISODES)

    @functools.cached_property
    def episode(self) -> int:
        """That of the arguments, of the dialogue, or the one of lowest return."""
        episode = self.dialogue.episode if self.wanted.episode is None else self.wanted.episode
        if episode is None:
            return int(by_return(self.trace)[0])
        if episode >= EPISODES:
            raise usage(f"--episode {episode}: episodes are 0..{EPISODES - 1}")
        return episode

    @functools.cached_property
    def whole(self) -> Course:
        """The whole episode."""
        return course.recorded(self.settings.simulator, self.trace, self.episode)

    def at(self, time: int) -> int:
        """A step of the episode; one that it has not ends with code 2."""
        if time >= self.whole.length:
            raise usage(f"--time {time}: episode {self.episode} has steps 0..{self.whole.length - 1}")
        return time

    def state(self, time: int) -> Tree:
        """The recorded state before a step."""
        return self.whole.state(self.at(time))

    @property
    def noises(self) -> int:
        """N."""
        return self.settings.count(NOISES, least=2)

    def fields(self, estimator: str) -> list[str]:
        """Discount, policy, estimator and seed."""
        return [
            f"gamma {number(self.settings.gamma)} ({self.settings.gamma_source})",
            f"policy {self.settings.simulator.acting.word}",
            f"{estimator} seed {self.settings.seed}".strip(),
        ]

    def head(self, about: Sequence[str], estimator: str = "", odd: int = 0) -> list[str]:
        """The `# ` lines."""
        fields = [
            self.settings.tool,
            self.settings.subject.name,
            f"episode {self.episode}",
            *about,
            *([f"complexity {self.complexity}"] if self.complexity > 1 else []),
            *self.fields(estimator),
            *([f"non-finite {odd}"] if odd else []),
        ]
        return tables.header(fields, self.settings.subject.remarks)

    def listing(self, lines: list[str], numbers: dict[str, Any]) -> Report:
        """What could be asked; no round is used."""
        used = f"rounds used {len(self.dialogue.rounds)} of {ROUNDS}"
        return Report([*self.head([used]), *lines], {"episode": self.episode, **numbers})

    def query(
        self, name: str, arguments: dict[str, str], make: Callable[[], Answer], estimator: str = "", time: int = 0
    ) -> Report:
        """Answers a query in a round of its own, or in that of the same query with the same answer.

        Whether a round is left is looked at before the simulation, and again when the answer is kept.
        """
        query = f"{name}({', '.join(f'{key}={value}' for key, value in arguments.items())})"
        level = f"complexity {self.complexity}"
        about = ", ".join([f"episode {self.episode}", *self.fields(estimator), level])
        refusal = self.dialogue.refusal(query, about)
        if refusal is not None:
            raise refusal
        record.ready()
        answer = make()
        new = Round(query, about, tuple(answer.lines))
        book, kept = record.change(
            lambda dialogue: protocol.asked(dialogue, new, self.wanted.episode),
            anew=lambda dialogue: dialogue.stage is Stage.COMPLETE,
        )
        shown = [f"{key} {value}" for key, value in arguments.items() if key != "time"]
        lines = self.head([f"time {time}", *_fitting(shown), f"round {kept} of {ROUNDS}"], estimator, answer.odd)
        numbers = {"episode": self.episode, "time": time, "query": query, "round": kept, "dialogue": len(book)}
        return Report([*lines, *answer.lines], {**numbers, "nonfinite": answer.odd, **answer.numbers})

    def compared(self, time: int, alternative: Course, pairs: tuple[Trace, Trace], above: Sequence[str] = ()) -> Answer:
        """The recorded course from a step on beside another, and the mean difference over N pairs of noises."""
        settings = self.settings
        components = settings.simulator.components
        recorded = course.recorded(settings.simulator, self.trace, self.episode, time)
        lines = [
            *above,
            *verbalise.beside(settings.subject, components, recorded, alternative, self.complexity),
        ]
        plain, discounted = (_difference(pairs, gamma) for gamma in (1.0, settings.gamma))
        parts = [f"total {signed(plain)}", f"discounted {signed(discounted)}"]
        lines += verbalise.folded(f"over N={self.noises}", parts)
        parted = course.first_difference(recorded, alternative)
        numbers = {
            "first_difference": None if parted is None else {"step": parted.step, "what": parted.what},
            "recorded": self.numbers(recorded),
            "alternative": self.numbers(alternative),
            "difference": dict(zip(components, alternative.sums - recorded.sums, strict=True)),
            "total": alternative.total - recorded.total,
            "noises": self.noises,
            "over_noises": plain,
            "over_noises_discounted": discounted,
        }
        return Answer(lines, numbers, nonfinite(recorded.rewards, alternative.rewards))

    def pairs(self, time: int, changed: Trace) -> tuple[Trace, Trace]:
        """The policy's own courses from a recorded state on, under the noises of another course's lanes."""
        count = len(changed.reward)
        _, own = course.continued(self.settings.simulator, self.state(time), None, self.episode, time, count - 1)
        return own, changed

    def numbers(self, shown: Course) -> dict[str, Any]:
        """A course for the document."""
        subject = self.settings.subject
        found = verbalise.macro_actions(subject, shown, False)
        return {
            "macro_actions": [
                {"first": run.first + shown.start, "last": run.last + shown.start, "action": name}
                for run, name in found
            ],
            "outcome": shown.outcome,
            "return": shown.total,
            "discounted_return": shown.discounted(self.settings.gamma),
            "components": dict(zip(self.settings.simulator.components, shown.sums, strict=True)),
        }


def signed(value: Estimate) -> str:
    """A mean with its sign and its standard error."""
    return f"{verbalise.signed(value.mean)} ({number(value.se)})"


def _difference(pairs: tuple[Trace, Trace], gamma: float) -> Estimate:
    own, changed = (trace.discounted(gamma).sum(axis=1) for trace in pairs)
    return estimate(np.asarray(changed) - np.asarray(own))


def _fitting(fields: Sequence[str], width: int = 60) -> list[str]:
    return [text if len(text) <= width else text[: width - 3] + "..." for text in fields]
