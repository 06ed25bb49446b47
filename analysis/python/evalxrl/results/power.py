"""What power and simulated rejection rates look like."""

from __future__ import annotations

from typing import NamedTuple

from evalxrl.results.scores import Attainability
from evalxrl.results.values import NotComputed


class PilotVariance(NamedTuple):
    """Pooled standard deviation within cells, and its upper 80 % bound, with which one plans."""

    cells: int
    df: int
    sd: float
    upper_sd: float


class Rate(NamedTuple):
    """A share of simulated data sets with its Monte Carlo error."""

    value: float
    error: float
    datasets: int


class Design(NamedTuple):
    """A planned matrix: methods × malfunctions, N = N0 sessions in each cell."""

    methods: int
    malfunctions: int
    sessions: int


class ProcedureRate(NamedTuple):
    """How often a test of H1 rejects; ``liberal`` where that is above α + 3 errors although the truth is additive."""

    test: str
    rate: Rate | NotComputed
    liberal: bool


class VerdictShares(NamedTuple):
    """How often each word of the verdict comes out."""

    uniform: Rate
    single_axis_parallel: Rate
    single_axis_strength: Rate
    structured: Rate
    structured_crossover: Rate
    not_computed: Rate


class ScenarioRates(NamedTuple):
    """The rejection rates of every test of H1 under one scenario."""

    scenario: str
    description: str
    additive: bool
    procedures: list[ProcedureRate]
    beyond_first_axis: Rate | NotComputed
    verdict: VerdictShares


class HarmTestRates(NamedTuple):
    """Size, false discovery and power of one test of H3.

    ``power_any``: data sets in which some harmed cell is found; ``power_per_cell``: harmed cells found.
    """

    test: str
    size: Rate | NotComputed
    false_discovery: Rate
    power_any: Rate | NotComputed
    power_per_cell: Rate | NotComputed
    any_discovery: Rate


class HarmRates(NamedTuple):
    """H3 with so many harmed cells, by an effect in score units."""

    cells: int
    harmed: int
    effect: float
    effect_in_sds: float
    tests: list[HarmTestRates]


class EffectSizeCoverage(NamedTuple):
    """Coverage of the adjusted bootstrap interval of ω²_p at one size of interaction."""

    interaction_rms: float
    truth: float
    level: float
    resamples: int
    coverage: Rate
    mean_width: float


class SideErrors(NamedTuple):
    """Shares of intervals that lie above, and below, the truth."""

    above: Rate
    below: Rate


class PercentileErrors(NamedTuple):
    """One-sided errors of the percentile intervals of one cell's mean and of one lift; ``nominal`` is that promised."""

    sessions: int
    resamples: int
    nominal: float
    cell: SideErrors
    lift: SideErrors


class Simulation(NamedTuple):
    """What a planned design reaches, by simulation; ``harm`` holds none harmed, then the number asked for."""

    design: Design
    datasets: int
    permutations: int
    alpha: float
    q: float
    attainability: list[Attainability]
    scenarios: list[ScenarioRates]
    harm: list[HarmRates | NotComputed]
    effect_size_coverage: list[EffectSizeCoverage | NotComputed]
    percentile_errors: PercentileErrors | NotComputed


class PowerAt(NamedTuple):
    """Power (per harmed cell, and to find any) and false discovery of H3's primary at one number of sessions."""

    sessions: int
    power_per_cell: Rate
    power_any: Rate
    false_discovery: Rate


class AnalyticCheck(NamedTuple):
    """Sessions by the noncentral t distribution, for comparison."""

    alpha: float
    sessions: float


class SessionsNeeded(NamedTuple):
    """The smallest N = N0 that reaches the target power, and every number tried."""

    methods: int
    malfunctions: int
    harmed: int
    planning_sd: float
    effect: float
    effect_in_sds: float
    target: float
    q: float
    sessions: int | NotComputed
    tried: list[PowerAt]
    analytic: AnalyticCheck | NotComputed
