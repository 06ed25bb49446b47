"""Repair scores and the admission of malfunctions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evalxrl import _arguments, _evalxrl
from evalxrl.refusals import GapRefused, NotFiniteError, ShapeError
from evalxrl.results.scores import Gap, RepairScores


def repair_score(post: ArrayLike, clean: ArrayLike, broken: ArrayLike) -> RepairScores:
    """Score sessions: raw = (P_post − P_broken)/(P_clean − P_broken), clipped = min(1, max(0, raw)).

    ``post``, shape (sessions,) or one number: performances after repair. ``clean``, ``broken``: those of the block's
    references, of the same shape or one number for all; one unit throughout. The scores are unit-free: 0 as broken,
    1 as clean, below 0 worse than broken.

    Raises ``ShapeError``; ``ScoreRefused`` with the position of a performance that is not finite, or of a clean
    performance that is not above the broken one (the sign is never flipped).

    >>> score = repair_score([8.0, 1.0, 12.0], clean=10.0, broken=2.0)
    >>> score.raw.tolist(), score.clipped.tolist()
    ([0.75, -0.125, 1.25], [0.75, 0.0, 1.0])
    """
    posts = _arguments.like("post", post, "post", np.shape(post) or (1,))
    if posts.ndim != 1:
        raise ShapeError(f"post has shape {posts.shape}, but one dimension, (sessions,), is needed")
    cleans = _arguments.like("clean", clean, "post", posts.shape)
    brokens = _arguments.like("broken", broken, "post", posts.shape)
    raw, clipped = _evalxrl.repair_score(posts, cleans, brokens)
    return RepairScores(np.array(raw), np.array(clipped))


def admit(clean: ArrayLike, broken: ArrayLike, min_gap: float, *, standard_errors: float = 5.0) -> Gap:
    """Admit a malfunction, or say why not: g = P_clean − P_broken must reach ``min_gap`` and 5·SE(g).

    ``clean``, ``broken``, shape (training seeds,): the performance of each reference; one unit, that of ``min_gap``
    too. SE(g) = sqrt(SE_clean² + SE_broken²), each SE the standard deviation over seeds by the root of their number.

    Raises ``GapRefused`` with the first condition that fails, ``InputError`` for fewer than two seeds.

    >>> admit([9.0, 10.0, 11.0], [2.0, 2.0, 2.0], min_gap=1.0).value
    8.0
    >>> admit([2.0, 2.0], [9.0, 9.0], min_gap=1.0)
    Traceback (most recent call last):
        ...
    evalxrl.refusals.GapRefused: inverted: the gap is -7
    """
    try:
        arrays = _arguments.sample("clean", clean), _arguments.sample("broken", broken)
    except NotFiniteError as error:
        raise GapRefused(f"not finite: {error}") from error
    needed = _arguments.real("min_gap", min_gap), _arguments.real("standard_errors", standard_errors)
    return Gap(*_evalxrl.admit(*arrays, *needed))
