"""The three hypotheses: H1 structure, H2 the gap of the cheat oracle, H3 harm; and lifts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import overload

from numpy.typing import ArrayLike

from evalxrl import _arguments, _evalxrl
from evalxrl._reading import read
from evalxrl.refusals import InputError
from evalxrl.results.aggregates import Lifts
from evalxrl.results.harm import Harm
from evalxrl.results.interaction import Interaction, InteractionTest, InteractionTests
from evalxrl.results.oracle_gap import OracleGap
from evalxrl.results.values import NotComputed

_SCALES = ("clipped", "raw", "raw_unwinsorised")

H1_TESTS = (
    "literal",
    "wild",
    "session_any",
    "session_f",
    "freedman_lane",
    "parametric",
    "ats_box",
    "blocked_literal",
    "blocked_f",
    "cell_label_permutation",
)
"""The names that ``interaction`` takes in ``tests``."""


@overload
def interaction(
    score: ArrayLike,
    method: ArrayLike | None = None,
    malfunction: ArrayLike | None = None,
    block: ArrayLike | None = None,
    *,
    tests: None = None,
    scale: str = "raw_unwinsorised",
    winsor_floor: float = -1.0,
    alpha: float = 0.05,
    confidence: float = 0.95,
    permutations: int = 9_999,
    resamples: int = 50_000,
    exact_limit: int = 1_000_000,
    blocks: str = "ignore",
    seed: int | str,
) -> Interaction | NotComputed: ...


@overload
def interaction(
    score: ArrayLike,
    method: ArrayLike | None = None,
    malfunction: ArrayLike | None = None,
    block: ArrayLike | None = None,
    *,
    tests: Sequence[str],
    scale: str = "raw_unwinsorised",
    winsor_floor: float = -1.0,
    alpha: float = 0.05,
    confidence: float = 0.95,
    permutations: int = 9_999,
    resamples: int = 50_000,
    exact_limit: int = 1_000_000,
    blocks: str = "ignore",
    seed: int | str,
) -> InteractionTests: ...


def interaction(
    score: ArrayLike,
    method: ArrayLike | None = None,
    malfunction: ArrayLike | None = None,
    block: ArrayLike | None = None,
    *,
    tests: Sequence[str] | None = None,
    scale: str = "raw_unwinsorised",
    winsor_floor: float = -1.0,
    alpha: float = 0.05,
    confidence: float = 0.95,
    permutations: int = 9_999,
    resamples: int = 50_000,
    exact_limit: int = 1_000_000,
    blocks: str = "ignore",
    seed: int | str,
) -> Interaction | InteractionTests | NotComputed:
    """Test H1: does the method × malfunction matrix have structure beyond main effects?

    SS_I = Σ N_mk over the residuals of the additive fit to the cell means, F_I = (SS_I/df_I)/(SSE/df_E) (two-way
    analysis of variance, as in Scheffé 1959). ``literal`` permutes session labels within each malfunction (SS_I, the
    pre-registered primary); ``wild`` flips signs of scaled residuals (F_I, decides additivity); the verdict's steps are
    in ``structure``. Exact where the arrangements number at most ``exact_limit``, else ``permutations`` draws.

    ``score``: shape (sessions,) with the labels ``method``, ``malfunction`` and perhaps ``block`` of the same shape; or
    ``[method, malfunction, replication]`` with NaN for absent sessions, the labels then naming its three axes, or
    absent. Every method given is a row of the matrix: leave reserved arms out. ``scale``: ``raw_unwinsorised`` takes
    scores as they are, ``raw`` raises them to ``winsor_floor``, ``clipped`` limits them to [0, 1].

    ``tests``: ``None`` computes everything; a list of ``H1_TESTS`` only those, with the same p-values. Blocked tests
    need ``block``; ``blocks="use"`` makes ``blocked_literal`` the primary.

    Sessions count in the order given; with those of the command line, ``seed`` gives its digits.

    Raises ``InputError``. A matrix that has no interaction to test is ``NotComputed``.

    >>> scores = [[[0.1, 0.2], [0.9, 0.7]], [[0.8, 0.9], [0.2, 0.1]], [[0.5, 0.4], [0.5, 0.6]]]
    >>> found = interaction(scores, tests=["literal", "wild"], seed=1)
    >>> p = found.test("literal").p
    >>> p.exact, p.count, p.total
    (True, 6, 8100)
    """
    _arguments.one_of("scale", scale, _SCALES)
    _arguments.one_of("blocks", blocks, ("ignore", "use"))
    plan = json.dumps(
        {
            "alpha": _arguments.real("alpha", alpha),
            "confidence": _arguments.real("confidence", confidence),
            "winsor_floor": _arguments.real("winsor_floor", winsor_floor),
            "permutations": _arguments.count("permutations", permutations),
            "resamples": _arguments.count("resamples", resamples),
            "exact_limit_h1": _arguments.count("exact_limit", exact_limit, least=0),
            "blocks": blocks,
        }
    )
    tidy = _arguments.sessions(score, method, malfunction, block)
    root = _arguments.seed(seed)
    if tests is not None:
        if isinstance(tests, str):
            raise InputError(f"tests {tests!r} is one text: a list of names is needed")
        names = [_arguments.one_of("tests", name, H1_TESTS) for name in tests]
        text = _evalxrl.interaction_tests(tidy, scale, names, plan, root)
        return InteractionTests(scale, read(list[InteractionTest], text))
    found: Interaction | NotComputed = read(Interaction | NotComputed, _evalxrl.interaction(tidy, scale, plan, root))
    return found


def oracle_gap(
    score: ArrayLike,
    method: ArrayLike | None = None,
    malfunction: ArrayLike | None = None,
    *,
    oracle: str = "cheat-oracle",
    optimal: str = "optimal-repair",
    scale: str = "raw_unwinsorised",
    winsor_floor: float = -1.0,
    margin: float = 0.10,
    q: float = 0.05,
    confidence: float = 0.95,
    resamples: int = 50_000,
    seed: int | str,
) -> OracleGap | NotComputed:
    """Measure H2: how far does the cheat oracle stay below an optimal repair?

    D_k = mean(optimal) − mean(oracle) on malfunction k, D their mean over malfunctions with both arms; stratified
    bootstrap and Welch intervals (Satterthwaite 1946). The verdict compares the bootstrap interval of D with
    ``margin``. Without any session of ``optimal`` the constant 1 stands in, flagged.

    Arrays and ``scale`` as in ``interaction``; the two arms are found among the labels of ``method``.

    Raises ``InputError``. No malfunction with both arms is ``NotComputed``.

    >>> arms = ["cheat-oracle"] * 3 + ["optimal-repair"] * 3
    >>> found = oracle_gap([0.4, 0.5, 0.6, 0.9, 1.0, 1.1], arms, ["walls"] * 6, resamples=999, seed=1)
    >>> round(found.gap.estimate, 12), found.verdict, round(found.recovered_ratio.estimate, 12)
    (0.5, 'gap', 0.5)
    """
    _arguments.one_of("scale", scale, _SCALES)
    plan = json.dumps(
        {
            "oracle_gap_margin": _arguments.real("margin", margin),
            "q": _arguments.real("q", q),
            "winsor_floor": _arguments.real("winsor_floor", winsor_floor),
            "confidence": _arguments.real("confidence", confidence),
            "resamples": _arguments.count("resamples", resamples),
        }
    )
    tidy = _arguments.sessions(score, method, malfunction)
    text = _evalxrl.oracle_gap(
        tidy, _arguments.word("oracle", oracle), _arguments.word("optimal", optimal), scale, plan, _arguments.seed(seed)
    )
    found: OracleGap | NotComputed = read(OracleGap | NotComputed, text)
    return found


def harm(
    score: ArrayLike,
    method: ArrayLike | None = None,
    malfunction: ArrayLike | None = None,
    block: ArrayLike | None = None,
    *,
    baseline: str = "no-method",
    m_planned: int | None = None,
    q: float = 0.05,
    winsor_floor: float = -1.0,
    exact_limit: int = 5_000_000,
    permutations: int = 99_999,
    seed: int | str,
) -> Harm | NotComputed:
    """Test H3: does some method make repairs worse than no method at all?

    Every (method, malfunction) against the sessions of ``baseline`` on its malfunction, alternative less, on raw scores
    raised to ``winsor_floor`` (ranks: as given); Benjamini–Hochberg over the planned cells within each test. The
    primary is the unpaired permutation of means; paired tests need ``block``, and pair sessions by it alone. A
    discovery needs adjusted p ≤ q and a negative lift. No bootstrap p-value is offered: it is invalid here.

    Arrays as in ``interaction``. Only simple methods in default packaging are tested (no reserved arm, no ``+``, no
    ``-rich`` or ``-minimal``). ``m_planned``: the size of the family where more cells were planned than are seen.

    Raises ``InputError``. No explanation method, or no session of ``baseline``, is ``NotComputed``.

    >>> scores = [0.9, 0.8, 0.85, 0.95, 0.9, 0.8, 0.1, 0.2, 0.15, 0.05, 0.0, 0.12]
    >>> found = harm(scores, ["no-method"] * 6 + ["saliency"] * 6, ["walls"] * 12, seed=1)
    >>> found.verdict, [(cell.method, cell.malfunction) for cell in found.harmed]
    ('harm_found', [('saliency', 'walls')])
    >>> found.cells[0].test("permutation_mean").p.total
    924
    """
    plan = json.dumps(
        {
            "q": _arguments.real("q", q),
            "winsor_floor": _arguments.real("winsor_floor", winsor_floor),
            "exact_limit_two_sample": _arguments.count("exact_limit", exact_limit, least=0, most=2**63 - 1),
            "permutations_two_sample": _arguments.count("permutations", permutations),
        }
    )
    planned = None if m_planned is None else _arguments.count("m_planned", m_planned)
    tidy = _arguments.sessions(score, method, malfunction, block)
    text = _evalxrl.harm(tidy, _arguments.word("baseline", baseline), planned, plan, _arguments.seed(seed))
    found: Harm | NotComputed = read(Harm | NotComputed, text)
    return found


def lift(
    score: ArrayLike,
    method: ArrayLike | None = None,
    malfunction: ArrayLike | None = None,
    *,
    baseline: str = "no-method",
    scale: str = "raw_unwinsorised",
    winsor_floor: float = -1.0,
    confidence: float = 0.95,
    resamples: int = 50_000,
    seed: int | str,
) -> Lifts:
    """Give lifts: ℓ_mk = c_mk − c_0k over ``baseline``, their mean per method, and methods against each other.

    Means over the malfunctions where both cells have sessions, with stratified bootstrap intervals of both cells
    independently (Efron and Tibshirani 1993) and Welch intervals beside them. Lifts share the baseline: compare methods
    by ``comparisons``, never by overlap of the intervals of their lifts.

    Arrays and ``scale`` as in ``interaction``.

    Raises ``InputError``.

    >>> scores = [0.25, 0.5, 0.5, 0.75]
    >>> found = lift(scores, ["no-method"] * 2 + ["saliency"] * 2, ["walls"] * 4, resamples=999, seed=1)
    >>> found.of("saliency").mean.estimate
    0.25
    """
    _arguments.one_of("scale", scale, _SCALES)
    plan = json.dumps(
        {
            "winsor_floor": _arguments.real("winsor_floor", winsor_floor),
            "confidence": _arguments.real("confidence", confidence),
            "resamples": _arguments.count("resamples", resamples),
        }
    )
    tidy = _arguments.sessions(score, method, malfunction)
    found: Lifts = read(
        Lifts, _evalxrl.lift(tidy, _arguments.word("baseline", baseline), scale, plan, _arguments.seed(seed))
    )
    return found
