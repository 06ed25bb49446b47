"""Which states a tool looks at: a file, a step of an episode, the worst episodes, or random visited ones."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from xrl_common.actions import probe_set
from xrl_common.estimates import EPISODES
from xrl_common.failure import unreadable, usage
from xrl_common.simulation import Simulator, Stream, Trace
from xrl_common.subject import Subject, Tree

STATE_FORMAT = "evalxrl.state/1"


@dataclass(frozen=True)
class Selected:
    """A state and where it came from (`episode 3 t 0`; empty for a state from a file)."""

    state: Tree
    origin: str = ""


def select(simulator: Simulator, wanted: argparse.Namespace) -> list[Selected]:
    """The states that the arguments name; episodes are always the same 64 of the seed and policy mode."""
    if wanted.state is not None:
        return [from_file(simulator.subject, Path(wanted.state))]
    trace = simulator.episodes(EPISODES)
    if wanted.episode is not None:
        return [_at(trace, wanted.episode, wanted.t or 0)]
    if wanted.random is not None:
        return _random(trace, wanted.random, simulator.seed)
    worst = 1 if wanted.worst is None else wanted.worst
    if worst > EPISODES:
        raise usage(f"--worst {worst}: there are {EPISODES} episodes")
    chosen = [int(episode) for episode in by_return(trace)[:worst]]
    if wanted.t is not None:
        return [_at(trace, episode, wanted.t) for episode in chosen]
    return [_at(trace, episode, first_choice(simulator, trace, episode)) for episode in chosen]


def first_choice(simulator: Simulator, trace: Trace, episode: int) -> int:
    """The first step of an episode at which some action of the probe set leads to another state; 0 where none does."""
    for t in range(int(trace.lengths[episode])):
        state = state_at(trace, episode, t)
        after = simulator.rollouts(state, probe_set(simulator, state), 1, 1).finals
        if any((leaf != leaf[:1]).any() for leaf in map(np.asarray, jax.tree.leaves(after))):
            return t
    return 0


def by_return(trace: Trace) -> np.ndarray:
    """Episodes from the lowest return to the highest; not-a-number counts as lowest, ties by number."""
    returns = np.where(np.isnan(trace.returns), -np.inf, trace.returns)
    return np.argsort(returns, kind="stable")


def state_at(trace: Trace, episode: int, t: int) -> Tree:
    """The state in which step t of an episode was taken."""
    return jax.tree.map(lambda leaf: leaf[episode, t], trace.states)


def from_file(subject: Subject, path: Path) -> Selected:
    """Reads a state document and checks it against the environment."""
    try:
        document: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError) as problem:
        raise unreadable(f"{path.name}: {problem}") from problem
    if not isinstance(document, dict) or document.get("format") != STATE_FORMAT:
        raise unreadable(f"{path.name}: format is not {STATE_FORMAT}")
    if document.get("environment") != subject.name:
        raise unreadable(f"{path.name}: environment is {document.get('environment')}, this workspace is {subject.name}")
    try:
        state = subject.state_from_json(document, subject.params)
        subject.reset_to(state, subject.params)
    except (ValueError, KeyError, TypeError) as problem:
        raise unreadable(f"{path.name}: {problem}") from problem
    return Selected(jax.tree.map(np.asarray, state))


def _at(trace: Trace, episode: int, t: int) -> Selected:
    if episode >= len(trace.lengths):
        raise usage(f"--episode {episode}: episodes are 0..{len(trace.lengths) - 1}")
    length = int(trace.lengths[episode])
    if t >= length:
        raise usage(f"--t {t}: episode {episode} has steps 0..{length - 1}")
    return Selected(state_at(trace, episode, t), f"episode {episode} t {t}")


def _random(trace: Trace, count: int, seed: int) -> list[Selected]:
    visited = np.argwhere(trace.alive)
    if count > len(visited):
        raise usage(f"--random {count}: {len(visited)} states were visited")
    generator = np.random.default_rng([seed, Stream.DRAWS])
    chosen = generator.choice(len(visited), size=count, replace=False)
    return [_at(trace, int(episode), int(t)) for episode, t in visited[chosen]]
