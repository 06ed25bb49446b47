"""Deviate and continue: another action in a recorded state, the policy after it, beside what the policy did.

Rollout 0 of every deviation has the noise of the recorded episode, so that the side of the recorded action is the
recording itself. The others have fresh noise, rollout n the same for every action of a state.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from deviation import paths
from xrl_common import actions
from xrl_common.estimates import Estimate, estimate
from xrl_common.outcome import Outcome, facts, outcomes
from xrl_common.simulation import Simulator, Trace
from xrl_common.subject import Tree


@dataclass(frozen=True)
class Place:
    """A state to deviate in, and the action recorded there."""

    state: Tree
    action: np.ndarray
    origin: str = ""
    episode: int | None = None
    """None for a state from a file, whose rollouts all have fresh noise."""
    t: int = 0


@dataclass(frozen=True)
class Continued:
    """The rollouts of one state: row 0 the recorded action, then the alternatives."""

    place: Place
    actions: np.ndarray
    """(1 + alternatives, ...)."""
    sums: np.ndarray
    """(1 + alternatives, N, components) undiscounted over h steps, float64."""
    discounted: np.ndarray
    """The same, discounted."""

    def change(self, row: int) -> Estimate:
        """Delta R: the reward after an alternative less that after the recorded action, paired by noise."""
        return estimate((self.sums[row] - self.sums[0]).sum(axis=1))

    def discounted_change(self, row: int) -> Estimate:
        """The same, discounted."""
        return estimate((self.discounted[row] - self.discounted[0]).sum(axis=1))

    def change_of(self, row: int, component: int) -> Estimate:
        """Delta of one reward component."""
        return estimate(self.sums[row, :, component] - self.sums[0, :, component])


def alternatives(simulator: Simulator, places: list[Place]) -> tuple[list[np.ndarray], np.ndarray]:
    """Per place the recorded action, then the actions of the probe set that differ from it, each once.

    Also the probe sets themselves, (places, A, ...).
    """
    probes = actions.probe_sets(simulator, stacked(simulator, [place.state for place in places]))
    return [distinct(simulator, place.action, rows) for place, rows in zip(places, probes, strict=True)], probes


def distinct(simulator: Simulator, recorded: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The recorded action, then every row that does something else; actions beyond their bounds count as clipped."""

    def effect(action: np.ndarray) -> tuple:
        if actions.kind(simulator.subject) is actions.Kind.CONTINUOUS:
            action = np.clip(action, *actions.bounds(simulator.subject))
        return actions.key(action)

    kept, seen = [np.asarray(recorded)], {effect(recorded)}
    for row in rows:
        if effect(row) not in seen:
            seen.add(effect(row))
            kept.append(row)
    return np.stack(kept)


def stacked(simulator: Simulator, states: list[Tree]) -> Tree:
    """States one by one as one batch, of the environment's own types."""
    return jax.tree.map(
        lambda blank, *leaves: np.stack([np.asarray(leaf, blank.dtype) for leaf in leaves]),
        simulator.blank_state,
        *states,
    )


class Lanes:
    """The lanes of several places, each with its own number of actions, one after another."""

    def __init__(self, simulator: Simulator, places: list[Place], tried: list[np.ndarray]) -> None:
        self.counts = [len(rows) for rows in tried]
        self.firsts = np.cumsum([0, *self.counts])
        self.which = np.repeat(np.arange(len(places)), self.counts)
        self.actions = np.concatenate(tried)
        states = stacked(simulator, [place.state for place in places])
        self.states = jax.tree.map(lambda leaf: leaf[self.which], states)
        self.simulator, self.places = simulator, places

    def first(self, h: int, fresh_number: int) -> Trace:
        """Rollout 0 of every lane: recorded noise, or that of one fresh number where there is no episode."""
        if self.places[0].episode is None:
            numbers = np.full(len(self.which), fresh_number)
            return self.simulator.fresh(self.states, self.actions, numbers, h)
        episodes = np.array([place.episode for place in self.places])[self.which]
        times = np.array([place.t for place in self.places])[self.which]
        return self.simulator.replay(self.states, self.actions, episodes, times, h)

    def others(self, h: int, count: int, gamma: float) -> np.ndarray:
        """Component sums of `count` rollouts with fresh noise, (lanes, count, components)."""
        limits = np.full(len(self.which), h, np.int32)
        return self.simulator.sums(self.states, self.actions[:, None], count, gamma, limits)[:, 0]


def deviate(
    simulator: Simulator, places: list[Place], tried: list[np.ndarray], h: int, rollouts: int, gamma: float
) -> tuple[list[Continued], Trace]:
    """The rewards of every action of every place over h steps, and the trace of all rollouts 0 (lane after lane).

    Places are all of one kind: of recorded episodes, or of files.
    """
    lanes = Lanes(simulator, places, tried)
    trace = lanes.first(h, rollouts - 1)
    plain, weighed = (
        np.concatenate([trace.discounted(factor)[:, None], lanes.others(h, rollouts - 1, factor)], axis=1)
        if rollouts > 1
        else trace.discounted(factor)[:, None]
        for factor in (1.0, gamma)
    )
    spans = zip(lanes.firsts[:-1], lanes.firsts[1:], strict=True)
    continued = [
        Continued(place, rows, plain[low:high], weighed[low:high])
        for place, rows, (low, high) in zip(places, tried, spans, strict=True)
    ]
    return continued, trace


@dataclass(frozen=True)
class Aftermath:
    """What rollout 0 of a deviation shows beside rollout 0 of the recorded action."""

    difference: tuple[int, tuple[str, ...]] | None
    """Steps after the deviation until a predicate differs for the first time, and which ones."""
    rejoined: int | None
    """Steps after the deviation until both are in the same state."""
    end: Outcome
    end_recorded: Outcome


class Story:
    """States, observations and predicates after k = 0, 1, ... steps of every lane of a trace."""

    def __init__(self, simulator: Simulator, trace: Trace) -> None:
        self.simulator, self.trace, self.lengths = simulator, trace, trace.lengths
        count, steps = trace.reward.shape
        lanes = np.arange(count)

        def after(before: np.ndarray, final: np.ndarray) -> np.ndarray:
            whole = np.concatenate([before, before[:, -1:]], axis=1)
            whole[lanes, self.lengths] = final
            return whole

        self.states = jax.tree.map(after, trace.states, trace.finals)
        self.observations = after(trace.observations, simulator.observe(trace.finals))
        flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), self.states)
        found = facts(simulator, flat)
        self.names = tuple(found)
        self.truth = np.stack([found[name].reshape(count, steps + 1) for name in found], axis=-1)
        self.outcomes = outcomes(simulator, trace)

    def common(self, one: int, other: int) -> int:
        """Steps that both lanes have."""
        return int(min(self.lengths[one], self.lengths[other]))

    def apart(self, one: int, other: int, step: int) -> float:
        """The distance of two lanes after a number of steps."""
        states = [jax.tree.map(lambda leaf, lane=lane: leaf[lane, step], self.states) for lane in (one, other)]
        return self.simulator.subject.distance(*states)

    def beside(self, recorded: int, lane: int) -> Aftermath:
        """A deviation beside the recording."""
        common = self.common(recorded, lane)
        found = paths.first_difference(self.truth[recorded], self.truth[lane], common)
        return Aftermath(
            difference=None if found is None else (found[0], tuple(self.names[c] for c in found[1])),
            rejoined=paths.rejoining(
                self.observations[recorded],
                self.observations[lane],
                common,
                lambda step: self.apart(recorded, lane, step),
            ),
            end=self.outcomes[lane],
            end_recorded=self.outcomes[recorded],
        )
