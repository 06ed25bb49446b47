"""The probe set of a state, and the names of actions."""

from __future__ import annotations

import numpy as np

from xrl_common.failure import usage
from xrl_common.subject import Subject


def probe_set(subject: Subject) -> np.ndarray:
    """The actions that a tool tries: all of a discrete space, in order."""
    return np.arange(len(subject.action_names), dtype=np.int32)


def name_of(subject: Subject, action: int) -> str:
    """The action as tables write it: without its group."""
    return short(subject.action_names[action])


def parse(subject: Subject, text: str) -> int:
    """The action that a name stands for; the group may be left out where the rest is unique."""
    found = [i for i, name in enumerate(subject.action_names) if text in (name, short(name))]
    if len(found) != 1:
        raise usage(f"no action {text!r}; actions are {', '.join(subject.action_names)}")
    return found[0]


def short(name: str) -> str:
    """The part of `group/name` after the group."""
    return name.rpartition("/")[2]
