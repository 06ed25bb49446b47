"""How the policy acts in one state when only some groups of entries are known there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from attribution import conditional, masking
from attribution.conditional import Standing, Table
from sal.networks import Networks
from sal.visits import Visits
from xrl_common import actions
from xrl_common.estimates import horizon_of
from xrl_common.report import Settings
from xrl_common.subject import Tree

_kernel = jax.jit(conditional.kernel)
_counted = jax.jit(conditional.counted)


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

    def standing(self, known: np.ndarray) -> Standing:
        """Weights of the rows where entries (K, d) of the state are known."""
        weigh = _counted if self.visits.finite else _kernel
        return weigh(self.rows, jnp.asarray(np.broadcast_to(self.observation, known.shape)), known)

    def lacking(self, known: np.ndarray) -> np.ndarray:
        """For which coalitions (K, d) the weights carry too little, (K,) bool; never where all is known."""
        return ~np.asarray(self.standing(known).enough) & ~known.all(axis=1)

    @property
    def occupancy(self) -> str:
        """How a header names p."""
        if self.visits.finite:
            return f"p occupancy ({len(self.visits.distinct)} observations counted in {self.visits.episodes} episodes)"
        return f"p kernel on {len(self.visits.background.weights)} states"


@dataclass(frozen=True)
class Ways:
    """pi_C(. | s) of K coalitions over A actions."""

    actions: np.ndarray
    """(A, ...)."""
    chances: np.ndarray
    """(K, A), rows sum to 1."""
    lacking: int
    """Coalitions whose weights carry too little; their unknown entries are those of the background as it is."""


def discrete(question: Question, chosen: np.ndarray) -> Ways:
    """Over all actions of one head, for coalitions (K, n)."""
    acting, networks = question.settings.simulator.acting, question.networks

    def told(observations: np.ndarray) -> np.ndarray:
        return networks.probabilities(acting, observations)

    chances, lacking = _mixture(question, chosen, told)
    return Ways(np.arange(networks.size, dtype=np.int32), chances, lacking)


def joint(question: Question, chosen: np.ndarray) -> Ways:
    """Over the joint actions of several heads that occur, for coalitions (K, n) and a policy that draws nothing."""
    acting, networks = question.settings.simulator.acting, question.networks
    found: dict[tuple[int, ...], int] = {}

    def numbers(observations: np.ndarray) -> np.ndarray:
        done = networks.actions(acting, observations)
        return np.array([found.setdefault(actions.key(action), len(found)) for action in done])

    def told(observations: np.ndarray) -> np.ndarray:
        return numbers(observations)[:, None]

    rows, lacking = _answers(question, chosen, told)
    chances = np.zeros((len(chosen), len(found)))
    for row, (places, weights) in enumerate(rows):
        np.add.at(chances[row], places[:, 0].astype(int), weights)
    return Ways(np.array(list(found), np.int32), chances, lacking)


def _mixture(
    question: Question, chosen: np.ndarray, told: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, int]:
    rows, lacking = _answers(question, chosen, told)
    return np.stack([weights @ answers for answers, weights in rows]), lacking


def _answers(
    question: Question, chosen: np.ndarray, told: Callable[[np.ndarray], np.ndarray]
) -> tuple[list[tuple[np.ndarray, np.ndarray]], int]:
    """For each coalition what is answered at the observations that stand for the state, and their weights."""
    known = question.known(chosen)
    logs = np.asarray(question.standing(known).log_weights, np.float64)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    lacking, whole = question.lacking(known), known.all(axis=1)
    everywhere, own = told(np.asarray(question.rows.observations)), told(question.observation[None])
    background = question.visits.background
    mixed = masking.mixed(question.observation, background.observations, known[lacking])
    each = iter(told(mixed.reshape(-1, mixed.shape[2])).reshape(*mixed.shape[:2], -1) if lacking.any() else ())
    found = []
    for row in range(len(chosen)):
        if whole[row]:
            found.append((own, np.ones(1)))
        elif lacking[row]:
            found.append((next(each), background.weights))
        else:
            found.append((everywhere, weights[row]))
    return found, int(lacking.sum())
