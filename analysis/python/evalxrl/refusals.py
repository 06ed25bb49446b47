"""The exceptions of this package: why a call was refused.

A result that cannot exist for sound input (one method only, one session in a cell) is no exception: it is a
``NotComputed`` with its reason. An exception says that the call itself contradicts its own rules.
"""

from __future__ import annotations


class InputError(ValueError):
    """An argument that no result can be computed from; the message names the argument and what it must be.

    >>> import evalxrl
    >>> evalxrl.benjamini_hochberg([0.1, 1.2])
    Traceback (most recent call last):
        ...
    evalxrl.refusals.InputError: p-value 1.2 at position 1 is outside [0, 1]
    """


class ShapeError(InputError):
    """An array of the wrong length or rank; the message names the argument and both shapes.

    >>> import evalxrl
    >>> evalxrl.welch([0.1, 0.2], [[0.3, 0.4]])
    Traceback (most recent call last):
        ...
    evalxrl.refusals.ShapeError: baseline has shape (1, 2), but one dimension, (sessions,), is needed
    """


class NotFiniteError(InputError):
    """An array that holds NaN or an infinity where a number is needed."""


class ScoreRefused(InputError):
    """A session without a repair score: a performance that is not finite, or clean not above broken."""


class GapRefused(InputError):
    """A malfunction that is not admitted; the message is the first condition that fails.

    One of ``not finite``, ``inverted``, ``below five standard errors``, ``below the minimal gap``.
    """


class CoalitionError(InputError):
    """A Shapley value without every coalition; the message lists all that are missing."""


class InternalError(RuntimeError):
    """A fault of this package, not of its input; please report it with the call that led to it."""
