"""A program as a way of acting in a compiled simulation: padded arrays, so that every program is one compilation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from programs.program import LONGEST, Constant, Linear, Pid, Program, Words

Tree = Any
"""A pytree of arrays."""

CONSTANT, LINEAR, PID = range(3)


def arrays(program: Program, words: Words) -> dict[str, np.ndarray]:
    """What `Player` takes as its agent; room for programs up to twice the longest of a search."""
    rules, tests = 2 * LONGEST, LONGEST
    if len(program.rules) >= rules or any(len(rule.tests) > tests for rule in program.rules):
        raise ValueError(f"a program that is played has fewer than {rules} rules and at most {tests} tests in each")
    width, known, heads = len(words.features), sum(words.heads), len(words.actions)
    made = {
        "used": np.zeros((rules, tests), bool),
        "entry": np.zeros((rules, tests), np.int32),
        "sign": np.ones((rules, tests), np.float32),
        "number": np.zeros((rules, tests), np.float32),
        "present": np.zeros(rules, bool),
        "kind": np.zeros(rules + 1, np.int32),
        "constant": np.zeros((rules + 1, heads), np.float32),
        "bias": np.zeros((rules + 1, known), np.float32),
        "weights": np.zeros((rules + 1, known, width), np.float32),
        "feature": np.zeros((rules + 1, heads), np.int32),
        "gains": np.zeros((rules + 1, heads, 5), np.float32),
    }
    for place, rule in enumerate(program.rules):
        made["present"][place] = True
        for i, test in enumerate(rule.tests):
            made["used"][place, i] = True
            made["entry"][place, i] = test.entry
            made["sign"][place, i] = 1.0 if test.above else -1.0
            made["number"][place, i] = test.number
    slots = [*range(len(program.rules)), rules]
    for slot, action in zip(slots, program.actions, strict=True):
        if isinstance(action, Constant):
            made["constant"][slot] = action.values
        elif isinstance(action, Linear):
            made["kind"][slot] = LINEAR
            made["bias"][slot] = np.concatenate([np.array(row) for row in action.bias])
            for row, weights in enumerate(row for rows in action.weights for row in rows):
                for feature, weight in weights:
                    made["weights"][slot, row, feature] += weight
        else:
            assert isinstance(action, Pid)
            made["kind"][slot] = PID
            made["feature"][slot] = [axis.feature for axis in action.axes]
            made["gains"][slot] = [(c.target, c.k0, c.kp, c.ki, c.kd) for c in action.axes]
    return made


@dataclass(frozen=True)
class Player:
    """Plays the program of `arrays`; remembers the last observation and the sum of all, for controllers."""

    predicates: Callable[..., dict[str, jax.Array]]
    words: Words
    scalar: bool
    """Actions have no axis of heads."""

    def memory(self, rows: int) -> Tree:
        """The observation before, the sum so far, and how many were seen."""
        blank = jnp.zeros((rows, len(self.words.features)), jnp.float32)
        return blank, blank, jnp.zeros((rows, 1), jnp.float32)

    def __call__(
        self,
        agent: Tree,
        memory: Tree,
        keys: Tree,
        observations: jax.Array,
        states: Tree,
        params: Tree,
    ) -> tuple[jax.Array, Tree]:
        """The action of the first rule whose tests hold."""
        before, total, count = memory
        before = jnp.where(count > 0, before, observations)
        total, count = total + observations, count + 1
        true = jax.vmap(self.predicates, (0, None))(states, params)
        truths = [true[name].astype(jnp.float32)[:, None] for name in self.words.predicates]
        entries = jnp.concatenate([*truths, observations], axis=1)
        asked = entries[:, agent["entry"]]
        passed = (agent["sign"] * (asked - agent["number"]) > 0) | ~agent["used"]
        fires = passed.all(axis=2) & agent["present"]
        slot = jnp.where(fires.any(axis=1), jnp.argmax(fires, axis=1), fires.shape[1])
        done = self._done(agent, slot, observations, before, total, count)
        actions = done if self.words.continuous else done.astype(jnp.int32)
        return (actions[:, 0] if self.scalar else actions), (observations, total, count)

    def _done(
        self,
        agent: Tree,
        slot: jax.Array,
        seen: jax.Array,
        before: jax.Array,
        total: jax.Array,
        count: jax.Array,
    ) -> jax.Array:
        kind = agent["kind"][slot][:, None]
        done = agent["constant"][slot]
        if not self.words.continuous:
            scores = agent["bias"][slot] + jnp.einsum("bkd,bd->bk", agent["weights"][slot], seen)
            edges = np.cumsum([0, *self.words.heads])
            chosen = [jnp.argmax(scores[:, a:b], axis=1) for a, b in pairwise(edges)]
            return jnp.where(kind == LINEAR, jnp.stack(chosen, axis=1).astype(jnp.float32), done)
        feature = agent["feature"][slot]
        target, k0, kp, ki, kd = jnp.moveaxis(agent["gains"][slot], 2, 0)
        here, last, summed = (jnp.take_along_axis(x, feature, axis=1) for x in (seen, before, total))
        given = k0 + kp * (here - target) + ki * (summed - target * count) + kd * (here - last)
        low, high = np.array(self.words.low, np.float32), np.array(self.words.high, np.float32)
        return jnp.where(kind == PID, jnp.clip(given, low, high), done)
