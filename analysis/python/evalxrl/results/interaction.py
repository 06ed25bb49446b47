"""What H1 looks like."""

from __future__ import annotations

from typing import NamedTuple

from evalxrl.results.values import Interval, NotComputed, PValue


class Decomposition(NamedTuple):
    """Sums of squares in squared score units, degrees of freedom and F of H1.

    ``ss_method`` and ``ss_malfunction`` exist where every cell has the same number of sessions;
    ``ss_method_and_interaction`` is y ~ malfunction against cells; ``variance_of_interaction`` is (MS_I − MSE)/N, not
    truncated; ``interaction_share`` is the share of interaction in what methods do.
    """

    ss_total: float
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
    p_any_parametric: float | NotComputed
    partial_omega_squared: float | NotComputed
    variance_of_interaction: float | NotComputed
    interaction_share: float | NotComputed


class EffectSize(NamedTuple):
    """Effect sizes of the interaction; ω² are not truncated, η² are biased upwards and descriptive.

    ``bootstrap`` is the adjusted stratified bootstrap of ω²_p (conservative), ``noncentral_f`` the interval by
    inversion of the noncentral F distribution.
    """

    partial_omega_squared: float
    omega_squared: float
    eta_squared: float
    partial_eta_squared: float
    bootstrap: Interval | NotComputed
    noncentral_f: Interval | NotComputed


class InteractionTest(NamedTuple):
    """One test of H1.

    ``role`` is ``primary``, ``decides``, ``any_effect``, ``sensitivity`` or ``diagnostic``; the statistic is SS_I,
    F_I or F_any; ``note`` is what a reader of this row must know.
    """

    name: str
    role: str
    statistic: float | NotComputed
    p: PValue | NotComputed
    note: str | None


class InteractionTests(NamedTuple):
    """Only the tests of H1 that were asked for, in the order asked."""

    scale: str
    tests: list[InteractionTest]

    def test(self, name: str) -> InteractionTest:
        """Find a test by name; ``KeyError`` where it was not asked for."""
        return _find(self.tests, name)


class BlockedDecomposition(NamedTuple):
    """Sums of squares over complete blocks, block means taken out of the error."""

    blocks: int
    dropped_sessions: int
    ss_interaction: float
    df_interaction: int
    sse: float
    df_error: int
    f: float | NotComputed


class BeyondFirst(NamedTuple):
    """F_2 of what is left beyond the first axis, with the F distribution's approximate p."""

    f: float
    df: int
    p_approximate: float


class Tukey(NamedTuple):
    """Tukey's one degree of freedom, tested against the error and against the rest of the interaction."""

    ss: float
    f_error: float | NotComputed
    p_error: float | NotComputed
    f_remainder: float | NotComputed
    p_remainder: float | NotComputed


class AxesSummary(NamedTuple):
    """Descriptive axes of the matrix of cell means, complete malfunctions only.

    ``singular_values`` are those of C_mk = c_mk − c_.k, ``interaction_singular_values`` those of the doubly centred
    matrix, both in score units; ``first_share`` is s_1²/Σs², to be read beside ``first_share_under_noise``.
    """

    left_out: list[str]
    sessions_per_cell: float
    harmonic: bool
    singular_values: list[float]
    first_share: float | NotComputed
    first_share_under_noise: float | NotComputed
    beyond_first: BeyondFirst | NotComputed
    interaction_singular_values: list[float]
    interaction_first_share: float | NotComputed
    tukey: Tukey | NotComputed


class BeyondFirstAxis(NamedTuple):
    """F_2 of step 3 of the verdict, p by residual bootstrap of the rank-1 fit."""

    f: float
    df: int
    p: PValue


class AxisEntry(NamedTuple):
    """The first axis at one malfunction, with a percentile interval over stratified resamples."""

    malfunction: str
    value: float
    low: float
    high: float


class Structure(NamedTuple):
    """The steps of the verdict on one scale.

    ``word`` is ``uniform``, ``single_axis_parallel``, ``single_axis_strength``, ``structured`` or
    ``structured_crossover``; what no step needed is ``NotComputed``.
    """

    word: str
    alpha: float
    any_effect: PValue
    additivity: PValue | NotComputed
    beyond_first_axis: BeyondFirstAxis | NotComputed
    first_axis: list[AxisEntry] | NotComputed
    statement: str


class Clustering(NamedTuple):
    """Average linkage on 1 − r of rows (or columns) of the doubly centred matrix.

    ``assignment[i]`` is the cluster of ``items[i]``; ``p`` compares the stability with that of additive data;
    ``consensus[i][j]`` is the share of resamples that put i and j together.
    """

    items: list[str]
    constant: list[str]
    count: int  # type: ignore[assignment]  # a tuple's own method is of no use here
    assignment: list[int]
    silhouette: float
    stability: float
    consensus: list[list[float]]
    p: PValue
    distinguishable: bool
    statement: str


class Clusters(NamedTuple):
    """Clusters of methods and of malfunctions; they never enter a verdict."""

    left_out: list[str]
    methods: Clustering | NotComputed
    malfunctions: Clustering | NotComputed


class Interaction(NamedTuple):
    """H1 on one scale."""

    scale: str
    methods: list[str]
    malfunctions: list[str]
    sessions: int
    balanced: bool
    empty_cells: list[tuple[str, str]]
    single_session_cells: list[tuple[str, str]]
    decomposition: Decomposition
    effect_size: EffectSize | NotComputed
    tests: list[InteractionTest]
    blocked: BlockedDecomposition | NotComputed
    axes: AxesSummary | NotComputed
    structure: Structure | NotComputed
    clusters: Clusters | NotComputed

    def test(self, name: str) -> InteractionTest:
        """Find a test by name, such as ``literal`` or ``wild``; ``KeyError`` where it was not run."""
        return _find(self.tests, name)


def _find(tests: list[InteractionTest], name: str) -> InteractionTest:
    for test in tests:
        if test.name == name:
            return test
    raise KeyError(name)
