"""Power and simulation of a planned design."""

from __future__ import annotations

import json
from collections.abc import Sequence

from numpy.typing import ArrayLike

from evalxrl import _arguments, _evalxrl
from evalxrl._reading import read
from evalxrl.cells import cells_of
from evalxrl.refusals import InputError
from evalxrl.results.power import PilotVariance, SessionsNeeded, Simulation
from evalxrl.results.values import NotComputed

_NOISES = ("normal", "beta", "bimodal", "pilot")


def two_sample_t_power(d: float, *, n: float | None = None, power: float | None = None, alpha: float = 0.05) -> float:
    """Give the power of the one-sided two-sample t test, or the sessions per arm that reach a power.

    power = P(t'(2n − 2, d·sqrt(n/2)) > t_{1−α}) with the noncentral t distribution (Cohen 1988), for real n.

    ``d``: the difference in standard deviations; ``n``: sessions per arm, above 1. Give ``n`` for the power, or
    ``power`` for the real number of sessions.

    Raises ``InputError`` for an argument out of range, or both or neither of ``n`` and ``power``.

    >>> round(two_sample_t_power(0.5, power=0.8), 6)
    50.150783
    >>> round(two_sample_t_power(0.5, n=50.15078338685744), 9)
    0.8
    """
    effect, level = _arguments.real("d", d), _arguments.real("alpha", alpha)
    if (n is None) == (power is None):
        raise InputError("one of n and power is needed, and not both")
    if n is not None:
        return _evalxrl.two_sample_t_power(effect, _arguments.real("n", n), level)
    target = _arguments.real("power", 0.0 if power is None else power)
    return _evalxrl.two_sample_t_sessions(effect, level, target)


def pilot_variance(score: ArrayLike, cell: ArrayLike | None = None) -> PilotVariance | NotComputed:
    """Pool the variance within cells of a pilot: σ̂² over ν = Σ(N_mk − 1), and its upper 80 % bound σ̂²ν/χ²_{.20, ν}.

    One plans with the bound, never with σ̂ (for normal noise the bound is exact).

    ``score`` and ``cell`` as in ``interval``, in score units.

    Raises ``InputError``. No cell of two sessions, or no variation, is ``NotComputed``.

    >>> found = pilot_variance([[0.25, 0.75], [0.5, 1.0], [0.0, 0.5]])
    >>> found.df, round(found.sd, 9), round(found.upper_sd, 9)
    (3, 0.353553391, 0.610794345)
    """
    scores, cells = cells_of(score, cell)
    text = _evalxrl.pilot_variance(scores, cells)
    found: PilotVariance | NotComputed = read(PilotVariance | NotComputed, text)
    return found


def simulate(
    methods: int,
    malfunctions: int,
    sessions: int,
    *,
    scenarios: Sequence[str] | None = None,
    noise: str | None = None,
    sd: float = 0.25,
    pilot: ArrayLike | None = None,
    pilot_cell: ArrayLike | None = None,
    datasets: int = 1_000,
    permutations: int = 199,
    alpha: float = 0.05,
    q: float = 0.05,
    harmed: int | None = 1,
    effect: str | float = "2sd",
    harm_datasets: int = 300,
    coverage: Sequence[float] = (0.0, 0.07, 0.14),
    coverage_datasets: int = 250,
    coverage_resamples: int = 400,
    confidence: float = 0.95,
    seed: int | str,
) -> Simulation:
    """Simulate a planned design: what its tests attain, how often each rejects, and whether intervals cover.

    ``methods`` × ``malfunctions`` cells of ``sessions`` sessions, the baseline alike. H1: every test under each of
    ``scenarios`` (the published table where absent) with ``datasets`` data sets of ``permutations`` draws. H3:
    ``harmed`` cells lowered by ``effect`` (``2sd``, or a score difference such as ``0.4``); ``None`` leaves it out.
    ``coverage``: root mean squares of the interaction at which the interval of ω²_p is checked; an empty list leaves
    it out.

    ``noise``: ``normal``, ``beta``, ``bimodal`` with ``sd`` (score units), ``pilot`` with the residuals of ``pilot``
    and ``pilot_cell`` (arrays as in ``interval``), or each scenario's own where absent.

    Raises ``InputError``, for an unknown scenario with the names of all.

    >>> found = simulate(3, 4, 3, scenarios=[], harmed=1, harm_datasets=20, coverage=[], seed=1)
    >>> found.attainability[0].arrangements, [rates.harmed for rates in found.harm]
    (20, [0, 1])
    """
    if isinstance(scenarios, str):
        raise InputError(f"scenarios {scenarios!r} is one text: a list of names is needed")
    asked = json.dumps(
        {
            "methods": _arguments.count("methods", methods),
            "malfunctions": _arguments.count("malfunctions", malfunctions),
            "sessions": _arguments.count("sessions", sessions),
            "scenarios": None if scenarios is None else [str(name) for name in scenarios],
            "noise": None if noise is None else _arguments.one_of("noise", noise, _NOISES),
            "sd": _arguments.real("sd", sd),
            "datasets": _arguments.count("datasets", datasets),
            "permutations": _arguments.count("permutations", permutations),
            "alpha": _arguments.open_share("alpha", alpha),
            "q": _arguments.open_share("q", q),
            "harmed": None if harmed is None else _arguments.count("harmed", harmed, least=0),
            "effect": _arguments.effect(effect),
            "harm_datasets": _arguments.count("harm_datasets", harm_datasets),
            "coverage": _arguments.sample("coverage", list(coverage)).tolist(),
            "coverage_datasets": _arguments.count("coverage_datasets", coverage_datasets),
            "coverage_resamples": _arguments.count("coverage_resamples", coverage_resamples),
            "confidence": _arguments.open_share("confidence", confidence),
        }
    )
    cells = None if pilot is None else cells_of(pilot, pilot_cell)
    found: Simulation = read(Simulation, _evalxrl.simulate(asked, cells, _arguments.seed(seed)))
    return found


def sessions_needed(
    methods: int,
    malfunctions: int,
    *,
    harmed: int = 1,
    effect: str | float = "2sd",
    noise: str = "normal",
    sd: float = 0.25,
    pilot: ArrayLike | None = None,
    pilot_cell: ArrayLike | None = None,
    target: float = 0.8,
    q: float = 0.05,
    datasets: int = 300,
    seed: int | str,
) -> SessionsNeeded:
    """Search the smallest N = N0 in 4..40 at which H3's primary finds harmed cells with a power of ``target``.

    By simulation over all methods × malfunctions cells, Benjamini–Hochberg included; ``analytic`` is the number by the
    noncentral t distribution (Cohen 1988) for comparison. Arguments as in ``simulate``.

    Raises ``InputError``.

    >>> found = sessions_needed(1, 2, effect="4sd", datasets=20, seed=1)
    >>> found.sessions
    4
    """
    cells = None if pilot is None else cells_of(pilot, pilot_cell)
    text = _evalxrl.sessions_needed(
        _arguments.count("methods", methods),
        _arguments.count("malfunctions", malfunctions),
        _arguments.count("harmed", harmed),
        _arguments.effect(effect),
        _arguments.one_of("noise", noise, _NOISES),
        _arguments.real("sd", sd),
        cells,
        _arguments.open_share("target", target),
        _arguments.open_share("q", q),
        _arguments.count("datasets", datasets),
        _arguments.seed(seed),
    )
    found: SessionsNeeded = read(SessionsNeeded, text)
    return found
