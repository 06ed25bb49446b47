"""Runs of the agent: recorded ones, and what they become when an action or a thing is changed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import numpy as np

from interrogation.verbal import MacroAction, macro_actions
from xrl_common.actions import Kind, kind, name_of
from xrl_common.estimates import EPISODES
from xrl_common.failure import usage
from xrl_common.features import one
from xrl_common.outcome import Outcome, facts, outcomes
from xrl_common.report import Settings
from xrl_common.simulation import Simulator, Trace
from xrl_common.states import by_return
from xrl_common.subject import Tree


@dataclass(frozen=True)
class Run:
    """A stretch of an episode from step `first` on."""

    first: int
    actions: list[np.ndarray]
    names: list[str]
    predicates: list[tuple[str, ...]]
    """Before each step."""
    states: list[Tree]
    """Before each step."""
    rewards: np.ndarray
    """(steps, components)."""
    outcome: Outcome
    final: Tree

    def macros(self, complexity: int) -> list[MacroAction]:
        """Its runs of one action."""
        return macro_actions(self.names, self.predicates, self.first, complexity)

    @property
    def total(self) -> float:
        """Its undiscounted return."""
        return float(self.rewards.sum())

    @property
    def sums(self) -> np.ndarray:
        """Return per component."""
        return self.rewards.sum(axis=0)


@dataclass(frozen=True)
class Episode:
    """One of the 64 episodes that all tools share."""

    trace: Trace
    number: int

    @property
    def length(self) -> int:
        """Its steps."""
        return int(self.trace.lengths[self.number])

    def state(self, t: int) -> Tree:
        """The state before step t."""
        return one(self.trace.states, self.number, t)


def episode(settings: Settings, wanted: argparse.Namespace) -> Episode:
    """The episode that `--episode` names; the one of lowest return where none is."""
    trace = settings.simulator.episodes(EPISODES)
    number = int(by_return(trace)[0]) if wanted.episode is None else wanted.episode
    if number >= EPISODES:
        raise usage(f"--episode {number}: episodes are 0..{EPISODES - 1}")
    return Episode(trace, number)


def time_of(chosen: Episode, wanted: argparse.Namespace) -> int:
    """The step that `--time` names; 0 where none is."""
    t = wanted.time or 0
    if t >= chosen.length:
        raise usage(f"--time {t}: episode {chosen.number} has steps 0..{chosen.length - 1}")
    return t


def recorded(settings: Settings, chosen: Episode, first: int) -> Run:
    """The rest of an episode from a step on, as it was."""
    lane = slice(chosen.number, chosen.number + 1)
    *steps, finals = chosen.trace
    part = [jax.tree.map(lambda leaf: leaf[lane, first : chosen.length], field) for field in steps]
    finals = jax.tree.map(lambda leaf: leaf[lane], finals)
    return _run(settings.simulator, Trace(*part, finals), first)


def continued(simulator: Simulator, state: Tree, number: int, first: int, forced: Sequence[np.ndarray] = ()) -> Run:
    """From a state on with the noise of an episode: some actions forced, then the agent's own."""
    parts: list[Run] = []
    t, here = first, state
    for action in forced:
        part = _played(simulator, here, number, t, np.asarray(action)[None], 1)
        parts.append(part)
        t, here = t + 1, part.final
        if part.outcome.how != "cut":
            return _joined(parts)
    parts.append(_played(simulator, here, number, t, None, simulator.subject.horizon))
    return _joined(parts)


def _played(simulator: Simulator, state: Tree, number: int, t: int, forced: np.ndarray | None, limit: int) -> Run:
    batch = jax.tree.map(lambda leaf: np.asarray(leaf)[None], state)
    return _run(simulator, simulator.replay(batch, forced, np.array([number]), np.array([t]), limit), t)


def _run(simulator: Simulator, trace: Trace, first: int) -> Run:
    """The only lane of a trace."""
    steps = int(trace.lengths[0])
    subject = simulator.subject
    true = facts(simulator, jax.tree.map(lambda leaf: leaf[0, :steps], trace.states))
    actions = [trace.actions[0, t] for t in range(steps)]
    return Run(
        first=first,
        actions=actions,
        names=[spoken(kind(subject), name_of(subject, action)) for action in actions],
        predicates=[tuple(name for name, flags in true.items() if flags[t]) for t in range(steps)],
        states=[one(trace.states, 0, t) for t in range(steps)],
        rewards=trace.rewards[0, :steps].astype(np.float64),
        outcome=outcomes(simulator, trace)[0],
        final=one(trace.finals, 0),
    )


def spoken(what: Kind, name: str) -> str:
    """An action in a sentence: continuous ones to one decimal, so that runs of alike actions are seen."""
    if what is not Kind.CONTINUOUS:
        return name
    rounded = (f"{float(part):.1f}" for part in name.split(","))
    return ",".join("0.0" if part == "-0.0" else part for part in rounded)


def _joined(parts: list[Run]) -> Run:
    last = parts[-1]
    return Run(
        first=parts[0].first,
        actions=[action for part in parts for action in part.actions],
        names=[name for part in parts for name in part.names],
        predicates=[true for part in parts for true in part.predicates],
        states=[state for part in parts for state in part.states],
        rewards=np.concatenate([part.rewards for part in parts]),
        outcome=last.outcome,
        final=last.final,
    )
