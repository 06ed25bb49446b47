"""Where these tools deviate: states of recorded episodes with the action taken there, or a state from a file."""

from __future__ import annotations

import argparse
import math
import re
from dataclasses import dataclass

import jax
import numpy as np

from deviation.deviate import Place
from deviation.paths import most_important
from xrl_common import actions
from xrl_common.arguments import Source
from xrl_common.estimates import EPISODES, scalar_q
from xrl_common.failure import usage
from xrl_common.report import Settings
from xrl_common.simulation import Simulator, Trace
from xrl_common.states import by_return, select, state_at
from xrl_common.subject import Tree

RANKED = 128
"""States of an episode whose importance is estimated."""

ROLLOUTS = 32
"""Rollouts per action behind an importance."""

WORST = 3
"""Episodes looked at where nothing is said."""


@dataclass(frozen=True)
class Chosen:
    """Places, and how a header tells of them."""

    places: list[Place]
    fields: tuple[str, ...]
    trace: Trace | None
    """The 64 episodes, where they were simulated."""
    importance: dict[tuple[int, int], float]
    """(episode, t) -> I, where it decided."""


def single(simulator: Simulator, wanted: argparse.Namespace) -> list[Place]:
    """One place per state that the arguments name, with the action taken there, or the policy's in a file's state."""
    selected = select(simulator, wanted)
    if wanted.state is not None:
        (only,) = selected
        return [Place(only.state, actions.own_action(simulator, only.state), t=int(only.state.t))]
    trace = simulator.episodes(EPISODES)
    origins = [re.fullmatch(r"episode (\d+) t (\d+)", entry.origin).groups() for entry in selected]
    return [recorded(trace, int(episode), int(t)) for episode, t in origins]


def recorded(trace: Trace, episode: int, t: int) -> Place:
    """A step of an episode, with the action taken in it."""
    return Place(state_at(trace, episode, t), trace.actions[episode, t], f"episode {episode} t {t}", episode, t)


def chosen(settings: Settings, wanted: argparse.Namespace) -> Chosen:
    """Single states, or the most important steps of whole episodes."""
    simulator = settings.simulator
    if wanted.times is not None and (wanted.t is not None or wanted.state is not None or wanted.random is not None):
        raise usage("--times goes with --episode or --worst, without --t")
    if wanted.state is not None:
        places = single(simulator, wanted)
        return Chosen(places, (f"state {simulator.subject.label(places[0].state)}",), None, {})
    trace = simulator.episodes(EPISODES)
    if wanted.random is not None:
        places = single(simulator, wanted)
        return Chosen(places, (f"random states {len(places)}",), trace, {})
    episodes = _episodes(trace, wanted)
    if wanted.t is not None or wanted.times is not None:
        times = (wanted.t,) if wanted.times is None else wanted.times
        places = [recorded(trace, episode, _within(trace, episode, t)) for episode in episodes for t in times]
        return Chosen(places, (_named(episodes),), trace, {})
    return _important(settings, wanted, trace, episodes)


def _episodes(trace: Trace, wanted: argparse.Namespace) -> list[int]:
    if wanted.episode is not None:
        if wanted.episode >= EPISODES:
            raise usage(f"--episode {wanted.episode}: episodes are 0..{EPISODES - 1}")
        return [wanted.episode]
    worst = WORST if wanted.worst is None else wanted.worst
    if worst > EPISODES:
        raise usage(f"--worst {worst}: there are {EPISODES} episodes")
    return [int(episode) for episode in by_return(trace)[:worst]]


def _within(trace: Trace, episode: int, t: int) -> int:
    length = int(trace.lengths[episode])
    if t >= length:
        raise usage(f"step {t}: episode {episode} has steps 0..{length - 1}")
    return t


def _named(episodes: list[int]) -> str:
    if len(episodes) > 8:
        return f"episodes {len(episodes)} of lowest return"
    return f"episode{'s' * (len(episodes) > 1)} {','.join(map(str, episodes))}"


def _important(settings: Settings, wanted: argparse.Namespace, trace: Trace, episodes: list[int]) -> Chosen:
    """The m steps of each episode with the highest max - min of Q over the probe set."""
    most = settings.share * RANKED
    strides = [math.ceil(trace.lengths[episode] / most) for episode in episodes]
    stride = max(strides)
    times = {episode: np.arange(0, trace.lengths[episode], stride) for episode in episodes}
    fields = (_named(episodes),)
    if all(len(steps) <= wanted.m for steps in times.values()):
        places = [recorded(trace, episode, int(t)) for episode in episodes for t in times[episode]]
        return Chosen(places, (*fields, *_sampled(stride)), trace, {})
    ranked, found, words = [], {}, set()
    for episode in episodes:
        states = jax.tree.map(lambda leaf, e=episode: leaf[e, times[e]], trace.states)
        importance, word = important(settings, states, wanted.q_source)
        words.add(word)
        for row in most_important(importance, wanted.m):
            t = int(times[episode][row])
            ranked.append(recorded(trace, episode, t))
            found[episode, t] = float(importance[row])
    word = max(words, key=lambda text: (len(text), text))
    return Chosen(ranked, (*fields, f"m {wanted.m} by importance {word}", *_sampled(stride)), trace, found)


def important(settings: Settings, states: Tree, source: Source) -> tuple[np.ndarray, str]:
    """I of many states, and the words for the source of Q."""
    tried = actions.probe_sets(settings.simulator, states)
    rollouts = settings.count(ROLLOUTS, least=2)
    values = scalar_q(settings.simulator, states, tried, rollouts, settings.gamma, source)
    return values.means.max(axis=1) - values.means.min(axis=1), values.word


def _sampled(stride: int) -> tuple[str, ...]:
    return (f"every {stride}. step",) if stride > 1 else ()
