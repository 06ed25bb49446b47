"""What comparisons of dossiers, tool calls, budget curves and Shapley values look like."""

from __future__ import annotations

from typing import NamedTuple

from evalxrl.results.values import Difference, Estimated, Interval, NotComputed, PValue


class MalfunctionDifference(NamedTuple):
    """δ_k: mean of the rich dossier minus mean of the minimal one on a malfunction."""

    malfunction: str
    difference: float


class AblationTest(NamedTuple):
    """A two-sided test of δ_k with malfunctions as a sample, adjusted over the declared pairs."""

    test: str
    p: PValue | NotComputed
    p_adjusted: float | NotComputed
    flags: list[str]


class DossierDifference(NamedTuple):
    """A rich dossier against a minimal one on one scale, in both readings.

    ``fixed_malfunctions`` resamples sessions, ``malfunctions_as_sample`` tests the δ_k of the malfunctions.
    """

    scale: str
    malfunctions: list[MalfunctionDifference]
    left_out: list[str]
    fixed_malfunctions: Difference
    malfunctions_as_sample: list[AblationTest]


class AblationPair(NamedTuple):
    """A declared pair of dossiers, on both scales."""

    rich: str
    minimal: str
    clipped: DossierDifference | NotComputed
    raw: DossierDifference | NotComputed


class Ablation(NamedTuple):
    """Every declared pair of a rich and a minimal dossier."""

    q: float
    pairs: list[AblationPair]


class ToolCallBudget(NamedTuple):
    """τ in tool calls, and whether it is of the ``plan``, ``given``, or the ``largest_observed``."""

    steps: int
    source: str


class ToolCallDifference(NamedTuple):
    """Tool calls against ``no-method``: difference of restricted means, and a two-sided rank-sum test."""

    malfunctions: int
    restricted_mean: Estimated
    rank_sum: PValue | NotComputed
    rank_sum_flags: list[str]


class CellToolCalls(NamedTuple):
    """Tool calls until submission in one cell; the median is absent where it was not reached."""

    malfunction: str
    sessions: int
    submitted: int
    restricted_mean: float
    median: float | NotComputed
    difference: ToolCallDifference | NotComputed


class MethodToolCalls(NamedTuple):
    """Tool calls until submission of one method; the restricted mean counts a session that never submits as τ."""

    method: str
    role: str
    malfunctions: int
    sessions: int
    submitted: int
    share_submitted: Estimated
    restricted_mean: Estimated
    median: float | NotComputed
    difference: ToolCallDifference | NotComputed
    cells: list[CellToolCalls]


class ToolCalls(NamedTuple):
    """Tool calls until submission, a secondary outcome, per method."""

    budget: ToolCallBudget
    methods: list[MethodToolCalls]


class TruncationCurve(NamedTuple):
    """Mean score counting only what was submitted within so many tool calls, with a pointwise band.

    ``area`` is the area under the curve over [0, τ], divided by τ.
    """

    method: str
    role: str
    scale: str
    malfunctions: int
    calls: list[int]
    means: list[float]
    low: list[float] | NotComputed
    high: list[float] | NotComputed
    area: Estimated | NotComputed


class StratumCurves(NamedTuple):
    """The truncation curves of one coder and invocation budget; ``label`` says what they are not."""

    coder: str | None
    invocations: str | None
    label: str
    budget: ToolCallBudget | NotComputed
    curves: list[TruncationCurve] | NotComputed


class PlannedPoint(NamedTuple):
    """The mean over malfunctions of the cell means at one planned budget: a whole number as text, or ``unlimited``."""

    invocations: str
    mean: Estimated


class PlannedCurve(NamedTuple):
    """The mean score of one method by planned invocation budget, ascending, ``unlimited`` last.

    ``malfunctions`` counts those with sessions under each of these budgets; ``coder`` is absent.
    """

    coder: str | None
    method: str
    scale: str
    malfunctions: int
    points: list[PlannedPoint]


class ShapleyValues(NamedTuple):
    """Shapley values of players 0..n−1, their sum, and v(all) − v(∅), which the sum equals up to rounding."""

    values: list[float]
    sum: float
    efficiency: float


class CoalitionValue(NamedTuple):
    """v(S): mean over common malfunctions of the cell means of a coalition; no member is ``no-method``."""

    members: list[str]
    value: float


class MethodValue(NamedTuple):
    """The Shapley value of a method, with a stratified bootstrap and a t interval."""

    method: str
    value: float
    percentile: Interval | NotComputed
    t: Interval | NotComputed


class ShapleyScale(NamedTuple):
    """Shapley values on one scale; ``gain`` is v(all) − v(∅) and ``efficient`` says that ``sum`` equals it to 1e-12."""

    scale: str
    coalitions: list[CoalitionValue]
    values: list[MethodValue]
    sum: float
    gain: float
    efficient: bool


class Shapley(NamedTuple):
    """Shapley values of methods over their coalition dossiers, on both scales."""

    methods: list[str]
    malfunctions: list[str]
    clipped: ShapleyScale
    raw: ShapleyScale
