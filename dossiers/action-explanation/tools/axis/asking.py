"""Counts a query as a round and stores its answer; two calls at once wait for each other."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from interrogation.protocol import ROUNDS, Damaged, RoundsUsed, Transcript, read, write
from xrl_common import store
from xrl_common.failure import spent, unreadable

NAME = "axis.json"


def stored() -> Transcript:
    """The transcript so far."""
    try:
        return read(store.read(NAME))
    except Damaged as problem:
        raise unreadable(f"{NAME} in {store.VARIABLE}: {problem}; begin anew with axis-prompt --new") from problem


def changed(change: Callable[[Transcript], Transcript], afresh: bool = False) -> Transcript:
    """Applies a change to the transcript, or to a new one, and stores it whole."""
    with _alone():
        after = change(Transcript() if afresh else stored())
        store.write(NAME, write(after))
    return after


def checked_round() -> int:
    """The number that the next query would have; refuses a sixth before anything is simulated."""
    rounds = stored().rounds
    if rounds >= ROUNDS:
        raise spent("five rounds used; write a synthesis with axis-note, or begin anew with axis-prompt --new")
    return rounds + 1


def counted(text: str, answer: str) -> Transcript:
    """One query more."""
    try:
        return changed(lambda transcript: transcript.query(text, answer))
    except RoundsUsed as problem:
        raise spent(str(problem)) from problem


@contextmanager
def _alone() -> Iterator[None]:
    with open(store.directory() / ".axis.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
