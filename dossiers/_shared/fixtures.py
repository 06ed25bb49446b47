"""Three tabular worlds with known answers: F6, GWA and GWB. They implement the environment contract.

F6: 6x6, (row, column), seven terminal treasures and pits, discount .95, horizon 50, reset uniform over the 29 free
cells; the state after the end is the terminal cell, numbered behind the free ones. GWA and GWB: two columns, -1 a step
and +10 more on entering the goal row, discount 1, reset uniform over the two lowest cells; GWB is one row taller and
blocked at (0,1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from xrl_common.subject import Policy, Subject, Tree

Cell = tuple[int, int]


@dataclass(frozen=True)
class Action4:
    """The space of four actions."""

    n: int = 4
    shape: tuple[int, ...] = ()

    def sample(self, key: jax.Array) -> jax.Array:
        """A uniform action."""
        return jax.random.randint(key, (), 0, self.n, jnp.int32)

    def contains(self, x: jax.Array) -> jax.Array:
        """True for 0..3."""
        return (x >= 0) & (x < self.n)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Params:
    """Scalars of a world; all traced."""

    slip: float = 0.0
    horizon: int = 50


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    """The cell as an index into the world's cells, and the steps taken."""

    cell: Any
    t: Any


class Treasures(NamedTuple):
    """Reward of F6."""

    large: Any
    small: Any
    pit: Any


class Journey(NamedTuple):
    """Reward of GWA and GWB."""

    step: Any
    goal: Any


