"""Shapley values of the expected return: what knowing a group of entries is worth."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from attribution import conditional, coalitions, masking, performance
from attribution.conditional import Table
from sal.blind import Blind, Blindness
from sal.networks import Networks
from sal.visits import Visits
from xrl_common.actions import Kind, kind
from xrl_common.compiled import MANY
from xrl_common.estimates import horizon_of
from xrl_common.report import Settings
from xrl_common.simulation import Acting
from xrl_common.subject import Tree

EXACT_ROLLOUTS = 64
"""Per action, where every action is tried."""

DRAWN_ROLLOUTS = 32
"""Per coalition, where the actions are drawn."""


@dataclass(frozen=True)
class Worth:
    """The shares, their standard errors, and how they came about."""

    shares: coalitions.Shares
    mean: np.ndarray
    """(n,)."""
    errors: np.ndarray
    """(n,)."""
    ends: tuple[float, float]
    """Expected return when all is known, and when nothing is."""
    word: str
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One state and what may stand for it."""

    settings: Settings
    networks: Networks
    visits: Visits
    groups: list[slice]
    state: Tree
    observation: np.ndarray
    """(d,)."""

    @property
    def rows(self) -> Table:
        """The observations that may stand for a partly known one."""
        return self.visits.occupancy(self.observation)

    @property
    def limit(self) -> int:
        """Steps per rollout."""
        simulator = self.settings.simulator
        return horizon_of(self.settings.gamma, max(simulator.subject.horizon - int(self.state.t), 0))

    def known(self, chosen: np.ndarray) -> np.ndarray:
        """Entries that coalitions (K, n) know, (K, d)."""
        return masking.entries_of(chosen, self.groups, len(self.observation))

    @property
    def occupancy(self) -> str:
        """How a header names p."""
        if self.visits.finite:
            return f"p occupancy ({len(self.visits.distinct)} observations counted in {self.visits.episodes} episodes)"
        return f"p kernel on {len(self.visits.background.weights)} states"


def worth(question: Question, everywhere: bool) -> Worth:
    """Local: with less knowledge in this state alone, also on revisits. Global: everywhere."""
    if not everywhere and kind(question.settings.subject) is Kind.DISCRETE:
        return _by_actions(question)
    return _by_drawing(question, everywhere)


def policies(question: Question, chosen: np.ndarray) -> tuple[np.ndarray, int]:
    """pi_C of coalitions (K, n) in the state, (K, A), and for how many of them the kernel carried too little.

    Those take the entries outside C from the background as they are there.
    """
    acting, networks = question.settings.simulator.acting, question.networks
    rows, known = question.rows, question.known(chosen)
    weigh = conditional.counted if question.visits.finite else conditional.kernel
    here = np.broadcast_to(question.observation, known.shape)
    standing = weigh(rows, here, known)
    logs = np.asarray(standing.log_weights, np.float64)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    found = weights / weights.sum(axis=1, keepdims=True) @ networks.probabilities(acting, rows.observations)
    own = networks.probabilities(acting, question.observation[None])[0]
    found[known.all(axis=1)] = own
    lacking = np.flatnonzero(~np.asarray(standing.enough) & ~known.all(axis=1))
    background = question.visits.background
    if len(lacking):
        mixed = masking.mixed(question.observation, background.observations, known[lacking])
        each = networks.probabilities(acting, mixed.reshape(-1, mixed.shape[2])).reshape(*mixed.shape[:2], -1)
        found[lacking] = np.einsum("kba,b->ka", each, background.weights)
    return found, len(lacking)


def _by_actions(question: Question) -> Worth:
    settings, simulator = question.settings, question.settings.simulator
    count = settings.count(EXACT_ROLLOUTS, least=8)
    actions = np.arange(question.networks.size, dtype=np.int32)
    trace = simulator.rollouts(question.state, actions, count, question.limit)

    def cut(steps: np.ndarray) -> np.ndarray:
        shaped = steps.reshape(len(actions), count, *steps.shape[1:])
        return shaped[:, :, : question.limit]

    back = np.asarray(conditional.same(cut(trace.observations), question.observation)).all(axis=3)
    runs = performance.excursions(cut(trace.reward), cut(trace.alive), back, settings.gamma)
    lacking = 0

    def game(chosen: np.ndarray) -> np.ndarray:
        nonlocal lacking
        ways, lacking = policies(question, chosen)
        return performance.jackknife(runs, ways)

    shares = coalitions.attribute(game, len(question.groups), simulator.generator("permutations"))
    errors = np.hypot(performance.jackknife_error(shares.columns), shares.spread)
    again = ("the state is visited again; the same knowledge decides there",) if runs.revisits else ()
    return Worth(
        shares=shares,
        mean=shares.columns[:, 0],
        errors=errors,
        ends=(float(shares.full[0]), float(shares.empty[0])),
        word=f"Q simulator N={count} H={question.limit}",
        remarks=(*_told(lacking), *again),
    )


def _by_drawing(question: Question, everywhere: bool) -> Worth:
    settings, simulator = question.settings, question.settings.simulator
    count = min(settings.count(DRAWN_ROLLOUTS, least=8), MANY)
    policy = settings.subject.policy
    sampled = simulator.acting is Acting.SAMPLED
    way = policy.sampled if sampled else policy.served if simulator.acting is Acting.SERVED else policy.greedy
    rule = Blind(way, sampled, question.visits.finite)
    at_once = MANY // count
    size = len(question.observation)

    def returns(chosen: np.ndarray) -> np.ndarray:
        known = np.zeros((MANY, size), bool)
        known[: len(chosen) * count] = np.repeat(question.known(chosen), count, axis=0)
        given = Blindness(policy.agent, known, question.rows, question.observation, np.bool_(everywhere))
        states = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf)[None], len(chosen), axis=0), question.state)
        limits = np.full(len(chosen), question.limit, np.int32)
        sums = simulator.acting_by(rule, given).sums(states, None, count, settings.gamma, limits)
        return sums[:, 0].sum(axis=2)

    def game(chosen: np.ndarray) -> np.ndarray:
        pieces = [chosen[first : first + at_once] for first in range(0, len(chosen), at_once)]
        return np.concatenate([returns(piece) for piece in pieces])

    shares = coalitions.attribute(game, len(question.groups), simulator.generator("permutations"))
    columns = shares.columns
    errors = np.hypot(columns.std(axis=1, ddof=1) / np.sqrt(columns.shape[1]), shares.spread)
    chosen = coalitions.all_coalitions(len(question.groups)) if shares.exact else np.zeros((0, len(question.groups)))
    told = _told(0 if question.visits.finite or everywhere else _lacking(question, chosen))
    if everywhere and not question.visits.finite:
        told = (f"where the effective number is below {conditional.LEAST:g}: unknown groups as in the background",)
    return Worth(
        shares=shares,
        mean=columns.mean(axis=1),
        errors=errors,
        ends=(float(shares.full.mean()), float(shares.empty.mean())),
        word=f"Q simulator N={count} H={question.limit}",
        remarks=told,
    )


def _lacking(question: Question, chosen: np.ndarray) -> int:
    known = question.known(chosen.astype(bool))
    here = np.broadcast_to(question.observation, known.shape)
    enough = np.asarray(conditional.kernel(question.rows, here, known).enough)
    return int(np.count_nonzero(~enough & ~known.all(axis=1)))


def _told(lacking: int) -> tuple[str, ...]:
    if not lacking:
        return ()
    return (
        f"effective number below {conditional.LEAST:g} for {lacking} coalitions: "
        "unknown groups there as in the background",
    )
