"""The one exception that ends a tool, with its documented exit code."""

from __future__ import annotations

USAGE = 2
UNREADABLE = 3
SPENT = 4


class ToolFailure(Exception):
    """Ends a tool without a partial table: one message for stderr and an exit code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def usage(message: str) -> ToolFailure:
    """What was asked is not possible; the message lists what is."""
    return ToolFailure(USAGE, message)


def unreadable(message: str) -> ToolFailure:
    """A state, the parameters or the configuration could not be read."""
    return ToolFailure(UNREADABLE, message)


def spent(message: str) -> ToolFailure:
    """The budget of a protocol is used up."""
    return ToolFailure(SPENT, message)
