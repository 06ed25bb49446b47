"""The compiled half; its functions take checked, contiguous arrays."""

import numpy as np
from numpy.typing import NDArray

from evalxrl._arguments import Floats, Numbers, Sessions

def repair_score(
    post: Floats, clean: Floats, broken: Floats
) -> tuple[list[float], list[float]]: ...
def admit(
    clean: Floats, broken: Floats, min_gap: float, standard_errors: float
) -> tuple[float, float]: ...
def benjamini_hochberg(
    p: Floats, q: float, m_planned: int | None
) -> tuple[list[float], list[bool]]: ...
def two_sample_permutation(
    method: Floats,
    baseline: Floats,
    statistic: str,
    alternative: str,
    exact_limit: int,
    draws: int,
    seed: int,
) -> str: ...
def welch(method: Floats, baseline: Floats) -> tuple[float, float, float, float] | str: ...
def rank_sum(method: Floats, baseline: Floats) -> str: ...
def student_t(score: Floats, level: float) -> str: ...
def attainability(
    test: str, sessions: int, baseline_sessions: int, cells: int, q: float
) -> str: ...
def interaction(sessions: Sessions, plan_text: str, seed: int) -> str: ...
def oracle_gap(sessions: Sessions, oracle: str, optimal: str, plan_text: str, seed: int) -> str: ...
def harm(sessions: Sessions, baseline: str, plan_text: str, seed: int) -> str: ...
def bootstrap_interval(
    score: Floats,
    cell: Numbers,
    kind: str,
    level: float,
    resamples: int,
    indices: NDArray[np.int64] | None,
    seed: int,
) -> str: ...
