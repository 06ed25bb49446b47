"""Fits the student that all tools of this dossier show; the same arguments and seed give the same tree."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import jax
import numpy as np

from extraction import choice, viper
from extraction.trees import DEEPEST, Player, Tree
from extraction.viper import ADDED, Data
from extraction.weights import spread
from xrl_common.actions import Kind, kind, own_actions, probe_sets
from xrl_common.arguments import Source
from xrl_common.estimates import scalar_q
from xrl_common.failure import usage
from xrl_common.report import Settings
from xrl_common.simulation import Simulator, Trace
from xrl_common.subject import Tree as Pytree

ROLLOUTS = 16
JUDGED = 50
"""Episodes behind the returns and fidelities that are printed."""

FRESH = 10_000
"""Number of the first episode that is gathered from; those below are for judging."""


@dataclass(frozen=True)
class Student:
    """The tree that was kept, the iteration it comes from, and all data gathered."""

    tree: Tree
    iteration: int
    iterations: int
    data: Data
    word: str
    """The weights as a header names them."""

    def playing(self, settings: Settings) -> Simulator:
        """The environment with the tree acting."""
        return settings.simulator.acting_by(Player(), self.tree.arrays)


def continuous(settings: Settings) -> bool:
    """Whether the tree is a regressor."""
    return kind(settings.subject) is Kind.CONTINUOUS


def features(settings: Settings, wanted: argparse.Namespace) -> list[int] | None:
    """The entries that `--features` names; none given means all."""
    if wanted.features is None:
        return None
    names = list(settings.subject.obs_names)
    chosen = [name.strip() for name in wanted.features.split(",")]
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise usage(f"no feature {unknown[0]!r}; features are {', '.join(names)}")
    return sorted({names.index(name) for name in chosen})


def checked_depth(depth: int) -> int:
    """A depth that trees may have."""
    if depth > DEEPEST:
        raise usage(f"--depth {depth}: depths are 1..{DEEPEST}")
    return depth


def grown(settings: Settings, depth: int, iterations: int, asked: list[int] | None) -> Student:
    """Runs the loop and keeps the student of the best return."""
    simulator = settings.simulator
    rollouts = settings.count(ROLLOUTS, least=4)
    words: set[str] = set()

    def collect(student: Tree | None, iteration: int) -> Data:
        player = simulator if student is None else simulator.acting_by(Player(), student.arrays)
        trace = player.episodes(viper.EPISODES, first=FRESH + iteration * viper.EPISODES)
        rows = np.argwhere(trace.alive)
        order = simulator.generator(f"gather {iteration}").permutation(len(rows))[:ADDED]
        states, seen = visited(trace, rows[np.sort(order)])
        if continuous(settings):
            return Data(seen, own_actions(simulator, states), np.zeros(len(seen)))
        probes = probe_sets(simulator, states)
        values = scalar_q(simulator, states, probes, rollouts, settings.gamma, Source.SIMULATOR)
        words.add(f"weights {values.word}")
        return Data(seen, own_actions(simulator, states), spread(values.means))

    students, data = viper.grow(collect, iterations, depth, settings.seed, continuous(settings), asked)
    played: dict[int, np.ndarray] = {}

    def returns(student: int, episodes: int) -> np.ndarray:
        if len(played.get(student, ())) < episodes:
            arrays = students[student].tree.arrays
            played[student] = simulator.acting_by(Player(), arrays).episodes(episodes).returns
        return played[student][:episodes]

    kept = choice.best(len(students), returns)
    word = "weights uniform (continuous actions)" if continuous(settings) else max(words)
    return Student(students[kept].tree, kept, iterations, data, word)


def visited(trace: Trace, rows: np.ndarray) -> tuple[Pytree, np.ndarray]:
    """States and observations of (episode, step) rows of a trace."""
    states = jax.tree.map(lambda leaf: leaf[rows[:, 0], rows[:, 1]], trace.states)
    return states, trace.observations[rows[:, 0], rows[:, 1]]
