"""`whatif(actions, time)`: other actions from a step on, then the policy."""

from __future__ import annotations

import argparse
import re

import numpy as np

from axis import names
from axis.asking import Answer, Asking
from interrogation import macro
from interrogation.course import continued
from xrl_common import actions
from xrl_common.failure import usage
from xrl_common.report import Report, Settings
from xrl_common.subject import Subject


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The answer, or what could be asked."""
    asking = Asking(settings, wanted)
    time = asking.at(wanted.time)
    if wanted.actions is None:
        return [listing(asking, time)]
    forced = parse(settings.subject, wanted.actions)
    most = settings.subject.horizon - time
    if len(forced) > most:
        raise usage(f"--actions: {len(forced)} actions from step {time} on; an episode has {most} steps left there")
    written = ";".join(actions.name_of(settings.subject, action) for action in forced)
    arguments = {"actions": written, "time": str(time)}
    return [asking.query("whatif", arguments, lambda: whatif(asking, time, forced), f"N={asking.noises}", time)]


def whatif(asking: Asking, time: int, forced: np.ndarray) -> Answer:
    """The recorded course beside the one that begins with these actions."""
    other, trace = continued(
        asking.settings.simulator, asking.state(time), forced, asking.episode, time, asking.noises - 1
    )
    above = []
    if other.length < len(forced):
        above = [f"the alternative ended after {other.length} of {len(forced)} actions"]
    return asking.compared(time, other, asking.pairs(time, trace), above)


def parse(subject: Subject, text: str) -> np.ndarray:
    """Actions joined by `;`, (k, ...); empty and nested lists end with code 2."""
    if re.search(r"[\[\](){}]", text):
        raise usage(f"--actions {text!r}: a list of actions holds no list; write A;B;C")
    parts = [part.strip() for part in text.split(";")]
    if not all(parts):
        what = "the list of actions is empty" if not any(parts) else "an action is empty"
        raise usage(f"--actions {text!r}: {what}; write A;B;C; actions are {names.action_text(subject)}")
    return np.stack([actions.parse(subject, part) for part in parts])


def listing(asking: Asking, time: int) -> Report:
    """Steps and actions, with an example that repeats what was done."""
    subject, whole = asking.settings.subject, asking.whole
    done = macro.name(subject, whole.actions[time : time + 1])
    example = f'axis-whatif --time {time} --actions="{done}"'
    return asking.listing(
        [*names.moves(subject, whole.length), f"recorded at step {time}: {done}", f"a query: {example}"],
        {"steps": whole.length, "action_names": subject.action_names, "recorded": done},
    )
