"""The statistics of EvalXRL for NumPy users.

Scores enter tidy, one entry per session (``score``, ``method``, ``malfunction``, perhaps ``block``, of equal length),
or as ``array[method, malfunction, replication]`` with NaN for absent sessions. Every function with a random part
takes the required keyword ``seed``; the same seed gives the same digits at any number of threads, and those of
``evalxrl analyze --seed``.

A result that cannot exist is a ``NotComputed`` with its reason. Input that contradicts itself raises ``InputError``, a
``ValueError``, or one of its kinds; see ``evalxrl.refusals``.

>>> import evalxrl
>>> evalxrl.repair_score([8.0], clean=10.0, broken=2.0).raw.tolist()
[0.75]
"""

from __future__ import annotations

from evalxrl.cells import THRESHOLDS, aggregate, interval, performance_profile, probability_of_improvement
from evalxrl.dossiers import ablation, budget_curve, planned_budget_curve, shapley, tool_calls
from evalxrl.hypotheses import H1_TESTS, harm, interaction, lift, oracle_gap
from evalxrl.multiplicity import attainability, benjamini_hochberg
from evalxrl.power import pilot_variance, sessions_needed, simulate, two_sample_t_power
from evalxrl.raters import agreement, kappa
from evalxrl.refusals import (
    CoalitionError,
    GapRefused,
    InputError,
    InternalError,
    NotFiniteError,
    ScoreRefused,
    ShapeError,
)
from evalxrl.results import (
    Ablation,
    Adjusted,
    Aggregates,
    Agreement,
    Attainability,
    Difference,
    Estimated,
    Gap,
    Harm,
    Interaction,
    InteractionTests,
    Interval,
    Kappa,
    Lifts,
    MethodProfiles,
    NotComputed,
    OracleGap,
    PilotVariance,
    PlannedCurve,
    PlannedPoint,
    PValue,
    RankCorrelation,
    RepairScores,
    SessionsNeeded,
    Shapley,
    ShapleyValues,
    SignedRank,
    SignFlip,
    Simulation,
    StratumCurves,
    ToolCalls,
    Welch,
)
from evalxrl.samples import rank_correlation, rank_sum, sign_flip, signed_rank, two_sample_permutation, welch
from evalxrl.scores import admit, repair_score

__all__ = [
    "H1_TESTS",
    "THRESHOLDS",
    "Ablation",
    "Adjusted",
    "Aggregates",
    "Agreement",
    "Attainability",
    "CoalitionError",
    "Difference",
    "Estimated",
    "Gap",
    "GapRefused",
    "Harm",
    "InputError",
    "Interaction",
    "InteractionTests",
    "InternalError",
    "Interval",
    "Kappa",
    "Lifts",
    "MethodProfiles",
    "NotComputed",
    "NotFiniteError",
    "OracleGap",
    "PValue",
    "PilotVariance",
    "PlannedCurve",
    "PlannedPoint",
    "RankCorrelation",
    "RepairScores",
    "ScoreRefused",
    "SessionsNeeded",
    "ShapeError",
    "Shapley",
    "ShapleyValues",
    "SignFlip",
    "SignedRank",
    "Simulation",
    "StratumCurves",
    "ToolCalls",
    "Welch",
    "ablation",
    "admit",
    "aggregate",
    "agreement",
    "attainability",
    "benjamini_hochberg",
    "budget_curve",
    "harm",
    "interaction",
    "interval",
    "kappa",
    "lift",
    "oracle_gap",
    "performance_profile",
    "pilot_variance",
    "planned_budget_curve",
    "probability_of_improvement",
    "rank_correlation",
    "rank_sum",
    "repair_score",
    "sessions_needed",
    "shapley",
    "sign_flip",
    "signed_rank",
    "simulate",
    "tool_calls",
    "two_sample_permutation",
    "two_sample_t_power",
    "welch",
]