@dataclass(frozen=True, eq=False)
class World:
    """A deterministic table of moves, made noisy by `slip`: the action is replaced by a uniform one."""

    name: str
    cells: tuple[Cell, ...]
    ends: tuple[Cell, ...]
    """Terminal cells; a state may be in one of them only after the end."""
    starts: tuple[int, ...]
    action_names: tuple[tuple[str, ...]]
    """One head."""
    successor: np.ndarray
    """(cells, 4) index of the next cell; the number of cells stands for the end."""
    ending: np.ndarray
    """(cells, 4) index into `ends` of the terminal cell that a move reaches; 0 where it reaches none."""
    rewards: np.ndarray
    """(cells, 4, components)."""
    component: type
    gamma: float
    truths: Mapping[str, np.ndarray]
    """Predicate name -> (cells and ends,) bool."""
    obs_names: tuple[str, str]
    scale: float
    """What the coordinates are divided by in the observation."""

    def reset(self, key: jax.Array, params: Params) -> tuple[jax.Array, State]:
        """A uniform start."""
        start = jnp.asarray(self.starts, jnp.int32)[jax.random.randint(key, (), 0, len(self.starts))]
        state = State(start, jnp.int32(0))
        return self.observe(state, params), state

    def step(
        self, key: jax.Array, state: State, action: jax.Array, params: Params
    ) -> tuple[jax.Array, State, jax.Array, jax.Array, jax.Array, dict[str, Any]]:
        """One move."""
        key_slip, key_action = jax.random.split(key)
        slipped = jax.random.uniform(key_slip) < params.slip
        action = jnp.where(slipped, Action4().sample(key_action), action)
        to = jnp.asarray(self.successor, jnp.int32)[state.cell, action]
        parts = self.component(*jnp.asarray(self.rewards, jnp.float32)[state.cell, action])
        ended = to == len(self.cells)
        end = to + jnp.asarray(self.ending, jnp.int32)[state.cell, action]
        new = State(jnp.where(ended, end, to), state.t + 1)
        return self.observe(new, params), new, sum(parts), ended, new.t >= params.horizon, {"reward": parts}

    def observe(self, state: State, params: Params) -> jax.Array:
        """The two coordinates of the cell, scaled."""
        return jnp.asarray([*self.cells, *self.ends], jnp.float32)[state.cell] / self.scale

    def reset_to(self, state: State, params: Params) -> tuple[jax.Array, State]:
        """Restarts in a state; refuses what is no state."""
        if not 0 <= int(state.cell) < len(self.cells):
            raise ValueError(f"cell: {state.cell} is not in 0..{len(self.cells) - 1}")
        if not 0 <= int(state.t) < int(params.horizon):
            raise ValueError(f"t: {state.t} is not in 0..{int(params.horizon) - 1}")
        state = State(jnp.int32(state.cell), jnp.int32(state.t))
        return self.observe(state, params), state

    def predicates(self, state: State, params: Params) -> dict[str, jax.Array]:
        """What the cell is, and what lies beside it."""
        return {name: jnp.asarray(table)[state.cell] for name, table in self.truths.items()}

    def distance(self, one: State, other: State) -> float:
        """Straight line between the cells."""
        return float(np.hypot(*np.subtract(self.place(one), self.place(other))))

    def place(self, state: State) -> Cell:
        """The coordinates of a state."""
        return (*self.cells, *self.ends)[int(state.cell)]

    def state_to_json(self, state: State) -> dict[str, Any]:
        """The document of a state."""
        fields = {"cell": int(state.cell), "t": int(state.t)}
        return {"format": "evalxrl.state/1", "environment": self.name, "state": fields}

    def state_from_json(self, document: dict[str, Any], params: Params) -> State:
        """The state of a document."""
        fields = document["state"]
        return State(np.int32(fields["cell"]), np.int32(fields["t"]))

    def at(self, cell: Cell, t: int = 0) -> State:
        """The state of a cell."""
        return State(np.int32(self.cells.index(cell)), np.int32(t))

    def label(self, state: State) -> str:
        """The cell in brackets."""
        first, second = self.place(state)
        return f"({first},{second})"

    def greedy(self, agent: Tree, observations: jax.Array) -> jax.Array:
        """The first of the best entries of a table at each observation."""
        return jnp.argmax(self._rows(agent, observations), axis=1).astype(jnp.int32)

    def sampled(self, agent: Tree, keys: jax.Array, observations: jax.Array) -> jax.Array:
        """Actions drawn with the probabilities of a table."""
        logits = jnp.log(self._rows(agent, observations))
        return jax.vmap(jax.random.categorical)(keys, logits).astype(jnp.int32)

    def outputs(self, agent: Tree, observations: jax.Array) -> jax.Array:
        """Logarithms of the table's probabilities, no smaller than log 1e-9."""
        return jnp.log(jnp.maximum(self._rows(agent, observations), 1e-9))

    def log_prob(self, agent: Tree, observations: jax.Array, actions: jax.Array) -> jax.Array:
        """Log-probabilities of actions."""
        logs = jax.nn.log_softmax(self.outputs(agent, observations))
        return jnp.take_along_axis(logs, actions[:, None], axis=1)[:, 0]

    def entropy(self, agent: Tree, observations: jax.Array) -> jax.Array:
        """Entropy of the table's rows, in nats."""
        logs = jax.nn.log_softmax(self.outputs(agent, observations))
        return -jnp.sum(jnp.exp(logs) * logs, axis=1)

    def value(self, agent: Tree, observations: jax.Array) -> jax.Array:
        """The critic's table."""
        return self._rows(agent, observations, "values")

    def _rows(self, agent: Tree, observations: jax.Array, table: str = "probabilities") -> jax.Array:
        place = jnp.round(observations * self.scale).astype(jnp.int32)
        return jnp.asarray(agent[table])[place[:, 0], place[:, 1]]

    def policy(self, probabilities: np.ndarray, values: np.ndarray | None = None) -> Policy:
        """An agent that acts by a table (cells, 4), with a critic (cells,) that knows nothing unless told."""
        tables = {"probabilities": np.zeros((8, 8, 4), np.float32), "values": np.zeros((8, 8), np.float32)}
        for index, (first, second) in enumerate(self.cells):
            tables["probabilities"][first, second] = probabilities[index]
            tables["values"][first, second] = 0.0 if values is None else values[index]
        return Policy(
            agent=tables,
            served=self.greedy,
            greedy=self.greedy,
            sampled=self.sampled,
            outputs=self.outputs,
            log_prob=self.log_prob,
            entropy=self.entropy,
            value=self.value,
        )

    def subject(
        self, probabilities: np.ndarray, params: Params | None = None, values: np.ndarray | None = None
    ) -> Subject:
        """The world and a tabular agent as a tool sees them."""
        return Subject(
            name=self.name,
            environment=self,
            params=params or Params(),
            policy=self.policy(probabilities, values),
            action_space=Action4(),
            action_names=self.action_names,
            obs_names=self.obs_names,
            gamma=self.gamma,
            gamma_source="fixture",
            state_to_json=self.state_to_json,
            state_from_json=self.state_from_json,
            reset_to=self.reset_to,
            predicates=self.predicates,
            distance=self.distance,
            label=self.label,
        )


