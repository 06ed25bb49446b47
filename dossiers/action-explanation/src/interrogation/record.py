"""Dialogues that last between calls, in one file of the directory that `XRL_STATE` names.

A change reads, changes and replaces the file under a lock that ends with its process: two calls at once take turns,
and a call that is killed leaves the file as it was before or as it is after.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, TypeVar

from interrogation.protocol import Dialogue, Round
from xrl_common import store
from xrl_common.failure import ToolFailure, unreadable

NAME = "axis-dialogues.json"
LOCK = "axis-dialogues.lock"
FORMAT = "evalxrl.axis-dialogues/1"

Book = tuple[Dialogue, ...]
"""All dialogues; the last one is the current one, and there is always one."""

T = TypeVar("T")


def read() -> Book:
    """The dialogues as they are; one that is empty where nothing was kept."""
    text = store.read(NAME)
    if text is None:
        return (Dialogue(),)
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(f"format is not {FORMAT}")
        book = tuple(_dialogue(entry) for entry in document["dialogues"])
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise unreadable(f"{NAME} in {store.VARIABLE}: {problem}") from problem
    return book or (Dialogue(),)


def change(
    act: Callable[[Dialogue], tuple[Dialogue, T]], anew: Callable[[Dialogue], bool] = lambda current: False
) -> tuple[Book, T]:
    """Applies an act to the current dialogue, or to a new one; returns all dialogues and what else the act returns.

    Where `anew` says so of the current dialogue a new one is begun, unless the current one is untouched. What the act
    raises leaves everything as it was.
    """
    with _locked():
        book = read()
        current = Dialogue() if anew(book[-1]) and not book[-1].untouched else book[-1]
        after, told = act(current)
        kept = book if current is not book[-1] else book[:-1]
        changed = (*kept, after)
        if changed != book:
            _sweep()
            document = {"format": FORMAT, "dialogues": [asdict(dialogue) for dialogue in changed]}
            store.write(NAME, json.dumps(document, indent=1) + "\n")
        return changed, told


def ready() -> None:
    """Ends with code 3 where nothing can be kept, before anything dear is done."""
    with _locked():
        pass


@contextmanager
def _locked() -> Iterator[None]:
    """Holds the lock; the system takes it back when the process ends, however it ends."""
    place = store.directory()
    try:
        handle = os.open(place / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise unreadable(f"{LOCK} in {store.VARIABLE}: {problem}") from problem
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    except ToolFailure:
        raise
    except OSError as problem:
        raise unreadable(f"{LOCK} in {store.VARIABLE}: {problem}") from problem
    finally:
        os.close(handle)


def _sweep() -> None:
    """Removes what killed calls left half written; nobody else writes while the lock is held."""
    for path in store.directory().glob(f".{NAME}.*"):
        path.unlink(missing_ok=True)


def _dialogue(entry: dict[str, Any]) -> Dialogue:
    rounds = tuple(
        Round(
            _text(kept["query"]),
            _text(kept["about"]),
            tuple(map(_text, kept["answer"])),
            tuple(map(_text, kept["notes"])),
        )
        for kept in entry["rounds"]
    )
    synthesis, episode = entry["synthesis"], entry["episode"]
    dialogue = Dialogue(
        _text(entry["question"]),
        None if episode is None else int(episode),
        tuple(map(_text, entry["opening"])),
        rounds,
        bool(entry["done"]),
    )
    return dialogue if synthesis is None else replace(dialogue, synthesis=_text(synthesis))


def _text(value: Any) -> str:  # noqa: ANN401
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value
