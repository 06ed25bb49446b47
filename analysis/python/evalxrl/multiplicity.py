"""Families of p-values: their adjustment, and what they can find at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evalxrl import _arguments, _evalxrl
from evalxrl._reading import read
from evalxrl.results.scores import Adjusted, Attainability


def benjamini_hochberg(p: ArrayLike, *, q: float = 0.05, m_planned: int | None = None) -> Adjusted:
    """Adjust a family of p-values so that the false discovery rate stays below ``q``.

    adjusted_(i) = min over j ≥ i of min(1, m·p_(j)/j) over the sorted p-values (Benjamini and Hochberg 1995), rejected
    where adjusted ≤ q. m is the larger of ``m_planned`` and the number present: a planned but missing cell counts.

    ``p``, shape (family,): NaN or ``None`` marks an absent member, which stays absent (NaN, not rejected).

    Raises ``InputError`` for a p-value outside [0, 1], naming its position.

    >>> benjamini_hochberg([0.001, 0.02, 0.03, 0.5]).p.tolist()
    [0.004, 0.04, 0.04, 0.5]
    >>> benjamini_hochberg([0.001, None, 0.02, 0.03, None, 0.5], m_planned=6).p[0].item()
    0.006
    """
    planned = None if m_planned is None else _arguments.count("m_planned", m_planned, least=0)
    adjusted, rejected = _evalxrl.benjamini_hochberg(
        _arguments.sample("p", p, nan=True), _arguments.open_share("q", q), planned
    )
    return Adjusted(np.array(adjusted, dtype=np.float64), np.array(rejected, dtype=np.bool_))


def attainability(
    sessions: int,
    baseline_sessions: int | None = None,
    *,
    cells: int,
    q: float = 0.05,
    test: str = "permutation",
) -> Attainability:
    """Tell how many of ``cells`` must be harmed before a test of H3 can find any, before the run.

    p_min = 1/C(N + N0, N) for the unpaired ``permutation`` test, 1/2^N for the paired ``signed_rank``; k cells tied at
    p_min are rejected together where k ≥ ``cells_needed`` = ⌈m·p_min/q⌉ (from the Benjamini–Hochberg procedure).

    ``sessions``: N per method cell; ``baseline_sessions``: N0, the same where absent.

    Raises ``InputError`` for numbers out of range or another test.

    >>> found = attainability(6, cells=60)
    >>> found.arrangements, found.cells_needed, found.sessions_for_one_cell
    (924, 2, 7)
    >>> attainability(6, cells=60, test="signed_rank").cells_needed
    19
    """
    own = _arguments.count("sessions", sessions)
    other = own if baseline_sessions is None else _arguments.count("baseline_sessions", baseline_sessions)
    family = _arguments.count("cells", cells)
    _arguments.one_of("test", test, ("permutation", "signed_rank"))
    text = _evalxrl.attainability(test, own, other, family, _arguments.open_share("q", q))
    found: Attainability = read(Attainability, text)
    return found
