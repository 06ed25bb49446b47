"""Shapley values of the expected return: what knowing a group of entries is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

from attribution import coalitions, conditional, performance
from attribution.performance import Excursions
from sal import ways
from sal.blind import Blind, Blindness
from sal.ways import Question, Ways
from xrl_common.actions import Kind, kind
from xrl_common.compiled import MANY
from xrl_common.simulation import Acting

ROLLOUTS = 64
"""Per action, or per coalition where actions are drawn in this state alone."""

GLOBAL_ROLLOUTS = 32
"""Per coalition where they are drawn in every state."""

JOINT = 512
"""Different joint actions up to which each is tried."""

AT_ONCE = 32
"""Actions whose steps are kept at once."""


@dataclass(frozen=True)
class Worth:
    """The shares, their standard errors, and how they came about."""

    mean: np.ndarray
    """(n,)."""
    errors: np.ndarray
    """(n,)."""
    ends: tuple[float, float]
    """Expected return when all is known, and when nothing is."""
    exact: bool
    """Whether all coalitions were valued."""
    word: str
    remarks: tuple[str, ...]


def worth(question: Question, everywhere: bool) -> Worth:
    """Local: with less knowledge in this state alone, also on revisits. Global: everywhere."""
    what, count = kind(question.settings.subject), len(question.groups)
    if not everywhere and what is Kind.DISCRETE:
        return _by_actions(question, lambda chosen: ways.discrete(question, chosen))
    drawn = question.settings.simulator.acting is Acting.SAMPLED
    if not everywhere and what is Kind.MULTI_DISCRETE and not drawn and count <= coalitions.MOST:
        found = ways.joint(question, coalitions.all_coalitions(count))
        if len(found.actions) <= JOINT:
            return _by_actions(question, lambda _: found)
    return _by_drawing(question, everywhere)


def _by_actions(question: Question, told: Callable[[np.ndarray], Ways]) -> Worth:
    """Every action is simulated, and weighed by how probable it is when less is known."""
    settings = question.settings
    count = settings.count(ROLLOUTS, least=8)
    seen: list[tuple[Ways, Excursions]] = []

    def game(chosen: np.ndarray) -> np.ndarray:
        found = told(chosen)
        runs = _excursions(question, found.actions, count)
        seen.append((found, runs))
        return performance.jackknife(runs, found.chances)

    shares = coalitions.attribute(game, len(question.groups), settings.simulator.generator("permutations"))
    ((found, runs),) = seen
    again = ("the state is visited again; the same knowledge decides there",) if runs.revisits else ()
    return Worth(
        mean=shares.columns[:, 0],
        errors=np.hypot(performance.jackknife_error(shares.columns), shares.spread),
        ends=(float(shares.full[0]), float(shares.empty[0])),
        exact=shares.exact,
        word=f"Q simulator N={count} H={question.limit}",
        remarks=(*_told(found.lacking, len(found.chances)), *again),
    )


def _excursions(question: Question, actions: np.ndarray, count: int) -> Excursions:
    simulator, limit = question.settings.simulator, question.limit
    found = []
    for first in range(0, len(actions), AT_ONCE):
        piece = actions[first : first + AT_ONCE]
        trace = simulator.rollouts(question.state, piece, count, limit)
        back = np.asarray(conditional.same(trace.observations, question.observation)).all(axis=2)
        shaped = (steps.reshape(len(piece), count, -1)[:, :, :limit] for steps in (trace.reward, trace.alive, back))
        found.append(performance.excursions(*shaped, question.settings.gamma))
    rewards = np.concatenate([runs.rewards for runs in found])
    return Excursions(rewards, np.concatenate([runs.returns for runs in found]), question.settings.gamma)


def _by_drawing(question: Question, everywhere: bool) -> Worth:
    """In each rollout a visited observation is drawn in place of the partly known one; coalitions share the draws."""
    settings, simulator = question.settings, question.settings.simulator
    count = min(settings.count(GLOBAL_ROLLOUTS if everywhere else ROLLOUTS, least=8), MANY)
    policy = settings.subject.policy
    sampled = simulator.acting is Acting.SAMPLED
    way = policy.sampled if sampled else policy.served if simulator.acting is Acting.SERVED else policy.greedy
    rule = Blind(way, sampled, question.visits.finite)
    rows, at_once = question.rows, MANY // count

    def returns(chosen: np.ndarray) -> np.ndarray:
        known = np.zeros((MANY, len(question.observation)), bool)
        known[: len(chosen) * count] = np.repeat(question.known(chosen), count, axis=0)
        given = Blindness(policy.agent, known, rows, question.observation, np.bool_(everywhere))
        states = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf)[None], len(chosen), axis=0), question.state)
        limits = np.full(len(chosen), question.limit, np.int32)
        sums = simulator.acting_by(rule, given).sums(states, None, count, settings.gamma, limits)
        return sums[:, 0].sum(axis=2)

    lacking: list[int] = []

    def game(chosen: np.ndarray) -> np.ndarray:
        if not question.visits.finite:
            lacking.extend([int(question.lacking(question.known(chosen)).sum()), len(chosen)])
        pieces = [chosen[first : first + at_once] for first in range(0, len(chosen), at_once)]
        return np.concatenate([returns(piece) for piece in pieces])

    shares = coalitions.attribute(game, len(question.groups), simulator.generator("permutations"))
    columns = shares.columns
    if everywhere and not question.visits.finite:
        told = (f"where the effective number is below {conditional.LEAST:g}: unknown groups as in the background",)
    else:
        told = _told(*lacking) if lacking else ()
    return Worth(
        mean=columns.mean(axis=1),
        errors=np.hypot(columns.std(axis=1, ddof=1) / np.sqrt(columns.shape[1]), shares.spread),
        ends=(float(shares.full.mean()), float(shares.empty.mean())),
        exact=shares.exact,
        word=f"Q simulator N={count} H={question.limit}",
        remarks=told,
    )


def _told(lacking: int, coalitions: int) -> tuple[str, ...]:
    if not lacking:
        return ()
    return (
        f"effective number below {conditional.LEAST:g} for {lacking} of {coalitions} coalitions: "
        "unknown groups as in the background",
    )
