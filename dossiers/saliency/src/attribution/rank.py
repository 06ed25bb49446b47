"""Order of groups by the size of a score, and how alike two orders are."""

from __future__ import annotations

import numpy as np


def ranks(scores: np.ndarray) -> np.ndarray:
    """1 for the largest size, equal sizes in the order given; not-a-number last; (n,) int."""
    sizes = np.where(np.isnan(scores), -1.0, np.abs(scores))
    order = np.argsort(-sizes, kind="stable")
    found = np.empty(len(scores), int)
    found[order] = np.arange(1, len(scores) + 1)
    return found


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """Correlation of the ranks of two score vectors, ties sharing their mean rank; nan where one is constant."""
    one, other = _shared(np.abs(first)), _shared(np.abs(second))
    one, other = one - one.mean(), other - other.mean()
    size = np.sqrt((one**2).sum() * (other**2).sum())
    return float((one * other).sum() / size) if size > 0 else float("nan")


def _shared(scores: np.ndarray) -> np.ndarray:
    smaller = (scores[None] < scores[:, None]).sum(axis=1)
    return smaller + 0.5 * ((scores[None] == scores[:, None]).sum(axis=1) + 1)
