"""The compiled half; its functions take checked, contiguous arrays and give numbers or JSON."""

import numpy as np
from numpy.typing import NDArray

from evalxrl._arguments import Floats, Numbers, Sessions

Counts = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]
Plain = tuple[float, bool, int | None, int | None, float | None] | str
Pilot = tuple[Floats, Numbers] | None

def repair_score(post: Floats, clean: Floats, broken: Floats) -> tuple[list[float], list[float]]: ...
def admit(clean: Floats, broken: Floats, min_gap: float, standard_errors: float) -> tuple[float, float]: ...
def benjamini_hochberg(p: Floats, q: float, m_planned: int | None) -> tuple[list[float], list[bool]]: ...
def attainability(test: str, sessions: int, baseline_sessions: int, cells: int, q: float) -> str: ...
def two_sample_permutation(
    method: Floats,
    baseline: Floats,
    statistic: str,
    alternative: str,
    exact_limit: int,
    draws: int,
    seed: int | str,
) -> Plain: ...
def welch(method: Floats, baseline: Floats) -> tuple[float, float, float, float] | str: ...
def rank_sum(method: Floats, baseline: Floats, alternative: str) -> Plain: ...
def signed_rank(difference: Floats, zeros: str) -> str: ...
def sign_flip(difference: Floats, exact_limit: int, draws: int, seed: int | str) -> str: ...
def student_t(score: Floats, level: float) -> str: ...
def interval(
    score: Floats, cell: Numbers, statistic: str, target: float, options_text: str, seed: int | str
) -> str: ...
def interval_from(
    score: Floats, cell: Numbers, statistic: str, target: float, options_text: str, indices: NDArray[np.int64]
) -> str: ...
def aggregates(sessions: Sessions, plan_text: str, seed: int | str) -> str: ...
def probability_of_improvement(
    sessions: Sessions,
    first: str,
    second: str,
    scale: str,
    winsor_floor: float,
    options_text: str,
    seed: int | str,
) -> str: ...
def performance_profile(
    sessions: Sessions,
    scale: str,
    winsor_floor: float,
    thresholds: list[float],
    level: float,
    resamples: int,
    seed: int | str,
) -> str: ...
def interaction(sessions: Sessions, scale: str, plan_text: str, seed: int | str) -> str: ...
def interaction_tests(sessions: Sessions, scale: str, tests: list[str], plan_text: str, seed: int | str) -> str: ...
def oracle_gap(sessions: Sessions, oracle: str, optimal: str, scale: str, plan_text: str, seed: int | str) -> str: ...
def harm(sessions: Sessions, baseline: str, m_planned: int | None, plan_text: str, seed: int | str) -> str: ...
def lift(sessions: Sessions, baseline: str, scale: str, plan_text: str, seed: int | str) -> str: ...
def ablation(sessions: Sessions, plan_text: str, seed: int | str) -> str: ...
def shapley_values(value: Floats) -> str: ...
def shapley(sessions: Sessions, baseline: str, plan_text: str, seed: int | str) -> str: ...
def tool_calls(
    sessions: Sessions,
    outcomes: list[str],
    tool_calls: Numbers,
    budget: int | None,
    baseline: str,
    plan_text: str,
    seed: int | str,
) -> str: ...
def budget_curve(
    sessions: Sessions,
    outcomes: list[str],
    tool_calls: Numbers,
    budget: int | None,
    baseline: str,
    plan_text: str,
    seed: int | str,
) -> str: ...
def kappa(table: Counts, weights: str, level: float) -> str: ...
def agreement(
    first: Numbers,
    second: Numbers,
    cluster: Numbers | None,
    weights: str,
    level: float,
    resamples: int,
    seed: int | str,
) -> str: ...
def two_sample_t_power(d: float, n: float, alpha: float) -> float: ...
def two_sample_t_sessions(d: float, alpha: float, power: float) -> float: ...
def pilot_variance(score: Floats, cell: Numbers) -> str: ...
def simulate(asked: str, pilot: Pilot, seed: int | str) -> str: ...
def sessions_needed(
    methods: int,
    malfunctions: int,
    harmed: int,
    effect: str,
    noise_name: str,
    sd: float,
    pilot: Pilot,
    target: float,
    q: float,
    datasets: int,
    seed: int | str,
) -> str: ...
