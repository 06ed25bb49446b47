"""What lasts between two calls of a tool: small files in the directory that `XRL_STATE` names."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from xrl_common.failure import unreadable

VARIABLE = "XRL_STATE"


def directory() -> Path:
    """The directory, made where absent; unset or not writable ends the tool with code 3."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise unreadable(f"{VARIABLE} is not set; let it name a directory for what lasts between calls")
    path = Path(named)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise unreadable(f"{VARIABLE}: {problem}") from problem
    return path


def available() -> bool:
    """Whether a directory is named."""
    return bool(os.environ.get(VARIABLE))


def read(name: str) -> str | None:
    """The text kept under a name; none where nothing was kept or no directory is named."""
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    try:
        return (Path(named) / name).read_text()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as problem:
        raise unreadable(f"{name} in {VARIABLE}: {problem}") from problem


def write(name: str, text: str) -> None:
    """Keeps a text under a name: whole or not at all, whenever the process ends."""
    place = directory()
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=place)
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, place / name)
    except OSError as problem:
        raise unreadable(f"{name} in {VARIABLE}: {problem}") from problem
