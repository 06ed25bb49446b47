"""The results as named tuples, field by field what the Rust crate documents."""

from __future__ import annotations

import types
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class NotComputed(NamedTuple):
    """A result that cannot exist, with its reason."""

    not_computed: str


class RepairScores(NamedTuple):
    """Scores of sessions, un-clipped and limited to [0, 1]; 0 = as broken, 1 = as clean."""

    raw: Floats
    clipped: Floats


class Gap(NamedTuple):
    """An admitted gap between clean and broken performance, with its standard error."""

    value: float
    standard_error: float


class Adjusted(NamedTuple):
    """Adjusted p-values (NaN where absent) and which of them are rejected."""

    p: Floats
    rejected: NDArray[np.bool_]


class Interval(NamedTuple):
    """An estimate with a two-sided interval."""

    estimate: float
    low: float
    high: float
    level: float
    method: str
    flags: list[str]


class PValue(NamedTuple):
    """A p-value with the integers behind it; Monte Carlo: (count + 1)/(total + 1)."""

    value: float
    exact: bool
    count: int | None  # type: ignore[assignment]  # a tuple's own method is of no use here
    total: int | None
    monte_carlo_error: float | None


class Welch(NamedTuple):
    """Two means compared with unequal variances, Satterthwaite degrees of freedom."""

    difference: float
    standard_error: float
    df: float
    p_less: float


class Attainability(NamedTuple):
    """What the smallest p-value of a test allows in a family of cells."""

    test: str
    sessions: int
    baseline_sessions: int
    cells: int
    cells_of_this_size: int
    arrangements: int | None
    p_min: float
    cells_needed: int
    state: str
    sessions_for_one_cell: int


class Decomposition(NamedTuple):
    """Sums of squares, degrees of freedom and F of H1."""

    ss_method: float | NotComputed
    ss_malfunction: float | NotComputed
    ss_interaction: float
    ss_method_and_interaction: float
    sse: float
    df_interaction: int
    df_method_and_interaction: int
    df_error: int
    mse: float | NotComputed
    f_interaction: float | NotComputed
    f_any: float | NotComputed
    partial_omega_squared: float | NotComputed
    interaction_share: float | NotComputed


class InteractionTest(NamedTuple):
    """One test of H1."""

    name: str
    role: str
    statistic: float | NotComputed
    p: PValue | NotComputed


class BeyondFirstAxis(NamedTuple):
    """What is left of the matrix beyond its first axis."""

    f: float
    df: int
    p: PValue


class AxisEntry(NamedTuple):
    """The first axis at one malfunction."""

    malfunction: str
    value: float
    low: float
    high: float


class Structure(NamedTuple):
    """The steps to the word: uniform, single_axis_*, structured or structured_crossover."""

    word: str
    alpha: float
    left_out: list[str]
    sessions_per_cell: float
    harmonic: bool
    any_effect: PValue
    additivity: PValue | NotComputed
    beyond_first_axis: BeyondFirstAxis | NotComputed
    singular_values: list[float]
    first_share: float | NotComputed
    first_share_under_noise: float | NotComputed
    first_axis: list[AxisEntry] | NotComputed


class Interaction(NamedTuple):
    """H1 on one scale."""

    scale: str
    methods: list[str]
    malfunctions: list[str]
    sessions: int
    balanced: bool
    empty_cells: list[list[str]]
    single_session_cells: list[list[str]]
    decomposition: Decomposition
    tests: list[InteractionTest]
    structure: Structure | NotComputed

    def test(self, name: str) -> InteractionTest:
        """Find a test by name: literal, wild, session_any, session_f or parametric."""
        for test in self.tests:
            if test.name == name:
                return test
        raise KeyError(name)


class Difference(NamedTuple):
    """A difference of means of cells."""

    estimate: float
    malfunctions: int
    percentile: Interval | NotComputed
    welch: Interval | NotComputed


class MalfunctionGap(NamedTuple):
    """The gap of the cheat oracle on one malfunction."""

    malfunction: str
    optimal_mean: float
    oracle_mean: float
    gap: Difference
    p: PValue | NotComputed
    p_adjusted: float | NotComputed
    verdict: str


class OracleGap(NamedTuple):
    """H2 on one scale."""

    scale: str
    margin: float
    optimal_repair_assumed: bool
    gap: Difference
    recovered_ratio: Interval | NotComputed
    verdict: str
    malfunctions: list[MalfunctionGap]
    left_out: list[str]


class HarmedCell(NamedTuple):
    """A discovery of the primary test of H3."""

    method: str
    malfunction: str


class HarmTest(NamedTuple):
    """One one-sided test of a cell."""

    test: str
    primary: bool
    p: PValue | NotComputed
    p_adjusted: float | NotComputed
    discovery: bool


class HarmCell(NamedTuple):
    """One cell against the baseline of its malfunction."""

    method: str
    malfunction: str
    sessions: int
    baseline_sessions: int
    lift: float | NotComputed
    unequal_sessions: bool
    tests: list[HarmTest]


class Harm(NamedTuple):
    """H3 over all planned cells."""

    q: float
    planned_cells: int
    tested_cells: int
    verdict: str
    harmed: list[HarmedCell]
    cells_needed: int | NotComputed
    cells: list[HarmCell]
    warnings: list[str]


def read(kind: Any, value: Any) -> Any:  # noqa: ANN401 - the shape is the type given as value
    """Turn a decoded JSON document into named tuples of the given type."""
    if get_origin(kind) in (Union, types.UnionType):
        options = get_args(kind)
        if value is None:
            return None
        absent = isinstance(value, dict) and "not_computed" in value
        chosen = [option for option in options if option is not type(None) and (option is NotComputed) == absent]
        return read(chosen[0], value)
    if get_origin(kind) is list:
        (item,) = get_args(kind)
        return [read(item, entry) for entry in value]
    if isinstance(value, dict):
        hints = get_type_hints(kind)
        return kind(**{name: read(hints[name], entry) for name, entry in value.items()})
    return value
