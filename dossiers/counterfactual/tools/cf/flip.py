"""The nearest value of each observed feature at which the policy acts differently."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

from cf import layout
from deviation.flip import POINTS, PRECISION, Flip, nearest_flips
from xrl_common import actions
from xrl_common.estimates import EPISODES
from xrl_common.report import Report, Settings
from xrl_common.simulation import Acting, Simulator
from xrl_common.states import Selected, select
from xrl_common.subject import Tree
from xrl_common.tables import Column, table

MOVE = 0.25
"""How far a continuous action has to move to count as another one, as a share of the range of an axis."""

BATCH = 512
"""Observations answered at once, so that one compiled shape serves all."""

MOVERS = 12
"""Features whose effect on a continuous action is listed."""

Acts = Callable[[np.ndarray], np.ndarray]


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per selected state."""
    simulator = settings.simulator
    trace = simulator.episodes(EPISODES)
    seen = trace.observations[trace.alive]
    acts = acting(simulator)
    return [flips(settings, selected, seen, acts) for selected in select(simulator, wanted)]


def acting(simulator: Simulator) -> Acts:
    """Observations (B, d) -> what the agent does there, the most probable where it acts by chance."""
    policy, subject = simulator.subject.policy, simulator.subject
    way = jax.jit(policy.served if simulator.acting is Acting.SERVED else policy.greedy)
    continuous = actions.kind(subject) is actions.Kind.CONTINUOUS

    def acts(observations: np.ndarray) -> np.ndarray:
        answers = []
        for first in range(0, len(observations), BATCH):
            piece = observations[first : first + BATCH].astype(np.float32)
            padded = np.concatenate([piece, np.repeat(piece[:1], BATCH - len(piece), axis=0)])
            answers.append(np.asarray(way(policy.agent, padded))[: len(piece)])
        found = np.concatenate(answers)
        return np.clip(found, *actions.bounds(subject)) if continuous else found

    return acts


def differing(simulator: Simulator, own: np.ndarray, acts: Acts) -> Callable[[np.ndarray], np.ndarray]:
    """Observations -> whether the agent does something else than `own`: another category, or a far mean."""
    subject = simulator.subject

    def differs(observations: np.ndarray) -> np.ndarray:
        found = acts(observations).reshape(len(observations), -1)
        if actions.kind(subject) is not actions.Kind.CONTINUOUS:
            return (found != own.reshape(-1)).any(axis=1)
        low, high = actions.bounds(subject)
        return (np.abs(found - own.reshape(-1)) > MOVE * (high - low)).any(axis=1)

    return differs


def flips(settings: Settings, selected: Selected, seen: np.ndarray, acts: Acts) -> Report:
    """Features that flip the action, the nearest first, then the names of those that do not."""
    simulator, subject = settings.simulator, settings.subject
    observation = observe(simulator, selected.state)
    own = acts(observation[None])[0]
    low, high = seen.min(axis=0), seen.max(axis=0)
    found = nearest_flips(observation, low, high, differing(simulator, own, acts))
    rows = sorted((flip for flip in found if flip is not None), key=lambda flip: (flip.share, flip.feature))
    there = [_action_at(observation, flip, acts) for flip in rows]
    still = [i for i, flip in enumerate(found) if flip is None]
    constant = [i for i in still if not max(high[i], observation[i]) > min(low[i], observation[i])]
    lines = layout.head(
        settings,
        (f"state {settings.place(selected)}",),
        f"ranges of {EPISODES} episodes",
        0,
        (f"policy action {actions.name_of(subject, own)}",),
    )
    if rows:
        lines += table(
            Column("feature", [subject.obs_names[flip.feature] for flip in rows]),
            [
                Column("value", [flip.value for flip in rows]),
                Column("flips at", [flip.flipped for flip in rows]),
                Column("away", [flip.share for flip in rows]),
                layout.texts("new action", [actions.name_of(subject, action) for action in there]),
            ],
        )
    moves = _moves(settings, observation, own, (low, high), acts)
    if moves:
        lines += ["" for _ in rows[:1]]
        lines += table(
            Column("feature", [move.feature for move in moves[:MOVERS]]),
            [
                Column("value", [move.value for move in moves[:MOVERS]]),
                Column("at", [move.at for move in moves[:MOVERS]]),
                layout.texts("moves most", [move.axis for move in moves[:MOVERS]]),
                Column("from", [move.before for move in moves[:MOVERS]]),
                Column("to", [move.after for move in moves[:MOVERS]]),
                Column("way", [move.way for move in moves[:MOVERS]]),
            ],
        )
    lines += layout.paragraph("no flip in the range seen", _names(subject.obs_names, still, constant))
    lines += layout.paragraph("never varied", [subject.obs_names[i] for i in constant])
    numbers = {
        "state": subject.state_to_json(selected.state),
        "origin": selected.origin,
        "policy_action": actions.name_of(subject, own),
        "precision": PRECISION,
        "flips": [
            {
                "feature": subject.obs_names[flip.feature],
                "value": flip.value,
                "flips_at": flip.flipped,
                "away": flip.share,
                "range": flip.range,
                "action": actions.name_of(subject, action),
            }
            for flip, action in zip(rows, there, strict=True)
        ],
        "moves": moves,
        "no_flip": _names(subject.obs_names, still, constant),
        "never_varied": [subject.obs_names[i] for i in constant],
    }
    return Report(lines, numbers)


@dataclass(frozen=True)
class Move:
    """How far one feature moves a continuous action over the range seen, on the axis that it moves most."""

    feature: str
    value: float
    """In the state."""
    at: float
    """Value at which the action lies furthest from its own."""
    axis: str
    before: float
    after: float
    way: float
    """After less before, as a share of the range of the axis."""


def _moves(
    settings: Settings, observation: np.ndarray, own: np.ndarray, seen: tuple[np.ndarray, np.ndarray], acts: Acts
) -> list[Move]:
    """The features that move a continuous action, the furthest first; none for other actions."""
    subject = settings.subject
    if actions.kind(subject) is not actions.Kind.CONTINUOUS:
        return []
    low, high = actions.bounds(subject)
    found = []
    for feature, name in enumerate(subject.obs_names):
        value = float(observation[feature])
        points = np.linspace(min(seen[0][feature], value), max(seen[1][feature], value), POINTS)
        rows = np.repeat(observation[None], POINTS, axis=0)
        rows[:, feature] = points
        ways = (acts(rows) - own) / (high - low)
        point, axis = np.unravel_index(int(np.argmax(np.abs(ways))), ways.shape)
        way = float(ways[point, axis])
        after = float(own[axis] + way * (high - low)[axis])
        found.append(
            Move(name, value, float(points[point]), subject.action_names[axis][0], float(own[axis]), after, way)
        )
    return sorted(found, key=lambda move: -abs(move.way))


def observe(simulator: Simulator, state: Tree) -> np.ndarray:
    """The observation of one state, (d,) float32."""
    return simulator.observe(jax.tree.map(lambda leaf: np.asarray(leaf)[None], state))[0]


def _action_at(observation: np.ndarray, flip: Flip, acts: Acts) -> np.ndarray:
    moved = observation.copy()
    moved[flip.feature] = flip.flipped
    return acts(moved[None])[0]


def _names(names: tuple[str, ...], rows: list[int], without: list[int]) -> list[str]:
    return [names[i] for i in rows if i not in without]
