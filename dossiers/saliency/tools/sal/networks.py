"""What an agent's networks answer, and which of their numbers a question is about."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from xrl_common import actions
from xrl_common.actions import Kind, kind, name_of
from xrl_common.failure import usage
from xrl_common.simulation import Acting, Simulator
from xrl_common.subject import Subject, Tree

BATCH = 4096
"""Observations answered at once, so that one compiled shape serves all."""

Program = Callable[..., jax.Array]
"""(agent, observations (B, d), ...) -> (B, ...); compiled."""


@dataclass(frozen=True, eq=False)
class Networks:
    """The numbers that a subject's agent computes: logits of all heads or means, then V."""

    subject: Subject

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        """Observations (M, d) -> (M, k + 1) float64; the last column is V."""
        return self._pieces(self._answers, observations).astype(np.float64)

    def gradients(self, readout: np.ndarray, observations: np.ndarray) -> np.ndarray:
        """Gradients of `readout` (k + 1,) times the numbers, with respect to observations (M, d)."""
        weights = readout.astype(np.float32)
        found = self._pieces(lambda agent, rows: self._slopes(agent, rows, weights), observations)
        return found.astype(np.float64)

    def probabilities(self, acting: Acting, observations: np.ndarray) -> np.ndarray:
        """How probable each discrete action is at observations (M, d), (M, k): one-hot where nothing is drawn."""
        if acting is Acting.SAMPLED:
            logits = self(observations)[:, :-1]
            weights = np.exp(logits - logits.max(axis=1, keepdims=True))
            return weights / weights.sum(axis=1, keepdims=True)
        return np.eye(self.size)[self.actions(acting, observations).astype(int)]

    def actions(self, acting: Acting, observations: np.ndarray) -> np.ndarray:
        """What the agent does at observations (M, d), the most probable where it acts by chance; (M, ...)."""
        way = self._served if acting is Acting.SERVED else self._greedy
        return self._pieces(way, observations)

    @property
    def size(self) -> int:
        """Numbers before V, k."""
        return len(self.names)

    @functools.cached_property
    def names(self) -> list[str]:
        """Of the numbers before V: actions, `head=category` by number, or axes."""
        what, spelled = kind(self.subject), self.subject.action_names
        if what is Kind.CONTINUOUS:
            return [names[0] for names in spelled]
        if what is Kind.DISCRETE:
            return [actions.short(name) for name in spelled[0]]
        return [f"{head}={category}" for head, names in enumerate(spelled) for category in range(len(names))]

    @functools.cached_property
    def parts(self) -> list[tuple[str, slice]]:
        """Heads or axes and their places among the numbers; one part where there is one head."""
        what, spelled = kind(self.subject), self.subject.action_names
        if what is Kind.CONTINUOUS:
            return [(names[0], slice(i, i + 1)) for i, names in enumerate(spelled)]
        edges = np.cumsum([0, *map(len, spelled)])
        return [(f"head {i}", slice(edges[i], edges[i + 1])) for i in range(len(spelled))]

    @functools.cached_property
    def _answers(self) -> Program:
        policy = self.subject.policy

        def answers(agent: Tree, rows: jax.Array) -> jax.Array:
            return jnp.concatenate([policy.outputs(agent, rows), policy.value(agent, rows)[:, None]], axis=1)

        return jax.jit(answers)

    @functools.cached_property
    def _slopes(self) -> Program:
        policy = self.subject.policy

        def number(row: jax.Array, agent: Tree, weights: jax.Array) -> jax.Array:
            answers = jnp.append(policy.outputs(agent, row[None])[0], policy.value(agent, row[None])[0])
            return answers @ weights

        slopes = jax.vmap(jax.grad(number), (0, None, None))
        return jax.jit(lambda agent, rows, weights: slopes(rows, agent, weights))

    @functools.cached_property
    def _served(self) -> Program:
        return jax.jit(self.subject.policy.served)

    @functools.cached_property
    def _greedy(self) -> Program:
        return jax.jit(self.subject.policy.greedy)

    def _pieces(self, program: Program, observations: np.ndarray) -> np.ndarray:
        found = []
        for first in range(0, len(observations), BATCH):
            piece = observations[first : first + BATCH].astype(np.float32)
            padded = np.concatenate([piece, np.repeat(piece[:1], BATCH - len(piece), axis=0)])
            found.append(np.asarray(program(self.subject.policy.agent, padded))[: len(piece)])
        return np.concatenate(found)


@dataclass(frozen=True)
class Readout:
    """The one number F that values are about: weights of the networks' numbers."""

    weights: np.ndarray
    """(k + 1,)."""
    word: str


def readout(
    simulator: Simulator, networks: Networks, observation: np.ndarray, usual: np.ndarray, output: str, part: str | None
) -> Readout:
    """F at an observation (d,): V, the chosen logit (of all heads, or of one), or a mean action.

    Several logits are summed. For continuous actions F is the mean action along the direction in which it departs from
    the background, whose mean numbers are `usual` (k + 1,); or one axis of it.
    """
    size = networks.size
    if output == "value":
        if part is not None:
            raise usage("--head goes with --output action")
        return Readout(np.eye(size + 1)[size], "V")
    named = dict(networks.parts)
    if part is not None and part not in named:
        known = [name.removeprefix("head ") for name in named]
        if f"head {part}" not in named:
            raise usage(f"no head {part!r}; heads are {', '.join(known)}")
        part = f"head {part}"
    if kind(networks.subject) is Kind.CONTINUOUS:
        return _mean(networks, observation, usual, part)
    own = np.ravel(networks.actions(simulator.acting, observation[None])[0]).astype(int)
    weights = np.zeros(size + 1)
    for head, (name, place) in enumerate(networks.parts):
        if part in (None, name):
            weights[place.start + own[head]] = 1.0
    chosen = name_of(networks.subject, own if len(own) > 1 else own[0])
    if part is not None and len(own) > 1:
        chosen = networks.names[int(np.argmax(weights))]
    return Readout(weights, f"logit of {chosen}" if weights.sum() == 1 else f"summed logits of {chosen}")


def _mean(networks: Networks, observation: np.ndarray, usual: np.ndarray, part: str | None) -> Readout:
    size = networks.size
    if part is not None:
        return Readout(np.append(np.eye(size)[dict(networks.parts)[part].start], 0.0), f"mean of {part}")
    away = (networks(observation[None])[0] - usual)[:size]
    length = float(np.linalg.norm(away))
    direction = away / length if length > 0 else np.zeros(size)
    return Readout(np.append(direction, 0.0), "mean action along its departure from the background")