def _f6() -> World:
    things: dict[Cell, tuple[str, float]] = {(5, 5): ("large", 10.0), (1, 2): ("small", 1.0)}
    things |= {cell: ("pit", -5.0) for cell in ((2, 2), (3, 3), (4, 1), (1, 4), (4, 5))}
    cells = tuple((row, column) for row in range(6) for column in range(6) if (row, column) not in things)
    ends = tuple(things)
    moves = {"above": (-1, 0), "below": (1, 0), "left": (0, -1), "right": (0, 1)}
    successor = np.full((len(cells), 4), len(cells))
    ending = np.zeros((len(cells), 4), int)
    rewards = np.zeros((len(cells), 4, 3))
    every = len(cells) + len(ends)
    named = [f"{thing}_{side}" for thing in Treasures._fields for side in moves]
    truths = {name: np.zeros(every, bool) for name in ("at_large", "at_small", "in_pit", *named)}
    for index, (thing, _) in enumerate(things.values()):
        truths["in_pit" if thing == "pit" else f"at_{thing}"][len(cells) + index] = True
    for index, (row, column) in enumerate(cells):
        for action, (side, (down, across)) in enumerate(moves.items()):
            to = (min(max(row + down, 0), 5), min(max(column + across, 0), 5))
            if to in things:
                thing, value = things[to]
                rewards[index, action, Treasures._fields.index(thing)] = value
                truths[f"{thing}_{side}"][index] = True
                ending[index, action] = ends.index(to)
            else:
                successor[index, action] = cells.index(to)
    return World(
        name="F6",
        cells=cells,
        ends=ends,
        starts=tuple(range(len(cells))),
        action_names=(("up", "down", "left", "right"),),
        successor=successor,
        ending=ending,
        rewards=rewards,
        component=Treasures,
        gamma=0.95,
        truths=truths,
        obs_names=("own/row", "own/column"),
        scale=5.0,
    )


def _passage(name: str, height: int, block: Cell | None) -> World:
    cells = tuple((x, y) for y in range(height) for x in range(2) if (x, y) != block)
    ends = tuple((x, height) for x in range(2))
    moves = ((0, 1), (1, 0), (0, -1), (-1, 0))
    successor = np.full((len(cells), 4), len(cells))
    ending = np.zeros((len(cells), 4), int)
    rewards = np.zeros((len(cells), 4, 2))
    for index, (x, y) in enumerate(cells):
        for action, (across, up) in enumerate(moves):
            to = (x + across, y + up)
            rewards[index, action] = (-1.0, 10.0 if to[1] == height else 0.0)
            if to in ends:
                ending[index, action] = ends.index(to)
            else:
                successor[index, action] = cells.index(to) if to in cells else index
    everywhere = (*cells, *ends)
    return World(
        name=name,
        cells=cells,
        ends=ends,
        starts=(cells.index((0, 0)), cells.index((1, 0))),
        action_names=(("+y", "+x", "-y", "-x"),),
        successor=successor,
        ending=ending,
        rewards=rewards,
        component=Journey,
        gamma=1.0,
        truths={
            "left_column": np.array([x == 0 for x, _ in everywhere]),
            "at_goal": np.array([cell in ends for cell in everywhere]),
        },
        obs_names=("x/x", "y/y"),
        scale=1.0,
    )


F6 = _f6()
GWA = _passage("GWA", 2, None)
GWB = _passage("GWB", 3, (0, 1))
