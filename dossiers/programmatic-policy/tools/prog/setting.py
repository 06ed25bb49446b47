"""What the tools share: the words of the environment, histories, playing a program, and the last one fitted."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np

from programs.histories import Histories
from programs.player import Player, arrays
from programs.program import Program, Words
from programs.text import Mistake, parse, write
from xrl_common import store
from xrl_common.actions import Kind, bounds, kind, own_actions
from xrl_common.failure import unreadable, usage
from xrl_common.outcome import facts, names
from xrl_common.report import Settings
from xrl_common.simulation import Simulator, Trace

TEACHING = 16
"""Episodes of the agent behind the first histories."""

FRESH = 20_000
"""Number of the first episode that histories come from; those below are for judging."""

KEPT = "program.txt"
GRAMMAR = (
    "if TEST and TEST: ACTION on a line of its own, any number of them, then else: ACTION",
    "TEST is PREDICATE, not PREDICATE, FEATURE < NUMBER or FEATURE > NUMBER",
)


def words_of(settings: Settings) -> Words:
    """What a program may speak of here."""
    subject = settings.subject
    continuous = kind(subject) is Kind.CONTINUOUS
    low, high = bounds(subject) if continuous else ((), ())
    short = tuple(tuple(name.rpartition("/")[2] for name in head) for head in subject.action_names)
    unique = continuous or all(len(set(head)) == len(head) for head in short)
    spoken = subject.action_names if continuous or not unique else short
    return Words(
        names(settings.simulator),
        tuple(subject.obs_names),
        tuple(tuple(head) for head in spoken),
        continuous,
        tuple(float(x) for x in low),
        tuple(float(x) for x in high),
    )


def player(settings: Settings, program: Program, words: Words) -> Simulator:
    """The environment with the program acting."""
    rule = Player(settings.subject.predicates, words, kind(settings.subject) is Kind.DISCRETE)
    return settings.simulator.acting_by(rule, arrays(program, words))


def histories_of(settings: Settings, trace: Trace) -> Histories:
    """All visited states of a trace, labelled by the agent."""
    rows, steps = np.nonzero(trace.alive)
    states = jax.tree.map(lambda leaf: leaf[rows, steps], trace.states)
    seen = trace.observations.astype(np.float64)
    before = np.concatenate([seen[:, :1], seen[:, :-1]], axis=1)
    true = facts(settings.simulator, states)
    return Histories(
        truths=np.stack([values.astype(np.float64) for values in true.values()], axis=1),
        seen=trace.observations[rows, steps],
        before=before[rows, steps],
        summed=np.cumsum(seen, axis=1)[rows, steps],
        count=(steps + 1).astype(np.float64),
        wanted=own_actions(settings.simulator, states).reshape(len(rows), -1).astype(np.float64),
    )


def keep(text: str) -> None:
    """Stores the last fitted program where there is a place for it."""
    if store.available():
        store.write(KEPT, text)


def given(settings: Settings, file: str | None, words: Words) -> tuple[Program, str] | None:
    """The program of a file, or the last fitted one, with what it is called; none where there is neither."""
    if file is not None:
        try:
            text = Path(file).read_text()
        except (OSError, UnicodeDecodeError) as problem:
            raise usage(f"{file}: {problem}") from problem
        try:
            return parse(text, words), Path(file).name
        except Mistake as mistake:
            raise usage(f"{Path(file).name}: {mistake}") from mistake
    text = store.read(KEPT)
    if text is None:
        return None
    try:
        return parse(text, words), "last fitted"
    except Mistake as mistake:
        raise unreadable(f"{KEPT} in {store.VARIABLE}: {mistake}; fit one with prog-fit") from mistake


def listing(settings: Settings, words: Words) -> list[str]:
    """What could be given where no program is."""
    from xrl_common.tables import WIDTH

    lines = ["no program was fitted or given; prog-fit fits one, or name a file with lines of this form:", *GRAMMAR]
    for title, entries in (
        ("predicates", words.predicates),
        ("features", words.features),
        ("actions", words.actions[0] if len(words.actions) == 1 else tuple(" ".join(head) for head in words.actions)),
    ):
        line = f"{title}:"
        for entry in entries:
            if len(line) + len(entry) + 2 > WIDTH:
                lines.append(line)
                line = "   "
            line += f" {entry}" + ("" if entry is entries[-1] else ",")
        lines.append(line)
    return lines


def shown(program: Program, words: Words) -> list[str]:
    """The text of a program in lines of at most 100 characters, numbers to three decimals."""
    from programs.printing import lines

    return lines(write(program, words))
